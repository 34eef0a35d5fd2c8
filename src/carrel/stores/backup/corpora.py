"""A corpus of segments in a backup: one manifest, the segments it lists, and the build state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from carrel.rooms.papers.errors import BuildInProgressError
from carrel.stores.backup.collection import FoundFile
from carrel.stores.backup.errors import BackupFailedError
from carrel.stores.corpus import MANIFEST_NAME, SEGMENTS_NAME
from carrel.stores.corpus.manifest import parse_manifest
from carrel.stores.corpus.publication import STAGED_NAME
from carrel.stores.sqlite.papers import WORKSHOP_NAME
from carrel.stores.sqlite.papers.build_locks import BuildLockFile

# A build that runs longer is not waited for: what it has published is carried.
_BUILD_WAIT_SECONDS = 5.0


def is_in_segments(path: Path) -> bool:
    """Whether this is a segment, or a folder that becomes one, of a corpus with a manifest."""
    return path.parent.name == SEGMENTS_NAME and _has_manifest(path.parent.parent)


def is_manifest_draft(path: Path) -> bool:
    return path.name.startswith(f".{MANIFEST_NAME}.")


def corpus_folders(files: Iterable[FoundFile]) -> list[Path]:
    """The folders of corpora of segments among these files."""
    return sorted(
        {
            found.path.parent
            for found in files
            if found.path.name == MANIFEST_NAME and (found.path.parent / SEGMENTS_NAME).is_dir()
        }
    )


def segments_bytes(files: Iterable[FoundFile]) -> int:
    """The size of all segments that are carried with these files."""
    return sum(
        entry.bytes
        for folder in corpus_folders(files)
        for entry in parse_manifest((folder / MANIFEST_NAME).read_bytes()).segments
    )


def corpus_files(folder: Path, found: Iterable[FoundFile]) -> Iterator[FoundFile]:
    """The files of one corpus, listed as they are read: the build state before what it names.

    `found` are the files of the corpus as they were found, among them its manifest.
    """
    manifest, staged = folder / MANIFEST_NAME, folder / WORKSHOP_NAME / STAGED_NAME
    name = next(each.name for each in found if each.path == manifest).removesuffix(MANIFEST_NAME)
    # Before the manifest is read, so that it is not older than what it is put together with.
    yield from (each for each in found if not each.path.is_relative_to(staged))
    yield from _below(staged, f"{name}{WORKSHOP_NAME}/{STAGED_NAME}")
    for entry in parse_manifest(manifest.read_bytes()).segments:
        segment = folder / SEGMENTS_NAME / entry.name
        if not segment.is_dir():
            raise BackupFailedError(
                f"{segment} is missing: the corpus cannot be carried",
                next_step="Restore an earlier backup or build the corpus again; no backup was "
                "made.",
            )
        for file in _below(segment, f"{name}{SEGMENTS_NAME}/{entry.name}"):
            yield replace(file, is_immutable=True)


@contextmanager
def keep_manifest(folder: Path) -> Iterator[None]:
    """Holds off builds; where one runs already, makes sure that it publishes nothing meanwhile.

    Raises BackupFailedError at the end where it did.
    """
    manifest, workshop = folder / MANIFEST_NAME, folder / WORKSHOP_NAME
    with ExitStack() as held:
        if workshop.is_dir():
            # Otherwise a build runs, or nothing can be written here and nothing is built.
            with suppress(BuildInProgressError, OSError):
                held.enter_context(BuildLockFile(workshop / "lock.db").held(_BUILD_WAIT_SECONDS))
        before = manifest.read_bytes()
        yield
        if manifest.read_bytes() != before:
            raise BackupFailedError(
                f"A build has published papers in {folder} meanwhile",
                next_step="Run it again; no backup was made.",
            )


def _below(folder: Path, name: str) -> Iterator[FoundFile]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield FoundFile(path, f"{name}/{path.relative_to(folder).as_posix()}")


def _has_manifest(folder: Path) -> bool:
    return (folder / MANIFEST_NAME).is_file()
