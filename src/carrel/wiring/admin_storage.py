"""Where a desk keeps everything, and how much it is."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.doors.web.admin.models import (
    CorpusSegment,
    EmbeddedDatabase,
    StoragePart,
    StorageReport,
)
from carrel.settings import Settings
from carrel.settings.places import embedded_files
from carrel.stores.home.storage_sizes import measure_home, measure_path, measure_segments
from carrel.wiring.backup import backup_places, kept_elsewhere
from carrel.wiring.papers import snapshot_path

if TYPE_CHECKING:
    from carrel.wiring.desk import Desk

# A measurement this old is given again: a walk over a million files takes seconds.
_FRESH_SECONDS = 30.0
_MADE_AGAIN = frozenset({"cache", "uploads", "limits", "cache folder"})


class DiskMeter:
    """Measures in a thread, once for all who ask at a time."""

    def __init__(self, desk: Desk) -> None:
        self._settings = desk.settings
        self._clock: Clock = desk.clock
        self._measuring = asyncio.Lock()
        self._last: tuple[float, StorageReport] | None = None

    async def measure(self) -> StorageReport:
        async with self._measuring:
            now = self._clock.monotonic()
            if self._last is not None and now - self._last[0] < _FRESH_SECONDS:
                return self._last[1]
            report = await asyncio.to_thread(measure_storage, self._settings, self._clock)
            self._last = (now, report)
            return report


def measure_storage(settings: Settings, clock: Clock) -> StorageReport:
    """Walks over the home and the places that the settings name outside of it."""
    parts = [*_parts_at_home(settings), *_parts_outside(settings)]
    try:
        built_at, segments = measure_segments(snapshot_path(settings).parent)
    except CarrelError:
        # The health of the papers tells what is wrong with them.
        built_at, segments = "", []
    disk = shutil.disk_usage(_nearest(settings.home))
    return StorageReport(
        home=str(settings.home),
        measured_at=clock.now().isoformat(timespec="seconds"),
        total_bytes=sum(part.size_bytes for part in parts),
        free_bytes=disk.free,
        disk_bytes=disk.total,
        parts=sorted(parts, key=lambda part: -part.size_bytes),
        databases=[_database(name, file) for name, file in embedded_files(settings).items()],
        segments=[
            CorpusSegment(
                name=each.name,
                papers=each.papers,
                deleted=each.deleted,
                passages=each.passages,
                size_bytes=each.size_bytes,
            )
            for each in segments
        ],
        corpus_built_at=built_at,
        elsewhere=kept_elsewhere(settings),
    )


def _parts_at_home(settings: Settings) -> list[StoragePart]:
    return [
        StoragePart(
            name=name,
            path=str(settings.home),
            size_bytes=size.size_bytes,
            file_count=size.file_count,
            is_made_again=name in _MADE_AGAIN,
        )
        for name, size in measure_home(settings.home).items()
    ]


def _parts_outside(settings: Settings) -> list[StoragePart]:
    parts: list[StoragePart] = []
    for place in backup_places(settings).outside:
        for name in place.names.values():
            path = place.folder / name
            if path.exists():
                parts.append(_outside_part(f"{place.prefix}: {name}", path))
    cache = settings.cache
    if cache is not None and cache.exists() and not cache.is_relative_to(settings.home):
        parts.append(_outside_part("cache folder", cache))
    return parts


def _outside_part(name: str, path: Path) -> StoragePart:
    size = measure_path(path)
    return StoragePart(
        name=name,
        path=str(path),
        size_bytes=size.size_bytes,
        file_count=size.file_count,
        is_made_again=name in _MADE_AGAIN,
    )


def _database(name: str, file: Path) -> EmbeddedDatabase:
    log = file.with_name(f"{file.name}-wal")
    exists = file.exists()
    return EmbeddedDatabase(
        name=name,
        path=str(file),
        size_bytes=file.stat().st_size if exists else 0,
        log_bytes=log.stat().st_size if log.exists() else 0,
        exists=exists,
    )


def _nearest(place: Path) -> Path:
    while not place.exists() and place != place.parent:
        place = place.parent
    return place
