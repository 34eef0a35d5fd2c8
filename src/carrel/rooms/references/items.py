"""What the room reads out of a CSL-JSON item: names, year, identifiers, keywords, tags."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from carrel.libraries.identifiers import (
    ArxivId,
    Doi,
    Identifier,
    Isbn,
    NotAnIdentifierError,
    Pmcid,
    Pmid,
)

Item = dict[str, Any]
_YEAR = re.compile(r"(?<!\d)(-?\d{4})(?!\d)")
_NOT_LETTERS = re.compile(r"[^\w]+")
NAME_FIELDS = (
    "author",
    "editor",
    "translator",
    "director",
    "composer",
    "interviewer",
    "recipient",
    "collection-editor",
)


def fold(text: str) -> str:
    """Lower case with accents folded away and spaces made one."""
    if text.isascii():
        return " ".join(text.lower().split())
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text))
    return " ".join(
        "".join(letter for letter in decomposed if not unicodedata.combining(letter))
        .lower()
        .split()
    )


def fold_accents(text: str) -> str:
    """Accents folded away, capitals kept."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def text_of(item: Item, field: str) -> str:
    value = item.get(field)
    return (
        str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
    )


def year_of(item: Item) -> int | None:
    issued = item.get("issued")
    if isinstance(issued, dict):
        parts = issued.get("date-parts")
        if isinstance(parts, list) and parts and isinstance(parts[0], list) and parts[0]:
            try:
                return int(parts[0][0])
            except (TypeError, ValueError, OverflowError):
                pass
        issued = issued.get("literal") or issued.get("raw") or ""
    found = _YEAR.search(str(issued or ""))
    return int(found.group(1)) if found else None


def people(item: Item, field: str = "author") -> Iterator[Item]:
    found = item.get(field)
    if isinstance(found, list):
        yield from (person for person in found if isinstance(person, dict))


def family(person: Item) -> str:
    return str(
        person.get("family")
        or person.get("literal")
        or person.get("name")
        or person.get("given")
        or ""
    )


def first_family(item: Item) -> str | None:
    for field in ("author", "editor"):
        for person in people(item, field):
            return family(person) or None
    return None


def names_text(item: Item) -> str:
    found = []
    for field in NAME_FIELDS:
        for person in people(item, field):
            parts = (
                person.get(key)
                for key in (
                    "given",
                    "dropping-particle",
                    "non-dropping-particle",
                    "family",
                    "suffix",
                    "literal",
                    "name",
                )
            )
            found.append(" ".join(str(part) for part in parts if part))
    return "; ".join(found)


def custom(item: Item) -> Item:
    found = item.get("custom")
    return found if isinstance(found, dict) else {}


def keywords(item: Item) -> list[str]:
    found = item.get("keyword")
    if isinstance(found, list):
        return [str(word).strip() for word in found if str(word).strip()]
    return [word.strip() for word in str(found or "").split(";") if word.strip()]


def tags(item: Item) -> list[str]:
    found = custom(item).get("tags")
    return [str(tag) for tag in found] if isinstance(found, list) else []


def _parsed(parse: Callable[[str], object], text: str) -> str | None:
    if not text:
        return None
    try:
        return str(parse(text))
    except NotAnIdentifierError:
        return None


def doi_of(item: Item) -> str | None:
    return _parsed(Doi.parse, text_of(item, "DOI"))


def pmid_of(item: Item) -> str | None:
    return _parsed(Pmid.parse, text_of(item, "PMID"))


def pmcid_of(item: Item) -> str | None:
    return _parsed(Pmcid.parse, text_of(item, "PMCID"))


def isbns_of(item: Item) -> list[str]:
    pieces = re.split(r"[,;\s]+(?=97|\d|ISBN)", text_of(item, "ISBN"))
    return [found for piece in pieces if (found := _parsed(Isbn.parse, piece)) is not None]


def arxiv_of(item: Item) -> str | None:
    found = str(custom(item).get("arxiv_id") or "") or (
        text_of(item, "number") if "arxiv" in text_of(item, "number").lower() else ""
    )
    if not found and text_of(item, "archive").lower() == "arxiv":
        found = text_of(item, "archive_location")
    try:
        return ArxivId.parse(found).value if found else _arxiv_in_doi(item)
    except NotAnIdentifierError:
        return _arxiv_in_doi(item)


def _arxiv_in_doi(item: Item) -> str | None:
    doi = doi_of(item)
    arxiv = Doi(doi).arxiv if doi else None
    return arxiv.value if arxiv else None


def title_key(item: Item) -> str:
    """The title as letters and digits only."""
    return _NOT_LETTERS.sub(" ", fold(text_of(item, "title"))).strip()


Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Which record a new one repeats, and what gave it away."""

    reference_id: str
    by: str


def keys(item: Item) -> list[Key]:
    """What the work is known by, strongest first."""
    found = identifiers_of(item)
    title, year = title_key(item), year_of(item)
    authors = " ".join(fold(family(person)) for person in people(item))
    if title and (authors or year is not None):
        found.append(("title", f"{title}|{authors}|{year}"))
    return found


def identifiers_of(item: Item) -> list[Key]:
    """The identifiers that the work is known by, strongest first."""
    found: list[Key] = []
    if doi := doi_of(item):
        found.append(("doi", doi))
    if pmid := pmid_of(item):
        found.append(("pmid", pmid))
    if pmcid := pmcid_of(item):
        found.append(("pmcid", pmcid))
    is_part = item.get("type") in {
        "chapter",
        "paper-conference",
        "entry",
        "entry-encyclopedia",
        "entry-dictionary",
    }
    found.extend(
        ("isbn", f"{isbn} {title_key(item)}" if is_part else isbn) for isbn in isbns_of(item)
    )
    if arxiv := arxiv_of(item):
        found.append(("arxiv", arxiv))
    for name in ("eric", "scopus"):
        value = custom(item).get(f"{name}_id")
        if value:
            found.append((name, str(value).lower()))
    return found


def identifier_keys(identifier: Identifier) -> list[Key]:
    """The keys under which a library knows the work of an identifier."""
    match identifier:
        case Doi():
            arxiv = identifier.arxiv
            return [
                ("doi", identifier.value),
                *([("arxiv", arxiv.value)] if arxiv is not None else []),
            ]
        case Pmid():
            return [("pmid", identifier.value)]
        case Pmcid():
            return [("pmcid", identifier.value)]
        case ArxivId():
            return [("arxiv", identifier.value)]
        case Isbn():
            return [("isbn", identifier.value)]


class KnownIdentifiers:
    """The works of a library by their identifiers alone, which takes a fraction of the time that
    comparing works does.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._known: dict[Key, str] = {}
        for item in items:
            for key in identifiers_of(item):
                self._known.setdefault(key, str(item.get("id")))

    def find(self, identifier: Identifier) -> Duplicate | None:
        """The record of the work that the identifier names."""
        for key in identifier_keys(identifier):
            if (found := self._known.get(key)) is not None:
                return Duplicate(found, key[0])
        return None


class KnownWorks:
    """The works of a library by every key they have."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._known: dict[Key, str] = {}
        self._kinds: dict[str, set[str]] = {}
        for item in items:
            self.add(item)

    def add(self, item: Item) -> None:
        reference_id = str(item.get("id"))
        kinds = self._kinds.setdefault(reference_id, set())
        for key in keys(item):
            if self._known.setdefault(key, reference_id) == reference_id:
                kinds.add(key[0])

    def find(self, item: Item) -> Duplicate | None:
        """The record that is the same work. A title alone proves nothing where both have different
        DOIs.
        """
        for kind, value in keys(item):
            found = self._known.get((kind, value))
            if found is not None and not (
                kind == "title" and self._has_other_identifier(item, found)
            ):
                return Duplicate(found, kind)
        return None

    def _has_other_identifier(self, item: Item, reference_id: str) -> bool:
        mine = {kind for kind, _ in keys(item)} & {"doi", "pmid", "arxiv"}
        return bool(mine & self._kinds.get(reference_id, set()))
