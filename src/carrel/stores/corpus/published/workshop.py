"""The workshop of a published corpus: what builds go on from, fetched, changed and published.

Beside the state of builds lies a copy of it as it was published. It tells which pages a change
touched, and gives them back where a change was not published.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from carrel.core.process_name import process_name
from carrel.stores.corpus.manifest import sync_folder
from carrel.stores.corpus.publication import STAGED_NAME
from carrel.stores.corpus.published.catalogue import (
    CHANGES,
    FILES,
    StoredObject,
    WorkshopChain,
    damaged_object,
)
from carrel.stores.corpus.published.state_changes import (
    DamagedChangeError,
    FileChanges,
    WorkshopFile,
    apply_change,
    copy_differences,
    hash_file,
    join_files,
    read_file_changes,
    write_change,
)
from carrel.stores.objects.store import PIECE_BYTES, ObjectStore
from carrel.stores.sqlite.papers import INBOX_NAME, SUMMARIES_NAME, WORKSHOP_NAME
from carrel.stores.sqlite.papers.corpus_folder import NEVER_JOIN_NAME

STATE_NAME = "state.db"
_PUBLISHED_NAME = "published"
# Folders of the corpus whose files belong to what builds go on from.
_FOLDERS = (INBOX_NAME, SUMMARIES_NAME, f"{WORKSHOP_NAME}/{STAGED_NAME}")
# All of the state is published anew when the changes since have half its size, or are so many that
# fetching them one by one takes long.
_MOST_CHANGES = 256
_LEAST_CHAIN_BYTES = 1024 * 1024

Put = Callable[[str, Path], None]


@dataclass(frozen=True, slots=True)
class WorkshopDraft:
    """A workshop that is stored but not published yet."""

    chain: WorkshopChain
    files: Mapping[str, WorkshopFile]


class WorkshopCopy:
    """The workshop in one corpus folder, for whoever holds the locks of that folder."""

    def __init__(self, corpus: Path, store: ObjectStore) -> None:
        self._corpus = corpus
        self._store = store
        self._state = corpus / WORKSHOP_NAME / STATE_NAME
        self._folder = corpus / WORKSHOP_NAME / _PUBLISHED_NAME
        self._shadow = self._folder / STATE_NAME
        self._note = self._folder / "workshop.json"

    def exists(self) -> bool:
        """Whether builds can go on from what is in the folder."""
        return self._state.is_file()

    def bring_to(self, chain: WorkshopChain | None, *, is_trusted: bool) -> None:
        """Make the workshop what was published, whatever is in the folder now.

        `is_trusted`: nobody changed the folder since it was published or fetched.
        """
        if chain is None:
            return
        if is_trusted and self.exists() and self.has(chain):
            return
        self._bring_shadow_to(chain)
        self.restore()

    def forget(self) -> None:
        """Remove the state and its copy; what was handed in stays."""
        for path in self._state.parent.glob(f"{STATE_NAME}*"):
            path.unlink(missing_ok=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def restore(self) -> None:
        """Give back the state and the files as they were last published or fetched."""
        found = self._read_note()
        if found is None:
            return
        _, files, former = found
        for path in self._state.parent.glob(f"{STATE_NAME}-*"):
            path.unlink(missing_ok=True)
        aside = self._state.with_name(f".{STATE_NAME}.{process_name()}")
        try:
            shutil.copyfile(self._shadow, aside)
            _sync(aside)
            aside.replace(self._state)
            sync_folder(self._state.parent)
        finally:
            aside.unlink(missing_ok=True)
        for name in former:
            if name not in files:
                self._path(name).unlink(missing_ok=True)
        for name, each in files.items():
            if self._facts(name) != (each.size_bytes, each.modified_ns):
                self._fetch_file(name, each)

    def draft(self, before: WorkshopChain | None, put: Put) -> WorkshopDraft | None:
        """Store what changed since `before`; None where nothing did.

        `put` stores a file under a key, unless the store has it.
        """
        note = self._read_note()
        known: dict[str, WorkshopFile] = {}
        if note is not None and before is not None and note[0] == _names(before):
            known = note[1]
        else:
            before = None
        files, changes = self._find_files(known)
        for each in {each.sha256: name for name, each in changes.files.items()}.items():
            put(file_key(each[0]), self._path(each[1]))
        self._folder.mkdir(parents=True, exist_ok=True)
        target = self._folder / f".change.{process_name()}"
        try:
            is_whole = before is None or self._is_long(before)
            written = write_change(
                target,
                None if is_whole else self._shadow,
                self._state,
                FileChanges(files) if is_whole else changes,
            )
            if before is not None and written.state_sha256 == before.state_sha256 and not changes:
                return None
            change = StoredObject(hash_file(target), target.stat().st_size)
            put(f"{CHANGES}/{change.sha256}", target)
        finally:
            target.unlink(missing_ok=True)
        earlier = () if before is None or is_whole else before.changes
        return WorkshopDraft(
            WorkshopChain((*earlier, change), written.state_sha256, written.state_bytes), files
        )

    def settle(self, draft: WorkshopDraft) -> None:
        """Remember that the workshop in the folder is published."""
        self._note.unlink(missing_ok=True)
        copy_differences(self._state, self._shadow)
        self._write_note(draft.chain, draft.files, ())

    def file_keys(self) -> set[str]:
        """The objects of the files that were last published or fetched."""
        note = self._read_note()
        return set() if note is None else {file_key(each.sha256) for each in note[1].values()}

    def has(self, chain: WorkshopChain) -> bool:
        """Whether the folder knows the files of this very workshop."""
        note = self._read_note()
        return note is not None and note[0] == _names(chain)

    def _is_long(self, chain: WorkshopChain) -> bool:
        first, *later = chain.changes
        most = max(first.size_bytes // 2, _LEAST_CHAIN_BYTES)
        return len(later) >= _MOST_CHANGES or sum(each.size_bytes for each in later) > most

    def _bring_shadow_to(self, chain: WorkshopChain) -> None:
        note = self._read_note()
        done, files = ([], {}) if note is None else (note[0], note[1])
        former = tuple(files) if note is None else (*note[1], *note[2])
        names = _names(chain)
        if done == names:
            return
        if done != names[: len(done)]:
            done, files = [], {}
            self._shadow.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)
        if not done:
            self._shadow.unlink(missing_ok=True)
        self._folder.mkdir(parents=True, exist_ok=True)
        for change in chain.changes[len(done) :]:
            changes = self._apply(change)
            files = join_files({} if change is chain.changes[0] else files, [changes])
        if hash_file(self._shadow) != chain.state_sha256:
            raise damaged_object(self._store, f"{CHANGES}/{chain.changes[-1].sha256}")
        self._write_note(chain, files, former)

    def _apply(self, change: StoredObject) -> FileChanges:
        key = f"{CHANGES}/{change.sha256}"
        target = self._folder / f".change.{process_name()}"
        try:
            _download(self._store, key, change, target)
            try:
                apply_change(target, self._shadow)
                changes = read_file_changes(target)
                for name in (*changes.files, *changes.removed):
                    self._path(name)
            except DamagedChangeError as error:
                raise damaged_object(self._store, key) from error
        finally:
            target.unlink(missing_ok=True)
        return changes

    def _fetch_file(self, name: str, each: WorkshopFile) -> None:
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}.{process_name()}")
        try:
            wanted = StoredObject(each.sha256, each.size_bytes)
            _download(self._store, file_key(each.sha256), wanted, aside)
            _sync(aside)
            os.utime(aside, ns=(each.modified_ns, each.modified_ns))
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)

    def _find_files(
        self, known: Mapping[str, WorkshopFile]
    ) -> tuple[dict[str, WorkshopFile], FileChanges]:
        """All files of the workshop, and how they differ from those that are known."""
        files: dict[str, WorkshopFile] = {}
        for name in self._names_on_disk():
            facts = self._facts(name)
            if facts is None:
                continue
            before = known.get(name)
            if before is not None and facts == (before.size_bytes, before.modified_ns):
                files[name] = before
                continue
            with suppress(FileNotFoundError):
                files[name] = WorkshopFile(hash_file(self._path(name)), *facts)
        changed = {name: each for name, each in files.items() if known.get(name) != each}
        return files, FileChanges(changed, tuple(sorted(known.keys() - files.keys())))

    def _names_on_disk(self) -> Iterator[str]:
        if (self._corpus / NEVER_JOIN_NAME).is_file():
            yield NEVER_JOIN_NAME
        for folder in _FOLDERS:
            for path in sorted((self._corpus / folder).rglob("*")):
                # Names with a dot are drafts, but for those that tell how a file was called.
                if path.is_file() and not _is_draft(path):
                    yield path.relative_to(self._corpus).as_posix()

    def _facts(self, name: str) -> tuple[int, int] | None:
        try:
            state = self._path(name).stat()
        except FileNotFoundError:
            return None
        return state.st_size, state.st_mtime_ns

    def _path(self, name: str) -> Path:
        """Raises DamagedChangeError where the name leads out of the workshop."""
        parts = PurePosixPath(name).parts
        is_known = name == NEVER_JOIN_NAME or name.startswith(
            tuple(f"{folder}/" for folder in _FOLDERS)
        )
        if not is_known or ".." in parts or "\\" in name or "\0" in name:
            raise DamagedChangeError("a name leads out of the workshop")
        return self._corpus.joinpath(*parts)

    def _read_note(
        self,
    ) -> tuple[list[str], dict[str, WorkshopFile], tuple[str, ...]] | None:
        """The changes that the copy of the state has, its files, and files that may be left."""
        try:
            facts: dict[str, Any] = orjson.loads(self._note.read_bytes())
            files = {name: WorkshopFile(*each) for name, each in facts["files"].items()}
            return list(facts["chain"]), files, tuple(facts["former"])
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def _write_note(
        self, chain: WorkshopChain, files: Mapping[str, WorkshopFile], former: tuple[str, ...]
    ) -> None:
        content = orjson.dumps(
            {
                "chain": _names(chain),
                "files": {
                    name: (each.sha256, each.size_bytes, each.modified_ns)
                    for name, each in files.items()
                },
                "former": former,
            }
        )
        # The note is believed, so what it tells of is on the disk before it.
        _sync(self._shadow)
        aside = self._note.with_name(f".{self._note.name}.{process_name()}")
        aside.write_bytes(content)
        _sync(aside)
        aside.replace(self._note)
        sync_folder(self._folder)


def _names(chain: WorkshopChain) -> list[str]:
    return [change.sha256 for change in chain.changes]


def _sync(path: Path) -> None:
    """Wait until a file is on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _is_draft(path: Path) -> bool:
    return path.name.startswith(".") and not path.name.endswith(".name")


def _download(store: ObjectStore, key: str, wanted: StoredObject, target: Path) -> None:
    """Write an object to a file and compare its hash."""
    digest, size = hashlib.sha256(), 0
    with target.open("wb") as file:
        for piece in store.read(key):
            size += len(piece)
            if size > wanted.size_bytes:
                raise damaged_object(store, key)
            digest.update(piece)
            file.write(piece)
    if digest.hexdigest() != wanted.sha256:
        raise damaged_object(store, key)


def file_key(sha256: str) -> str:
    """The object of a file: the inbox names files by as much of their hash."""
    return f"{FILES}/{sha256[:32]}"


def file_pieces(path: Path) -> Iterator[bytes]:
    """A file in pieces."""
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece
