"""Reads the log in files from its end, a block at a time; a line's place outlasts rotation."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from carrel.core.errors import InvalidInputError
from carrel.stores.json_lines.audit import audit_files

_BLOCK_BYTES = 256 * 1024
_PLACE = re.compile(r"([0-9a-f]{16})-([0-9]{1,18})")


def read_newest_lines(file: Path, before: str | None = None) -> Iterator[tuple[str, bytes]]:
    """Each whole line with its place, newest first, from before a place on.

    A place is the hash of its file's first line, which stays when the file is put aside, and the
    position in it. Raises InvalidInputError for a place that is not in the log.
    """
    wanted, end = (None, None) if before is None else _read_place(before)
    is_found = wanted is None
    for part in reversed(audit_files(file)):
        try:
            with part.open("rb") as stream:
                mark = hashlib.sha256(stream.readline()).hexdigest()[:16]
                if not is_found and mark != wanted:
                    continue
                size = stream.seek(0, 2)
                limit = size if is_found or end is None else min(end, size)
                is_found = True
                for position, line in _lines_backward(stream, limit):
                    yield f"{mark}-{position}", line
        except FileNotFoundError:
            # It expired, or was put aside under another name, meanwhile.
            continue
    if not is_found:
        raise InvalidInputError(
            "That place is not in the audit log; its file may have expired",
            next_step="Begin again from the newest line.",
        )


def _lines_backward(stream: BinaryIO, end: int) -> Iterator[tuple[int, bytes]]:
    """The lines that end at or before `end`, last first, with the position of each."""
    rest = b""
    while end > 0:
        start = max(0, end - _BLOCK_BYTES)
        stream.seek(start)
        block = stream.read(end - start) + rest
        lines = block.splitlines(keepends=True)
        # The first may begin in the block before this one.
        rest = lines.pop(0) if start > 0 and lines else b""
        position = start + len(block)
        for line in reversed(lines):
            position -= len(line)
            if line.strip():
                yield position, line
        end = start


def _read_place(text: str) -> tuple[str, int]:
    found = _PLACE.fullmatch(text)
    if found is None:
        raise InvalidInputError(
            "That is not a place in the audit log", next_step="Begin again from the newest line."
        )
    return found[1], int(found[2])
