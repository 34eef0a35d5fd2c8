"""Reading CSL-JSON items: names, year, identifiers, and the keys by which two are one work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson

from carrel.libraries.identifiers import (
    ArxivId,
    Doi,
    Identifier,
    Isbn,
    NotAnIdentifierError,
    Pmcid,
    Pmid,
)
from carrel.libraries.text.folding import text_key

Item = dict[str, Any]
_YEAR = re.compile(r"(?<!\d)(-?\d{4})(?!\d)")
_NAME_FIELDS = (
    "author", "editor", "translator", "director", "composer", "interviewer", "recipient",
    "collection-editor",
)  # fmt: skip
_NAME_PARTS = (
    "given", "dropping-particle", "non-dropping-particle", "family", "suffix", "literal", "name",
)  # fmt: skip
# Types whose ISBN is that of the work they are a part of.
_PARTS = frozenset(
    {"chapter", "paper-conference", "entry", "entry-encyclopedia", "entry-dictionary"}
)


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
    parts = (person.get(part) for part in ("family", "literal", "name", "given"))
    return next((str(part) for part in parts if part), "")


def first_family(item: Item) -> str | None:
    for field in ("author", "editor"):
        for person in people(item, field):
            return family(person) or None
    return None


def names_text(item: Item) -> str:
    """All names of an item as one text."""
    everybody = (person for field in _NAME_FIELDS for person in people(item, field))
    return "; ".join(
        " ".join(str(person[part]) for part in _NAME_PARTS if person.get(part))
        for person in everybody
    )


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


def _parse(kind: type[Identifier], text: str) -> str | None:
    try:
        return str(kind.parse(text)) if text else None
    except NotAnIdentifierError:
        return None


def doi_of(item: Item) -> str | None:
    return _parse(Doi, text_of(item, "DOI"))


def pmid_of(item: Item) -> str | None:
    return _parse(Pmid, text_of(item, "PMID"))


def pmcid_of(item: Item) -> str | None:
    return _parse(Pmcid, text_of(item, "PMCID"))


def isbns_of(item: Item) -> list[str]:
    pieces = re.split(r"[,;\s]+(?=97|\d|ISBN)", text_of(item, "ISBN"))
    return [found for piece in pieces if (found := _parse(Isbn, piece)) is not None]


def arxiv_of(item: Item) -> str | None:
    """The arXiv id without its version, from the field other tools use, or the DOI."""
    number = text_of(item, "number")
    found = str(custom(item).get("arxiv_id") or "") or (number if "arxiv" in number.lower() else "")
    if not found and text_of(item, "archive").lower() == "arxiv":
        found = text_of(item, "archive_location")
    if found:
        with suppress(NotAnIdentifierError):
            return ArxivId.parse(found).value
    doi = doi_of(item)
    arxiv = Doi(doi).arxiv if doi else None
    return arxiv.value if arxiv else None


def work_identifiers(item: Item) -> list[Identifier]:
    """The DOI, arXiv id and PubMed number of an item, as far as it has them."""
    doi, arxiv, pmid = doi_of(item), arxiv_of(item), pmid_of(item)
    found: list[Identifier] = [] if doi is None else [Doi(doi)]
    found += [] if arxiv is None else [ArxivId(arxiv)]
    return found + ([] if pmid is None else [Pmid(pmid)])


WorkKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Which record a new one repeats, and by which kind of key."""

    reference_id: str
    by: str


def work_keys(item: Item) -> list[WorkKey]:
    """The keys of the work, strongest first."""
    found = identifiers_of(item)
    title, year = text_key(text_of(item, "title")), year_of(item)
    authors = " ".join(text_key(family(person)) for person in people(item))
    if title and (authors or year is not None):
        found.append(("title", f"{title}|{authors}|{year}"))
    if title and (address := text_of(item, "URL").strip().rstrip("/")):
        # Web pages often have neither people nor a date.
        found.append(("url", f"{item.get('type') or ''}|{title}|{address}"))
    return found


def identifiers_of(item: Item) -> list[WorkKey]:
    """The identifiers of the work, strongest first."""
    within = f" {text_key(text_of(item, 'title'))}" if item.get("type") in _PARTS else ""
    found = [
        ("doi", doi_of(item)),
        ("pmid", pmid_of(item)),
        ("pmcid", pmcid_of(item)),
        *(("isbn", isbn + within) for isbn in isbns_of(item)),
        ("arxiv", arxiv_of(item)),
        *((name, str(custom(item).get(f"{name}_id") or "").lower()) for name in ("eric", "scopus")),
    ]
    return [(kind, value) for kind, value in found if value]


def _identifier_keys(identifier: Identifier) -> list[WorkKey]:
    """The keys under which a library knows the work of an identifier."""
    match identifier:
        case Doi(value=value):
            arxiv = identifier.arxiv
            return [("doi", value), *([("arxiv", arxiv.value)] if arxiv is not None else [])]
        case Pmid(value=value):
            return [("pmid", value)]
        case Pmcid(value=value):
            return [("pmcid", value)]
        case ArxivId(value=value):
            return [("arxiv", value)]
        case Isbn(value=value):
            return [("isbn", value)]


class KnownIdentifiers:
    """The works of a library by their identifiers alone, which is faster than by every key."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._known: dict[WorkKey, str] = {}
        for item in items:
            for key in identifiers_of(item):
                self._known.setdefault(key, str(item.get("id")))

    def find(self, identifier: Identifier) -> Duplicate | None:
        """The record of the work that the identifier names."""
        for key in _identifier_keys(identifier):
            if (found := self._known.get(key)) is not None:
                return Duplicate(found, key[0])
        return None


def _all_fields(item: Item) -> bytes:
    """Everything that an item says, without its key and what a library adds."""
    said = {name: value for name, value in item.items() if name not in {"id", "custom"}}
    said["type"] = item.get("type") or "document"
    return orjson.dumps(said, option=orjson.OPT_SORT_KEYS, default=str)


class KnownWorks:
    """The works of a library by every key they have."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._known: dict[WorkKey, str] = {}
        self._kinds: dict[str, set[str]] = {}
        self._nameless: dict[bytes, list[str]] = {}
        for item in items:
            self.add(item)

    def add(self, item: Item) -> None:
        reference_id = str(item.get("id"))
        kinds = self._kinds.setdefault(reference_id, set())
        keys = work_keys(item)
        if not keys:
            self._nameless.setdefault(_all_fields(item), []).append(reference_id)
        for key in keys:
            if self._known.setdefault(key, reference_id) == reference_id:
                kinds.add(key[0])

    def find(self, item: Item) -> Duplicate | None:
        """The record of the same work; titles do not count if both have other identifiers.

        What has nothing to be known by is the same with the same key and the same fields.
        """
        keys = work_keys(item)
        if not keys:
            return self._find_nameless(item)
        for kind, value in keys:
            found = self._known.get((kind, value))
            if found is not None and not (
                kind in {"title", "url"} and self._has_other_identifier(item, found)
            ):
                return Duplicate(found, kind)
        return None

    def _find_nameless(self, item: Item) -> Duplicate | None:
        key = str(item.get("id") or "").lower()
        for found in self._nameless.get(_all_fields(item), ()):
            # A key that was taken got letters behind it.
            rest = found.lower().removeprefix(key)
            if not key or (found.lower().startswith(key) and (not rest or rest.isalpha())):
                return Duplicate(found, "fields")
        return None

    def _has_other_identifier(self, item: Item, reference_id: str) -> bool:
        mine = {kind for kind, _ in work_keys(item)} & {"doi", "pmid", "arxiv"}
        return bool(mine & self._kinds.get(reference_id, set()))
