"""The library file, read and changed safely beside other programs that know nothing of us.

A change is: take the lock, read what is there now, merge what an outsider saved, apply the change,
record it in ledger and
versions, write a draft, let draft and file change places in one step, and look at what was
replaced. If it is not what was read,
somebody wrote in between: their version is merged in, and kept. A change is promised only after all
of that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from carrel.stores.csl_json.document import Document, UnreadableLibraryError
from carrel.stores.csl_json.journal import Workshop
from carrel.stores.csl_json.ledger import Revision
from carrel.stores.csl_json.working_folder import (
    LibraryLocation,
    check_writable,
    digest,
    locate_library,
)
from carrel.stores.file_lock import hold_lock

Signature = tuple[int, ...]
Edit = Callable[[Document], Document]

_TRIES = 10
_PUT_TRIES = 100
_LINK_TRIES = 100
_PAUSE_SECONDS = 0.2
_LOCK_WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class State:
    """The library as it was last read well."""

    signature: Signature
    document: Document
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
        self._opened: Workshop | None = None
        self._state: State | None = None
        self._unreadable = ""
        self._mutex = threading.Lock()

    @property
    def is_touched(self) -> bool:
        """Whether the last change had begun to alter the file, if it failed."""
        return self._opened is not None and self._opened.is_touched

    def signature(self) -> Signature:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return ()
        return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)

    def read(self) -> State:
        """The present library. While the file is unreadable, the last good one;
        UnreadableLibraryError if there never was one.
        """
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

    @property
    def unreadable(self) -> str:
        """Why the file could not be read when that was last tried, and the last good library was
        used; empty where it is.
        """
        return self._unreadable if self._unreadable and self.fresh() is None else ""

    def change(self, edit: Edit) -> State:
        """Applies an edit to what is in the file now, and returns once it is safely there."""
        with self._mutex, self._held() as workshop:
            data, present = self._settle(workshop)
            return self._put(workshop, data, present, edit(present))

    def take_notices(self) -> list[str]:
        """What is to be said about merges since the last answer; it is said once."""
        state = self._state
        if state is None or not state.has_notices or not _is_changeable(locate_library(self.path)):
            return []
        with self._mutex, self._held() as workshop:
            found = workshop.notices.take()
            self._state = State(state.signature, state.document, state.generation, state.digest)
            return found

    def revisions(self) -> list[Revision]:
        """Every change that the ledger knows, oldest first."""
        return self._workshop(locate_library(self.path)).ledger.read()

    def kept_versions(self) -> list[tuple[int, str, Path]]:
        """Number, kind and file of every version that is kept, oldest first."""
        return self._workshop(locate_library(self.path)).versions.listed()

    def _workshop(self, location: LibraryLocation) -> Workshop:
        if self._opened is None or self._opened.location != location:
            self._opened = Workshop(location, self._now)
        return self._opened

    @contextmanager
    def _held(self) -> Iterator[Workshop]:
        """Holds the lock of the file that the path leads to."""
        for _ in range(_LINK_TRIES):
            location = locate_library(self.path)
            check_writable(location)
            workshop = self._workshop(location)
            workshop.is_touched = False
            location.lock_file.parent.mkdir(parents=True, exist_ok=True)
            with hold_lock(location.lock_file, wait_seconds=_LOCK_WAIT_SECONDS):
                if locate_library(self.path) == location:
                    yield workshop
                    return
        raise TimeoutError("the link to the library keeps changing")

    def _reread(self) -> State:
        signature = self.signature()
        if self._state is not None and self._state.signature == signature:
            return self._state
        location = locate_library(self.path)
        workshop = self._workshop(location)
        try:
            data, document = self._read_present(workshop)
        except UnreadableLibraryError as error:
            if self._state is None and not workshop.interrupted():
                raise
            if not workshop.interrupted():
                self._unreadable = str(error)
                return self._state  # type: ignore[return-value]
            data, document = b"", Document()
        mark = workshop.versions.current_digest()
        is_new = bool(signature) or mark is not None
        if (is_new and digest(data) != mark and _is_changeable(location)) or workshop.interrupted():
            with self._held() as workshop:
                data, document = self._settle(workshop)
                return self._put(workshop, data, document, document)
        return self._remember(workshop, document, digest(data))

    def _settle(self, workshop: Workshop) -> tuple[bytes, Document]:
        """What the file holds, and the library with everything merged that outsiders and killed
        processes left.
        """
        workshop.finish_interrupted_write()
        data, found = self._read_present(workshop)
        if not data and not self.path.exists():
            present = workshop.restore_missing() or found
        elif digest(data) == workshop.versions.current_digest():
            present = found
        else:
            present = workshop.absorb(found, data)
        return data, workshop.absorb_left_behind(present)

    def _put(self, workshop: Workshop, data: bytes, present: Document, wanted: Document) -> State:
        """Makes the file hold `wanted`, merging in whatever arrives while it is being put there."""
        expected = data
        for _ in range(_PUT_TRIES):
            if wanted is not present:
                workshop.accept(present, wanted)
            wanted_data = wanted.data
            if wanted_data == expected:
                return self._remember(workshop, wanted, digest(wanted_data))
            try:
                written = workshop.write(wanted_data, expected)
            except OSError:
                if not workshop.is_touched:
                    workshop.withdraw()
                raise
            if written.replaced is None:
                return self._remember(workshop, wanted, digest(wanted_data))
            found = _read_settled(written.replaced, expected)
            if found == expected:
                workshop.keep_replaced(written.replaced, found)
                return self._remember(workshop, wanted, digest(wanted_data))
            present = wanted = workshop.absorb_replaced(written.replaced, found, wanted)
            expected = wanted_data if written.is_done else found
        raise TimeoutError("another program keeps writing the library")

    def _remember(self, workshop: Workshop, document: Document, mark: str) -> State:
        signature = self.signature()
        generation = 1 if self._state is None else self._state.generation + 1
        self._state = State(signature, document, generation, mark, workshop.notices.path.exists())
        self._unreadable = ""
        return self._state

    def _read_present(self, workshop: Workshop) -> tuple[bytes, Document]:
        """What the file holds; a file in the middle of being written is given time to become
        whole.
        """
        is_known = workshop.versions.current_digest() is not None
        for attempt in range(_TRIES):
            is_last = attempt == _TRIES - 1
            try:
                data = self.path.read_bytes()
            except FileNotFoundError:
                if is_last or not is_known:
                    return b"", Document()
            else:
                if self._state is not None and self._state.digest == digest(data):
                    return data, self._state.document
                try:
                    if not data.strip() and is_known:
                        raise UnreadableLibraryError("it is empty")
                    found = Document.parse(data)
                    return data, found if self._state is None else found.reusing(
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
    """A file that another program may still be writing: its bytes once they are a library, or what
    there is after some time.
    """
    data = b""
    for _ in range(_TRIES):
        data = file.read_bytes()
        # Nothing at all may be the moment between another program's emptying the file and its
        # writing.
        if data == expected and data.strip():
            break
        try:
            Document.parse(data)
        except UnreadableLibraryError:
            time.sleep(_PAUSE_SECONDS)
            continue
        if data.strip():
            break
        time.sleep(_PAUSE_SECONDS)
    return data
