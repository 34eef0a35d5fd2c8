"""Recognises the format of a vocabulary file and reads it."""

import bz2
import gzip
import io
import lzma
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from carrel.libraries.vocabularies.entries import (
    MOST_BYTES,
    VocabularyEntry,
    VocabularyFileError,
    check_entries,
    place_entries,
)
from carrel.libraries.vocabularies.linked_data import read_json_ld, read_turtle
from carrel.libraries.vocabularies.records import read_mesh_records, read_obo
from carrel.libraries.vocabularies.tables import read_table
from carrel.libraries.vocabularies.xml_files import read_xml

MOST_BYTES_IN_MEMORY = 200_000_000
"""Turtle and JSON-LD are read whole; the other formats in pieces."""

_OPENING_BYTES = 65_536
_PACKED: dict[bytes, Callable[..., object]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ": lzma.open,
    b"BZh": bz2.open,
}


def read_vocabulary_file(path: Path) -> list[VocabularyEntry]:
    """The entries of a file; raises VocabularyFileError where it is no vocabulary, and OSError."""
    with _unpacked(path) as stream:
        try:
            found = place_entries(list(check_entries(_entries(stream))))
        except UnicodeDecodeError as error:
            raise VocabularyFileError("it is not text in UTF-8") from error
        except (EOFError, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise VocabularyFileError(f"it cannot be unpacked ({error})") from error
    if not found:
        raise VocabularyFileError("it holds no terms")
    return found


def _unpacked(path: Path) -> io.BufferedReader:
    with path.open("rb") as file:
        start = file.read(6)
    unpack = next((one for mark, one in _PACKED.items() if start.startswith(mark)), open)
    return io.BufferedReader(_Bounded(cast("BinaryIO", unpack(path, "rb"))), _OPENING_BYTES)


class _Bounded(io.RawIOBase):
    """A stream that refuses to be longer than a vocabulary can be."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._left = MOST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        read = self._stream.read(len(buffer))
        self._left -= len(read)
        if self._left < 0:
            raise VocabularyFileError(f"unpacked it has more than {MOST_BYTES:,} bytes")
        buffer[: len(read)] = read
        return len(read)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _entries(stream: io.BufferedReader) -> Iterable[VocabularyEntry]:
    start = stream.peek(_OPENING_BYTES)[:_OPENING_BYTES].removeprefix(b"\xef\xbb\xbf")
    if b"\0" in start:
        raise VocabularyFileError("it is no text")
    opening = start.decode("utf-8", errors="ignore").lstrip()
    if opening.startswith("<?xml") or opening.startswith(
        ("<rdf", "<DescriptorRecord", "<!DOCTYPE")
    ):
        return read_xml(stream)
    if opening.startswith(("{", "[")) and not opening.startswith("[Term]"):
        return read_json_ld(_whole(stream))
    if opening.startswith("*NEWRECORD"):
        return read_mesh_records(_lines(stream))
    if opening.startswith(("format-version:", "[Term]")) or "\n[Term]" in opening:
        return read_obo(_lines(stream))
    if _is_turtle(opening):
        return read_turtle(_whole(stream))
    return read_table(_lines(stream))


def _is_turtle(opening: str) -> bool:
    first = next((line for line in opening.splitlines() if line[:1] not in {"", "#"}), "")
    return first.lower().startswith(("@prefix", "@base", "prefix ", "base ")) or (
        first.startswith("<") and first.rstrip().endswith((".", ";", ","))
    )


def _lines(stream: io.BufferedReader) -> Iterator[str]:
    return iter(io.TextIOWrapper(stream, encoding="utf-8-sig", newline=""))


def _whole(stream: io.BufferedReader) -> str:
    text = stream.read(MOST_BYTES_IN_MEMORY + 1)
    if len(text) > MOST_BYTES_IN_MEMORY:
        raise VocabularyFileError(f"it has more than {MOST_BYTES_IN_MEMORY:,} bytes")
    return text.decode("utf-8-sig")
