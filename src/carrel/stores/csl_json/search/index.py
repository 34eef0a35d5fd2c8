"""The search index beside a library file: it follows the file, and can be deleted at any time.

Its folder has `records.db` (which reference has which row, and its item), `references` (an index
part), `passages` (one of attached texts) and `words` (for parts of words). A change is noted in the
records, then made in the parts, then stored in the records: what a process killed in between
leaves, the next one does again.
"""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from carrel.core.errors import describe_error
from carrel.rooms.references.items import Item
from carrel.stores.csl_json.search.entries import IndexEntry, kind_mark, make_entry_of, row_key
from carrel.stores.csl_json.search.records import IndexRecords, StoredReference, text_mark
from carrel.stores.csl_json.search.words import WordFiles
from carrel.stores.file_lock import hold_lock
from carrel.stores.search.errors import UnusablePartError, translate_panics
from carrel.stores.search.parts import BUILD_HEAP_BYTES, PartWriter, has_part
from carrel.stores.search.schema import IndexedDocument
from carrel.stores.search.views import View, name_view, open_view

log = logging.getLogger("carrel.cache")

# Raised whenever entries or files change: an index of another format is made again.
FORMAT = "3"
_LOCK_WAIT_SECONDS = 600.0
# From this many new references on, the part is written with more memory, so that it has few
# segments: tantivy would merge many middling ones when the next reference is added.
_MANY = 2_000
# An index with so many more rows given away than references is made again.
_REBUILD_FACTOR = 4
_DAMAGE = (sqlite3.Error, UnusablePartError, OSError, ValueError, KeyError)

Signature = tuple[int, ...]


class LibraryText(NamedTuple):
    """One reference as the file has it: its text, its item, and a mark of what is attached."""

    raw: str
    item: Item
    attached: str = ""


class IndexClosedError(Exception):
    """The library was closed while its index was being made; the next process makes it."""


class LibraryIndex:
    """The index of one library; many processes may use the same folder at once."""

    def __init__(self, folder: Path, read_body: Callable[[Item], str]) -> None:
        """`read_body` gives the attached text of a reference, or nothing."""
        self._folder = folder
        self._read_body = read_body
        self.records = IndexRecords(folder / "records.db")
        self.words = WordFiles(folder / "words")
        self._part = folder / "references"
        self._passages = folder / "passages"
        self._view: View | None = None
        self._known: _KnownRows | None = None
        self._places: tuple[str, Mapping[int, float]] | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """End an update that is running, and let go of the files."""
        self._is_stopped = True
        self._view = None

    def is_made(self) -> bool:
        """Whether there is an index, of whatever state of the file."""
        return (self._folder / "records.db").exists()

    def is_fresh(self, signature: Signature) -> bool:
        """Whether the index has the file with this signature, in today's format."""
        try:
            facts = self.records.facts()
        except sqlite3.Error:
            return False
        return (
            facts.get("format") == FORMAT
            and facts.get("signature") == json.dumps(signature)
            and self._has_words(facts)
        )

    def _has_words(self, facts: Mapping[str, str]) -> bool:
        """Whether no file of words has become shorter than it was."""
        present = self.words.sizes()
        known: dict[str, int] = json.loads(facts.get("words", "{}"))
        return all(present.get(name, 0) >= size for name, size in known.items())

    def update(self, signature: Signature, texts: Sequence[LibraryText]) -> None:
        """Bring the index to this state of the file; a damaged or older one is made again."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with hold_lock(self._folder / "lock", wait_seconds=_LOCK_WAIT_SECONDS):
            if self.is_fresh(signature):
                return
            try:
                with translate_panics():
                    self._follow(signature, texts)
            except _DAMAGE as error:
                log.warning(
                    "index of references is made again", extra={"cause": describe_error(error)}
                )
                self._clear()
                self._follow(signature, texts)

    def rebuild(self, signature: Signature, texts: Sequence[LibraryText]) -> None:
        """Make the index from nothing."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with hold_lock(self._folder / "lock", wait_seconds=_LOCK_WAIT_SECONDS):
            self._clear()
            self._follow(signature, texts)

    def places(self) -> Mapping[int, float]:
        """The place of every row in the library."""
        generation = self.records.facts().get("generation", "")
        if self._places is None or self._places[0] != generation:
            self._places = (generation, self.records.places())
        return self._places[1]

    def open_view(self) -> View:
        """The index as it is now. Raises UnusablePartError where it is damaged."""
        name = name_view([self._part])
        if self._view is None or self._view.name != name:
            self._view = open_view([self._part], self._folder / "views")
        return self._view

    def _clear(self) -> None:
        self._known = self._view = self._places = None
        for name in ("references", "passages", "words", "views"):
            shutil.rmtree(self._folder / name, ignore_errors=True)
        for file in self._folder.glob("records.db*"):
            file.unlink(missing_ok=True)

    def _follow(self, signature: Signature, texts: Sequence[LibraryText]) -> None:
        facts = dict(self.records.facts())
        if facts.get("format") != FORMAT or not self._has_words(facts):
            self._clear()
            facts = {}
        next_row = int(facts.get("next_row", 1))
        if next_row > _REBUILD_FACTOR * max(len(texts), _MANY):
            self._clear()
            facts, next_row = {}, 1
        self.records.create()
        generation = int(facts.get("generation", 0))
        known = self._known
        if known is None or known.generation != generation:
            known = _KnownRows.read(self.records, generation)
        change = known.compare(texts, max([next_row, *(row + 1 for row in self.records.pending())]))
        self._write(change)
        self.records.finish(
            change.added_records(self._read_body),
            change.removed,
            change.moved,
            {
                "format": FORMAT,
                "signature": json.dumps(signature),
                "next_row": str(change.next_row),
                "generation": str(generation + 1),
                "words": json.dumps(self.words.sizes()),
            },
        )
        self._known = known.after(change, texts, generation + 1)

    def _write(self, change: _Change) -> None:
        pending = self.records.pending()
        if not (change.added or change.removed or pending) and self._part.exists():
            return
        self.records.begin([*(each.row for each in change.added), *change.removed])
        count = len(change.added) + len(pending)
        heap = {"heap_bytes": BUILD_HEAP_BYTES} if count > _MANY else {}
        found: dict[str, set[str]] = {}
        passages: list[IndexedDocument] = []
        gone = [row_key(row) for row in (*change.removed, *pending)]
        with PartWriter(self._part, **heap) as writer:
            for key in gone:
                writer.remove_key(key)
            for entry in self._entries(change, pending):
                if self._is_stopped:
                    raise IndexClosedError
                writer.add(entry.document)
                passages += entry.passages
                for kind, words in entry.words.items():
                    found.setdefault(kind, set()).update(words)
            if count <= _MANY:
                found = {kind: self._unknown_words(kind, words) for kind, words in found.items()}
            # Before the entries are committed, so that no entry is there without its words.
            self.words.add(found)
            self._write_passages(gone, passages)

    def _write_passages(self, gone: Sequence[str], passages: Sequence[IndexedDocument]) -> None:
        if not passages and not has_part(self._passages):
            return
        with PartWriter(self._passages) as writer:
            for key in gone:
                writer.remove_key(key)
            for passage in passages:
                writer.add(passage)

    def open_passages(self) -> View | None:
        """The passages of attached texts, or None where there are none."""
        if not has_part(self._passages):
            return None
        return open_view([self._passages], self._folder / "views")

    def _entries(self, change: _Change, pending: Sequence[int]) -> Iterator[IndexEntry]:
        gone = set(change.removed)
        for stored in self.records.read_references([row for row in pending if row not in gone]):
            yield make_entry_of(stored.row, stored.item, stored.body)
        for each in change.added:
            yield make_entry_of(each.row, each.text.item, self._read_body(each.text.item))

    def _unknown_words(self, kind: str, words: set[str]) -> set[str]:
        """The words that the index does not have; without an index all of them."""
        try:
            searcher = self.open_view().searcher
        except UnusablePartError:
            return words
        mark = kind_mark(kind)
        return {word for word in words if not searcher.doc_freq("tokens", mark + word)}


@dataclass(frozen=True, slots=True)
class _AddedText:
    row: int
    place: float
    mark: bytes
    text: LibraryText


@dataclass(frozen=True, slots=True)
class _Change:
    """What to do to the index, and the rows of all references in order afterwards."""

    added: list[_AddedText]
    removed: list[int]
    moved: list[tuple[float, int]]
    rows: list[int]
    places: dict[int, float]
    next_row: int

    def added_records(self, read_body: Callable[[Item], str]) -> Iterator[StoredReference]:
        for each in self.added:
            yield StoredReference(
                each.row, each.place, each.mark, each.text.item, read_body(each.text.item)
            )


_ObjectKey = int | tuple[int, str]


def _object_key(text: LibraryText) -> _ObjectKey:
    """The item as an object, which stays the same as long as its text does."""
    return (id(text.item), text.attached) if text.attached else id(text.item)


class _KnownRows:
    """The rows of the index by the objects they were made from, and by the marks of their texts."""

    def __init__(
        self,
        generation: int,
        places: Mapping[int, float],
        by_mark: Mapping[bytes, list[int]],
        by_object: Mapping[_ObjectKey, int],
        kept_alive: Sequence[LibraryText],
    ) -> None:
        self.generation = generation
        self._places = places
        self._by_mark = by_mark
        self._by_object = by_object
        self._kept_alive = kept_alive

    @classmethod
    def read(cls, records: IndexRecords, generation: int) -> _KnownRows:
        return cls(generation, records.places(), records.marks(), {}, ())

    def compare(self, texts: Sequence[LibraryText], next_row: int) -> _Change:
        """What has changed between the index and the file."""
        left = {mark: list(rows) for mark, rows in self._by_mark.items()}
        taken: set[int] = set()
        rows: list[int] = []
        fresh: list[tuple[int, bytes, LibraryText]] = []
        for text in texts:
            row = self._by_object.get(_object_key(text))
            if row is not None and row not in taken:
                taken.add(row)
                rows.append(row)
                continue
            mark = text_mark(f"{text.item.get('id')}\0{text.raw}", text.attached)
            known = [one for one in left.get(mark, ()) if one not in taken]
            if known:
                taken.add(known[0])
                rows.append(known[0])
                continue
            fresh.append((next_row, mark, text))
            rows.append(next_row)
            next_row += 1
        removed = [row for row in self._places if row not in taken]
        places, moved = _give_places(rows, self._places)
        added = [_AddedText(row, places[row], mark, text) for row, mark, text in fresh]
        return _Change(added, removed, moved, rows, places, next_row)

    def after(self, change: _Change, texts: Sequence[LibraryText], generation: int) -> _KnownRows:
        """The same once a change is made."""
        by_object = {_object_key(text): row for text, row in zip(texts, change.rows, strict=True)}
        return _KnownRows(generation, change.places, {}, by_object, texts)


def _give_places(
    rows: Sequence[int], known: Mapping[int, float]
) -> tuple[dict[int, float], list[tuple[float, int]]]:
    """A growing number for every row in order, and (place, row) where a known row's changed."""
    places: dict[int, float] = {}
    last = 0.0
    waiting: list[int] = []
    for row in rows:
        place = known.get(row)
        if place is None:
            waiting.append(row)
            continue
        step = (place - last) / (len(waiting) + 1)
        if step <= 1e-9 * max(1.0, abs(place)):
            return _renumber(rows, known)
        for number, each in enumerate(waiting, start=1):
            places[each] = last + step * number
        waiting.clear()
        places[row] = last = place
    for number, each in enumerate(waiting, start=1):
        places[each] = last + number
    return places, []


def _renumber(
    rows: Sequence[int], known: Mapping[int, float]
) -> tuple[dict[int, float], list[tuple[float, int]]]:
    places = {row: float(place) for place, row in enumerate(rows, start=1)}
    return places, [(place, row) for row, place in places.items() if row in known]
