"""Reading CSL-JSON items: names, year, identifiers, and the keys by which two are one work."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

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
ReadState = Literal["unread", "reading", "read"]
_YEAR = re.compile(r"(?<!\d)(-?\d{4})(?!\d)")
_NAME_FIELDS = (
    "author", "editor", "translator", "director", "composer", "interviewer", "recipient",
    "collection-editor",
)  # fmt: skip
_NAME_PARTS = (
    "given", "dropping-particle", "non-dropping-particle", "family", "suffix", "literal", "name",
)  # fmt: skip
# Types of works that stand in a larger one.
PARTS_OF_WORKS = frozenset(
    {"chapter", "paper-conference", "entry", "entry-encyclopedia", "entry-dictionary"}
)
# Types whose ISBN is that of the book that they stand in or are about.
_TYPES_IN_BOOKS = PARTS_OF_WORKS | {
    "article", "article-journal", "article-magazine", "article-newspaper", "review", "review-book",
    "speech",
}  # fmt: skip


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


def collections_of(item: Item) -> list[str]:
    """The paths of the collections that it is in, such as `Thesis/Chapter 1`."""
    found = custom(item).get("collections")
    return [path for path in found if isinstance(path, str)] if isinstance(found, list) else []


def nested_paths(path: str) -> list[str]:
    """A collection and those that it lies in, the outermost first."""
    parts = path.split("/")
    return ["/".join(parts[: at + 1]) for at in range(len(parts))]


def read_state_of(item: Item) -> ReadState:
    """How far it was read; whatever else was written counts as unread."""
    match custom(item).get("read_state"):
        case "read":
            return "read"
        case "reading":
            return "reading"
        case _:
            return "unread"


def former_ids(item: Item) -> list[str]:
    """The keys that it had before."""
    found = custom(item).get("former_ids")
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def is_renamed(reference_id: str, past: Item, present: Item) -> bool:
    """Whether an item of the library is the one that once was `past` and has another key since."""
    uuid = custom(past).get("uuid")
    return uuid == custom(present).get("uuid") is not None and reference_id in former_ids(present)


def under_present_key(past: Item, present: Item) -> Item:
    """What a reference said before it was renamed, with its present keys."""
    own = {**custom(past), "former_ids": former_ids(present)}
    return {**past, "id": text_of(present, "id"), "custom": own}


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
    found = [
        ("doi", doi_of(item)),
        ("pmid", pmid_of(item)),
        ("pmcid", pmcid_of(item)),
        *(("isbn", isbn_of_work(item, isbn) or isbn) for isbn in isbns_of(item)),
        ("arxiv", arxiv_of(item)),
        *((name, str(custom(item).get(f"{name}_id") or "").lower()) for name in ("eric", "scopus")),
    ]
    return [(kind, value) for kind, value in found if value]


def isbn_of_work(item: Item, isbn: str) -> str | None:
    """An ISBN with the title of a work that shares it with a whole book; None for other works."""
    if item.get("type") not in _TYPES_IN_BOOKS:
        return None
    return f"{isbn} {text_key(text_of(item, 'title'))}"


def identifier_work_keys(identifier: Identifier) -> list[WorkKey]:
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
        for key in identifier_work_keys(identifier):
            if (found := self._known.get(key)) is not None:
                return Duplicate(found, key[0])
        return None


def all_fields(item: Item) -> bytes:
    """Everything that an item says, without its key and what a library adds."""
    said = {name: value for name, value in item.items() if name not in {"id", "custom"}}
    said["type"] = item.get("type") or "document"
    # Not by orjson: a library that other programs write may hold lone surrogates.
    return json.dumps(said, sort_keys=True, default=str).encode()


def lookup_keys(item: Item) -> list[WorkKey]:
    """The keys by which a library finds records of a work or of a former key; never empty."""
    found = work_keys(item) or [("fields", hashlib.sha256(all_fields(item)).hexdigest())]
    return [*found, *map(former_key, former_ids(item))]


def former_key(reference_id: str) -> WorkKey:
    """The key by which a library finds the reference that was called so before."""
    return ("former", reference_id.lower())


class WorksByKey:
    """The items of a library by every key they have, in its order."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._places: dict[WorkKey, list[int]] = {}
        for place, item in enumerate(items):
            for key in lookup_keys(item):
                self._places.setdefault(key, []).append(place)

    def find(self, keys: Iterable[WorkKey]) -> list[Item]:
        """The items that have one of the keys."""
        places = {place for key in keys for place in self._places.get(key, ())}
        return [self._items[place] for place in sorted(places)]
