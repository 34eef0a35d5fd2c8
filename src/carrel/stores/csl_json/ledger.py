"""The ledger of a library: its journal, and the history of its elements.

One line of JSON is added for each change, as long as what it changed. As a journal, it has the
edits that the file does not have yet: a change is acknowledged when its line is on the disk. As a
history, it tells when an element was first written and every version an editor may have loaded;
contents are needed only where they were replaced, since the present ones are in the library. It
never forgets an element, and its order comes from revision numbers, never from a clock.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from carrel.core.errors import describe_error
from carrel.stores.csl_json.edits import Edits
from carrel.stores.csl_json.element_keys import ElementKey, content_digest, field_digests
from carrel.stores.csl_json.file_replacement import sync_folder, write_durably

log = logging.getLogger("carrel.references")

ChangeOrigin = Literal["carrel", "outside", "unknown"]
FORMAT = 1
_TAIL_BYTES = 64 * 1024
# The ledger is written anew, without the texts of old versions, when it is larger than this and has
# doubled since the last time.
_COMPACT_BYTES = 8 * 1024 * 1024
# Texts of the last versions of each element stay for a person to go back to; of older ones only
# digests stay.
_TEXTS_KEPT = 10


_APPEND = (
    os.O_WRONLY
    | os.O_APPEND
    | os.O_CREAT
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


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
    this one where Carrel wrote it, an earlier one where an editor did. `edits` do a change again
    that is in no version yet; `state` is then empty, since nobody has the digest of that state.
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
    edits: Edits | None = None

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
        if self.edits is not None:
            record["edits"] = self.edits.record()
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"

    def is_same_change(self, other: Revision) -> bool:
        """Whether two lines are about one change, one of them without its old texts and edits."""
        return (self.number, self.at, self.origin, self.written, self.removed) == (
            other.number,
            other.at,
            other.origin,
            other.written,
            other.removed,
        )

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
                Edits.parse(record["edits"]) if "edits" in record else None,
            )
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise LedgerDamagedError(str(error)) from None


@dataclass(frozen=True, slots=True)
class LedgerEnd:
    """How far a reader has come in a ledger: past the line that begins at `line` and is `text`."""

    inode: int
    line: int
    text: bytes


class LibraryLedger:
    """The file. Only the holder of the library's lock writes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: tuple[tuple[int, int], Revision] | None = None

    def last(self) -> Revision | None:
        """The newest revision, or None where there is no ledger or its end cannot be read."""
        signature = self.signature()
        if signature is None:
            return None
        if self._known is None or self._known[0] != signature:
            found = self._read_last(signature[1])
            if found is None:
                return None
            self._known = (signature, found)
        return self._known[1]

    def append(self, revision: Revision) -> LedgerEnd:
        """Adds a revision, durably. After an OSError the ledger is as it was before."""
        is_new = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = revision.line()
        descriptor = os.open(self.path, _APPEND, 0o666)
        try:
            found = os.fstat(descriptor)
            size = found.st_size
            start = b"" if is_new or self._ends_with_line() else b"\n"
            try:
                left = memoryview(start + line)
                while left:
                    left = left[os.write(descriptor, left) :]
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)
        if is_new:
            sync_folder(self.path.parent)
        signature = self.signature()
        if signature is not None:
            self._known = (signature, revision)
        return LedgerEnd(found.st_ino, size + len(start), line)

    def withdraw_last(self, revision: Revision) -> None:
        """Takes the last line away, if it is that of a revision that did not come about."""
        line = revision.line()
        with self.path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - len(line)))
            if file.read() == line:
                file.truncate(size - len(line))
                os.fsync(file.fileno())
        self._known = None

    def read_after(self, number: int) -> tuple[list[Revision], LedgerEnd | None]:
        """Readable revisions after one, in order, and how far that is; no end without a line."""
        inode, data = self._read_bytes()
        found: list[Revision] = []
        for line in reversed(data.split(b"\n")):
            if line.strip():
                with suppress(LedgerDamagedError):
                    revision = Revision.parse(line)
                    if revision.number <= number:
                        break
                    found.append(revision)
        return found[::-1], _find_end(inode, 0, data)

    def read_since(self, end: LedgerEnd) -> tuple[list[Revision], LedgerEnd] | None:
        """What was added since; None where it does not go on from there: it is to be read whole."""
        try:
            with self.path.open("rb") as file:
                inode = os.fstat(file.fileno()).st_ino
                file.seek(end.line if inode == end.inode else 0)
                data = file.read()
        except FileNotFoundError:
            return None
        try:
            if inode != end.inode:
                return self._read_rewritten(end)
            reached = _find_end(inode, end.line, data)
            if reached is None or not data.startswith(end.text):
                return None
            lines = data[len(end.text) : reached.line + len(reached.text) - end.line].split(b"\n")
            return [Revision.parse(line) for line in lines if line.strip()], reached
        except LedgerDamagedError:
            return None

    def _read_rewritten(self, end: LedgerEnd) -> tuple[list[Revision], LedgerEnd] | None:
        """What a ledger that was written anew has after the line where a reader was."""
        seen = Revision.parse(end.text)
        lines, reached = self.read_after(seen.number - 1)
        if reached is None or not lines or not lines[0].is_same_change(seen):
            return None
        return lines[1:], reached

    def read(self) -> list[Revision]:
        """Every revision in order; one after an unreadable line is a floor, its past uncertain."""
        revisions: list[Revision] = []
        is_uncertain = False
        for line in self._read_bytes()[1].split(b"\n"):
            if not line.strip():
                continue
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
        try:
            write_durably(draft, b"".join(revision.line() for revision in revisions))
            draft.replace(self.path)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
        sync_folder(self.path.parent)
        self._known = None

    def compact_if_large(self, stored: int) -> None:
        """Drops old texts when the ledger has doubled, so that a change costs what it changes.

        `stored` is the newest revision that is in a version and in the file: edits up to it go.
        Without the space for a second ledger the long one stays.
        """
        size_file = self.path.with_suffix(".size")
        signature = self.signature()
        if signature is None or signature[1] < _COMPACT_BYTES:
            return
        try:
            compacted = int(size_file.read_text(encoding="ascii"))
        except (OSError, ValueError):
            compacted = 0
        if signature[1] < 2 * compacted:
            return
        try:
            self.rewrite(without_old_texts(without_old_edits(self.read(), stored)))
            size_file.write_text(str(self.path.stat().st_size), encoding="ascii")
        except OSError as error:
            log.warning("ledger not shortened", extra={"cause": describe_error(error)})

    def _read_bytes(self) -> tuple[int, bytes]:
        """The inode and all that is in the file."""
        try:
            with self.path.open("rb") as file:
                return os.fstat(file.fileno()).st_ino, file.read()
        except FileNotFoundError:
            return 0, b""

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

    def signature(self) -> tuple[int, int] | None:
        """Changes with every line; None where there is no ledger."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_size


def _find_end(inode: int, offset: int, data: bytes) -> LedgerEnd | None:
    """The last whole line of what was read from an offset on."""
    last = data.rfind(b"\n")
    if last < 0:
        return None
    begins = data.rfind(b"\n", 0, last) + 1
    return LedgerEnd(inode, offset + begins, data[begins : last + 1])


def without_old_edits(revisions: Sequence[Revision], stored: int) -> list[Revision]:
    """The same history without the edits up to a revision."""
    return [
        replace(revision, edits=None) if revision.number <= stored else revision
        for revision in revisions
    ]


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
