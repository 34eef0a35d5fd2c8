"""The library in memory, by words: a query asks the words, not the references.

A word of a query matches inside any word of a reference. So the words of all references are one long text that is scanned for
it, and each word knows its references: few as a list, many as the bits of one number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from carrel.rooms.references.query import IDENTIFIER_FIELDS, Term
from carrel.rooms.references.records import (
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

_MANY = 64
_BREAK = "\n"


class Entry:
    """One reference as the index sees it."""

    __slots__ = ("_folded", "item", "text")

    def __init__(self, item: Item) -> None:
        self.item = item
        self.text = fold(_all_text(item))
        self._folded: str | None = None

    def matches(self, term: Term) -> bool:
        if term.field in IDENTIFIER_FIELDS:
            return term.text in _identifiers(self.item, term.field or "")
        content = self.text if term.field is None else fold(_content(self.item, term.field))
        if term.text not in content:
            return False
        if term.exact_case is None:
            return True
        cased = _all_text(self.item) if term.field is None else _content(self.item, term.field)
        return term.exact_case in " ".join(fold_accents(cased).split())


class Index:
    """All references of one library. Made from another index, it looks again only at what changed."""

    def __init__(self, items: Sequence[Item], before: Index | None = None) -> None:
        known = {} if before is None else {id(entry.item): entry for entry in before.entries}
        same = {} if before is None else {_mark(entry.item): entry for entry in before.entries}
        self.entries: list[Entry] = [known.get(id(item)) or same.get(_mark(item)) or Entry(item) for item in items]
        postings: dict[str, list[int]] = {}
        for at, entry in enumerate(self.entries):
            for word in set(entry.text.split()):
                found = postings.get(word)
                if found is None:
                    postings[word] = [at]
                else:
                    found.append(at)
        self._words = list(postings)
        self._text = _BREAK + _BREAK.join(self._words) + _BREAK
        self._starts = _starts(self._words)
        self._postings = [_compact(postings[word]) for word in self._words]
        self._all = (1 << len(self.entries)) - 1

    def search(self, terms: Iterable[Term]) -> list[Item]:
        """Every reference that all terms match, in the order of the library."""
        candidates = self._all
        checked: list[Term] = []
        for term in terms:
            if term.field not in IDENTIFIER_FIELDS:
                for word in term.words:
                    candidates &= self._with_word(word)
            if term.field is not None or term.exact_case is not None or len(term.words) > 1:
                checked.append(term)
            if not candidates:
                return []
        found = (self.entries[at] for at in _bits(candidates))
        return [entry.item for entry in found if all(entry.matches(term) for term in checked)]

    def _with_word(self, word: str) -> int:
        """The references that have the word inside one of theirs, as bits."""
        bits = 0
        few: list[int] = []
        for at in self._places(word):
            posting = self._postings[at]
            if isinstance(posting, int):
                bits |= posting
            else:
                few.extend(posting)
        if few:
            flags = bytearray(len(self.entries) // 8 + 1)
            for reference in few:
                flags[reference >> 3] |= 1 << (reference & 7)
            bits |= int.from_bytes(flags, "little")
        return bits

    def _places(self, word: str) -> Iterable[int]:
        """Which of the known words contain this one."""
        text, starts = self._text, self._starts
        at = text.find(word)
        while at >= 0:
            ends = text.index(_BREAK, at)
            yield starts[ends]
            at = text.find(word, ends)


def _starts(words: list[str]) -> dict[int, int]:
    """Where each word ends in the long text, and which word that is."""
    ends: dict[int, int] = {}
    position = 1
    for at, word in enumerate(words):
        position += len(word)
        ends[position] = at
        position += 1
    return ends


def _compact(references: list[int]) -> list[int] | int:
    if len(references) < _MANY:
        return references
    flags = bytearray(references[-1] // 8 + 1)
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


def _mark(item: Item) -> str:
    return json.dumps(item, sort_keys=True, ensure_ascii=False, default=str)


def _all_text(item: Item) -> str:
    """Everything a plain word may match."""
    plain = [
        text_of(item, field)
        for field in ("id", "title", "title-short", "container-title", "publisher", "abstract", "note", "DOI", "URL")
    ]
    numbers = [
        text_of(item, field) for field in ("PMID", "PMCID", "ISBN", "ISSN", "volume", "number", "event-title", "collection-title")
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
            found = [text_of(item, "PMCID"), pmcid_of(item), (pmcid_of(item) or "").removeprefix("PMC")]
        case "isbn":
            found = [text_of(item, "ISBN"), *isbns_of(item)]
        case "url":
            more = custom(item).get("additional_urls")
            found = [text_of(item, "URL"), *(str(url) for url in (more if isinstance(more, list) else []))]
        case "year":
            found = [None if year is None else str(year)]
        case _:
            found = [text_of(item, "type")]
    if field == "doi" and (arxiv := arxiv_of(item)):
        found.append(f"10.48550/arxiv.{arxiv}")
    return {fold(value) for value in found if value}
