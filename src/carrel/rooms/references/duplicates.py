"""When two records are one work: by the strongest identifier both have, else by title, authors and
year.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from carrel.libraries.identifiers import ArxivId, Doi, Identifier, Isbn, Pmcid, Pmid
from carrel.rooms.references.records import (
    Item,
    arxiv_of,
    custom,
    doi_of,
    family,
    fold,
    isbns_of,
    people,
    pmcid_of,
    pmid_of,
    title_key,
    year_of,
)

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
