"""The search syntax of a reference library: words, "phrases", and fields such as author: or year:.
Anything typed is understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import overload

from carrel.rooms.references.items import (
    Item,
    arxiv_of,
    custom,
    doi_of,
    fold,
    fold_accents,
    isbns_of,
    keywords,
    names_text,
    pmcid_of,
    pmid_of,
    tags,
    text_of,
    year_of,
)

IDENTIFIER_FIELDS = frozenset({"id", "doi", "pmid", "pmcid", "isbn", "url", "year", "type"})
CONTENT_FIELDS = frozenset({"author", "title", "keyword", "tag"})
FIELDS = IDENTIFIER_FIELDS | CONTENT_FIELDS

_TOKEN = re.compile(r'(?:(?P<field>[A-Za-z]+):)?(?:"(?P<phrase>[^"]*)"?|(?P<word>\S+))')
_CAPITALS = re.compile(r"[A-Z]{2,}")


@dataclass(frozen=True, slots=True)
class Term:
    """One thing that must match. `exact_case` is the text with its capitals, where two of them
    stand together.
    """

    text: str
    field: str | None = None
    exact_case: str | None = None

    @property
    def words(self) -> list[str]:
        return self.text.split()


def parse(query: str) -> tuple[Term, ...]:
    """The terms of a query; all of them must match."""
    terms = []
    for found in _TOKEN.finditer(query):
        field = (found.group("field") or "").lower()
        raw = (
            found.group("phrase")
            if found.group("phrase") is not None
            else found.group("word") or ""
        )
        if field and field not in FIELDS:
            raw, field = f"{found.group('field')}:{raw}", ""
        text = fold(raw)
        if not text:
            continue
        has_capitals = _CAPITALS.search(raw) is not None and field not in IDENTIFIER_FIELDS
        exact = " ".join(fold_accents(raw).split()) if has_capitals else None
        terms.append(Term(text, field or None, exact))
    return tuple(terms)


_MANY = 64
_SHORT = 2
_REMEMBERED = 256
_WORTH_CLEANING = 2
_BREAK = "\n"


class Entry:
    """One reference as the index sees it."""

    __slots__ = ("item", "text")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.text = fold(_all_text(item))

    def matches(self, term: Term) -> bool:
        content = self.text if term.field is None else fold(_content(self.item, term.field))
        if term.text not in content:
            return False
        if term.exact_case is None:
            return True
        cased = _all_text(self.item) if term.field is None else _content(self.item, term.field)
        return term.exact_case in " ".join(fold_accents(cased).split())


class Index:
    """All references of one library. Each has a place that it keeps; `update` looks only at what
    came, changed or went.

    An item is known again by being the same object, so whoever reads the library hands over
    unchanged items as they were.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self._begin()
        self.update(items)

    def _begin(self) -> None:
        self.entries: list[Entry] = []
        self._place_of: dict[int, int] = {}
        self._words: dict[str, int] = {}
        self._text = _BREAK
        self._ends: dict[int, int] = {}
        self._postings: list[list[int] | int] = []
        self._asked: dict[str, int] = {}
        self._identifiers: dict[str, dict[str, list[int]]] = {}
        self._present = 0
        self._order: list[int] | None = None

    def update(self, items: Sequence[Item]) -> None:
        """Makes this the index of `items`."""
        places: list[int] = []
        fresh: list[Entry] = []
        for item in items:
            place = self._place_of.get(id(item))
            if place is None:
                place = len(self.entries) + len(fresh)
                self._place_of[id(item)] = place
                fresh.append(Entry(item))
            places.append(place)
        if len(self.entries) + len(fresh) > _WORTH_CLEANING * max(len(items), 1_000):
            self._begin()
            self.update(items)
            return
        self._take_in(fresh)
        self._present = _as_bits(places, len(self.entries))
        is_in_order = all(one < other for one, other in pairwise(places))
        self._order = None if is_in_order else places
        if fresh:
            self._asked.clear()

    def _take_in(self, fresh: list[Entry]) -> None:
        gathered: dict[str, list[int]] = {}
        for place, entry in enumerate(fresh, start=len(self.entries)):
            for word in set(entry.text.split()):
                gathered.setdefault(word, []).append(place)
        for field, known in self._identifiers.items():
            _gather_identifiers(known, field, fresh, len(self.entries))
        self.entries.extend(fresh)
        added: list[str] = []
        position = len(self._text)
        for word, places in gathered.items():
            number = self._words.get(word)
            if number is None:
                self._words[word] = len(self._postings)
                position += len(word)
                self._ends[position] = len(self._postings)
                position += 1
                self._postings.append(_compact(places))
                added.append(word)
                continue
            posting = self._postings[number]
            if isinstance(posting, int):
                self._postings[number] = posting | _as_bits(places, places[-1])
            else:
                self._postings[number] = _compact([*posting, *places])
        if added:
            self._text += _BREAK.join(added) + _BREAK

    def search(self, terms: Iterable[Term]) -> Sequence[Item]:
        """Every reference that all terms match, in the order of the library, taken out one by one
        as they are looked at.
        """
        candidates = self._present
        checked: list[Term] = []
        for term in terms:
            if term.field in IDENTIFIER_FIELDS:
                candidates &= self._with_identifier(term.field or "", term.text)
            else:
                for word in term.words:
                    candidates &= self._with_word(word)
                if term.field is not None or term.exact_case is not None or len(term.words) > 1:
                    checked.append(term)
            if not candidates:
                return []
        if checked:
            entries = self.entries
            kept = (
                at for at in _bits(candidates) if all(entries[at].matches(term) for term in checked)
            )
            candidates = _as_bits(kept, len(entries))
        return Found(self.entries, candidates, self._order)

    def _with_identifier(self, field: str, value: str) -> int:
        """The references whose identifier this is; the identifiers of a field are gathered when it
        is first asked for.
        """
        known = self._identifiers.get(field)
        if known is None:
            known = self._identifiers[field] = {}
            _gather_identifiers(known, field, self.entries, 0)
        return _as_bits(known.get(value, ()), len(self.entries))

    def _with_word(self, word: str) -> int:
        """The references that have the word inside one of theirs, as bits; remembered, since people
        refine their questions.
        """
        known = self._asked.get(word)
        if known is None:
            if len(self._asked) >= _REMEMBERED:
                self._asked.clear()
            known = self._asked[word] = self._ask_word(word)
        return known

    def _ask_word(self, word: str) -> int:
        if len(word) <= _SHORT:
            return _as_bits(
                (at for at, entry in enumerate(self.entries) if word in entry.text),
                len(self.entries),
            )
        bits = 0
        few: list[int] = []
        for at in self._places(word):
            posting = self._postings[at]
            if isinstance(posting, int):
                bits |= posting
            else:
                few.extend(posting)
        return bits | _as_bits(few, len(self.entries)) if few else bits

    def _places(self, word: str) -> Iterable[int]:
        """Which of the known words contain this one."""
        text, ends = self._text, self._ends
        at = text.find(word)
        while at >= 0:
            end = text.index(_BREAK, at)
            yield ends[end]
            at = text.find(word, end)


class Found(Sequence[Item]):
    """References that are counted at once and taken out only as far as somebody looks."""

    def __init__(self, entries: list[Entry], bits: int, order: list[int] | None) -> None:
        self._entries = entries
        self._bits = bits
        self._order = order

    def _places(self) -> Iterable[int]:
        bits = self._bits
        return (
            _bits(bits)
            if self._order is None
            else (place for place in self._order if bits >> place & 1)
        )

    def __len__(self) -> int:
        return self._bits.bit_count()

    @overload
    def __getitem__(self, at: int) -> Item: ...

    @overload
    def __getitem__(self, at: slice) -> list[Item]: ...

    def __getitem__(self, at: int | slice) -> Item | list[Item]:
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self))
            return [
                self._entries[place].item for place in islice(self._places(), start, stop, step)
            ]
        place = at if at >= 0 else len(self) + at
        for found in islice(self._places(), place, None):
            return self._entries[found].item
        raise IndexError(at)

    def __iter__(self) -> Iterator[Item]:
        return (self._entries[at].item for at in self._places())


def _gather_identifiers(
    known: dict[str, list[int]], field: str, entries: Sequence[Entry], first: int
) -> None:
    for place, entry in enumerate(entries, start=first):
        for found in _identifiers(entry.item, field):
            known.setdefault(found, []).append(place)


def _compact(references: list[int]) -> list[int] | int:
    return references if len(references) < _MANY else _as_bits(references, references[-1])


def _as_bits(references: Iterable[int], most: int) -> int:
    flags = bytearray(most // 8 + 1)
    for reference in references:
        flags[reference >> 3] |= 1 << (reference & 7)
    return int.from_bytes(flags, "little")


def _bits(number: int) -> Iterable[int]:
    data = number.to_bytes((number.bit_length() + 7) // 8, "little")
    for at, byte in enumerate(data):
        if byte:
            for bit in range(8):
                if byte >> bit & 1:
                    yield at * 8 + bit


def _all_text(item: Item) -> str:
    """Everything a plain word may match."""
    plain = [
        text_of(item, field)
        for field in (
            "id",
            "title",
            "title-short",
            "container-title",
            "publisher",
            "abstract",
            "note",
            "DOI",
            "URL",
        )
    ]
    numbers = [
        text_of(item, field)
        for field in (
            "PMID",
            "PMCID",
            "ISBN",
            "ISSN",
            "volume",
            "number",
            "event-title",
            "collection-title",
        )
    ]
    year = year_of(item)
    extra = [str(custom(item).get(name) or "") for name in ("arxiv_id", "eric_id", "scopus_id")]
    parts = [
        *plain,
        names_text(item),
        *keywords(item),
        *tags(item),
        *numbers,
        *extra,
        "" if year is None else str(year),
        text_of(item, "type"),
    ]
    return " ".join(part for part in parts if part)


def _content(item: Item, field: str) -> str:
    match field:
        case "author":
            return names_text(item)
        case "title":
            return f"{text_of(item, 'title')} {text_of(item, 'title-short')}"
        case "keyword":
            return "; ".join(keywords(item))
        case _:
            return "; ".join(tags(item))


def _identifiers(item: Item, field: str) -> set[str]:
    """The values a field may equal, folded."""
    year = year_of(item)
    match field:
        case "id":
            found: list[str | None] = [text_of(item, "id"), str(custom(item).get("uuid") or "")]
        case "doi":
            found = [text_of(item, "DOI"), doi_of(item)]
        case "pmid":
            found = [text_of(item, "PMID"), pmid_of(item)]
        case "pmcid":
            found = [
                text_of(item, "PMCID"),
                pmcid_of(item),
                (pmcid_of(item) or "").removeprefix("PMC"),
            ]
        case "isbn":
            found = [text_of(item, "ISBN"), *isbns_of(item)]
        case "url":
            more = custom(item).get("additional_urls")
            found = [
                text_of(item, "URL"),
                *(str(url) for url in (more if isinstance(more, list) else [])),
            ]
        case "year":
            found = [None if year is None else str(year)]
        case _:
            found = [text_of(item, "type")]
    if field == "doi" and (arxiv := arxiv_of(item)):
        found.append(f"10.48550/arxiv.{arxiv}")
    return {fold(value) for value in found if value}
