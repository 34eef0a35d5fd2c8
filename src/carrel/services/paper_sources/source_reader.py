"""What every reader of sources can do, and one part read with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

from carrel.libraries.text.budget import InputTooCostlyError, parsing
from carrel.rooms.papers.building.models import PartJob, Reading, SourcePart
from carrel.rooms.papers.building.ports import AssetStore


class SourceReader(Protocol):
    """Reads one kind of file; a higher `version` invalidates earlier readings."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int: ...

    def accepts(self, path: Path, head: bytes) -> bool:
        """Whether this reader handles a file with this name and these first bytes."""
        ...

    def parts(self, path: Path, companions: tuple[Path, ...]) -> Iterator[SourcePart]: ...

    def read(self, part: SourcePart, assets: AssetStore) -> Reading: ...


ReadersAndAssets = Callable[[], tuple[tuple[SourceReader, ...], AssetStore]]
ReadJobs = Callable[[Iterable[PartJob], ReadersAndAssets], Iterator[tuple[PartJob, Reading]]]


def read_part(reader: SourceReader, part: SourcePart, assets: AssetStore) -> Reading:
    """Read one part; any error becomes a line of the report."""
    try:
        with parsing("the file", measure_part(part)):
            reading = reader.read(part, assets)
            if reading.records or reading.problems:
                return reading
            line = part.first_line if part.number else None
            return Reading.failed("empty", "there is no paper in this file", line)
    except InputTooCostlyError as error:
        return Reading.failed("too_costly", f"{error.message}. {error.next_step}")
    except OSError as error:
        return Reading.failed("not_readable", f"cannot be read: {error.strerror or error}")
    except MemoryError:
        return Reading.failed("too_large", "does not fit into memory")
    except Exception as error:  # noqa: BLE001 - parsers fail in ways of their own; one file must not stop the rest
        return Reading.failed(
            "reader_failed",
            f"the {reader.name} reader failed: {type(error).__name__}: {error}"[:300],
        )


def measure_part(part: SourcePart) -> int:
    """Its bytes; 0 where the file is gone."""
    if part.content is not None:
        return len(part.content)
    try:
        return part.path.stat().st_size
    except OSError:
        return 0


def read_here(
    jobs: Iterable[PartJob], equipment: ReadersAndAssets
) -> Iterator[tuple[PartJob, Reading]]:
    """One after the other in this process."""
    readers, assets = equipment()
    by_name = {reader.name: reader for reader in readers}
    for job in jobs:
        yield job, read_part(by_name[job.reader], job.part, assets)
