"""Found works as CSL-JSON items, and gaps of items filled from found works."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.bibliography.items import join_keywords, put
from carrel.libraries.csl.name_lists import mark_et_al
from carrel.libraries.identifiers import Doi, identifier_value
from carrel.libraries.literature.records import Author, MergedWork, WorkKind, WorkRecord
from carrel.libraries.text.folding import fold_text, text_key
from carrel.libraries.works.titles import squash_title, title_likeness

_TYPES: dict[WorkKind | None, str] = {
    "article-journal": "article-journal",
    "paper-conference": "paper-conference",
    "preprint": "article",
    "chapter": "chapter",
    "book": "book",
    "thesis": "thesis",
    "report": "report",
    "review": "article-journal",
    "dataset": "dataset",
    "software": "software",
    "editorial": "article-journal",
    "letter": "article-journal",
    "erratum": "article-journal",
    "retraction": "article-journal",
    "peer-review": "review",
    "reference-entry": "entry",
    "other": "document",
}
# Items that stand in something: what is missing of the place is a gap.
_IN_JOURNALS = frozenset({"article-journal", "article-magazine", "article-newspaper", "review"})
_IN_BOOKS = frozenset({"chapter", "paper-conference", "entry-encyclopedia", "entry-dictionary"})
_OF_PUBLISHERS = frozenset({"book", "report", "thesis"})
# Titles less alike than this, of other people, are two works.
_ALIKE = 0.6
_TAG = re.compile(r"</?(?:i|b|sub|sup)>")
_PREPRINT_SERVER = re.compile(r"rxiv|\bcorr\b|\bssrn\b|preprint|research square", re.IGNORECASE)
# Which field of a work a variable is made of; of several the first that has an origin.
_FIELDS: dict[str, tuple[str, ...]] = {
    "title": ("title",),
    "author": ("authors",),
    "issued": ("issued",),
    "container-title": ("venue",),
    "container-title-short": ("venue.abbreviation", "venue"),
    "ISSN": ("venue.issn", "venue"),
    "publisher": ("venue.publisher", "venue"),
    "volume": ("volume",),
    "issue": ("issue",),
    "page": ("pages",),
    "abstract": ("abstract",),
    "language": ("language",),
    "keyword": ("keywords",),
    "license": ("licence",),
    "DOI": ("ids.doi",),
    "PMID": ("ids.pmid",),
    "PMCID": ("ids.pmcid",),
    "ISBN": ("ids.isbn",),
    "number": ("ids.arxiv",),
    "genre": ("kind",),
    "URL": ("locations", "ids.arxiv"),
}
# Where a work stands: filled only where nothing that the item says of its place contradicts.
_PLACE = ("container-title", "volume", "issue", "page")
_PLACE_VARIABLES = frozenset({*_PLACE, "container-title-short", "ISSN", "publisher", "number"})


def work_as_csl(found: MergedWork | WorkRecord) -> CslItem:
    """The item of a work, without an `id`. Nothing is in it that no service said."""
    work = found.work if isinstance(found, MergedWork) else found
    item: CslItem = {"type": _type_of(work)}
    put(item, "title", work.title)
    people = [name for author in work.authors if (name := _name_of(author))]
    if people:
        item["author"] = people
        if work.is_authors_cut:
            mark_et_al(item, "author")
    if work.issued:
        item["issued"] = {"date-parts": [[int(part) for part in work.issued.split("-")]]}
    _put_place(item, work)
    put(item, "abstract", _TAG.sub("", work.abstract))
    put(item, "language", work.language or "")
    put(item, "keyword", join_keywords(work.keywords))
    put(item, "license", work.licence or "")
    _put_identifiers(item, work)
    return item


def _type_of(work: WorkRecord) -> str:
    if work.kind is None:
        return "article-journal" if work.venue.name else "document"
    return _TYPES[work.kind]


def _name_of(author: Author) -> dict[str, Any]:
    if not author.family:
        literal = author.literal or author.given
        return {"literal": literal} if literal else {}
    parts = {"family": author.family, "given": author.given, "suffix": author.suffix}
    return {part: text for part, text in parts.items() if text}


def _put_place(item: CslItem, work: WorkRecord) -> None:
    venue = work.venue
    if work.kind == "preprint":
        item["genre"] = "preprint"
        put(item, "publisher", venue.name or venue.publisher)
        return
    if work.kind in ("thesis", "report", "book"):
        put(item, "publisher", venue.publisher or venue.name)
    else:
        put(item, "container-title", venue.name)
        put(item, "container-title-short", venue.abbreviation)
        put(item, "publisher", venue.publisher)
    put(item, "ISSN", ", ".join(venue.issn))
    put(item, "volume", work.volume)
    put(item, "issue", work.issue)
    put(item, "page", work.pages)


def _put_identifiers(item: CslItem, work: WorkRecord) -> None:
    ids = work.ids
    for variable, value in (
        ("DOI", ids.doi),
        ("PMID", ids.pmid),
        ("PMCID", ids.pmcid),
        ("ISBN", ids.isbn),
    ):
        put(item, variable, value or "")
    if ids.arxiv:
        item.setdefault("custom", {})["arxiv_id"] = ids.arxiv
        if work.kind == "preprint":
            put(item, "number", f"arXiv:{ids.arxiv}")
            put(item, "URL", f"https://arxiv.org/abs/{ids.arxiv}")
    if not ids.doi:
        pages = (each.url for each in work.locations if each.format == "landing_page")
        put(item, "URL", next(pages, ""))


def csl_gaps(item: CslItem) -> tuple[str, ...]:
    """The variables that an item of its type should have and has not, in a fixed order."""
    kind = item.get("type")
    wanted = ["title", "author", "issued"]
    if kind in _IN_JOURNALS:
        wanted += ["container-title", "volume", "issue", "page"]
    elif kind in _IN_BOOKS:
        wanted += ["container-title", "page", "publisher"]
    elif kind in _OF_PUBLISHERS:
        wanted += ["publisher"]
    wanted += ["abstract", "DOI"]
    if kind == "book":
        wanted.remove("abstract")
        wanted[-1] = "ISBN"
    return tuple(name for name in wanted if _is_missing(item, name))


@dataclass(frozen=True, slots=True)
class FilledItem:
    """An item with its gaps filled: which service each new variable came from.

    `contradiction` says why nothing was filled.
    """

    item: CslItem
    filled: Mapping[str, str] = field(default_factory=dict)
    contradiction: str = ""


def fill_csl_gaps(item: CslItem, found: MergedWork) -> FilledItem:
    """A copy of the item with what it lacks and the work has; what it has is never changed.

    Nothing is filled from a work with another DOI or PubMed id, nor into an article from its
    preprint. Where the work stands (journal, volume, pages) is filled only if what the item says
    of that agrees.
    """
    offered = work_as_csl(found)
    if contradiction := _find_contradiction(item, offered, found.work.kind):
        return FilledItem(item, contradiction=contradiction)
    may_fill_place = _is_place_alike(item, offered)
    filled: dict[str, str] = {}
    complete = dict(item)
    for variable, names in _FIELDS.items():
        if variable not in offered or not _is_missing(item, variable):
            continue
        if variable in _PLACE_VARIABLES and not may_fill_place:
            continue
        if variable == "URL" and item.get("DOI"):
            continue
        complete[variable] = offered[variable]
        filled[variable] = _origin_of(found, names)
    if "author" in filled and found.work.is_authors_cut:
        mark_et_al(complete, "author")
    arxiv, custom = found.work.ids.arxiv, complete.get("custom") or {}
    if arxiv and isinstance(custom, dict) and not custom.get("arxiv_id"):
        complete["custom"] = {**custom, "arxiv_id": arxiv}
        filled["arxiv_id"] = _origin_of(found, ("ids.arxiv",))
    return FilledItem(complete, filled)


def _origin_of(found: MergedWork, names: tuple[str, ...]) -> str:
    known = (found.origins[name] for name in names if name in found.origins)
    return next(known, found.records[0].service if found.records else "")


def _is_missing(item: CslItem, variable: str) -> bool:
    value = item.get(variable)
    if variable == "issued" and isinstance(value, Mapping):
        parts = value.get("date-parts")
        is_dated = bool(parts and parts[0] and parts[0][0]) if isinstance(parts, list) else False
        return not (is_dated or value.get("literal") or value.get("raw"))
    if isinstance(value, str):
        return not value.strip()
    return not value and value != 0


def _find_contradiction(item: CslItem, offered: CslItem, kind: WorkKind | None) -> str:
    is_article = item.get("type") != "article" and not _is_missing(item, "container-title")
    is_server = _PREPRINT_SERVER.search(str(item.get("container-title") or "")) is not None
    if kind == "preprint" and is_article and not is_server:
        return "the work found is a preprint, and the item is its article"
    for variable in ("DOI", "PMID"):
        mine, theirs = item.get(variable), offered.get(variable)
        if not (isinstance(mine, str | int) and theirs):
            continue
        written = str(mine).strip()
        known = (identifier_value(Doi, written) or written) if variable == "DOI" else written
        if known and known != theirs:
            return f"the {variable} differs: {known} here, {theirs} there"
    if _is_other_work(item, offered):
        return f"title and people are those of another work: {str(offered['title'])[:120]}"
    return ""


def _is_other_work(item: CslItem, offered: CslItem) -> bool:
    """Whether title and people both differ, as where an identifier was mistyped."""
    mine, theirs = _families(item), _families(offered)
    if not mine or not theirs or not mine.isdisjoint(theirs):
        return False
    titles = [str(each.get("title") or "") for each in (item, offered)]
    if not all(titles):
        return False
    return title_likeness(squash_title(titles[0]), squash_title(titles[1])) < _ALIKE


def _families(item: CslItem) -> set[str]:
    people = item.get("author")
    return {
        fold_text(str(each["family"]))
        for each in (people if isinstance(people, list) else [])
        if isinstance(each, dict) and each.get("family")
    }


def _is_place_alike(item: CslItem, offered: CslItem) -> bool:
    """Whether volume, issue and pages agree as far as both have them, and one has no other venue.

    Names of one journal are written in many ways, so that they only speak against it where nothing
    else agrees.
    """
    agreed = 0
    for variable in ("volume", "issue", "page"):
        if not _is_missing(item, variable) and not _is_missing(offered, variable):
            if _first(item[variable]) != _first(offered[variable]):
                return False
            agreed += 1
    is_doi_same = bool(item.get("DOI")) and bool(offered.get("DOI"))
    mine, theirs = (str(each.get("container-title") or "") for each in (item, offered))
    if not mine or agreed or is_doi_same:
        return bool(theirs) or not mine
    shorts = [theirs, str(offered.get("container-title-short") or "")]
    return text_key(mine) in {text_key(each) for each in shorts}


def _first(value: object) -> str:
    """The first number of a volume or of pages, for comparing."""
    return re.split(r"[-\u2013,\s]", str(value).strip().lower())[0]
