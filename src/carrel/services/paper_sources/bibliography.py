"""Papers without text from BibTeX, RIS, CSL-JSON, NBIB, PubMed XML and EndNote."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from carrel.libraries.bibliography.bibtex.fields import TitleCase
from carrel.libraries.bibliography.bibtex.reader import read_bibtex
from carrel.libraries.bibliography.csl_json import read_csl_json
from carrel.libraries.bibliography.endnote_xml import read_endnote_xml
from carrel.libraries.bibliography.file_links import read_file_links
from carrel.libraries.bibliography.imports import (
    ORIGIN_MARK,
    BibliographyError,
    CslItem,
    ImportResult,
    decode,
)
from carrel.libraries.bibliography.nbib import read_nbib
from carrel.libraries.bibliography.pubmed_xml import read_pubmed_xml
from carrel.libraries.bibliography.refer import read_refer
from carrel.libraries.bibliography.ris import read_ris
from carrel.libraries.identifiers import ArxivId, Doi, Pmid, identifier_value
from carrel.rooms.papers.building.models import Reading, ReadProblem, SourcePart
from carrel.rooms.papers.building.paper_records import (
    CITED_FIELDS,
    BibtexEntry,
    FieldOrigin,
    PaperRecord,
    TextOrigin,
    mark_guesses,
)
from carrel.rooms.papers.building.ports import AssetStore
from carrel.services.paper_sources.citation_fields import (
    read_isbn,
    read_issn,
    read_pages,
    read_pmcid,
    read_url,
    short_text,
)
from carrel.services.paper_sources.fields import (
    make_bibtex_entry,
    parse_identifier,
    split_names,
    unique,
)
from carrel.services.paper_sources.texts import clean, one_line

_BIBTEX = frozenset({".bib", ".bibtex", ".biblatex"})
_TAG = re.compile(r"</?(?:i|b|sub|sup|span|sc)\b[^<>]{0,200}>", re.IGNORECASE)
_ENTRY = re.compile(r"@\s*(\w+)\s*[{(]\s*([^,\s{}()]*)")
# Where formats keep the names of attached files.
_FILE_FIELDS = ("file", "pdf", "local-url", "attachments", "l1", "l2", "l3", "l4")
_TEXT_ORIGIN = ("format", "sha256", "retrieved_at", "version", "licence", "service")
_CSL_MARKS = (b'"type"', b'"title"')
_ARTICLE_TYPES = frozenset({"article", "article-journal", "article-magazine", "review"})


def _read_bibtex(content: bytes) -> ImportResult:
    return read_bibtex(content, TitleCase.AS_WRITTEN)


class BibliographyReader:
    """Detects the format by the file's name, and for XML and JSON by its first bytes."""

    name = "bibliography"
    version = 3

    def accepts(self, path: Path, head: bytes) -> bool:
        return _format_of(path, head) is not None

    def parts(self, path: Path, companions: tuple[Path, ...]) -> Iterator[SourcePart]:
        yield SourcePart(path)

    def read(self, part: SourcePart, assets: AssetStore) -> Reading:
        raw = part.path.read_bytes()
        read = _format_of(part.path, raw[:4096])
        if read is None:
            return Reading.failed("unknown_kind", "no bibliography format that is known")
        try:
            imported = read(raw)
        except BibliographyError as error:
            return Reading.failed("bibliography_not_valid", str(error))
        written = (
            _bibtex_entries(raw, [found.line for found in imported.items])
            if read is _read_bibtex
            else {}
        )
        problems = [
            *(
                ReadProblem("entry_not_valid", failure.reason, failure.line)
                for failure in imported.failures
            ),
            *(
                ReadProblem("entry_mended", warning.message, warning.line, is_fatal=False)
                for warning in imported.warnings
            ),
        ]
        records = tuple(
            _record(
                found.item,
                written.get(found.line) or make_bibtex_entry(found.item),
                found.line,
                problems,
                part.path.absolute().parent,
            )
            for found in imported.items
        )
        return Reading(records, tuple(problems))


def _format_of(path: Path, head: bytes) -> Callable[[bytes], ImportResult] | None:
    match path.suffix.lower():
        case suffix if suffix in _BIBTEX:
            return _read_bibtex
        case ".ris":
            return read_ris
        case ".nbib":
            return read_nbib
        case ".enw":
            return read_refer
        case ".json" if all(mark in head for mark in _CSL_MARKS):
            return read_csl_json
        case ".xml" if b"<PubmedArticle" in head or b"<PubmedBookArticle" in head:
            return read_pubmed_xml
        case ".xml" if b"<records" in head or b"<xml><records" in head:
            return read_endnote_xml
        case _:
            return None


def _record(
    item: CslItem,
    entry: BibtexEntry | None,
    line: int,
    problems: list[ReadProblem],
    folder: Path,
) -> PaperRecord:
    custom = item["custom"] if isinstance(item.get("custom"), Mapping) else {}
    is_published = custom.get(ORIGIN_MARK) == "publisher"
    kind = _only_text(item.get("type"))
    return PaperRecord(
        title=_plain_text(item.get("title")) or "",
        authors=_people(item.get("author")) or _people(item.get("editor")),
        editors=_people(item.get("editor")) if item.get("author") else (),
        venue=_plain_text(item.get("container-title"))
        or _plain_text(item.get("event-title"))
        or _plain_text(item.get("publisher")),
        publication_date=_date(item.get("issued")),
        abstract=clean(_TAG.sub("", text))
        if isinstance(text := item.get("abstract"), str)
        else None,
        keywords=split_names(item.get("keyword")),
        doi=parse_identifier(Doi, _only_text(item.get("DOI")), problems, line),
        arxiv_id=parse_identifier(ArxivId, _only_text(custom.get("arxiv_id")), []),
        citation_key=_plain_text(item.get("id")),
        bibtex=entry,
        language=_plain_text(item.get("language")),
        kind=kind if kind != "document" else None,
        volume=short_text(_plain_text(item.get("volume"))),
        issue=short_text(_plain_text(item.get("issue"))),
        pages=read_pages(_plain_text(item.get("page")) or _article_number(item)),
        publisher=short_text(_plain_text(item.get("publisher"))),
        pmid=identifier_value(Pmid, _plain_text(item.get("PMID"))),
        pmcid=read_pmcid(_plain_text(item.get("PMCID"))),
        isbn=read_isbn(_plain_text(item.get("ISBN"))),
        issn=read_issn(_plain_text(item.get("ISSN"))),
        url=read_url(_plain_text(item.get("URL"))),
        license=short_text(_plain_text(item.get("license"))),
        files=_linked_files(custom.get("fields"), folder),
        origin="publisher" if is_published else "list",
        origins=_marked_guesses(custom.get("inferred")),
        text_origin=_text_origin(custom.get("text_origin")),
    )


def _text_origin(value: object) -> TextOrigin | None:
    """Where the text was fetched, as the literature room writes it beside a record."""
    if not isinstance(value, Mapping):
        return None
    found = {name: short_text(_plain_text(value.get(name))) for name in _TEXT_ORIGIN}
    url = read_url(_plain_text(value.get("url")))
    kind, sha256, when = (found.pop(name) for name in ("format", "sha256", "retrieved_at"))
    if not url or not kind or not sha256 or not when:
        return None
    return TextOrigin(url, kind, sha256, when, **found)


def _linked_files(fields: object, folder: Path) -> tuple[str, ...]:
    """The files that an entry names, as absolute names; nothing is opened."""
    if not isinstance(fields, Mapping):
        return ()
    named = [
        link
        for name in _FILE_FIELDS
        if isinstance(value := fields.get(name), str)
        for link in read_file_links(value)
    ]
    # Mendeley leaves out the first slash of an absolute path.
    named += [f"/{link}" for link in named if link.startswith(("home/", "Users/"))]
    return unique(
        os.path.normpath(folder / _local_name(link)) for link in named if "\0" not in link
    )


def _local_name(link: str) -> str:
    """A link as a path of this system: lists travel between systems."""
    return link if os.sep == "\\" else link.replace("\\", "/")


def _article_number(item: CslItem) -> str | None:
    """What articles have that are not on pages of an issue."""
    if item.get("type") not in _ARTICLE_TYPES:
        return None
    return _plain_text(item.get("article-number")) or _plain_text(item.get("number"))


def _marked_guesses(names: object) -> tuple[FieldOrigin, ...]:
    """What an export of ours marks as inferred stays so."""
    if not isinstance(names, Sequence) or isinstance(names, str):
        return ()
    return mark_guesses(*(name for name in CITED_FIELDS if name in names))


def _only_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _plain_text(value: object) -> str | None:
    return one_line(_TAG.sub("", str(value))) if isinstance(value, str | int) else None


def _people(value: object) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    return unique(_person(person) for person in value if isinstance(person, Mapping))


def _person(person: Mapping[str, object]) -> str | None:
    if literal := _plain_text(person.get("literal")):
        return literal
    parts = ("given", "dropping-particle", "non-dropping-particle", "family", "suffix")
    return one_line(" ".join(text for part in parts if (text := _plain_text(person.get(part)))))


def _date(value: object) -> str | None:
    if not isinstance(value, Mapping):
        return None
    match value.get("date-parts"):
        case [[int() | str() as year, *rest], *_]:
            numbers = [str(year), *(str(part) for part in rest[:2] if str(part).isdigit())]
            return "-".join(
                number if place == 0 else number.zfill(2) for place, number in enumerate(numbers)
            )
        case _:
            return _plain_text(value.get("literal")) or _plain_text(value.get("raw"))


def _bibtex_entries(raw: bytes, lines: Sequence[int]) -> dict[int, BibtexEntry]:
    """Each entry verbatim, by the line it begins on."""
    rows = decode(raw)[0].splitlines(keepends=True)
    found: dict[int, BibtexEntry] = {}
    for start, end in pairwise([*sorted(set(lines)), len(rows) + 1]):
        text = "".join(rows[start - 1 : end - 1])
        if head := _ENTRY.search(text):
            written = clean(_balanced(text[head.start() :]))
            if written:
                found[start] = BibtexEntry(written, head.group(2), head.group(1).lower())
    return found


def _balanced(text: str) -> str:
    """Up to the bracket that closes the entry, or all of it when none does."""
    opening = next((letter for letter in text if letter in "{("), "{")
    closing = {"{": "}", "(": ")"}[opening]
    depth = 0
    for at, letter in enumerate(text):
        if letter == opening and (at == 0 or text[at - 1] != "\\"):
            depth += 1
        elif letter == closing and text[at - 1] != "\\":
            depth -= 1
            if depth == 0:
                return text[: at + 1]
    return text
