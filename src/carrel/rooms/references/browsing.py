"""The library in sorted order: views that are kept per library and brought up to date by parts."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, TypeVar

from carrel.core.errors import InvalidInputError
from carrel.libraries.query.language import YearRange
from carrel.libraries.text.folding import fold_text
from carrel.rooms.references.browsing_models import (
    BrowsedReferences,
    BrowsePlace,
    BrowseReferences,
    TypeCount,
)
from carrel.rooms.references.items import (
    Item,
    collections_of,
    read_state_of,
    tags,
    text_of,
    year_of,
)
from carrel.rooms.references.library_rows import (
    SORT_VALUES,
    SortValue,
    describe_row,
    has_fulltext,
)
from carrel.rooms.references.organizing import is_within
from carrel.rooms.references.ports import Library, LibrarySnapshot
from carrel.rooms.references.queries import (
    AllTerms,
    NotTerm,
    ReferenceNode,
    ReferenceQuery,
    ReferenceTerm,
    parse_reference_query,
)

ResultT = TypeVar("ResultT")
# The value that is sorted by, the id, and the item itself.
SortedEntry = tuple[SortValue, str, Item]

# Views are kept for the libraries that were browsed last; each list has 8 bytes a reference, each
# sort about 200 more.
_LIBRARIES_KEPT = 4
_SELECTIONS_KEPT = 24
_IN_ORDER = itemgetter(0, 1)


@dataclass(frozen=True, slots=True)
class RowFilter:
    """What rows must have; `query` is a text whose matches are looked up beforehand."""

    query: str = ""
    type: str = ""
    first_year: int | None = None
    last_year: int | None = None
    has_fulltext: bool | None = None
    collection: str = ""
    tag: str = ""
    read_state: str = ""

    @property
    def is_open(self) -> bool:
        return self == RowFilter()

    def fits(self, item: Item, matches: frozenset[str] | None) -> bool:
        if self.type and text_of(item, "type") != self.type:
            return False
        if self.has_fulltext is not None and has_fulltext(item) is not self.has_fulltext:
            return False
        if self.first_year is not None or self.last_year is not None:
            year = year_of(item)
            if (
                year is None
                or (self.first_year is not None and year < self.first_year)
                or (self.last_year is not None and year > self.last_year)
            ):
                return False
        return self._fits_groups(item) and (matches is None or str(item.get("id")) in matches)

    def _fits_groups(self, item: Item) -> bool:
        if self.tag and self.tag not in tags(item):
            return False
        if self.read_state and read_state_of(item) != self.read_state:
            return False
        return not self.collection or any(
            is_within(path, self.collection) for path in collections_of(item)
        )


class LibraryView:
    """One state of one library in every order that was asked for."""

    def __init__(self, snapshot: LibrarySnapshot, former: LibraryView | None = None) -> None:
        self.generation = snapshot.generation
        self.items = snapshot.items
        self._sorted: dict[str, list[SortedEntry]] = {}
        # Orders of the state before, taken over when they are asked for.
        self._former: dict[str, list[SortedEntry]] = (
            {} if former is None else {**former._former, **former._sorted}
        )
        self._selections: OrderedDict[Hashable, Any] = OrderedDict()

    def order(self, sort: str) -> list[SortedEntry]:
        """Every reference, ascending."""
        found = self._sorted.get(sort)
        if found is None:
            found = self._sorted[sort] = self._sort(sort, self._former.pop(sort, None))
        return found

    def _sort(self, sort: str, before: list[SortedEntry] | None) -> list[SortedEntry]:
        value_of = SORT_VALUES[sort]
        present = {id(item) for item in self.items}
        kept = [] if before is None else [entry for entry in before if id(entry[2]) in present]
        # Items are the same objects while their text is the same, and `before` holds them.
        known = {id(entry[2]) for entry in kept}
        fresh = [
            (value_of(item), str(item.get("id")), item)
            for item in self.items
            if id(item) not in known
        ]
        merged = kept + fresh
        merged.sort(key=_IN_ORDER)
        return merged

    def select(
        self, sort: str, rows: RowFilter, matches: frozenset[str] | None
    ) -> list[SortedEntry]:
        """The references that fit, ascending."""
        if rows.is_open:
            return self.order(sort)
        return self.keep(
            (sort, rows),
            lambda: [entry for entry in self.order(sort) if rows.fits(entry[2], matches)],
        )

    def count_types(self, rows: RowFilter, matches: frozenset[str] | None) -> list[TypeCount]:
        """How many references of each type fit, the most frequent first."""
        asked = replace(rows, type="")

        def count() -> list[TypeCount]:
            found = Counter(
                text_of(item, "type") or "document"
                for item in self.items
                if asked.is_open or asked.fits(item, matches)
            )
            ranked = sorted(found.items(), key=lambda each: (-each[1], each[0]))
            return [TypeCount(type=name, count=number) for name, number in ranked]

        return self.keep(("types", asked), count)

    def keep(self, key: Hashable, make: Callable[[], ResultT]) -> ResultT:
        """What was made for the key; the oldest are forgotten."""
        if key in self._selections:
            self._selections.move_to_end(key)
        else:
            self._selections[key] = make()
            while len(self._selections) > _SELECTIONS_KEPT:
                self._selections.popitem(last=False)
        found: ResultT = self._selections[key]
        return found

    def has_kept(self, key: Hashable) -> bool:
        return key in self._selections


class LibraryBrowser:
    """Answers pages of a sorted and filtered library; views are kept by their owner."""

    def __init__(self) -> None:
        self._views: OrderedDict[str, LibraryView] = OrderedDict()
        self._locks: dict[str, asyncio.Lock] = {}

    async def browse(
        self, question: BrowseReferences, owner: str, library: Library
    ) -> BrowsedReferences:
        rows = RowFilter(
            query=" ".join(question.query.split()),
            type=question.type,
            first_year=question.first_year,
            last_year=question.last_year,
            has_fulltext=question.has_fulltext,
            collection=question.collection,
            tag=question.tag,
            read_state=question.read_state or "",
        )
        view = await self._view(owner, library)
        if question.sort == "relevance":
            return await self._rank(question, rows, view, library)
        async with self._locks.setdefault(owner, asyncio.Lock()):
            matches = await self._find_matches(rows.query, view, library)
            return await asyncio.to_thread(_answer, question, rows, view, matches)

    async def _view(self, owner: str, library: Library) -> LibraryView:
        snapshot = await library.snapshot()
        view = self._views.get(owner)
        if view is None or view.generation != snapshot.generation:
            view = self._views[owner] = LibraryView(snapshot, view)
        self._views.move_to_end(owner)
        while len(self._views) > _LIBRARIES_KEPT:
            forgotten, _ = self._views.popitem(last=False)
            self._locks.pop(forgotten, None)
        return view

    async def _find_matches(
        self, query: str, view: LibraryView, library: Library
    ) -> frozenset[str] | None:
        """The ids of the references that match, or None where all do."""
        if not query:
            return None
        key = ("matches", query)
        if not view.has_kept(key):
            found = await library.find_ids(parse_reference_query(query))
            return view.keep(key, lambda: frozenset(found))
        return view.keep(key, frozenset)

    async def _rank(
        self, question: BrowseReferences, rows: RowFilter, view: LibraryView, library: Library
    ) -> BrowsedReferences:
        if not rows.query:
            raise InvalidInputError(
                "Sorting by relevance needs a query", next_step="Give words, or sort otherwise."
            )
        query = _narrow(parse_reference_query(rows.query), rows)
        found = await library.search(query, question.position, question.limit)
        matches = await self._find_matches(rows.query, view, library)
        types = await asyncio.to_thread(view.count_types, rows, matches)
        return BrowsedReferences(
            total=found.total,
            library_total=len(view.items),
            position=question.position,
            generation=view.generation,
            rows=[describe_row(item) for item in found.items],
            types=types,
            is_partial=found.is_partial,
        )


def _narrow(query: ReferenceQuery, rows: RowFilter) -> ReferenceQuery:
    """The query with the filters as terms of it."""
    parts: list[ReferenceNode] = [] if query.node is None else [query.node]
    if rows.type:
        parts.append(ReferenceTerm(fold_text(rows.type), "type"))
    for field, value in (
        ("collection", rows.collection), ("tagged", rows.tag), ("read", rows.read_state)
    ):  # fmt: skip
        if value:
            parts.append(ReferenceTerm(fold_text(value), field))
    if rows.has_fulltext is not None:
        term = ReferenceTerm("fulltext", "has")
        parts.append(term if rows.has_fulltext else NotTerm(term))
    if rows.first_year is not None or rows.last_year is not None:
        parts.append(YearRange(rows.first_year, rows.last_year))
    if not parts:
        return query
    return replace(query, node=parts[0] if len(parts) == 1 else AllTerms(tuple(parts)))


def _answer(
    question: BrowseReferences, rows: RowFilter, view: LibraryView, matches: frozenset[str] | None
) -> BrowsedReferences:
    entries = view.select(question.sort, rows, matches)
    total = len(entries)
    first, last = _find_bounds(question, entries)
    shown = (
        entries[max(0, total - last) : total - first][::-1]
        if question.is_descending
        else entries[first:last]
    )
    return BrowsedReferences(
        total=total,
        library_total=len(view.items),
        position=first,
        generation=view.generation,
        rows=[describe_row(entry[2]) for entry in shown],
        types=view.count_types(rows, matches),
        previous=_place(shown[0]) if shown and first > 0 else None,
        next=_place(shown[-1]) if shown and last < total else None,
    )


def _find_bounds(question: BrowseReferences, entries: Sequence[SortedEntry]) -> tuple[int, int]:
    """The first row that is shown, and the one after the last, in the order of the question."""
    total = len(entries)
    if question.after is not None:
        wanted = _read_place(question.sort, question.after)
        first = (
            total - bisect_left(entries, wanted, key=_IN_ORDER)
            if question.is_descending
            else bisect_right(entries, wanted, key=_IN_ORDER)
        )
    elif question.before is not None:
        wanted = _read_place(question.sort, question.before)
        last = (
            total - bisect_right(entries, wanted, key=_IN_ORDER)
            if question.is_descending
            else bisect_left(entries, wanted, key=_IN_ORDER)
        )
        first = max(0, last - question.limit)
    else:
        first = min(question.position, total)
    return first, min(first + question.limit, total)


def _place(entry: SortedEntry) -> BrowsePlace:
    return BrowsePlace(value=str(entry[0]), id=entry[1][:500])


def _read_place(sort: str, place: BrowsePlace) -> tuple[SortValue, str]:
    if sort != "year":
        return place.value, place.id
    try:
        return int(place.value[:20]), place.id
    except ValueError:
        raise InvalidInputError(
            "The place in an order by year must be a year", next_step="Go back to the first page."
        ) from None
