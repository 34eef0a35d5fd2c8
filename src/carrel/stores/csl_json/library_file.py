"""The library file, read and changed safely beside other programs that know nothing of us.

A change takes the lock, looks whether the file is as we left it, applies the edit to the accepted
state and appends it to the ledger: it is then acknowledged. The file follows: `materialize` writes
a draft beside it and exchanges both names in one step. What an outsider saved is merged first, by
whoever finds it. If what was replaced is not what was expected, somebody wrote in between: their
version is merged too, and kept.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from carrel.stores.csl_json.document import LibraryDocument, UnreadableLibraryError
from carrel.stores.csl_json.edits import find_edits
from carrel.stores.csl_json.file_replacement import write_durably
from carrel.stores.csl_json.journal import AcceptedState, LibraryJournal
from carrel.stores.csl_json.ledger import Revision
from carrel.stores.csl_json.placed_file import Signature, file_signature
from carrel.stores.csl_json.prepared_file import PreparedFile, prepare_file
from carrel.stores.csl_json.working_folder import (
    CURRENT,
    LibraryLocation,
    check_writable,
    digest,
    locate_library,
)
from carrel.stores.file_lock import hold_lock

Edit = Callable[[LibraryDocument], LibraryDocument]

_TRIES = 10
_PUT_TRIES = 100
_LINK_TRIES = 100
_LOOK_TRIES = 5
_PAUSE_SECONDS = 0.2
_LOCK_WAIT_SECONDS = 30.0
# A change of more elements than this is put into the file at once: the ledger would be about as
# long as the file.
_MOST_JOURNALLED = 1_000
# No two states in a process share a number, also not those of a library that was let go of.
_GENERATIONS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class FileState:
    """The library as it was last read well; with `is_placed` the file has all of it."""

    signature: Signature
    document: LibraryDocument
    generation: int
    revision: int = 0
    is_placed: bool = True
    has_notices: bool = False


@dataclass(frozen=True, slots=True)
class _Look:
    """A library whose file is as we left it: its state, and the digest of what the file holds."""

    known: AcceptedState
    signature: Signature
    mark: str
    is_placed: bool


def _utc_now() -> datetime:
    return datetime.now(UTC)


class LibraryRemovedError(FileNotFoundError):
    """The folder of the library is gone: whoever removed it took ledger and versions with it."""


class LibraryFile:
    """One library. `read` is cheap when nothing changed; changes are safe against everybody."""

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
        """Changes with every save of the file and every change in the ledger; empty without one."""
        journal = self._open_journal(locate_library(self.path))
        return (*file_signature(self.path), *(journal.ledger.signature() or ()))

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
        try:
            return state if state is not None and state.signature == self.signature() else None
        except OSError:
            return None

    def is_fresh(self) -> bool:
        return self.fresh_state() is not None

    @property
    def was_read(self) -> bool:
        """Whether a state of the library is in memory, fresh or not."""
        return self._state is not None

    @property
    def is_behind(self) -> bool:
        """Whether the file lacks changes of the state that was last read."""
        return self._state is not None and not self._state.is_placed

    def forget(self) -> None:
        """Let go of the state in memory, unless it is the last good one of a damaged file."""
        with self._mutex:
            if not self._unreadable and not self.is_behind:
                self._state = self._journal = None

    @property
    def unreadable_reason(self) -> str:
        """Why the file cannot be read, while the last good library is used; empty where it can."""
        return self._unreadable if self._unreadable and self.fresh_state() is None else ""

    def change(self, edit: Edit) -> FileState:
        """Applies an edit to the present library, and returns once it is safely in the file."""
        with self._mutex, self._hold_lock() as journal:
            data, present = self._read_merged(journal)
            return self._store(journal, data, present, edit(present))

    def record(self, edit: Edit) -> FileState:
        """Applies an edit, and returns once it is safely in the ledger; the file is to follow.

        What an outsider saved is merged first; the file then has the change at once, as it does
        where much is changed.
        """
        with self._mutex, self._hold_lock() as journal:
            look = None if journal.list_interrupted() else self._look(journal)
            if look is None:
                data, present = self._read_merged(journal)
                return self._store(journal, data, present, edit(present))
            known = look.known
            journal.note_signature(look.signature, look.mark)
            desired = edit(known.document)
            if desired is known.document:
                return self._set_state(known, look.signature, is_placed=look.is_placed)
            edits = find_edits(known.revision, known.document, desired)
            if edits.size > _MOST_JOURNALLED:
                data = self._read_bytes()
                if digest(data) == look.mark:
                    return self._store(journal, data, known.document, desired)
                # Somebody saved the file while the edit was made: it is made to theirs, too.
                data, present = self._read_merged(journal)
                return self._store(journal, data, present, edit(present))
            known = journal.record(known, desired, edits)
            return self._set_state(known, look.signature, is_placed=False)

    def materialize(self) -> FileState:
        """Brings the file to the accepted state, as far as that was when this began.

        Others may change the library meanwhile: a large file is written before the lock is taken.
        """
        if not locate_library(self.path).folder.is_dir():
            return self.read()
        try:
            return self._materialize()
        except LibraryRemovedError:
            return self.read()

    def _materialize(self) -> FileState:
        with self._mutex, self._hold_lock(may_make_folder=False) as journal:
            look = None if journal.list_interrupted() else self._look(journal)
            if look is None:
                data, present = self._read_merged(journal)
                return self._store(journal, data, present, present)
            if look.is_placed:
                return self._set_state(look.known, look.signature, is_placed=True)
            known = look.known
        prepared = prepare_file(journal.location.folder, known.document, known.revision)
        try:
            with self._mutex, self._hold_lock(may_make_folder=False) as journal:
                return self._place(journal, prepared)
        finally:
            prepared.discard()

    def _place(self, journal: LibraryJournal, prepared: PreparedFile) -> FileState:
        look = None if journal.list_interrupted() else self._look(journal)
        if look is not None and (look.is_placed or look.known.base > prepared.revision):
            # Another process was faster.
            return self._set_state(look.known, look.signature, is_placed=look.is_placed)
        if look is not None and prepared.draft.parent == journal.location.folder:
            written = journal.place(prepared, look.mark)
            is_expected = written.is_done and (
                written.replaced is None or file_signature(written.replaced) == look.signature
            )
            if is_expected:
                journal.drop_replaced(written.replaced, look.mark)
                journal.ledger.compact_if_large(prepared.revision)
                known = journal.read_accepted() or look.known
                is_placed = known.revision == prepared.revision
                return self._set_state(known, journal.placed_signature(), is_placed=is_placed)
        data, present = self._read_merged(journal)
        return self._store(journal, data, present, present)

    def take_notices(self) -> list[str]:
        """Notices about merges since the last call; each is returned once."""
        state = self._state
        if state is None or not state.has_notices or not _is_changeable(locate_library(self.path)):
            return []
        with self._mutex, self._hold_lock() as journal:
            found = journal.notices.take()
            # Not the state of before: others may have read a newer one while this waited.
            self._state = replace(self._state or state, has_notices=False)
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
        with self._hold_lock() as journal:
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
    def _hold_lock(self, *, may_make_folder: bool = True) -> Iterator[LibraryJournal]:
        """Holds the lock of the file that the path leads to.

        Raises LibraryRemovedError where its folder is gone and may not be made.
        """
        for _ in range(_LINK_TRIES):
            location = locate_library(self.path)
            check_writable(location)
            journal = self._open_journal(location)
            journal.forget_recorded()
            try:
                location.lock_file.parent.mkdir(parents=may_make_folder, exist_ok=True)
            except FileNotFoundError:
                raise LibraryRemovedError from None
            with hold_lock(location.lock_file, wait_seconds=_LOCK_WAIT_SECONDS):
                # The folder may have been removed while this waited.
                if locate_library(self.path) == location and location.lock_file.exists():
                    yield journal
                    return
        raise TimeoutError("the link to the library keeps changing")

    def _reread(self) -> FileState:
        if (fresh := self.fresh_state()) is not None:
            return fresh
        location = locate_library(self.path)
        journal = self._open_journal(location)
        if not journal.list_interrupted() and (look := self._look(journal)) is not None:
            return self._set_state(look.known, look.signature, is_placed=look.is_placed)
        signature = file_signature(self.path)
        try:
            data, document = self._read_present(journal)
        except UnreadableLibraryError as error:
            if self._state is None and not journal.list_interrupted():
                raise
            if not journal.list_interrupted():
                self._unreadable = str(error)
                return self._state  # type: ignore[return-value]
            data, document = b"", LibraryDocument()
        is_new = bool(signature) or journal.versions.current_digest() is not None
        is_changed = is_new and not journal.is_ours(digest(data))
        if (is_changed and _is_changeable(location)) or journal.list_interrupted():
            try:
                with self._hold_lock(may_make_folder=False) as journal:
                    data, document = self._read_merged(journal)
                    return self._store(journal, data, document, document)
            except LibraryRemovedError:
                is_changed, document, signature = False, LibraryDocument(), ()
        known = None if is_changed else journal.read_accepted()
        if known is None:
            known = AcceptedState(document, 0, -1, "", None, journal.ledger.signature() or ())
        return self._set_state(known, signature, is_placed=True)

    def _look(self, journal: LibraryJournal) -> _Look | None:
        """The library, where its file is as we left it; None where it must be read and merged."""
        for _ in range(_LOOK_TRIES):
            note = journal.placed.read()
            signature = file_signature(self.path)
            if note is None or not signature:
                return None
            mark = note.wanted
            if signature != note.signature:
                mark = self._digest_file()
                if mark == note.expected != note.wanted:
                    # Its writer was killed before it had put in place what it noted.
                    known = journal.read_accepted()
                    return None if known is None else _Look(known, signature, mark, False)
                if mark != note.wanted:
                    return None
            known = journal.accepted_from(note, partial(self._parse_unchanged, signature))
            # Whoever puts a newer state in place meanwhile may drop what the older one needs.
            if journal.placed.read() == note and file_signature(self.path) == signature:
                if known is None:
                    return None
                is_placed = known.revision == note.revision
                return _Look(known, signature, mark, is_placed)
        return None

    def _read_bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""

    def _digest_file(self) -> str:
        try:
            return digest(self.path.read_bytes())
        except OSError:
            return ""

    def _parse_unchanged(self, signature: Signature) -> LibraryDocument | None:
        """The file as it is, or None where it changes meanwhile."""
        try:
            data = self.path.read_bytes()
            if file_signature(self.path) != signature:
                return None
            return LibraryDocument.parse(data)
        except (FileNotFoundError, UnreadableLibraryError):
            return None

    def _read_merged(self, journal: LibraryJournal) -> tuple[bytes, LibraryDocument]:
        """The file's bytes, and the library with all that outsiders and killed processes left."""
        journal.finish_interrupted_write()
        if (look := self._look(journal)) is not None:
            data = self.path.read_bytes()
            if digest(data) == look.mark:
                return data, journal.absorb_left_behind(look.known.document)
        data, found = self._read_present(journal)
        if not data and not self.path.exists():
            present = journal.restore_missing() or found
        elif journal.is_ours(digest(data)):
            present = journal.accepted_state() or found
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
                journal.note_placed(new_data)
                return self._set_stored(journal, desired)
            try:
                written = journal.write(new_data, expected)
            except OSError:
                if not journal.is_touched:
                    journal.withdraw()
                raise
            if written.replaced is None:
                return self._set_stored(journal, desired)
            found = _read_settled(written.replaced, expected)
            if found == expected:
                journal.keep_replaced(written.replaced, found)
                return self._set_stored(journal, desired)
            present = desired = journal.absorb_replaced(written.replaced, found, desired)
            expected = new_data if written.is_done else found
        raise TimeoutError("another program keeps writing the library")

    def _set_stored(self, journal: LibraryJournal, document: LibraryDocument) -> FileState:
        """The state after everything was put into the file."""
        journal.shorten_ledger()
        known = journal.read_accepted()
        if known is None:
            known = AcceptedState(document, 0, -1, "", None, journal.ledger.signature() or ())
        return self._set_state(known, journal.placed_signature(), is_placed=True)

    def _set_state(
        self, known: AcceptedState, signature: Signature, *, is_placed: bool
    ) -> FileState:
        journal = self._open_journal(locate_library(self.path))
        before = self._state
        is_same = before is not None and before.document is known.document
        generation = before.generation if before and is_same else next(_GENERATIONS)
        self._state = FileState(
            (*signature, *known.ledger),
            known.document,
            generation,
            known.revision,
            is_placed,
            journal.notices.path.exists(),
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
