"""Search of a library in memory: the query syntax, and an index of the words of all references.

A query word matches inside any word. So all words are one long text that is scanned for it, and
each word has its postings: a list of a few places, or a bit set of many.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from typing import overload

from carrel.libraries.text.folding import fold_text
from carrel.rooms.references.items import (
    Item,
    arxiv_of,
    custom,
    doi_of,
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

_TEXT_FIELDS = (
    "id", "title", "title-short", "container-title", "publisher", "abstract", "note", "DOI", "URL",
)  # fmt: skip
_NUMBER_FIELDS = (
    "PMID", "PMCID", "ISBN", "ISSN", "volume", "number", "event-title", "collection-title",
)  # fmt: skip
_TOKEN = re.compile(r'(?:(?P<field>[A-Za-z]+):)?(?:"(?P<phrase>[^"]*)"?|(?P<word>\S+))')
_CAPITALS = re.compile(r"[A-Z]{2,}")

# From this many references on a word has their bits instead of a list.
_MANY_REFERENCES = 64
# Words of at most this length are looked for in the text of every reference.
_SHORT_WORD = 2
_CACHED_WORDS = 256
# An index that is this many times as long as the library is made anew.
_REBUILD_FACTOR = 2
_SEPARATOR = "\n"


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One text that must match. `exact_case` has its capitals, where two of them are adjacent."""

    text: str
    field: str | None = None
    exact_case: str | None = None

    @property
    def words(self) -> list[str]:
        return self.text.split()


def parse_query(query: str) -> tuple[QueryTerm, ...]:
    """The terms of a query, of which all must match. Any text is a query."""
    terms = []
    for found in _TOKEN.finditer(query):
        field = (found["field"] or "").lower()
        raw = found["phrase"] if found["phrase"] is not None else found["word"] or ""
        if field and field not in FIELDS:
            raw, field = f"{found['field']}:{raw}", ""
        text = fold_text(raw)
        if text:
            has_capitals = _CAPITALS.search(raw) is not None and field not in IDENTIFIER_FIELDS
            terms.append(
                QueryTerm(text, field or None, _fold_keeping_case(raw) if has_capitals else None)
            )
    return tuple(terms)


def _fold_keeping_case(text: str) -> str:
    composed = text if text.isascii() else unicodedata.normalize("NFC", text)
    folded = composed if composed.isascii() else "".join(map(_fold_character, composed))
    return " ".join(folded.split())


@lru_cache(4096)
def _fold_character(character: str) -> str:
    if character.isspace():
        return character
    folded = fold_text(character)
    return folded.upper() if character.isupper() else folded


class IndexedReference:
    """A reference with its folded text."""

    __slots__ = ("item", "text")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.text = fold_text(_all_text(item))

    def matches(self, term: QueryTerm) -> bool:
        content = self.text if term.field is None else fold_text(_content(self.item, term.field))
        if term.text not in content:
            return False
        if term.exact_case is None:
            return True
        cased = _all_text(self.item) if term.field is None else _content(self.item, term.field)
        return term.exact_case in _fold_keeping_case(cased)


class ReferenceIndex:
    """The references of one library, each at a fixed place.

    `update` detects changes by object identity: hand over unchanged items as the same objects.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self._begin()
        self.update(items)

    def _begin(self) -> None:
        self.entries: list[IndexedReference] = []
        self._place_of: dict[int, int] = {}
        self._words: dict[str, int] = {}
        self._text = _SEPARATOR
        self._ends: dict[int, int] = {}
        self._postings: list[list[int] | int] = []
        self._word_cache: dict[str, int] = {}
        self._identifiers: dict[str, dict[str, list[int]]] = {}
        self._present = 0
        self._order: list[int] | None = None

    def update(self, items: Sequence[Item]) -> None:
        """Update the index to `items`."""
        places: list[int] = []
        fresh: list[IndexedReference] = []
        for item in items:
            place = self._place_of.get(id(item))
            if place is None:
                place = len(self.entries) + len(fresh)
                self._place_of[id(item)] = place
                fresh.append(IndexedReference(item))
            places.append(place)
        if len(self.entries) + len(fresh) > _REBUILD_FACTOR * max(len(items), 1_000):
            self._begin()
            self.update(items)
            return
        self._take_in(fresh)
        self._present = _as_bits(places, len(self.entries))
        is_in_order = all(one < other for one, other in pairwise(places))
        self._order = None if is_in_order else places
        if fresh:
            self._word_cache.clear()

    def _take_in(self, fresh: list[IndexedReference]) -> None:
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
            self._text += _SEPARATOR.join(added) + _SEPARATOR

    def search(self, terms: Iterable[QueryTerm]) -> Sequence[Item]:
        """Every reference that all terms match, in the order of the library."""
        candidates = self._present
        checked: list[QueryTerm] = []
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
        return SearchHits(self.entries, candidates, self._order)

    def _with_identifier(self, field: str, value: str) -> int:
        """A bit set of the references with this identifier; fields are indexed on first use."""
        known = self._identifiers.get(field)
        if known is None:
            known = self._identifiers[field] = {}
            _gather_identifiers(known, field, self.entries, 0)
        return _as_bits(known.get(value, ()), len(self.entries))

    def _with_word(self, word: str) -> int:
        """A bit set of the references with the text inside a word; cached for refined queries."""
        known = self._word_cache.get(word)
        if known is None:
            if len(self._word_cache) >= _CACHED_WORDS:
                self._word_cache.clear()
            known = self._word_cache[word] = self._ask_word(word)
        return known

    def _ask_word(self, word: str) -> int:
        if len(word) <= _SHORT_WORD:
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
            end = text.index(_SEPARATOR, at)
            yield ends[end]
            at = text.find(word, end)


class SearchHits(Sequence[Item]):
    """References that are counted at once and read only as far as somebody looks."""

    def __init__(self, entries: list[IndexedReference], bits: int, order: list[int] | None) -> None:
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
    known: dict[str, list[int]], field: str, entries: Sequence[IndexedReference], first: int
) -> None:
    for place, entry in enumerate(entries, start=first):
        for found in _identifiers(entry.item, field):
            known.setdefault(found, []).append(place)


def _compact(references: list[int]) -> list[int] | int:
    return (
        references if len(references) < _MANY_REFERENCES else _as_bits(references, references[-1])
    )


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
    """All text that a plain word may match."""
    year = year_of(item)
    own = custom(item)
    parts = [
        *(text_of(item, field) for field in _TEXT_FIELDS),
        names_text(item),
        *keywords(item),
        *tags(item),
        *(text_of(item, field) for field in _NUMBER_FIELDS),
        *(str(own.get(name) or "") for name in ("arxiv_id", "eric_id", "scopus_id")),
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
    match field:
        case "id":
            found: list[object] = [text_of(item, "id"), custom(item).get("uuid")]
        case "doi":
            arxiv = arxiv_of(item)
            found = [text_of(item, "DOI"), doi_of(item), arxiv and f"10.48550/arxiv.{arxiv}"]
        case "pmid":
            found = [text_of(item, "PMID"), pmid_of(item)]
        case "pmcid":
            pmcid = pmcid_of(item) or ""
            found = [text_of(item, "PMCID"), pmcid, pmcid.removeprefix("PMC")]
        case "isbn":
            found = [text_of(item, "ISBN"), *isbns_of(item)]
        case "url":
            more = custom(item).get("additional_urls")
            found = [text_of(item, "URL"), *(more if isinstance(more, list) else ())]
        case "year":
            found = [year_of(item)]
        case _:
            found = [text_of(item, "type")]
    return {fold_text(str(value)) for value in found if value not in (None, "")}
