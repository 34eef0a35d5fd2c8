"""Texts and files of a corpus by the names that a static folder gives them."""

from __future__ import annotations

import asyncio
import errno

from carrel.stores.corpus.folder import CorpusFolder, CorpusSession, SegmentReader, retry_if_swept
from carrel.stores.corpus.papers import find_paper
from carrel.stores.corpus.records import unpack
from carrel.stores.corpus.schema import FILES_NAME
from carrel.stores.static_folder import make_paper_file

# Made of the record of their paper when somebody asks.
_MADE_OF_RECORDS = ("summary", "manifest")


class CorpusAssets:
    """Reads `md/<hash>.md`, `summary/<paper id>.json` and the like from the segments."""

    def __init__(self, folder: CorpusFolder, *, timeout_seconds: float, max_bytes: int) -> None:
        self._folder = folder
        self._timeout_seconds = timeout_seconds
        self._max_bytes = max_bytes

    async def read(self, name: str) -> bytes:
        """Raises FileNotFoundError, TimeoutError, or OSError for any other failure."""
        return await asyncio.wait_for(
            asyncio.to_thread(
                retry_if_swept, self._folder, lambda session: self._read(session, name)
            ),
            self._timeout_seconds,
        )

    async def close(self) -> None:
        """Whoever opened the folder closes it."""

    def _read(self, session: CorpusSession, name: str) -> bytes:
        body = read_asset(session, name, self._max_bytes)
        if body is None:
            raise FileNotFoundError(errno.ENOENT, "no such static file")
        return body


def read_asset(session: CorpusSession, name: str, max_bytes: int | None = None) -> bytes | None:
    """A text or file of the corpus; OSError where it is longer than allowed."""
    kind, _, rest = name.partition("/")
    if kind in _MADE_OF_RECORDS:
        paper = find_paper(session, rest.partition("/")[0].removesuffix(".json"))
        return None if paper is None else make_paper_file(paper.paper.published_paper, name)
    for segment in reversed(session.version.segments):
        reader = session.reader(segment)
        found = reader.one("SELECT number, size FROM asset WHERE name = ?", (name,))
        if found is not None:
            number, size = found
            if max_bytes is not None and size > max_bytes:
                raise OSError(errno.EFBIG, f"the static file is larger than {max_bytes} bytes")
            return asset_body(reader, number)
    return None


def asset_body(reader: SegmentReader, number: int) -> bytes:
    """An asset of a segment by its number there."""
    found = reader.one("SELECT name, body FROM asset WHERE number = ?", (number,))
    if found is None:
        raise reader.file.damaged()
    name, body = found
    try:
        # The name is one that the writer of the segment gave, never a caller's.
        return (
            (reader.file.folder / FILES_NAME / name).read_bytes() if body is None else unpack(body)
        )
    except (OSError, ValueError) as error:
        raise reader.file.damaged() from error
