"""The ledger of a library: which elements each change wrote, and what they said before.

One line of JSON is added for each change, as long as what it changed. From it follows when an
element was first written and every version an editor may have loaded; contents are needed only
where they were replaced, since the present ones are in the library. It never forgets an element,
and its order comes from revision numbers, never from a clock.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from carrel.stores.csl_json.document import ElementKey, content_digest, field_digests
from carrel.stores.csl_json.file_replacement import sync_folder, write_durably

ChangeOrigin = Literal["carrel", "outside", "unknown"]
FORMAT = 1
_TAIL_BYTES = 64 * 1024
# The ledger is written anew, without the texts of old versions, when it is larger than this and has
# doubled since the last time.
_COMPACT_BYTES = 8 * 1024 * 1024
# Texts of the last versions of each element stay for a person to go back to; of older ones only
# digests stay.
_TEXTS_KEPT = 10


class LedgerDamagedError(ValueError):
    """A line of the ledger cannot be read."""


@dataclass(frozen=True, slots=True)
class OldContent:
    """Digests of an old version of an element whose text was dropped."""

    digest: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Revision:
    """One accepted change of the library; `is_floor` marks that earlier changes may be missing.

    `written` maps each element to the newest revision that a holder of that content must have seen:
    this one where Carrel wrote it, an earlier one where an editor did.
    """

    number: int
    at: str
    origin: ChangeOrigin
    state: str
    written: Mapping[ElementKey, int] = field(default_factory=dict)
    removed: Sequence[ElementKey] = ()
    before: Mapping[ElementKey, str | OldContent] = field(default_factory=dict)
    kept: Sequence[str] = ()
    is_floor: bool = False

    def line(self) -> bytes:
        record: dict[str, Any] = {
            "revision": self.number,
            "at": self.at,
            "origin": self.origin,
            "state": self.state,
        }
        if self.written:
            record["written"] = [
                [*key] if seen == self.number else [*key, seen]
                for key, seen in self.written.items()
            ]
        if self.removed:
            record["removed"] = [[*key] for key in self.removed]
        if self.before:
            record["before"] = [
                [*key, _old_content_record(old)] for key, old in self.before.items()
            ]
        if self.kept:
            record["kept"] = list(self.kept)
        if self.is_floor:
            record["floor"] = True
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"

    @classmethod
    def parse(cls, line: bytes) -> Revision:
        try:
            record = json.loads(line)
            number = int(record["revision"])
            return cls(
                number,
                str(record["at"]),
                record["origin"],
                str(record["state"]),
                {
                    (row[0], row[1]): row[2] if len(row) > 2 else number
                    for row in record.get("written", ())
                },
                [(row[0], row[1]) for row in record.get("removed", ())],
                {(row[0], row[1]): _parse_old_content(row[2]) for row in record.get("before", ())},
                record.get("kept", ()),
                bool(record.get("floor")),
            )
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise LedgerDamagedError(str(error)) from None


class LibraryLedger:
    """The file. Only the holder of the library's lock writes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: tuple[tuple[int, int], Revision] | None = None

    def last(self) -> Revision | None:
        """The newest revision, or None where there is no ledger or its end cannot be read."""
        signature = self._signature()
        if signature is None:
            return None
        if self._known is None or self._known[0] != signature:
            found = self._read_last(signature[1])
            if found is None:
                return None
            self._known = (signature, found)
        return self._known[1]

    def append(self, revision: Revision) -> None:
        """Adds a revision, durably."""
        is_new = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            if not is_new and not self._ends_with_line():
                file.write(b"\n")
            file.write(revision.line())
            file.flush()
            os.fsync(file.fileno())
        if is_new:
            sync_folder(self.path.parent)
        signature = self._signature()
        if signature is not None:
            self._known = (signature, revision)

    def read(self) -> list[Revision]:
        """Every revision in order; one after an unreadable line is a floor, its past uncertain."""
        revisions: list[Revision] = []
        is_uncertain = False
        for line in self._lines():
            try:
                found = Revision.parse(line)
            except LedgerDamagedError:
                is_uncertain = True
                continue
            in_order = not revisions or found.number > revisions[-1].number
            if is_uncertain or not in_order:
                number = found.number if in_order else revisions[-1].number + 1
                found = replace(found, number=number, is_floor=True)
            revisions.append(found)
            is_uncertain = False
        if is_uncertain and revisions:
            last = revisions[-1]
            revisions.append(
                Revision(last.number + 1, last.at, "unknown", last.state, is_floor=True)
            )
        return revisions

    def rewrite(self, revisions: Iterable[Revision]) -> None:
        """Replaces the whole ledger in one step."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_suffix(".draft")
        write_durably(draft, b"".join(revision.line() for revision in revisions))
        draft.replace(self.path)
        sync_folder(self.path.parent)
        self._known = None

    def compact_if_large(self) -> None:
        """Drops old texts when the ledger has doubled, so that a change costs what it changes."""
        size_file = self.path.with_suffix(".size")
        size = self.path.stat().st_size
        if size < _COMPACT_BYTES:
            return
        try:
            compacted = int(size_file.read_text(encoding="ascii"))
        except (OSError, ValueError):
            compacted = 0
        if size < 2 * compacted:
            return
        self.rewrite(without_old_texts(self.read()))
        size_file.write_text(str(self.path.stat().st_size), encoding="ascii")

    def _lines(self) -> list[bytes]:
        try:
            return [line for line in self.path.read_bytes().split(b"\n") if line.strip()]
        except FileNotFoundError:
            return []

    def _read_last(self, size: int) -> Revision | None:
        with self.path.open("rb") as file:
            file.seek(max(0, size - _TAIL_BYTES))
            tail = file.read()
        line = tail.rstrip(b"\n").rpartition(b"\n")[2]
        try:
            return Revision.parse(line)
        except LedgerDamagedError:
            whole = self.read()
            return whole[-1] if whole else None

    def _ends_with_line(self) -> bool:
        with self.path.open("rb") as file:
            if file.seek(0, os.SEEK_END) == 0:
                return True
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"

    def _signature(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_size


def without_old_texts(revisions: Sequence[Revision]) -> list[Revision]:
    """The same history with only digests of the older versions of each element."""
    counted: dict[ElementKey, int] = {}
    kept: list[Revision] = []
    for revision in reversed(revisions):
        before: dict[ElementKey, str | OldContent] = {}
        for key, old in revision.before.items():
            counted[key] = counted.get(key, 0) + 1
            before[key] = old if counted[key] <= _TEXTS_KEPT else _without_text(old)
        kept.append(replace(revision, before=before))
    return kept[::-1]


def _without_text(old: str | OldContent) -> OldContent:
    if isinstance(old, OldContent):
        return old
    value = json.loads(old)
    return OldContent(content_digest(value), field_digests(value))


def _old_content_record(old: str | OldContent) -> object:
    return old if isinstance(old, str) else {"digest": old.digest, "fields": dict(old.fields)}


def _parse_old_content(record: Any) -> str | OldContent:
    return (
        record
        if isinstance(record, str)
        else OldContent(str(record["digest"]), dict(record["fields"]))
    )
