"""Articles in JATS XML, as published by eLife, PubMed Central and others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.identifiers import Doi
from carrel.libraries.text.xml import Element, UnsafeXmlError, XmlError, parse_xml
from carrel.rooms.papers.building.models import Reading, ReadProblem, SourcePart
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.building.ports import AssetStore
from carrel.services.paper_sources.fields import (
    make_bibtex_entry,
    parse_identifier,
    unique,
)
from carrel.services.paper_sources.jats_citation import (
    read_affiliation_ids,
    read_citation_fields,
    read_editors,
    read_related_works,
)
from carrel.services.paper_sources.jats_figures import read_figures
from carrel.services.paper_sources.jats_references import read_references
from carrel.services.paper_sources.jats_text import (
    abstract_markdown,
    body_markdown,
    child,
    children,
    inline,
    plain,
)
from carrel.services.paper_sources.markdown import find_headings
from carrel.services.paper_sources.texts import join_article, one_line

_MARKS = (b"<article", b"jats", b"pmc-articleset")


class JatsReader:
    """One article or a set of them per file; skips decision letters and the like."""

    name = "jats"
    version = 3

    def accepts(self, path: Path, head: bytes) -> bool:
        suffix = path.suffix.lower()
        return suffix == ".nxml" or (
            suffix == ".xml" and any(mark in head.lower() for mark in _MARKS)
        )

    def parts(self, path: Path, companions: tuple[Path, ...]) -> Iterator[SourcePart]:
        yield SourcePart(path, companions=companions)

    def read(self, part: SourcePart, assets: AssetStore) -> Reading:
        try:
            root = parse_xml(part.path.read_bytes())
        except UnsafeXmlError:
            message = (
                "it declares entities of its own, which is refused; save it without a DTD subset"
            )
            return Reading.failed("xml_not_safe", message)
        except XmlError as error:
            return Reading.failed("xml_not_valid", f"not valid XML: {error}")
        articles = (
            [root]
            if root.tag == "article"
            else [node for node in root.iter() if node.tag == "article"]
        )
        if not articles:
            return Reading.failed("no_article", f"the XML holds <{root.tag}> and no article")
        pdf = next((path for path in part.companions if path.suffix.lower() == ".pdf"), None)
        pdf_sha256 = assets.keep_pdf(pdf) if pdf is not None and len(articles) == 1 else None
        problems: list[ReadProblem] = []
        return Reading(
            tuple(
                _paper(article, part.path.parent, assets, pdf_sha256, problems)
                for article in articles
            ),
            tuple(problems),
        )


def _paper(
    article: Element,
    folder: Path,
    assets: AssetStore,
    pdf_sha256: str | None,
    problems: list[ReadProblem],
) -> PaperRecord:
    meta = child(child(article, "front"), "article-meta")
    if meta is None:
        meta = child(article, "front-stub")
    journal = child(child(article, "front"), "journal-meta")
    title = one_line(plain(child(child(meta, "title-group"), "article-title"))) or ""
    abstract = abstract_markdown(meta)
    body = body_markdown(article)
    markdown = join_article(title, abstract, body)
    references = read_references(article)
    found = read_figures(article, folder, assets)
    return PaperRecord(
        title=title,
        authors=_authors(meta),
        bibtex=make_bibtex_entry(_csl_item(meta, journal, title)),
        institutions=_institutions(meta),
        venue=one_line(plain(_deep(journal, "journal-title")))
        or one_line(plain(_deep(journal, "journal-id"))),
        publication_date=_date(meta),
        abstract=abstract,
        keywords=_keywords(meta),
        tags=_subjects(meta),
        doi=_doi(meta, problems),
        language=one_line(article.get("lang")),
        headings=tuple(heading for heading in find_headings(body) if heading.level in {2, 3}),
        markdown_sha256=assets.keep_markdown(markdown + "\n") if body else None,
        pdf_sha256=pdf_sha256,
        images=found.images,
        references_sha256=assets.keep_references(references) if references else None,
        figures_sha256=assets.keep_figures(found.figures) if found.figures else None,
        editors=unique(_person(person) for person in read_editors(meta)),
        affiliations=_affiliations(meta),
        related=read_related_works(meta),
        origin="publisher",
        **read_citation_fields(article, meta, journal),
    )


def _csl_item(meta: Element | None, journal: Element | None, title: str) -> CslItem:
    """A CSL item with the citation fields that PaperRecord lacks, such as volume and pages."""
    first, last = (plain(child(meta, part)) for part in ("fpage", "lpage"))
    texts = {
        "title": title,
        "container-title": plain(_deep(journal, "journal-title")),
        "volume": plain(child(meta, "volume")),
        "issue": plain(child(meta, "issue")),
        "number": plain(child(meta, "elocation-id")),
        "page": f"{first}-{last}" if first and last and first != last else first,
        "ISSN": plain(_deep(journal, "issn")),
        "publisher": plain(_deep(journal, "publisher-name")),
        "DOI": _doi(meta, []) or "",
    }
    item: CslItem = {"type": "article-journal"} | {
        name: text for name, value in texts.items() if (text := one_line(value))
    }
    people = (
        person for group in children(meta, "contrib-group") for person in children(group, "contrib")
    )
    names = [
        _csl_name(person) for person in people if person.get("contrib-type", "author") == "author"
    ]
    if any(names):
        item["author"] = [name for name in names if name]
    date = _date(meta)
    if date:
        item["issued"] = {"date-parts": [[int(part) for part in date.split("-")]]}
    return item


def _csl_name(person: Element) -> dict[str, str]:
    name = _deep(person, "name")
    surname = one_line(plain(child(name, "surname"))) if name is not None else None
    if surname is None:
        literal = _person(person)
        return {"literal": literal} if literal else {}
    parts = {
        "family": surname,
        "given": one_line(plain(child(name, "given-names"))),
        "suffix": one_line(plain(child(name, "suffix"))),
    }
    return {part: text for part, text in parts.items() if text}


def _doi(meta: Element | None, problems: list[ReadProblem]) -> str | None:
    """The article's own DOI, not that of one version of it."""
    for node in children(meta, "article-id"):
        is_own = node.get("pub-id-type") == "doi" and node.get("specific-use") != "version"
        if is_own and (doi := parse_identifier(Doi, plain(node), problems)):
            return doi
    return None


def _authors(meta: Element | None) -> tuple[str, ...]:
    people = (
        person for group in children(meta, "contrib-group") for person in children(group, "contrib")
    )
    return unique(
        _person(person) for person in people if person.get("contrib-type", "author") == "author"
    )


def _person(person: Element) -> str | None:
    name = _deep(person, "name")
    if name is None:
        name = _deep(person, "string-name")
    if name is not None:
        parts = [plain(child(name, part)) for part in ("given-names", "surname", "suffix")]
        return one_line(" ".join(part for part in parts if part)) or one_line(plain(name))
    collaboration = _deep(person, "collab")
    if collaboration is None:
        return None
    # A collaboration may list all of its members inside its own element.
    own = [
        collaboration.text or "",
        *(
            inline(node) + (node.tail or "")
            for node in collaboration
            if node.tag != "contrib-group"
        ),
    ]
    return one_line("".join(own))


def _institutions(meta: Element | None) -> tuple[str, ...]:
    places = [*children(meta, "aff")]
    for group in children(meta, "contrib-group"):
        if group.get("content-type") == "section":
            continue
        places.extend(children(group, "aff"))
        for person in children(group, "contrib"):
            places.extend(children(person, "aff"))
    return unique(name for place in places for name in _institution(place))


def _affiliations(meta: Element | None) -> tuple[tuple[str, str], ...]:
    """Each author with each institution that the name points at or holds."""
    groups = list(children(meta, "contrib-group"))
    within = [place for group in groups for place in children(group, "aff")]
    by_id = {place.get("id"): place for place in (*children(meta, "aff"), *within)}
    found: dict[tuple[str, str], None] = {}
    for person in (person for group in groups for person in children(group, "contrib")):
        name = _person(person)
        if name is None or person.get("contrib-type", "author") != "author":
            continue
        linked = [by_id[each] for each in read_affiliation_ids(person) if each in by_id]
        for place in (*linked, *children(person, "aff")):
            found |= {(name, text): None for text in _institution(place) if text}
    return tuple(found)


def _institution(place: Element) -> Iterable[str | None]:
    named = [
        node
        for node in place.iter()
        if node.tag == "institution" and node.get("content-type") != "dept"
    ]
    if named:
        return [one_line(plain(node)) for node in named]
    pieces = [
        place.text or "",
        *(plain(node) + (node.tail or "") for node in place if node.tag != "label"),
    ]
    return [one_line("".join(pieces))]


def _date(meta: Element | None) -> str | None:
    dates = list(children(meta, "pub-date"))
    ranked = sorted(
        dates, key=lambda node: _date_rank(node.get("date-type") or node.get("pub-type") or "")
    )
    for node in ranked:
        year, month, day = (plain(child(node, part)) for part in ("year", "month", "day"))
        if year.isdigit():
            return "-".join(f"{int(part):02d}" for part in _leading_numbers(year, month, day))
    return None


def _leading_numbers(*parts: str) -> Iterator[str]:
    for part in parts:
        if not part.isdigit():
            return
        yield part


def _date_rank(kind: str) -> int:
    kinds = ("publication", "pub", "epub", "epreprint", "collection", "ppub")
    return kinds.index(kind) if kind in kinds else len(kinds)


def _keywords(meta: Element | None) -> tuple[str, ...]:
    groups = [
        group
        for group in children(meta, "kwd-group")
        if group.get("kwd-group-type") != "research-organism"
    ]
    return unique(
        one_line(plain(node)) for group in groups for node in group.iter() if node.tag == "kwd"
    )


def _subjects(meta: Element | None) -> tuple[str, ...]:
    groups = children(child(meta, "article-categories"), "subj-group")
    shown = [
        group
        for group in groups
        if group.get("subj-group-type") not in {"display-channel", "sub-display-channel"}
    ]
    return unique(
        one_line(plain(node)) for group in shown for node in group.iter() if node.tag == "subject"
    )


def _deep(node: Element | None, name: str) -> Element | None:
    return (
        None if node is None else next((found for found in node.iter() if found.tag == name), None)
    )
