"""Cuts streams into records without holding more than one of them: lines, items of an array, XML.

Each function takes a reader that returns bytes, empty at the end, and yields records as they stand
in the file. OversizedRecordError ends a stream whose next record is longer than any real one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

ReadBytes = Callable[[int], bytes]

READ_BYTES = 1024 * 1024
# Works with thousands of authors take about 10 MB.
LONGEST_RECORD = 64 * 1024 * 1024

# A whole string, or one that the data so far does not end; braces.
_JSON_MARK = re.compile(rb'"(?:[^"\\]++|\\.)*+("?)|[{}]', re.DOTALL)
_ITEMS = re.compile(rb'^\s*\{\s*"items"\s*:\s*\[')
_ARRAY = re.compile(rb"^\s*\[")
_ELEMENT = re.compile(rb"<(PubmedArticle|PubmedBookArticle|DeleteCitation)(?:\s[^<>]*)?>")
_LONGEST_TAG = 1_000


class OversizedRecordError(ValueError):
    """A record is longer than any real one: the file is damaged."""

    def __init__(self) -> None:
        super().__init__(f"a record is longer than {LONGEST_RECORD:,} bytes")


def split_lines(read: ReadBytes) -> Iterator[bytes]:
    """Lines; empty ones are yielded too, so that a number is that of the line."""
    rest = b""
    while piece := read(READ_BYTES):
        lines = (rest + piece).split(b"\n")
        rest = lines.pop()
        yield from lines
        if len(rest) > LONGEST_RECORD:
            raise OversizedRecordError
    if rest:
        yield rest


def split_json(read: ReadBytes) -> Iterator[bytes]:
    """Objects: of `{"items": […]}`, of a bare array, or one a line, as the file begins."""
    head = read(READ_BYTES)
    start = _ITEMS.match(head) or _ARRAY.match(head)
    rest = [head[start.end() :] if start else head]

    def read_on(size: int) -> bytes:
        return rest.pop() or read(size) if rest else read(size)

    yield from split_objects(read_on) if start else split_lines(read_on)


def split_objects(read: ReadBytes) -> Iterator[bytes]:
    """The objects of a JSON array, from behind its bracket on; what follows them is passed over."""
    waiting, place, depth, start = b"", 0, 0, 0
    while piece := read(READ_BYTES):
        waiting += piece
        while (mark := _JSON_MARK.search(waiting, place)) is not None:
            sign = waiting[mark.start() : mark.start() + 1]
            if sign == b'"' and not mark[1]:
                # A string that ends in what was not read yet.
                place = mark.start()
                break
            place = mark.end()
            if sign == b"{":
                if depth == 0:
                    start = mark.start()
                depth += 1
            elif sign == b"}":
                depth -= 1
                if depth == 0:
                    yield waiting[start:place]
                elif depth < 0:
                    # The end of the object that holds the array.
                    return
        else:
            place = len(waiting)
        kept = start if depth else place
        waiting, place, start = waiting[kept:], place - kept, 0
        if len(waiting) > LONGEST_RECORD:
            raise OversizedRecordError
    if depth > 0:
        raise EOFError("the file ends within a record")


def split_xml(read: ReadBytes) -> Iterator[bytes]:
    """Articles, books and deletions of a PubMed set, each whole with its tags."""
    waiting, place = b"", 0
    end = b""
    while piece := read(READ_BYTES):
        waiting += piece
        while True:
            if not end:
                found = _ELEMENT.search(waiting, place)
                if found is None:
                    waiting, place = waiting[max(place, len(waiting) - _LONGEST_TAG) :], 0
                    break
                waiting, place = waiting[found.start() :], 0
                end = b"</" + found[1] + b">"
            at = waiting.find(end, place)
            if at < 0:
                place = max(0, len(waiting) - len(end))
                break
            yield waiting[: at + len(end)]
            waiting, place, end = waiting[at + len(end) :], 0, b""
        if len(waiting) > LONGEST_RECORD:
            raise OversizedRecordError
    if end:
        raise EOFError("the file ends within a record")
