"""The manifest of a corpus: its segments and their deleted rows, replaced by one rename."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from carrel.core.process_name import process_name
from carrel.rooms.papers.errors import DamagedCorpusError, SnapshotUnavailableError
from carrel.stores.corpus import MANIFEST_NAME, SEGMENTS_NAME
from carrel.stores.corpus.schema import FORMAT

_SEGMENT_NAME = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """One segment: `papers` counts its rows, those in `deleted` (in order) included."""

    name: str
    papers: int
    passages: int
    bytes: int
    first_row: int
    last_row: int
    deleted: tuple[int, ...] = ()

    @property
    def live_papers(self) -> int:
        return self.papers - len(self.deleted)

    def without(self, rows: Iterable[int]) -> SegmentEntry:
        """The entry with these rows deleted as well."""
        return replace(self, deleted=tuple(sorted({*self.deleted, *rows})))


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a reader opens: segments in the order they were written.

    `generation` grows by one with every change. `next_row` and `next_index` are the numbers that
    the next version of a paper and the next new paper get.
    """

    build_id: str
    built_at: str
    generation: int
    next_row: int = 1
    next_index: int = 1
    segments: tuple[SegmentEntry, ...] = ()
    format: int = FORMAT

    @property
    def papers(self) -> int:
        return sum(segment.live_papers for segment in self.segments)


def segments_folder(corpus: Path) -> Path:
    return corpus / SEGMENTS_NAME


def segment_folder(corpus: Path, name: str) -> Path:
    return corpus / SEGMENTS_NAME / name


def has_manifest(corpus: Path) -> bool:
    return (corpus / MANIFEST_NAME).is_file()


def read_manifest(corpus: Path) -> Manifest | None:
    """The manifest of a corpus folder, or None where there is none.

    Raises SnapshotUnavailableError where it cannot be read or is of a newer version.
    """
    try:
        content = (corpus / MANIFEST_NAME).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SnapshotUnavailableError(
            f"its manifest cannot be read: {error.strerror or error}"
        ) from error
    return parse_manifest(content)


def parse_manifest(content: bytes) -> Manifest:
    """Raises SnapshotUnavailableError where the content is no manifest of this version."""
    try:
        facts: dict[str, Any] = orjson.loads(content)
        if facts["format"] > FORMAT:
            raise SnapshotUnavailableError("it was written by a newer version of Carrel")
        segments = tuple(_read_entry(entry) for entry in facts["segments"])
        return Manifest(
            str(facts["build_id"]),
            str(facts["built_at"]),
            int(facts["generation"]),
            int(facts["next_row"]),
            int(facts["next_index"]),
            segments,
            int(facts["format"]),
        )
    except (ValueError, TypeError, KeyError) as error:
        raise DamagedCorpusError("its manifest") from error


def write_manifest(corpus: Path, manifest: Manifest) -> None:
    """Replace the manifest; after a crash at any point it is the old one or the new one, whole."""
    target = corpus / MANIFEST_NAME
    aside = corpus / f".{MANIFEST_NAME}.{process_name()}"
    try:
        with aside.open("wb") as file:
            # Of this version, whatever it was read as: an earlier Carrel must not take the segments
            # for its own.
            file.write(orjson.dumps(asdict(replace(manifest, format=FORMAT))))
            file.flush()
            os.fsync(file.fileno())
        aside.replace(target)
    except BaseException:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise
    sync_folder(corpus)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last; does nothing where folders cannot be opened."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        # Some file systems do not sync folders; the names are then as safe as they can be.
        return
    finally:
        os.close(descriptor)


def _read_entry(facts: dict[str, Any]) -> SegmentEntry:
    entry = SegmentEntry(**{**facts, "deleted": tuple(facts["deleted"])})
    if not _SEGMENT_NAME.fullmatch(entry.name):
        raise ValueError("the name of a segment is not a hash")
    return entry
