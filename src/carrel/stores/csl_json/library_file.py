"""The library file, read and changed safely beside other programs that know nothing of us.

A change takes the lock, reads the file, merges what an outsider saved, applies the edit, records it
in ledger and versions, writes a draft, exchanges draft and file in one step, and reads what was
replaced. If that is not what was read, somebody wrote in between: their version is merged too, and
kept. Only then is the change promised.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from carrel.stores.csl_json.document import LibraryDocument, UnreadableLibraryError
from carrel.stores.csl_json.file_replacement import write_durably
from carrel.stores.csl_json.journal import LibraryJournal
from carrel.stores.csl_json.ledger import Revision
from carrel.stores.csl_json.working_folder import (
    CURRENT,
    LibraryLocation,
    check_writable,
    digest,
    locate_library,
)
from carrel.stores.file_lock import hold_lock

Signature = tuple[int, ...]
Edit = Callable[[LibraryDocument], LibraryDocument]

_TRIES = 10
_PUT_TRIES = 100
_LINK_TRIES = 100
_PAUSE_SECONDS = 0.2
_LOCK_WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class FileState:
    """The library as it was last read well."""

    signature: Signature
    document: LibraryDocument
    generation: int
    digest: str = ""
    has_notices: bool = False


def _utc_now() -> datetime:
    return datetime.now(UTC)


class LibraryFile:
    """One library. `read` is cheap when nothing changed; `change` is safe against everybody."""

    def __init__(self, path: Path, now: Callable[[], datetime] = _utc_now) -> None:
        self.path = path.absolute()
        self._now = now
        self._journal: LibraryJournal | None = None
        self._state: FileState | None = None
        self._unreadable = ""
        self._mutex = threading.Lock()

    @property
    def is_touched(self) -> bool:
        """Whether the last change had begun to alter the file, if it failed."""
        return self._journal is not None and self._journal.is_touched

    def signature(self) -> Signature:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return ()
        return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)

    def read(self) -> FileState:
        """The present library, or its last good state. UnreadableLibraryError without one."""
        signature = self.signature()
        state = self._state
        if state is not None and state.signature == signature:
            return state
        with self._mutex:
            return self._reread()

    def fresh_state(self) -> FileState | None:
        """What was last read, if the file is still the same."""
        state = self._state
        return state if state is not None and state.signature == self.signature() else None

    def is_fresh(self) -> bool:
        return self.fresh_state() is not None

    @property
    def was_read(self) -> bool:
        """Whether a state of the library is in memory, fresh or not."""
        return self._state is not None

    @property
    def unreadable_reason(self) -> str:
        """Why the file cannot be read, while the last good library is used; empty where it can."""
        return self._unreadable if self._unreadable and self.fresh_state() is None else ""

    def change(self, edit: Edit) -> FileState:
        """Applies an edit to what is in the file now, and returns once it is safely there."""
        with self._mutex, self._locked() as journal:
            data, present = self._read_merged(journal)
            return self._store(journal, data, present, edit(present))

    def take_notices(self) -> list[str]:
        """Notices about merges since the last call; each is returned once."""
        state = self._state
        if state is None or not state.has_notices or not _is_changeable(locate_library(self.path)):
            return []
        with self._mutex, self._locked() as journal:
            found = journal.notices.take()
            self._state = FileState(state.signature, state.document, state.generation, state.digest)
            return found

    def revisions(self) -> list[Revision]:
        """Every change that the ledger knows, oldest first."""
        return self._open_journal(locate_library(self.path)).ledger.read()

    def kept_versions(self) -> list[tuple[int, str, Path]]:
        """Number, kind and file of every version that is kept, oldest first."""
        return self._open_journal(locate_library(self.path)).versions.list_files()

    def newest_good_version(self) -> tuple[int, Path] | None:
        """Number and file of the newest version of ours that can be read."""
        try:
            versions = self.kept_versions()
        except OSError:
            return None
        for number, kind, path in reversed(versions):
            with suppress(OSError, UnreadableLibraryError):
                if kind == CURRENT and LibraryDocument.parse(path.read_bytes()).items():
                    return number, path
        return None

    def is_damaged(self) -> bool:
        """Whether the file is there and is no library."""
        try:
            data = self.path.read_bytes()
            LibraryDocument.parse(data)
        except FileNotFoundError:
            return False
        except UnreadableLibraryError:
            return True
        return not data.strip()

    def replace_damaged(self) -> Path:
        """Moves a file that is no library aside, puts back the newest version; returns where."""
        newest = self.newest_good_version()
        if newest is None:
            raise UnreadableLibraryError("no version of it is kept")
        content = newest[1].read_bytes()
        with self._locked() as journal:
            target = journal.location.target
            aside = target.with_name(f"{target.name}.damaged-{time.strftime('%Y%m%dT%H%M%S')}")
            draft = target.with_name(f".{target.name}.restored")
            write_durably(draft, content)
            draft.chmod(target.stat().st_mode & 0o777)
            target.replace(aside)
            draft.replace(target)
        return aside

    def _open_journal(self, location: LibraryLocation) -> LibraryJournal:
        if self._journal is None or self._journal.location != location:
            self._journal = LibraryJournal(location, self._now)
        return self._journal

    @contextmanager
    def _locked(self) -> Iterator[LibraryJournal]:
        """Holds the lock of the file that the path leads to."""
        for _ in range(_LINK_TRIES):
            location = locate_library(self.path)
            check_writable(location)
            journal = self._open_journal(location)
            journal.is_touched = False
            location.lock_file.parent.mkdir(parents=True, exist_ok=True)
            with hold_lock(location.lock_file, wait_seconds=_LOCK_WAIT_SECONDS):
                if locate_library(self.path) == location:
                    yield journal
                    return
        raise TimeoutError("the link to the library keeps changing")

    def _reread(self) -> FileState:
        signature = self.signature()
        if self._state is not None and self._state.signature == signature:
            return self._state
        location = locate_library(self.path)
        journal = self._open_journal(location)
        try:
            data, document = self._read_present(journal)
        except UnreadableLibraryError as error:
            if self._state is None and not journal.list_interrupted():
                raise
            if not journal.list_interrupted():
                self._unreadable = str(error)
                return self._state  # type: ignore[return-value]
            data, document = b"", LibraryDocument()
        mark = journal.versions.current_digest()
        is_new = bool(signature) or mark is not None
        if (
            is_new and digest(data) != mark and _is_changeable(location)
        ) or journal.list_interrupted():
            with self._locked() as journal:
                data, document = self._read_merged(journal)
                return self._store(journal, data, document, document)
        return self._set_state(journal, document, digest(data))

    def _read_merged(self, journal: LibraryJournal) -> tuple[bytes, LibraryDocument]:
        """The file's bytes, and the library with all that outsiders and killed processes left."""
        journal.finish_interrupted_write()
        data, found = self._read_present(journal)
        if not data and not self.path.exists():
            present = journal.restore_missing() or found
        elif digest(data) == journal.versions.current_digest():
            present = found
        else:
            present = journal.absorb(found, data)
        return data, journal.absorb_left_behind(present)

    def _store(
        self,
        journal: LibraryJournal,
        data: bytes,
        present: LibraryDocument,
        desired: LibraryDocument,
    ) -> FileState:
        """Makes the file hold `desired`, merging in whatever arrives while it is written."""
        expected = data
        for _ in range(_PUT_TRIES):
            if desired is not present:
                journal.accept(present, desired)
            new_data = desired.data
            if new_data == expected:
                return self._set_state(journal, desired, digest(new_data))
            try:
                written = journal.write(new_data, expected)
            except OSError:
                if not journal.is_touched:
                    journal.withdraw()
                raise
            if written.replaced is None:
                return self._set_state(journal, desired, digest(new_data))
            found = _read_settled(written.replaced, expected)
            if found == expected:
                journal.keep_replaced(written.replaced, found)
                return self._set_state(journal, desired, digest(new_data))
            present = desired = journal.absorb_replaced(written.replaced, found, desired)
            expected = new_data if written.is_done else found
        raise TimeoutError("another program keeps writing the library")

    def _set_state(
        self, journal: LibraryJournal, document: LibraryDocument, mark: str
    ) -> FileState:
        signature = self.signature()
        generation = 1 if self._state is None else self._state.generation + 1
        self._state = FileState(
            signature, document, generation, mark, journal.notices.path.exists()
        )
        self._unreadable = ""
        return self._state

    def _read_present(self, journal: LibraryJournal) -> tuple[bytes, LibraryDocument]:
        """The content of the file; waits briefly while it is being written."""
        is_known = journal.versions.current_digest() is not None
        for attempt in range(_TRIES):
            is_last = attempt == _TRIES - 1
            try:
                data = self.path.read_bytes()
            except FileNotFoundError:
                if is_last or not is_known:
                    return b"", LibraryDocument()
            else:
                if self._state is not None and self._state.digest == digest(data):
                    return data, self._state.document
                try:
                    if not data.strip() and is_known:
                        raise UnreadableLibraryError("it is empty")
                    found = LibraryDocument.parse(data)
                    return data, found if self._state is None else found.reuse_entries(
                        self._state.document
                    )
                except UnreadableLibraryError:
                    if is_last:
                        raise
            time.sleep(_PAUSE_SECONDS)
        raise UnreadableLibraryError("it cannot be read")


def _is_changeable(location: LibraryLocation) -> bool:
    try:
        check_writable(location)
    except PermissionError:
        return False
    return True


def _read_settled(file: Path, expected: bytes) -> bytes:
    """The bytes of a file that may still be written: once they are a library, or after a while."""
    data = b""
    for _ in range(_TRIES):
        data = file.read_bytes()
        # Nothing at all may be the moment between another program's emptying the file and its
        # writing.
        if data == expected and data.strip():
            break
        try:
            LibraryDocument.parse(data)
        except UnreadableLibraryError:
            time.sleep(_PAUSE_SECONDS)
            continue
        if data.strip():
            break
        time.sleep(_PAUSE_SECONDS)
    return data
