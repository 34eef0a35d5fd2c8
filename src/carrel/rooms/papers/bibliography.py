"""Papers as CSL items with readable citation keys, and as text in a bibliography format."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from carrel.core.parsing import parse_in_thread
from carrel.libraries import bibliography
from carrel.libraries.text.budget import until_cancelled
from carrel.rooms.papers.models import PaperMetadata
from carrel.rooms.papers.ports import PaperToCite

_THESIS = re.compile(r"\b(?:thesis|dissertation)\b")
_REPORT = re.compile(
    r"\b(?:technical report|tech\.? rep\b|working paper|white paper|research report)"
)
_PREPRINT = re.compile(
    r"\b(?:arxiv|corr|biorxiv|medrxiv|chemrxiv|psyarxiv|ssrn|preprints?|research square|osf)\b"
)
# These call themselves proceedings and are journals.
_JOURNAL_AFTER_ALL = re.compile(
    r"national academy|royal society|proceedings of the ieee$|natl\.? acad|^pnas\b|vldb "
    r"endowment|acm on "
)
_CONFERENCE = re.compile(
    r"\b(?:proceedings|proc\.|conference|conf\.|symposium|workshop|congress|colloquium|lecture "
    r"notes in"
    r"|advances in neural information processing)"
    r"|^(?:neurips|nips|icml|iclr|cvpr|iccv|eccv|acl|emnlp|naacl|eacl|coling|aaai|ijcai|kdd|sigir|www|sigmod|vldb|icde|chi|uist"
    r"|sosp|osdi|nsdi|sigcomm|usenix|icra|iros|interspeech|icassp|miccai|focs|stoc|soda|popl|pldi|icse)\b"
)
# Fields of the metadata that are a CSL variable as they stand.
_VARIABLES = {
    "volume": "volume",
    "issue": "issue",
    "pages": "page",
    "publisher": "publisher",
    "doi": "DOI",
    "pmid": "PMID",
    "pmcid": "PMCID",
    "isbn": "ISBN",
    "issn": "ISSN",
    "url": "URL",
    "language": "language",
    "license": "license",
}
_CITED = {*_VARIABLES, "authors", "editors", "venue", "keywords", "arxiv_id", "type"}
_VARIABLES_OF = {
    **{name: (variable,) for name, variable in _VARIABLES.items()},
    "pages": ("page", "number"),
    "title": ("title",),
    "authors": ("author",),
    "editors": ("editor",),
    "publication_date": ("issued",),
    "venue": ("container-title",),
    "type": ("type",),
    "keywords": ("keyword",),
}
# `e00031`, `RP105452`: the number of an article that has no pages.
_ARTICLE_NUMBER = re.compile(r"[A-Za-z]{1,3}[0-9]{3,}")
_PREPRINT_DOIS = ("10.48550/", "10.1101/", "10.26434/", "10.31234/", "10.2139/ssrn", "10.21203/")


async def write_papers(papers: Sequence[PaperToCite], form: str) -> str:
    """The papers in a bibliography format, with readable keys and without inferred facts."""
    return await parse_in_thread(_write, papers, form)


def _write(papers: Sequence[PaperToCite], form: str) -> str:
    items = [cited_item(paper) for paper in until_cancelled(papers)]
    keys = Counter(str(item["id"]).lower() for item in items)
    for item, paper in zip(items, papers, strict=True):
        if keys[str(item["id"]).lower()] > 1:
            # The paper's id makes them unique, so that a key does not depend on the export's order.
            item["id"] = f"{item['id']}-{paper.metadata.paper_id[:6]}"
    return bibliography.write_bibliography(items, bibliography.ExportFormat(form))


def cited_item(paper: PaperToCite) -> dict[str, Any]:
    """A paper as a CSL item with a readable key, from its stored BibTeX or its metadata."""
    facts = paper.metadata
    known = metadata_item(facts)
    stored = _without_cleared(_stored_item(paper.bibtex), known, facts)
    item = known if stored is None else _complete_entry(stored, known, facts)
    written = dict((stored or {}).get("custom") or {})
    if _origin_of(facts, "arxiv_id") == "person":
        written.pop("arxiv_id", None)
    item["custom"] = {**known.get("custom", {}), **written, "paper_id": facts.paper_id}
    item["id"] = str((stored or {}).get("id") or _made_key(item))
    return item


def is_entry_outdated(paper: PaperToCite) -> bool:
    """Whether a better source than the stored BibTeX entry says something else."""
    stored = _stored_item(paper.bibtex)
    known = metadata_item(paper.metadata)
    if stored is None:
        return False
    is_cleared = _without_cleared(stored, known, paper.metadata) != stored
    return is_cleared or bool(_better_known(known, paper.metadata))


def metadata_item(facts: PaperMetadata) -> dict[str, Any]:
    """The metadata of a paper as a CSL item without a key and without inferred facts."""
    stated = {
        name: value
        for name, value in facts.model_dump(include=_CITED).items()
        if value and name not in facts.inferred
    }
    item: dict[str, Any] = {
        "type": stated.get("type") or csl_type(facts),
        "title": facts.title,
    }
    for name, variable in _VARIABLES.items():
        if name in stated:
            item[variable] = stated[name]
    if "pages" in stated and _ARTICLE_NUMBER.fullmatch(stated["pages"]):
        item["number"] = item.pop("page")
    for name, role in (("authors", "author"), ("editors", "editor")):
        if name in stated:
            item[role] = [_name(person) for person in stated[name]]
    if facts.year.isdigit() and "year" not in facts.inferred:
        item["issued"] = {"date-parts": [_date_parts(facts)]}
    venue = stated.get("venue")
    if venue and venue != item.get("publisher"):
        is_publisher = item["type"] in {"thesis", "report"} and "publisher" not in item
        item["publisher" if is_publisher else "container-title"] = venue
    if "keywords" in stated:
        item["keyword"] = "; ".join(stated["keywords"])
    custom: dict[str, Any] = {}
    if "arxiv_id" in stated:
        custom["arxiv_id"] = stated["arxiv_id"]
    if facts.inferred:
        custom["inferred"] = list(facts.inferred)
    if custom:
        item["custom"] = custom
    return item


def _without_cleared(
    stored: dict[str, Any] | None, known: dict[str, Any], facts: PaperMetadata
) -> dict[str, Any] | None:
    """The entry without what a person has cleared."""
    if stored is None:
        return None
    cleared = {
        variable
        for name, variables in _VARIABLES_OF.items()
        if _origin_of(facts, name) == "person" and not known.keys() & set(variables)
        for variable in variables
    }
    return {name: value for name, value in stored.items() if name not in cleared}


def _complete_entry(
    stored: dict[str, Any], known: dict[str, Any], facts: PaperMetadata
) -> dict[str, Any]:
    """The entry with what it does not say, and with what a better source says otherwise."""
    better = _better_known(known, facts)
    item = known | stored | better
    # The same said twice: an article's number is its page in many lists, a book without authors
    # is its editors'.
    for one, other in (("page", "number"), ("number", "page"), ("author", "editor")):
        if one not in stored and one not in better and other in stored:
            is_repeated = one == "author" or item.get(one) == stored[other]
            if is_repeated:
                item.pop(one, None)
    return item


def _better_known(known: dict[str, Any], facts: PaperMetadata) -> dict[str, Any]:
    """The variables that a person or a better source than the entry's own decides."""
    return {
        variable: known[variable]
        for name, variables in _VARIABLES_OF.items()
        if name in facts.overruled or _origin_of(facts, name) == "person"
        for variable in variables
        if variable in known
    }


def _origin_of(facts: PaperMetadata, name: str) -> str:
    known = facts.origins.get(name)
    return (facts.origin or "list") if known is None else known.origin


def csl_type(facts: PaperMetadata) -> str:
    """The CSL type implied by the venue; `document` by default."""
    venue = " ".join(facts.venue.lower().split())
    if _THESIS.search(venue):
        return "thesis"
    if _REPORT.search(venue):
        return "report"
    if _PREPRINT.search(venue):
        return "article"
    if _CONFERENCE.search(venue) and not _JOURNAL_AFTER_ALL.search(venue):
        return "paper-conference"
    if venue:
        return "article-journal"
    is_preprint = facts.arxiv_id or (facts.doi or "").startswith(_PREPRINT_DOIS)
    return "article" if is_preprint else "document"


def _date_parts(facts: PaperMetadata) -> list[int]:
    found = re.fullmatch(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:T.*)?", facts.publication_date)
    parts = (
        [int(part) for part in found.groups() if part]
        if found and found.group(1) == facts.year
        else [int(facts.year)]
    )
    return (
        parts
        if all(1 <= part <= most for part, most in zip(parts[1:], (12, 31), strict=False))
        else parts[:1]
    )


def _stored_item(bibtex: str | None) -> dict[str, Any] | None:
    if bibtex is None:
        return None
    items = bibliography.read_bibtex(bibtex).items
    return items[0].item if items else None


def _made_key(item: dict[str, Any]) -> str:
    people = item.get("author") or [{}]
    issued = item.get("issued") or {}
    year = (issued.get("date-parts") or [[None]])[0][0]
    return bibliography.make_paper_key(
        people[0].get("family") or people[0].get("literal"), year, item.get("title")
    )


def _name(author: str) -> dict[str, str]:
    text = " ".join(author.split())
    if not text.islower() and not set(text) & set("{}\\$~"):
        return bibliography.read_name(text) or {"literal": text}
    # Facets of older snapshots are lowercase, which a name parser would take for particles.
    given, _, family = text.rpartition(" ")
    return {"family": family, "given": given} if given else {"literal": text}
