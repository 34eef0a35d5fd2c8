"""Reads the files of dumps as streams of raw records, each from any record on."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from carrel.rooms.papers.loading.models import DumpFile, DumpService, FileEnd, RawRecords
from carrel.services.dumps.splitting import (
    OversizedRecordError,
    ReadBytes,
    split_json,
    split_xml,
)

# What goes to a reading process at once.
_CHUNK_BYTES = 2 * 1024 * 1024
_CHUNK_RECORDS = 1_000
_MD5 = re.compile(r"\b[0-9a-f]{32}\b", re.IGNORECASE)
_GZIP_SIGN = b"\x1f\x8b"

_SPLIT: dict[DumpService, Callable[[ReadBytes], Iterator[bytes]]] = {
    "openalex": split_json,
    "pubmed": split_xml,
    "arxiv": split_json,
    "crossref": split_json,
}


def read_file(service: DumpService, file: DumpFile, skip: int) -> Iterator[RawRecords | FileEnd]:
    """The records behind the first `skip` ones, in chunks, and then the end of the file."""
    if problem := _check_sum(file.path):
        yield FileEnd(file, problem)
        return
    number, problem = skip, None
    chunk: list[bytes] = []
    size, place = 0, 0
    try:
        with ExitStack() as opened:
            packed = opened.enter_context(file.path.open("rb"))
            read = _unpack(packed, opened)
            for at, record in enumerate(_SPLIT[service](read), start=1):
                if at <= skip:
                    continue
                chunk.append(record)
                size += len(record)
                if size >= _CHUNK_BYTES or len(chunk) >= _CHUNK_RECORDS:
                    now = packed.tell()
                    yield RawRecords(file, number + 1, tuple(chunk), now - place)
                    number, place = at, now
                    chunk, size = [], 0
    except (OSError, EOFError, zlib.error, OversizedRecordError) as error:
        problem = _describe(error, number + len(chunk))
    if chunk:
        yield RawRecords(file, number + 1, tuple(chunk), max(0, file.size_bytes - place))
    yield FileEnd(file, problem)


def _unpack(packed: BinaryIO, opened: ExitStack) -> ReadBytes:
    """Reads the content, unpacked where it is packed, whatever the file is called."""
    sign = packed.read(len(_GZIP_SIGN))
    packed.seek(0)
    if sign != _GZIP_SIGN:
        return packed.read
    # Piece by piece: a larger read of a file that was cut would lose what it has got already.
    return opened.enter_context(gzip.GzipFile(fileobj=packed)).read1


def _describe(error: Exception, records: int) -> str:
    if isinstance(error, EOFError | zlib.error | gzip.BadGzipFile):
        return (
            f"it ends early or is damaged behind record {records:,} ({error}); what stands before "
            f"was loaded. Download the file again and load again."
        )
    if isinstance(error, OversizedRecordError):
        return f"behind record {records:,} {error}; the rest was not read"
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return f"it cannot be read: {reason}"


def _check_sum(path: Path) -> str | None:
    """What is wrong where an MD5 sum lies beside the file and is not that of its bytes."""
    beside = path.with_name(f"{path.name}.md5")
    try:
        stated = _MD5.search(beside.read_text("utf-8", "replace"))
        if stated is None:
            return None
        with path.open("rb") as file:
            found = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False))
    except OSError:
        return None
    if found.hexdigest() == stated[0].lower():
        return None
    return f"it is not what {beside.name} says; it was not read. Download it again and load again."
