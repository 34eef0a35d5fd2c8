"""Downloads texts of works and reads them, in turn with other requests to the same host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from carrel.core.errors import CostlyInputError
from carrel.libraries.literature.licences import read_licence
from carrel.libraries.literature.records import TextLocation
from carrel.libraries.text.budget import parsing
from carrel.libraries.text.html import page_metas, parse_html
from carrel.rooms.literature.fulltext_ports import FetchedText, TextNotHadError
from carrel.services.download_formats import DownloadFormat
from carrel.services.literature.governor import Busy, Governor, GovernorTurn, Outcome
from carrel.services.literature.service_limits import ServiceLimits
from carrel.services.paper_sources.downloaded_texts import DownloadedTexts, UnreadableDownloadError
from carrel.services.parser_process import ParserProcesses
from carrel.services.safe_download import Downloaded, DownloadError, SafeDownloader

# arXiv asks for one request in three seconds, whatever is asked; others get one a second.
_ARXIV_LIMITS = ServiceLimits(max_concurrent=1, interval_seconds=3.0)
_HOST_LIMITS = ServiceLimits(max_concurrent=2, interval_seconds=1.0)
_ARXIV_HOSTS = frozenset({"arxiv.org", "export.arxiv.org", "www.arxiv.org"})
# As the client names the lane of its interface: the limit holds for all of arXiv.
_ARXIV_LANE = "export.arxiv.org"
_PATIENCE_SECONDS = 60.0
_LEASE_SECONDS = 180.0
_BUSY_SECONDS = 0.5
# How pages name the file of the paper they are about; the first is Google Scholar's, the others
# stand on few pages (unproved live).
_LINKS = (
    "citation_pdf_url",
    "eprints.document_url",
    "bepress_citation_pdf_url",
    "wkhealth_pdf_url",
)
_MOST_PAGE_BYTES = 3_000_000


class TextDownloads:
    """Fetches texts by the safe downloader; the owner closes it."""

    def __init__(
        self,
        downloader: SafeDownloader,
        reader: DownloadedTexts,
        governor: Governor,
        now: Callable[[], datetime],
        private_hosts: Collection[str] = (),
    ) -> None:
        self._downloader = downloader
        self._reader = reader
        self._governor = governor
        self._now = now
        self._parsers = ParserProcesses()
        self._private = frozenset(host.lower() for host in private_hosts)

    async def close(self) -> None:
        await self._downloader.close()
        self._parsers.close()
        await asyncio.to_thread(self._governor.close)

    async def fetch(self, place: TextLocation) -> FetchedText:
        """The text at a place. Raises TextNotHadError."""
        if place.format == "landing_page":
            raise TextNotHadError("no_link", "A page about the work is no text of it")
        file = await self._download(place.url, frozenset({place.format}))
        try:
            read = await asyncio.to_thread(self._reader.read, file.path, place.format)
        except UnreadableDownloadError as error:
            raise TextNotHadError("unreadable", f"It cannot be read: {error}") from error
        return FetchedText(
            markdown=read.markdown,
            title=read.title,
            format=place.format,
            url=file.url,
            sha256=file.sha256,
            size_bytes=file.size_bytes,
            retrieved_at=self._now().isoformat(timespec="seconds"),
            file=file.path,
            version=place.version,
            # What the file says of itself is nearer to the truth than what others say of it.
            licence=read_licence(read.licence) or place.licence,
            service=place.service,
            doi=read.doi,
            remarks=read.remarks,
        )

    async def find_link(self, page_url: str) -> str:
        """The address of the PDF that a landing page names. Raises TextNotHadError."""
        file = await self._download(page_url, frozenset({"html", "pdf"}))
        if file.format == "pdf":
            # Some pages are the file itself.
            return file.url
        try:
            content = await asyncio.to_thread(_take_beginning, file.path)
            link = await self._parsers.run(find_pdf_link, content, size=len(content))
        except CostlyInputError as error:
            raise TextNotHadError("unreadable", f"The page cannot be read: {error}") from error
        if link is None:
            raise TextNotHadError("no_link", "The page names no file of the text")
        return urljoin(file.url, link)

    async def _download(self, url: str, accept: frozenset[DownloadFormat]) -> Downloaded:
        async with self._turn(url):
            try:
                return await self._downloader.download(url, accept=accept)
            except DownloadError as error:
                raise TextNotHadError(error.outcome, error.reason) from error

    @asynccontextmanager
    async def _turn(self, url: str) -> AsyncIterator[None]:
        """A turn at the host, over all processes of this home."""
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        if parts.netloc.lower() in self._private:
            yield
            return
        is_arxiv = host in _ARXIV_HOSTS
        lane = _ARXIV_LANE if is_arxiv else f"texts {host[:100]}"
        limits = _ARXIV_LIMITS if is_arxiv else _HOST_LIMITS
        turn = await self._wait_for_turn(lane, limits)
        try:
            await asyncio.sleep(turn.wait_seconds)
            yield
        finally:
            await asyncio.shield(
                asyncio.to_thread(self._governor.give_back, lane, turn, Outcome(is_answered=True))
            )

    async def _wait_for_turn(self, lane: str, limits: ServiceLimits) -> GovernorTurn:
        waited = 0.0
        while True:
            found = await asyncio.to_thread(
                self._governor.take,
                lane,
                limits,
                patience_seconds=_PATIENCE_SECONDS,
                lease_seconds=_LEASE_SECONDS,
            )
            if isinstance(found, GovernorTurn):
                return found
            if not isinstance(found, Busy) or waited >= _PATIENCE_SECONDS:
                raise TextNotHadError("failed", "The host is asked by others now; try again later")
            waited += _BUSY_SECONDS
            await asyncio.sleep(_BUSY_SECONDS)


def _take_beginning(path: Path) -> bytes:
    """The beginning of a downloaded page, which is not kept."""
    with path.open("rb") as file:
        content = file.read(_MOST_PAGE_BYTES)
    path.unlink(missing_ok=True)
    return content


def find_pdf_link(page: bytes) -> str | None:
    """The address of the PDF that a page names as its paper's; runs in a parser process."""
    with parsing("the page", len(page)):
        metas = page_metas(parse_html(page))
    return next((link for name in _LINKS if (link := metas.get(name))), None)


class NoDownloads:
    """Nothing is downloaded: searches are repeated from recordings or the cache alone."""

    def __init__(self, mode: str) -> None:
        self._reason = f"literature.mode = {mode}: nothing is downloaded"

    async def fetch(self, place: TextLocation) -> FetchedText:
        raise TextNotHadError("failed", self._reason)

    async def find_link(self, page_url: str) -> str:
        raise TextNotHadError("failed", self._reason)

    async def close(self) -> None:
        return None
