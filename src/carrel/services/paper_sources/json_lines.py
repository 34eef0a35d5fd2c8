"""JSON lines, one paper to a line, plain or compressed with gzip or xz; long files are read in
pieces.
"""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import orjson

from carrel.core.paper_record import AssetKeeper, PaperRecord, Reading, ReadProblem, SourcePart
from carrel.services.paper_sources.fields import understand

_SUFFIXES = (".jsonl", ".ndjson", ".jsonlines")
_PART_BYTES = 1024 * 1024
_LONGEST_LINE = 16 * 1024 * 1024


class JsonLinesReader:
    """Each line an object with title, authors, doi, abstract and the like under their usual
    names.
    """

    name = "json_lines"
    version = 1

    def accepts(self, path: Path, head: bytes) -> bool:
        name = path.name.lower()
        return name.removesuffix(".gz").removesuffix(".xz").endswith(_SUFFIXES)

    def parts(self, path: Path, companions: tuple[Path, ...]) -> Iterator[SourcePart]:
        """Pieces of about a megabyte that end at line ends. What cannot be unpacked becomes a last
        piece that says so.
        """
        number, line, lines, size = 0, 1, list[bytes](), 0
        try:
            with _opened(path) as file:
                while text := file.readline(_LONGEST_LINE):
                    if len(text) == _LONGEST_LINE and not text.endswith(b"\n"):
                        raise EOFError(
                            f"line {line + len(lines)} is longer than {_LONGEST_LINE:,} bytes"
                        )
                    lines.append(text)
                    size += len(text)
                    if size >= _PART_BYTES and text.endswith(b"\n"):
                        yield SourcePart(path, number, line, b"".join(lines))
                        number, line, lines, size = number + 1, line + len(lines), [], 0
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            if lines:
                yield SourcePart(path, number, line, b"".join(lines))
            yield SourcePart(
                path, number + 1, line + len(lines), f"\x00{type(error).__name__}: {error}".encode()
            )
            return
        if lines:
            yield SourcePart(path, number, line, b"".join(lines))

    def read(self, part: SourcePart, keeper: AssetKeeper) -> Reading:
        content = part.content or b""
        if content.startswith(b"\x00"):
            reason = content[1:].decode("utf-8", "replace")
            return Reading(
                problems=(
                    ReadProblem(
                        "not_unpacked",
                        f"the rest could not be unpacked ({reason})",
                        part.first_line,
                    ),
                )
            )
        records: list[PaperRecord] = []
        problems: list[ReadProblem] = []
        for number, raw in enumerate(content.split(b"\n"), start=part.first_line):
            line = raw.strip(b"\r\n\t \xef\xbb\xbf") if number == 1 else raw.strip()
            if not line:
                continue
            try:
                fields = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                problems.append(ReadProblem("json_not_valid", f"not valid JSON: {error}", number))
                continue
            if not isinstance(fields, Mapping):
                problems.append(
                    ReadProblem("json_not_valid", "not an object with named fields", number)
                )
                continue
            understood = understand(fields, number)
            problems.extend(understood.problems)
            records.append(understood.record)
        return Reading(tuple(records), tuple(problems))


def _opened(path: Path) -> BinaryIO | gzip.GzipFile | lzma.LZMAFile:
    match path.suffix.lower():
        case ".gz":
            return gzip.open(path, "rb")
        case ".xz":
            return lzma.open(path, "rb")
        case _:
            return path.open("rb")
