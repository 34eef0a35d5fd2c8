"""Writes all embedded data into one file while the server runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from carrel import __version__
from carrel.core.clock import Clock
from carrel.core.errors import ConflictError, NotFoundError
from carrel.core.progress import Progress
from carrel.stores.backup.archive import (
    ArchiveWriter,
    Header,
    LeftOutIndex,
    Manifest,
    archive_format,
    read_archive,
)
from carrel.stores.backup.backup_list import remember_backup
from carrel.stores.backup.collection import Copier, Findings, FoundFile, LeftOut, collect
from carrel.stores.backup.corpora import (
    corpus_files,
    corpus_folders,
    keep_manifest,
    segments_bytes,
)
from carrel.stores.backup.database import DATABASE_PREFIX, DatabaseCopies
from carrel.stores.backup.places import (
    BUILD_NAME,
    CARRIED_WITH_MANIFEST,
    Places,
    is_index,
    why_left_out,
)
from carrel.stores.csl_json.file_replacement import sync_folder
from carrel.stores.file_lock import LockHeldError, hold_lock
from carrel.stores.sqlite.papers.build_locks import BuildLockFile
from carrel.stores.sqlite.papers.index_manifest import read_manifest

_BUILD_WAIT_SECONDS = 60.0
_BUILD_LOOK_SECONDS = 0.2
_LIBRARY_WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class _Group:
    """Files that belong together, and what keeps others from changing them meanwhile."""

    files: Iterable[FoundFile]
    held: AbstractContextManager[None]


def make_backup(
    places: Places,
    target: Path,
    *,
    elsewhere: Sequence[str],
    may_replace: bool,
    progress: Progress,
    clock: Clock,
    database: DatabaseCopies | None = None,
) -> Manifest:
    """Write a backup under a temporary name, verify it, then rename it.

    `elsewhere` names the data kept outside of this machine, for whoever restores; `database` is
    what is carried beside the files.
    """
    target = target.absolute()
    if not places.home.is_dir() and database is None:
        raise NotFoundError(
            "Home folder", str(places.home), next_step="Name it with --home; no backup was made."
        )
    if target.exists() and not may_replace:
        raise _exists(target)
    draft = target.with_name(f"{target.name}.part")
    scratch = target.with_name(f"{target.name}.part.db")
    with _hold_draft(draft) as descriptor:
        try:
            # Closed before the draft gets its name: Windows renames no file that is open.
            with os.fdopen(descriptor, "wb") as stream:
                header = Header(
                    format=archive_format(has_database=database is not None),
                    carrel=__version__,
                    made_at=clock.now().isoformat(timespec="seconds"),
                )
                with ArchiveWriter(stream, header, progress.advance) as archive:
                    if database is not None:
                        _add_database(database, archive, draft, progress)
                    manifest = _write(places, archive, scratch, draft, elsewhere, progress)
                stream.flush()
                os.fsync(stream.fileno())
            if check_backup(draft, progress) != manifest:
                raise ConflictError(
                    f"{draft} was changed by somebody else",
                    next_step="Run it again; no backup was made.",
                )
            _give_name(draft, target, may_replace=may_replace)
            if places.home.is_dir():
                remember_backup(places.home, target)
        finally:
            draft.unlink(missing_ok=True)
    return manifest


def _add_database(
    database: DatabaseCopies, archive: ArchiveWriter, draft: Path, progress: Progress
) -> None:
    """Adds all tables as of one moment, by files beside the draft."""
    progress.begin("copying the database", None, "bytes")
    with tempfile.TemporaryDirectory(prefix=f".{draft.name}.", dir=draft.parent) as name:
        folder = Path(name)
        database.dump(folder)
        copier = Copier(archive, folder / "scratch")
        for file in sorted(folder.iterdir()):
            copier.add(FoundFile(file, f"{DATABASE_PREFIX}/{file.name}", is_immutable=True))
    progress.end()


def check_backup(file: Path, progress: Progress) -> Manifest:
    """Reads all of a backup and compares every file with its hash."""
    progress.begin("checking", file.stat().st_size, "bytes")
    manifest = read_archive(file, progress.advance)
    progress.end()
    return manifest


def _write(
    places: Places,
    archive: ArchiveWriter,
    scratch: Path,
    draft: Path,
    elsewhere: Sequence[str],
    progress: Progress,
) -> Manifest:
    findings = _findings(places, frozenset({draft, scratch}))
    total = findings.size_bytes + segments_bytes(findings.files)
    progress.begin("copying", total, "bytes")
    copier = Copier(archive, scratch)
    in_log = {found.path for found in places.audit_log()}
    for group in _groups(found for found in findings.files if found.path not in in_log):
        with group.held:
            for found in group.files:
                if not copier.add(found):
                    findings.left_out.append(LeftOut(found.path, found.name, "removed meanwhile"))
    if in_log:
        # Last, so that whatever is in the data is in the log.
        copier.add_log(
            places.audit_file.with_name(f"{places.audit_file.name}.lock"), places.audit_log
        )
    progress.end()
    if not archive.count:
        raise NotFoundError(
            "Data",
            str(places.home),
            next_step="There is nothing to carry yet; no backup was made.",
        )
    left_out = [
        f"{left.name}: {left.reason}"
        for left in findings.left_out
        if left.reason != CARRIED_WITH_MANIFEST
    ]
    return archive.finish(
        left_out,
        [_index(left) for left in findings.left_out if is_index(left.path)],
        list(elsewhere),
    )


def _index(left: LeftOut) -> LeftOutIndex:
    found = read_manifest(left.path.with_suffix(""))
    return LeftOutIndex(
        snapshot=left.name.removesuffix(".index"), has_vectors=bool(found and found.vectors)
    )


def _findings(places: Places, but: frozenset[Path]) -> Findings:
    findings = Findings()
    why_not = why_left_out(places.home, places.audit_file, but)
    if places.home.is_dir():
        collect(places.home, "home", why_not, findings)
    for place in places.outside:
        if place.prefix == "audit":
            continue
        for archived, here in place.names.items():
            path, name = place.folder / here, f"{place.prefix}/{archived}"
            if path.is_dir():
                collect(path, name, why_not, findings)
            elif path.is_file():
                findings.files.append(FoundFile(path, name))
            index = path.with_name(f"{here}.index")
            if is_index(index):
                findings.left_out.append(
                    LeftOut(index, f"{name}.index", "made again by carrel restore")
                )
    return findings


def _groups(files: Iterable[FoundFile]) -> Iterator[_Group]:
    """Everything that stands alone, libraries with their versions, and corpora with their texts."""
    libraries: dict[Path, list[FoundFile]] = {}
    alone: list[FoundFile] = []
    for found in files:
        workshop = _versions_folder(found.path)
        (alone if workshop is None else libraries.setdefault(workshop, [])).append(found)
    segmented: dict[Path, list[FoundFile]] = {}
    for folder in corpus_folders(alone):
        segmented[folder] = [found for found in alone if found.path.is_relative_to(folder)]
        alone = [found for found in alone if not found.path.is_relative_to(folder)]
    corpora: dict[Path, list[FoundFile]] = {}
    for folder in sorted(
        {found.path.parent.parent for found in alone if found.path.parent.name == BUILD_NAME}
    ):
        corpora[folder] = [found for found in alone if found.path.is_relative_to(folder)]
        alone = [found for found in alone if not found.path.is_relative_to(folder)]
    yield _Group(tuple(alone), nullcontext())
    for workshop, ours in libraries.items():
        # Where nothing can be written, nobody of ours writes.
        yield _Group(
            tuple(ours),
            hold_lock(workshop / "lock", wait_seconds=_LIBRARY_WAIT_SECONDS)
            if os.access(workshop, os.W_OK)
            else nullcontext(),
        )
    for folder, ours in segmented.items():
        yield _Group(corpus_files(folder, ours), keep_manifest(folder))
    for folder, ours in corpora.items():
        yield _Group(tuple(ours), no_build(folder / BUILD_NAME))


def _versions_folder(path: Path) -> Path | None:
    """The folder of the versions of a library, for the library and for what is in that folder."""
    beside = path.with_name(f".{path.name}.carrel")
    if beside.is_dir():
        return beside
    return next(
        (
            parent
            for parent in path.parents
            if parent.name.startswith(".") and parent.name.endswith(".carrel")
        ),
        None,
    )


@contextmanager
def no_build(workshop: Path) -> Iterator[None]:
    """Keeps a corpus from being built meanwhile; waits for a running build, within a limit."""
    with ExitStack() as held:
        # Where nothing can be written, nothing can be built either.
        if os.access(workshop, os.W_OK):
            held.enter_context(BuildLockFile(workshop / "lock.db").held(_BUILD_WAIT_SECONDS))
        yield


@contextmanager
def _hold_draft(draft: Path) -> Iterator[int]:
    """An empty, locked draft, which the caller closes; only its owner may read its secrets."""
    with ExitStack() as held:
        try:
            held.enter_context(hold_lock(draft))
        except LockHeldError:
            raise ConflictError(
                f"Another backup is writing {draft}",
                next_step="Wait for it, or choose another name.",
            ) from None
        try:
            descriptor = os.open(draft, os.O_RDWR | os.O_TRUNC | getattr(os, "O_BINARY", 0))
        except FileNotFoundError:
            # The one that held it before has just given it its name.
            raise ConflictError(
                f"Another backup has just written {draft}", next_step="Run it again."
            ) from None
        draft.chmod(0o600)
        yield descriptor


def _give_name(draft: Path, target: Path, *, may_replace: bool) -> None:
    if may_replace:
        draft.replace(target)
    else:
        try:
            os.link(draft, target)
        except FileExistsError:
            raise _exists(target) from None
        except OSError:
            # A disk without second names: the look and the renaming are two steps there.
            if target.exists():
                raise _exists(target) from None
            draft.replace(target)
    sync_folder(target.parent)


def _exists(target: Path) -> ConflictError:
    return ConflictError(
        f"{target} exists already", next_step="Choose another name, or --overwrite."
    )
