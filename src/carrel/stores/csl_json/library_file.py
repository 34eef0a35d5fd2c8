"""The library file, read and changed safely beside other programs that know nothing of us.

A change is: take the lock, read what is there now, bring back what an outsider may have overwritten, apply the change, write a
draft, let draft and file change places in one step, and look at what was replaced. If it is not what was read, somebody wrote
in between: their version is merged in, and kept. A change is promised only after all of that.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from carrel.stores.csl_json.document import Document, UnreadableLibraryError
from carrel.stores.csl_json.exchanging import exchange
from carrel.stores.csl_json.locking import locked
from carrel.stores.csl_json.merging import distance, is_only_removals, merge
from carrel.stores.csl_json.versions import Versions, readable

Signature = tuple[int, ...]
Edit = Callable[[Document], Document]

_TRIES = 10
_PUT_TRIES = 100
_PAUSE_SECONDS = 0.2
# An outsider who saves a copy without our newest items within this time cannot have seen them.
_TOO_SOON_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class State:
    """The library as it was last read well."""

    signature: Signature
    document: Document
    generation: int


class LibraryFile:
    """One library. `read` is cheap when nothing changed; `change` is safe against everybody."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        workshop = self.path.parent / f".{self.path.name}.carrel"
        self._versions = Versions(workshop / "versions")
        self._lock_file = workshop / "lock"
        self._workshop = workshop
        self._draft = workshop / "draft"
        self._state: State | None = None
        self._placed: tuple[Signature, Document] | None = None
        self._mutex = threading.Lock()

    def signature(self) -> Signature:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return ()
        return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)

    def read(self) -> State:
        """The present library. While the file is unreadable, the last good one; UnreadableLibraryError if there never was one."""
        signature = self.signature()
        state = self._state
        if state is not None and state.signature == signature:
            return state
        with self._mutex:
            return self._reread()

    def fresh(self) -> State | None:
        """What was last read, if the file is still the same."""
        state = self._state
        return state if state is not None and state.signature == self.signature() else None

    def is_fresh(self) -> bool:
        return self.fresh() is not None

    def change(self, edit: Edit) -> State:
        """Applies an edit to what is in the file now, and returns once it is safely there."""
        with self._mutex, locked(self._lock_file):
            data, present = self._read_present()
            self._put(data, present, edit(self._recovered(self._reconciled(data, present))))
            return self._remember()

    def _reread(self) -> State:
        signature = self.signature()
        if self._state is not None and self._state.signature == signature:
            return self._state
        try:
            data, document = self._read_present()
        except UnreadableLibraryError:
            if self._state is None:
                raise
            return self._state
        if (signature and not self._versions.is_current(data) and os.access(self.path.parent, os.W_OK)) or self._left_behind():
            with locked(self._lock_file):
                data, document = self._read_present()
                self._put(data, document, self._recovered(self._reconciled(data, document)))
        return self._remember()

    def _remember(self) -> State:
        signature = self.signature()
        if self._placed is not None and self._placed[0] == signature:
            document = self._placed[1]
        else:
            document = self._read_present()[1]
            if self._state is not None:
                document = document.reusing(self._state.document)
        generation = 1 if self._state is None else self._state.generation + 1
        self._state = State(signature, document, generation)
        return self._state

    def _read_present(self) -> tuple[bytes, Document]:
        """What the file holds; a file in the middle of being written is given time to become whole."""
        return _read_whole(self.path)

    def _reconciled(self, data: bytes, present: Document) -> Document:
        """The present file, with what we promised and an outsider overwrote brought back."""
        if self._versions.is_current(data):
            return present
        known = self._versions.current()
        if known is None:
            return present
        ours, written_at = known
        nearest = self._parted_from(present)
        if distance(ours, present) <= distance(nearest, present):
            return present
        is_deletion = is_only_removals(ours, present) and time.time() - written_at > _TOO_SOON_SECONDS
        return present if is_deletion else merge(nearest, ours, present)

    def _recovered(self, present: Document) -> Document:
        """With what a process of ours had replaced and not yet merged when it was killed. Only the holder of the lock comes here."""
        left = self._left_behind()
        for file in left:
            found = file.read_bytes()
            if file == self._draft and self._versions.has(found):
                file.unlink()
                continue
            try:
                theirs = Document.parse(found)
            except UnreadableLibraryError:
                theirs = present
            present = merge(self._parted_from(theirs, file), present, theirs)
            if file == self._draft:
                file.replace(self._unmerged())
        return present

    def _left_behind(self) -> list[Path]:
        drafts = [self._draft] if self._draft.exists() else []
        return [*drafts, *sorted(self._workshop.glob("unmerged-*"))]

    def _unmerged(self) -> Path:
        taken = [int(path.name.partition("-")[2]) for path in self._workshop.glob("unmerged-*")]
        return self._workshop / f"unmerged-{max(taken, default=0) + 1}"

    def _settle(self) -> None:
        """Everything found on the way is merged and in place now; it becomes backup."""
        for file in sorted(self._workshop.glob("unmerged-*")):
            self._versions.keep_replaced(file, file.read_bytes())

    def _parted_from(self, theirs: Document, besides: Path | None = None) -> Document:
        """The version an outsider most likely started from: the one theirs differs from least, the newest of equals."""
        unmerged = (file for file in sorted(self._workshop.glob("unmerged-*"), reverse=True) if file != besides)
        found = (readable(file) for file in unmerged)
        versions = [*(version for version in found if version is not None), *self._versions.readable()]
        return min(versions, key=lambda version: distance(version, theirs), default=theirs)

    def _put(self, data: bytes, present: Document, wanted: Document) -> None:
        """Makes the file hold `wanted`, merging in whatever arrives while it is being put there."""
        expected, base = data, present
        if data and not self._versions.has(data):
            self._versions.keep(data)
        for _ in range(_PUT_TRIES):
            wanted_data = wanted.data
            if not self._versions.is_current(wanted_data):
                self._versions.keep(wanted_data)
            replaced = None if wanted_data == expected else self._swap(wanted_data, wanted)
            if replaced is None:
                self._settle()
                return
            try:
                found, theirs = _read_whole(replaced)
            except UnreadableLibraryError:
                found, theirs = replaced.read_bytes(), base
            merged = wanted if found == expected else merge(self._parted_from(theirs), wanted, theirs)
            replaced.replace(self._unmerged())
            if found == expected:
                self._settle()
                return
            expected, base, wanted = wanted_data, wanted, merged
        raise TimeoutError("another program keeps writing the library")

    def _swap(self, data: bytes, wanted: Document) -> Path | None:
        self._draft.parent.mkdir(parents=True, exist_ok=True)
        with self._draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if self.path.exists():
            self._draft.chmod(self.path.stat().st_mode & 0o777)
        placed = self._draft.stat()
        self._placed = ((placed.st_dev, placed.st_ino, placed.st_size, placed.st_mtime_ns), wanted)
        return exchange(self._draft, self.path)


def _read_whole(path: Path) -> tuple[bytes, Document]:
    for attempt in range(_TRIES):
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return b"", Document()
        try:
            if not data.strip():
                raise UnreadableLibraryError("it is empty")
            return data, Document.parse(data)
        except UnreadableLibraryError:
            if attempt == _TRIES - 1:
                raise
            time.sleep(_PAUSE_SECONDS)
    raise UnreadableLibraryError("it cannot be read")
