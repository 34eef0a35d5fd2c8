"""A file of named sections, written once, checked, and read by mapping it into memory."""

from __future__ import annotations

import mmap
import os
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO

import orjson

_MAGIC = b"carrel sections\n"
# Where the directory begins, its length and its checksum, then the mark again.
_TRAILER = Struct(f"<QQI4x{len(_MAGIC)}s")
_ALIGNMENT = 64
_BLOCK_BYTES = 1 << 20
_BUFFERED_NUMBERS = 1 << 14


class DamagedFileError(Exception):
    """A file of sections is not whole; it is made again from the papers."""


class StringSink:
    """Writes a table of strings: their bytes, and where each ends."""

    def __init__(self, folder: Path, name: str) -> None:
        self._text = (folder / f"{name}.text").open("wb")
        self._ends = NumberSink(folder, f"{name}.ends", "Q")
        self._ends.append(0)
        self._end = 0

    def append(self, text: str) -> None:
        encoded = text.encode("utf-8", "surrogatepass")
        self._text.write(encoded)
        self._end += len(encoded)
        self._ends.append(self._end)

    def close(self) -> None:
        self._text.close()
        self._ends.close()


class NumberSink:
    """Writes a section of numbers, in portions."""

    def __init__(self, folder: Path, name: str, kind: str = "I") -> None:
        self._file = (folder / name).open("wb")
        self._numbers: array[int] = array(kind)
        self.append = self._append

    def _append(self, number: int) -> None:
        self._numbers.append(number)
        if len(self._numbers) >= _BUFFERED_NUMBERS:
            self._flush()

    def extend(self, numbers: Iterable[int]) -> None:
        self._numbers.extend(numbers)
        if len(self._numbers) >= _BUFFERED_NUMBERS:
            self._flush()

    def _flush(self) -> None:
        self._numbers.tofile(self._file)
        del self._numbers[:]

    def close(self) -> None:
        self._flush()
        self._file.close()


class RowSink:
    """Writes a table of rows of numbers."""

    def __init__(self, folder: Path, name: str) -> None:
        self._numbers = NumberSink(folder, f"{name}.numbers")
        self._ends = NumberSink(folder, f"{name}.ends", "Q")
        self._ends.append(0)
        self._end = 0

    def append(self, row: array[int]) -> None:
        self._numbers.extend(row)
        self._end += len(row)
        self._ends.append(self._end)

    def close(self) -> None:
        self._numbers.close()
        self._ends.close()


class SectionFolder:
    """Sections while they are written, a file each; read back by mapping."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mapped: dict[str, _Mapped] = {}

    def section(self, name: str) -> memoryview:
        return self._map(name).view

    def find(self, name: str, sought: bytes, start: int) -> int:
        return self._map(name).find(sought, start)

    def scatter(self, name: str, count: int) -> memoryview:
        """A section of numbers to be written in any order; the pages are the file's, not ours."""
        path = self.folder / name
        with path.open("wb") as file:
            file.truncate(4 * count)
        self._mapped[name] = mapped = _Mapped(path, 0, 4 * count, is_written=True)
        return mapped.view.cast("I")

    def release(self) -> None:
        """Let go of all mappings, so that the files can be read whole and removed."""
        for mapped in self._mapped.values():
            mapped.close()
        self._mapped.clear()

    def _map(self, name: str) -> _Mapped:
        mapped = self._mapped.get(name)
        if mapped is None:
            path = self.folder / name
            mapped = self._mapped[name] = _Mapped(path, 0, path.stat().st_size)
        return mapped


class _Mapped:
    def __init__(self, path: Path, start: int, length: int, *, is_written: bool = False) -> None:
        self._map: mmap.mmap | None = None
        self.view = memoryview(b"")
        # Nothing cannot be mapped.
        if length:
            with path.open("r+b" if is_written else "rb") as file:
                access = mmap.ACCESS_WRITE if is_written else mmap.ACCESS_READ
                self._map = mmap.mmap(file.fileno(), 0, access=access)
            self.view = memoryview(self._map)[start : start + length]

    def find(self, sought: bytes, start: int) -> int:
        return -1 if self._map is None else self._map.find(sought, start)

    def close(self) -> None:
        # Whoever still holds a view keeps the mapping until it is gone.
        with suppress(BufferError):
            self.view.release()
            if self._map is not None:
                self._map.close()


class SectionFile:
    """A whole file of sections, mapped: opening reads its directory alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self.facts, self._places = _read_directory(file, path)
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._view = memoryview(self._map)

    def section(self, name: str) -> memoryview:
        start, length, _ = self._place(name)
        return self._view[start : start + length]

    def find(self, name: str, sought: bytes, start: int) -> int:
        begin, length, _ = self._place(name)
        found = self._map.find(sought, begin + start, begin + length)
        return found if found < 0 else found - begin

    def close(self) -> None:
        """Let go of the mapping, where nobody holds a part of it."""
        with suppress(BufferError):
            self._view.release()
            self._map.close()

    def verify(self) -> None:
        """Compare every section with its checksum; raises DamagedFileError."""
        for name, (start, length, checksum) in self._places.items():
            found = 0
            for place in range(start, start + length, _BLOCK_BYTES):
                end = min(place + _BLOCK_BYTES, start + length)
                found = zlib.crc32(self._view[place:end], found)
            if found != checksum:
                raise _describe_damage(self.path, f"its section {name} is not what was written")

    def _place(self, name: str) -> tuple[int, int, int]:
        place = self._places.get(name)
        if place is None:
            raise _describe_damage(self.path, f"it has no section {name}")
        return place


def write_sections(folder: Path, draft: Path, facts: Mapping[str, Any]) -> None:
    """Put the sections of a folder into one file, which is on disk when this returns."""
    directory: dict[str, tuple[int, int, int]] = {}
    with draft.open("xb") as file:
        file.write(_MAGIC)
        for path in sorted(folder.iterdir()):
            file.write(bytes(-file.tell() % _ALIGNMENT))
            start, checksum = file.tell(), 0
            for block in _blocks(path):
                checksum = zlib.crc32(block, checksum)
                file.write(block)
            directory[path.name] = start, file.tell() - start, checksum
        told = orjson.dumps(
            {"facts": dict(facts), "byteorder": sys.byteorder, "sections": directory}
        )
        start = file.tell()
        file.write(told)
        file.write(_TRAILER.pack(start, len(told), zlib.crc32(told), _MAGIC))
        file.flush()
        os.fsync(file.fileno())


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            yield block


def _read_directory(
    file: BinaryIO, path: Path
) -> tuple[dict[str, Any], dict[str, tuple[int, int, int]]]:
    size = file.seek(0, os.SEEK_END)
    if size < len(_MAGIC) + _TRAILER.size:
        raise _describe_damage(path, "it is too short")
    file.seek(size - _TRAILER.size)
    start, length, checksum, magic = _TRAILER.unpack(file.read(_TRAILER.size))
    if magic != _MAGIC or start + length != size - _TRAILER.size:
        raise _describe_damage(path, "it does not end as it should")
    file.seek(start)
    told = file.read(length)
    if zlib.crc32(told) != checksum:
        raise _describe_damage(path, "its directory is not what was written")
    directory = orjson.loads(told)
    if directory["byteorder"] != sys.byteorder:
        raise _describe_damage(path, "it was made on a machine of another byte order")
    places = {name: tuple(place) for name, place in directory["sections"].items()}
    if any(begin + count > start for begin, count, _ in places.values()):
        raise _describe_damage(path, "a section lies beyond its end")
    return directory["facts"], places


def _describe_damage(path: Path, why: str) -> DamagedFileError:
    return DamagedFileError(f"{path.name} cannot be used: {why}")
