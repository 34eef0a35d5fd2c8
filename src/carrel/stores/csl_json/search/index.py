"""The search index beside a library file: it follows the file, and can be deleted at any time.

Its folder has `records.db` (which reference has which row, and its item), `references` (an index
part), `passages` (one of attached texts) and `words` (for parts of words). A change is noted in the
records, then made in the parts, then stored in the records: what a process killed in between
leaves, the next one does again.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from carrel.core.errors import describe_error
from carrel.rooms.references.items import Item
from carrel.stores.csl_json.search.entries import IndexEntry, kind_mark, make_entry_of, row_key
from carrel.stores.csl_json.search.known_rows import IndexChange, KnownRows, LibraryTexts
from carrel.stores.csl_json.search.records import IndexRecords, StoredReference
from carrel.stores.csl_json.search.words import WordFiles
from carrel.stores.file_lock import hold_lock
from carrel.stores.search.errors import UnusablePartError, translate_panics
from carrel.stores.search.parts import BUILD_HEAP_BYTES, PartWriter, has_part
from carrel.stores.search.schema import IndexedDocument
from carrel.stores.search.views import View, name_view, open_view
from carrel.stores.sqlite.errors import is_disk_full

log = logging.getLogger("carrel.cache")

# Raised whenever entries or files change: an index of another format is made again.
FORMAT = "4"
_LOCK_WAIT_SECONDS = 600.0
# From this many new references on, the part is written with more memory, so that it has few
# segments: tantivy would merge many middling ones when the next reference is added.
_MANY = 2_000
# An index with so many more rows given away than references is made again.
_REBUILD_FACTOR = 4
_DAMAGE = (sqlite3.Error, UnusablePartError, OSError, ValueError, KeyError)

Signature = tuple[int, ...]


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
        self._known: KnownRows | None = None
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

    def update(self, signature: Signature, texts: LibraryTexts) -> None:
        """Bring the index to this state of the file; a damaged or older one is made again.

        Raises OSError where the disk is full, and leaves the index as it was.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with hold_lock(self._folder / "lock", wait_seconds=_LOCK_WAIT_SECONDS):
            if self.is_fresh(signature):
                return
            try:
                with translate_panics():
                    self._follow(signature, texts)
            except _DAMAGE as error:
                if is_disk_full(error, self._folder / "records.db"):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
                log.warning(
                    "index of references is made again", extra={"cause": describe_error(error)}
                )
                self._clear()
                self._follow(signature, texts)

    def rebuild(self, signature: Signature, texts: LibraryTexts) -> None:
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

    def _follow(self, signature: Signature, texts: LibraryTexts) -> None:
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
        if known is None or known.generation != generation or not known.can_follow(texts):
            known = KnownRows.read(self.records, generation)
        self._known = None
        change = known.compare(texts, max([next_row, *(row + 1 for row in self.records.pending())]))
        self._write(change, texts)
        self.records.finish(
            self._added_records(change, texts),
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
        self._known = known.after(change, generation + 1)

    def _added_records(self, change: IndexChange, texts: LibraryTexts) -> Iterator[StoredReference]:
        for each in change.added:
            item = texts.text_at(each.number).item
            yield StoredReference(each.row, each.place, each.mark, item, self._read_body(item))

    def _write(self, change: IndexChange, texts: LibraryTexts) -> None:
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
            for entry in self._entries(change, pending, texts):
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

    def _entries(
        self, change: IndexChange, pending: Sequence[int], texts: LibraryTexts
    ) -> Iterator[IndexEntry]:
        gone = set(change.removed)
        for stored in self.records.read_references([row for row in pending if row not in gone]):
            yield make_entry_of(stored.row, stored.item, stored.body)
        for each in change.added:
            item = texts.text_at(each.number).item
            yield make_entry_of(each.row, item, self._read_body(item))

    def _unknown_words(self, kind: str, words: set[str]) -> set[str]:
        """The words that the index does not have; without an index all of them."""
        try:
            searcher = self.open_view().searcher
        except UnusablePartError:
            return words
        mark = kind_mark(kind)
        return {word for word in words if not searcher.doc_freq("tokens", mark + word)}
