"""Papers as named fields: every spelling that front matter and JSON records use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

from carrel.libraries.bibliography.bibtex.writer import BibtexDialect, write_bibtex
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError
from carrel.rooms.papers.building.models import ReadProblem
from carrel.rooms.papers.building.paper_records import (
    CITED_FIELDS,
    BibtexEntry,
    FieldOrigin,
    Origin,
    PaperRecord,
    mark_guesses,
)
from carrel.services.paper_sources.citation_fields import editors_of, parse_citation_fields
from carrel.services.paper_sources.texts import clean, first_text, one_line, plain_value

_TITLE = ("title", "paper_title", "name")
_AUTHORS = ("authors", "paper_authors", "author", "creators", "creator")
_INSTITUTIONS = ("institutions", "paper_institutions", "affiliations")
_VENUE = (
    "venue", "publication_venue", "journal", "container_title", "booktitle", "book_title",
    "publicationtitle", "publication_title", "proceedingstitle", "proceedings_title", "conference",
    "journaltitle", "journal_title", "journal_name", "publication", "conference_name",
)  # fmt: skip
_DATE = (
    "date", "publication_date", "publicationdate", "published", "date_published", "datepublished",
    "issued", "publishdate", "publish_date", "year", "publication_year", "pub_date",
)  # fmt: skip
_YEAR = ("year", "publication_year")
_ABSTRACT = ("abstract", "abstractnote", "abstract_note", "text", "description")
_KEYWORDS = ("keywords", "keyword")
_TAGS = ("tags", "ai_generated_tags", "subjects", "categories")
_DOI = ("doi", "paper_doi")
_ARXIV = ("arxiv", "arxiv_id", "arxivid")
_KEY = ("citation_key", "citationkey", "citekey", "cite_key", "bibtex_key", "id", "_id", "key")
_LANGUAGE = ("language", "lang", "output_language")
# Objects of fields inside the front matter: Quarto's `citation`, Pandoc's `article` and `journal`.
_NESTED = ("citation", "article", "publication", "bibliographic", "paper", "zotero", "metadata")
_JOURNAL = ("journal", "venue", "container_title")
_MAX_FIELDS = 1_000
# Spaces are stripped from each name later; matching them here would be quadratic.
_AUTHOR_BREAK = re.compile(r";|(?<!\s)\s+and\s+|&")
_LIST_BREAK = re.compile(r"[;,]")
# `[[Ada Lovelace]]` and `[[people/Ada Lovelace|Ada Lovelace]]`, as notes link to people.
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|]*+\|)?([^\[\]|]++)\]\]")
# Who writes a file states its values; whose guess they were stays a guess.
_KEPT_ORIGINS = frozenset({"layout", "guess"})


@dataclass(frozen=True, slots=True)
class ParsedFields:
    """A record and what had to be left out of it."""

    record: PaperRecord
    problems: tuple[ReadProblem, ...]


def parse_fields(fields: Mapping[str, object], line: int | None = None) -> ParsedFields:
    """The paper that these fields describe; invalid identifiers are left out and reported."""
    by_name = _flatten_fields(fields)
    problems: list[ReadProblem] = []
    doi = parse_identifier(Doi, first_text(by_name, _DOI), problems, line)
    arxiv_id = parse_identifier(ArxivId, first_text(by_name, _ARXIV), problems, line)
    people = _first(by_name, _AUTHORS)
    institutions = split_names(_first(by_name, _INSTITUTIONS)) or _affiliations_of(people)
    record = PaperRecord(
        title=one_line(first_text(by_name, _TITLE)) or "",
        authors=split_authors(people),
        editors=split_authors(editors_of(by_name)),
        institutions=institutions,
        venue=_without_emphasis(one_line(first_text(by_name, _VENUE))),
        publication_date=_date(by_name),
        abstract=clean(first_text(by_name, _ABSTRACT)),
        keywords=split_names(_first(by_name, _KEYWORDS)),
        tags=split_names(_first(by_name, _TAGS)),
        doi=doi,
        arxiv_id=arxiv_id,
        citation_key=one_line(first_text(by_name, _KEY)),
        bibtex=_bibtex(by_name.get("bibtex")),
        language=one_line(first_text(by_name, _LANGUAGE)),
        affiliations=_pair_affiliations(people),
        origins=_kept_origins(by_name),
        **parse_citation_fields(by_name),
    )
    return ParsedFields(record, tuple(problems))


def _flatten_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """Fields by name in lower case with `_`; nested ones fill what the outer ones do not say."""
    by_name = _by_plain_name(fields)
    for name in _NESTED:
        if isinstance(inner := by_name.get(name), Mapping):
            del by_name[name]
            by_name = {**_by_plain_name(inner), **by_name}
    for name in _JOURNAL:
        if isinstance(inner := by_name.get(name), Mapping):
            journal = _by_plain_name(inner)
            titles = ("name", "title", "journal_title", "full_name", "abbrev_title")
            by_name[name] = first_text(journal, titles)
            outer = {key for key in titles if key in journal}
            by_name = {key: each for key, each in journal.items() if key not in outer} | by_name
    return by_name


def _by_plain_name(fields: Mapping[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in islice(fields.items(), _MAX_FIELDS):
        plain = str(name).strip().lower().replace(" ", "_").replace("-", "_")
        if value not in (None, "", [], {}):
            found.setdefault(plain, value)
    return found


def _without_emphasis(text: str | None) -> str | None:
    """`*Nature*` and `[[Nature]]` without their marks."""
    return one_line(_WIKI_LINK.sub(r"\1", text).strip("*_ ")) if text else None


def _kept_origins(fields: Mapping[str, object]) -> tuple[FieldOrigin, ...]:
    """What an export of ours marks as inferred or read from a page, which it stays."""
    found: dict[str, FieldOrigin] = {}
    named = fields.get("origins")
    if isinstance(named, Mapping):
        for shown, value in islice(named.items(), _MAX_FIELDS):
            name = "kind" if shown == "type" else str(shown)
            if name not in CITED_FIELDS or not isinstance(value, Mapping):
                continue
            origin, confidence = value.get("origin"), value.get("confidence")
            is_number = isinstance(confidence, int | float) and 0 <= confidence <= 1
            if origin in _KEPT_ORIGINS and is_number:
                found[name] = FieldOrigin(name, cast("Origin", origin), float(confidence or 0))
    inferred = fields.get("inferred")
    if isinstance(inferred, Sequence) and not isinstance(inferred, str):
        for guess in mark_guesses(*(name for name in CITED_FIELDS if name in inferred)):
            found.setdefault(guess.field, guess)
    return tuple(found.values())


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
    value = _WIKI_LINK.sub(r"\1", value)
    parts = _AUTHOR_BREAK.split(value)
    if len(parts) == 1 and all(" " in piece.strip() for piece in value.split(",")):
        parts = value.split(",")
    return unique(one_line(part) for part in parts)


def _name_of(item: object) -> str | None:
    if isinstance(item, Mapping):
        inner = item.get("name")
        whole = inner if isinstance(inner, Mapping) else item
        item = {str(name).lower(): value for name, value in islice(whole.items(), _MAX_FIELDS)}
        for name in ("name", "literal", "full_name", "value"):
            if text := plain_value(item.get(name)):
                return one_line(text)
        given, family = (
            next((text for name in names if (text := plain_value(item.get(name)))), None)
            for names in _NAME_PARTS
        )
        particle = plain_value(item.get("non-dropping-particle"))
        suffix = plain_value(item.get("suffix"))
        return one_line(" ".join(part for part in (given, particle, family, suffix) if part))
    if isinstance(item, list) and len(item) == 1:
        # `[[Ada Lovelace]]` without quotes is a list in a list.
        return _name_of(item[0])
    text = plain_value(item)
    return one_line(_WIKI_LINK.sub(r"\1", text)) if text else None


_NAME_PARTS = (
    ("given", "firstname", "first_name", "given_names", "given-names", "first"),
    ("family", "lastname", "last_name", "surname", "last"),
)


def _pair_affiliations(people: object) -> tuple[tuple[str, str], ...]:
    """Each author with each institution that is named beside the name."""
    if not isinstance(people, Sequence) or isinstance(people, str):
        return ()
    return tuple(
        (name, institution)
        for person in people
        if isinstance(person, Mapping) and (name := _name_of(person))
        for institution in _affiliations_of([person])
    )


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


def _date(fields: Mapping[str, object]) -> str | None:
    text = next((date for name in _DATE if (date := _date_text(fields.get(name)))), None)
    year = one_line(first_text(fields, _YEAR))
    if text and year and re.fullmatch(r"\d{4}", year) and year not in text:
        # The date of a note about the paper, then, or of its file.
        text = year
    month, day = (one_line(first_text(fields, (name,))) for name in ("month", "day"))
    if text and re.fullmatch(r"\d{4}", text) and month:
        if not re.fullmatch(r"0?[1-9]|1[0-2]", month):
            return f"{month} {text}"
        whole = f"{text}-{int(month):02d}"
        is_day = day is not None and re.fullmatch(r"0?[1-9]|[12]\d|3[01]", day)
        return f"{whole}-{int(day):02d}" if day and is_day else whole
    return text


def _date_text(value: object) -> str | None:
    """A date as text, also of CSL's `date-parts` and of an object with year, month and day."""
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        value = value[0]
    if not isinstance(value, Mapping):
        return one_line(plain_value(value))
    match value.get("date-parts"):
        case [[*parts], *_] | [*parts]:
            pass
        case _:
            parts = [value.get(name) for name in ("year", "month", "day")]
    numbers: list[str] = []
    for part in parts[:3]:
        number = str(part)
        if not re.fullmatch(r"\d{1,4}", number):
            break
        numbers.append(number.zfill(2))
    return "-".join(numbers) or one_line(plain_value(value.get("literal") or value.get("raw")))


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
        value, key, kind = (plain_value(value.get(name)) for name in ("raw", "key", "type"))
    text = clean(plain_value(value))
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
