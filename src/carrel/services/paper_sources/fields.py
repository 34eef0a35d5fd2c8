"""Papers as named fields: every spelling that front matter and JSON records use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from carrel.libraries.bibliography.bibtex.writer import BibtexDialect, write_bibtex
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError
from carrel.rooms.papers.building.models import BibtexEntry, PaperRecord, ReadProblem

_TITLE = ("title", "paper_title", "name")
_AUTHORS = ("authors", "paper_authors", "author")
_INSTITUTIONS = ("institutions", "paper_institutions", "affiliations")
_VENUE = ("venue", "publication_venue", "journal", "container-title", "booktitle")
_DATE = ("date", "publication_date", "published", "issued", "year")
_ABSTRACT = ("abstract", "text", "description")
_KEYWORDS = ("keywords", "keyword")
_TAGS = ("tags", "ai_generated_tags", "subjects", "categories")
_DOI = ("doi", "paper_doi")
_ARXIV = ("arxiv", "arxiv_id", "arxivid")
_KEY = ("citation_key", "citation-key", "id", "_id", "key")
_LANGUAGE = ("language", "lang", "output_language")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
# Spaces are stripped from each name later; matching them here would be quadratic.
_AUTHOR_BREAK = re.compile(r";|(?<!\s)\s+and\s+|&")
_LIST_BREAK = re.compile(r"[;,]")
_LONGEST_NAME = 2_000


@dataclass(frozen=True, slots=True)
class ParsedFields:
    """A record and what had to be left out of it."""

    record: PaperRecord
    problems: tuple[ReadProblem, ...]


def parse_fields(fields: Mapping[str, object], line: int | None = None) -> ParsedFields:
    """The paper that these fields describe; invalid identifiers are left out and reported."""
    by_name = {str(name).strip().lower().replace(" ", "_"): value for name, value in fields.items()}
    problems: list[ReadProblem] = []
    doi = parse_identifier(Doi, _first_text(by_name, _DOI), problems, line)
    arxiv_id = parse_identifier(ArxivId, _first_text(by_name, _ARXIV), problems, line)
    people = _first(by_name, _AUTHORS)
    institutions = split_names(_first(by_name, _INSTITUTIONS)) or _affiliations_of(people)
    record = PaperRecord(
        title=one_line(_first_text(by_name, _TITLE)) or "",
        authors=split_authors(people),
        institutions=institutions,
        venue=one_line(_first_text(by_name, _VENUE)),
        publication_date=_date(by_name),
        abstract=clean(_first_text(by_name, _ABSTRACT)),
        keywords=split_names(_first(by_name, _KEYWORDS)),
        tags=split_names(_first(by_name, _TAGS)),
        doi=doi,
        arxiv_id=arxiv_id,
        citation_key=one_line(_first_text(by_name, _KEY)),
        bibtex=_bibtex(by_name.get("bibtex")),
        language=one_line(_first_text(by_name, _LANGUAGE)),
    )
    return ParsedFields(record, tuple(problems))


def clean(text: str | None) -> str | None:
    """The text without control characters; None when nothing is left."""
    return (_UNPRINTABLE.sub("", text).strip() or None) if text else None


def one_line(text: str | None) -> str | None:
    return (" ".join(_UNPRINTABLE.sub("", text).split())[:_LONGEST_NAME] or None) if text else None


def unique(names: Iterable[str | None]) -> tuple[str, ...]:
    """The names in order without duplicates and empty ones."""
    return tuple(dict.fromkeys(name for name in names if name))


def split_names(value: object) -> tuple[str, ...]:
    """A list of names: from a list, a comma-separated line, or objects that have a name."""
    if isinstance(value, str):
        return unique(one_line(part) for part in _LIST_BREAK.split(value))
    if isinstance(value, Mapping):
        return unique([_name_of(value)])
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return unique(_name_of(item) for item in value)
    return ()


def split_authors(value: object) -> tuple[str, ...]:
    """Authors in order, split at 'and' and ';', and at commas if no name is inverted."""
    if not isinstance(value, str):
        return split_names(value)
    parts = _AUTHOR_BREAK.split(value)
    if len(parts) == 1 and all(" " in piece.strip() for piece in value.split(",")):
        parts = value.split(",")
    return unique(one_line(part) for part in parts)


def _name_of(item: object) -> str | None:
    if isinstance(item, Mapping):
        for name in ("name", "literal", "full_name", "value"):
            if text := _text(item.get(name)):
                return one_line(text)
        given, family = _text(item.get("given")), _text(item.get("family"))
        return one_line(" ".join(part for part in (given, family) if part))
    return one_line(_text(item))


def _affiliations_of(people: object) -> tuple[str, ...]:
    if not isinstance(people, Sequence) or isinstance(people, str):
        return ()
    found: list[str] = []
    for person in people:
        if isinstance(person, Mapping):
            for name in ("affiliations", "affiliation", "institution"):
                value = person.get(name)
                found.extend(
                    unique([one_line(value)]) if isinstance(value, str) else split_names(value)
                )
    return unique(found)


def _first(fields: Mapping[str, object], names: Iterable[str]) -> object:
    return next(
        (value for name in names if (value := fields.get(name)) not in (None, "", [], {})), None
    )


def _first_text(fields: Mapping[str, object], names: Iterable[str]) -> str | None:
    return next((text for name in names if (text := _text(fields.get(name)))), None)


def _text(value: object) -> str | None:
    match value:
        case str():
            return value.strip() or None
        case bool() | None:
            return None
        case int() | float():
            return str(value)
        case date():
            return value.isoformat()
        case [first, *_]:
            return _text(first) if isinstance(first, str) else None
        case _:
            return None


def _date(fields: Mapping[str, object]) -> str | None:
    text = one_line(_first_text(fields, _DATE))
    month = _text(fields.get("month"))
    if text and re.fullmatch(r"\d{4}", text) and month:
        return (
            f"{text}-{int(month):02d}"
            if re.fullmatch(r"0?[1-9]|1[0-2]", month)
            else f"{one_line(month)} {text}"
        )
    return text


def parse_identifier(
    kind: type[Doi] | type[ArxivId],
    text: str | None,
    problems: list[ReadProblem],
    line: int | None = None,
) -> str | None:
    """The value of a DOI or arXiv id; one that is not valid is a problem and left out."""
    if text is None or not text.strip():
        return None
    try:
        return kind.parse(text).value
    except NotAnIdentifierError:
        code, name = (
            ("doi_not_valid", "a DOI") if kind is Doi else ("arxiv_not_valid", "an arXiv id")
        )
        message = f"{text[:120]!r} is not {name}; the paper is kept without it"
        problems.append(ReadProblem(code, message, line, is_fatal=False))
        return None


_ENTRY = re.compile(r"\s*@(\w+)\s*[{(]\s*([^,\s]+)\s*,")


def _bibtex(value: object) -> BibtexEntry | None:
    key = kind = None
    if isinstance(value, Mapping):
        value, key, kind = (_text(value.get(name)) for name in ("raw", "key", "type"))
    text = clean(_text(value))
    if text is None or not (found := _ENTRY.match(text)):
        return None
    return BibtexEntry(raw=text, key=key or found.group(2), kind=(kind or found.group(1)).lower())


_HEAD = re.compile(r"@(\w+)\{([^,]*),")


def make_bibtex_entry(item: CslItem) -> BibtexEntry | None:
    """The item as BibTeX; None if no field can be written."""
    if not item.get("title"):
        return None
    # Abstracts are kept elsewhere, and notes are the collector's own.
    raw = write_bibtex(
        [
            {
                name: value
                for name, value in item.items()
                if name not in {"abstract", "note", "annote"}
            }
        ],
        BibtexDialect.BIBTEX,
    )
    found = _HEAD.match(raw)
    return BibtexEntry(raw.strip(), found.group(2), found.group(1)) if found else None
