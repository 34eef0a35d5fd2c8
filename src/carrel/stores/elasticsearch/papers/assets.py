"""Texts of papers that a cluster holds, by the names that a static folder gives them."""

from __future__ import annotations

import asyncio
import errno

from carrel.stores.elasticsearch.papers.records import PaperRecords
from carrel.stores.elasticsearch.papers.state import PaperSet
from carrel.stores.static_folder import make_paper_file

# Made of the record of their paper when somebody asks.
_MADE_OF_RECORDS = ("summary", "manifest")


class ClusterAssets:
    """Reads `md/<hash>.md`, `summary/<paper id>.json` and such; PDFs and images are not held."""

    def __init__(self, papers: PaperSet, *, timeout_seconds: float, max_bytes: int) -> None:
        self._papers = papers
        self._records = PaperRecords(papers)
        self._timeout_seconds = timeout_seconds
        self._max_bytes = max_bytes

    async def read(self, name: str) -> bytes:
        """Raises FileNotFoundError, TimeoutError, OSError, and UnavailableError."""
        body = await asyncio.wait_for(asyncio.to_thread(self._read, name), self._timeout_seconds)
        if body is None:
            raise FileNotFoundError(errno.ENOENT, "the cluster holds no such file")
        if len(body) > self._max_bytes:
            raise OSError(errno.EFBIG, f"the static file is larger than {self._max_bytes} bytes")
        return body

    async def close(self) -> None:
        """Whoever connected the cluster closes it."""

    def _read(self, name: str) -> bytes | None:
        kind, _, rest = name.partition("/")
        if kind not in _MADE_OF_RECORDS:
            return self._papers.read_text(name)
        held = self._records.by_id(rest.partition("/")[0].removesuffix(".json"))
        return None if held is None else make_paper_file(held.paper.published_paper, name)
