"""Downloads files from addresses that strangers' metadata name: checked, bounded, sniffed."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import tempfile
import zlib
from collections.abc import AsyncIterator, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Literal, Self

import httpx2

from carrel import __version__
from carrel.core.secrets import mask_secrets
from carrel.services.download_formats import (
    SNIFFED_BYTES,
    TITLES,
    DownloadFormat,
    is_login_page,
    sniff_format,
    suffix_of,
)
from carrel.services.fetching import AnswerRefusedError, ConnectionFailedError, Resolve
from carrel.services.pinned_transport import SECURE_ONLY, PinnedTransport, refuse_unsafe_url
from carrel.services.refused_hosts import is_refused_host

_MAX_REDIRECTS = 5
_MAX_RATIO = 100
# So much may come of any answer, however well it was packed.
_RATIO_FREE_BYTES = 1_000_000
_UNPACK_BYTES = 256 * 1024
_ABSENT = frozenset({404, 410})
_BLOCKED = frozenset({401, 402, 403, 407, 418, 429, 451})
DownloadOutcome = Literal["absent", "blocked", "refused", "failed", "unreadable"]


class DownloadError(Exception):
    """There is no file; `reason` is one sentence for people.

    `absent`: there is nothing (404). `blocked`: a log-in is wanted or programs are kept out.
    `refused`: the address or what came is against the rules here. `failed`: no whole answer.
    `unreadable`: it is not of a format that was asked for.
    """

    def __init__(self, outcome: DownloadOutcome, reason: str) -> None:
        super().__init__(mask_secrets(reason))
        self.outcome = outcome
        self.reason = mask_secrets(reason)


@dataclass(frozen=True, slots=True)
class DownloadLimits:
    """Bounds of one download."""

    max_bytes: int = 100_000_000
    connect_seconds: float = 10.0
    read_seconds: float = 30.0
    total_seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Downloaded:
    """A file that is named for its content; `url` is where it finally came from."""

    path: Path
    format: DownloadFormat
    sha256: str
    size_bytes: int
    url: str
    content_type: str


class SafeDownloader:
    """Downloads into a folder. Open it with `async with`, or close it when done.

    Reaches public addresses alone, on ports 80 and 443, and `private_hosts` (`host:port`). Proxies
    of the environment are ignored; one that is given looks names up itself.
    """

    def __init__(
        self,
        folder: Path,
        *,
        private_hosts: Collection[str] = (),
        limits: DownloadLimits | None = None,
        proxy: str | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self._folder = folder
        self._allowed = frozenset(_with_ports(private_hosts))
        self._limits = limits or DownloadLimits()
        self._client = httpx2.AsyncClient(
            headers={"User-Agent": f"Carrel/{__version__}", "Accept-Encoding": "identity"},
            timeout=httpx2.Timeout(self._limits.read_seconds, connect=self._limits.connect_seconds),
            follow_redirects=False,
            trust_env=False,
            transport=PinnedTransport(
                allowed=self._allowed,
                resolve=resolve,
                connect_seconds=self._limits.connect_seconds,
                proxy=proxy,
            ),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._client.aclose()

    async def download(self, url: str, *, accept: Collection[DownloadFormat]) -> Downloaded:
        """The file at an address, if it is of one of the formats; raises DownloadError."""
        try:
            async with asyncio.timeout(self._limits.total_seconds):
                return await self._follow(url, frozenset(accept))
        except TimeoutError:
            seconds = self._limits.total_seconds
            raise DownloadError("failed", f"No whole file came within {seconds:g} s") from None
        except AnswerRefusedError as error:
            raise DownloadError("refused", f"The address is refused: {error}") from error
        except ConnectionFailedError as error:
            raise DownloadError("failed", f"The host cannot be reached: {error}") from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
            raise DownloadError("refused", "The address is refused: it is no URL") from error
        except httpx2.TimeoutException as error:
            raise DownloadError("failed", "The host did not answer in time") from error
        except (httpx2.RemoteProtocolError, httpx2.ReadError) as error:
            raise DownloadError("failed", "The connection broke off") from error
        except httpx2.HTTPError as error:
            cause = str(error) or type(error).__name__
            raise DownloadError("failed", f"The host cannot be reached: {cause}") from error

    async def _follow(self, url: str, accept: frozenset[DownloadFormat]) -> Downloaded:
        target = httpx2.URL(url)
        is_secure = target.scheme == "https"
        for _ in range(_MAX_REDIRECTS + 1):
            self._refuse_unsafe(target, is_secure_only=is_secure)
            extensions = {SECURE_ONLY: is_secure}
            async with self._client.stream("GET", target, extensions=extensions) as response:
                if not response.is_redirect:
                    return await self._receive(response, target, accept)
                if not response.headers.get("location"):
                    raise DownloadError("failed", "It was moved, and nobody says where to")
                target = target.join(response.headers["location"])
            is_secure = is_secure or target.scheme == "https"
        raise DownloadError("refused", f"It was moved more than {_MAX_REDIRECTS} times")

    def _refuse_unsafe(self, url: httpx2.URL, *, is_secure_only: bool) -> None:
        refuse_unsafe_url(url, self._allowed, is_secure_only=is_secure_only)
        if is_refused_host(url.host):
            raise DownloadError(
                "refused", f"{url.host} gives copies without the right to, and is never asked"
            )

    async def _receive(
        self, response: httpx2.Response, url: httpx2.URL, accept: frozenset[DownloadFormat]
    ) -> Downloaded:
        _refuse_status(response.status_code)
        length = response.headers.get("content-length", "")
        if length.isdecimal() and len(length) < 20 and int(length) > self._limits.max_bytes:
            raise DownloadError("refused", f"The file has {int(length)} bytes, more than allowed")
        await asyncio.to_thread(self._folder.mkdir, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._folder, suffix=".part")
        part = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                head, digest, size = await self._write(response, file)
                found = _check_format(head, accept)
                await asyncio.to_thread(_sync, file)
            path = self._folder / f"{digest}{suffix_of(found, head)}"
            await asyncio.to_thread(part.replace, path)
        except BaseException:
            _remove(part)
            raise
        content_type = response.headers.get("content-type", "")
        return Downloaded(path, found, digest, size, str(url), content_type)

    async def _write(self, response: httpx2.Response, file: IO[bytes]) -> tuple[bytes, str, int]:
        head, digest, size = bytearray(), hashlib.sha256(), 0
        async for piece in _unpack(response, self._limits.max_bytes):
            size += len(piece)
            if size > self._limits.max_bytes:
                raise DownloadError(
                    "refused", f"The file is larger than {self._limits.max_bytes} bytes"
                )
            if len(head) < SNIFFED_BYTES:
                head += piece[: SNIFFED_BYTES - len(head)]
            digest.update(piece)
            file.write(piece)
        return bytes(head), digest.hexdigest(), size


def _with_ports(hosts: Collection[str]) -> Iterator[str]:
    """Hosts with their port; one that is named without is meant with the usual two."""
    for host in hosts:
        name = host.lower().strip()
        has_port = re.search(r":[0-9]+$", name) is not None and not name.endswith("::")
        yield from (name,) if has_port else (f"{name}:80", f"{name}:443")


async def _unpack(response: httpx2.Response, max_bytes: int) -> AsyncIterator[bytes]:
    """The body, unpacked where the server packed it unasked, never more than a piece at once."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding in {"identity", ""}:
        async for piece in response.aiter_raw():
            yield piece
        return
    if encoding not in {"gzip", "x-gzip", "deflate"}:
        raise DownloadError("refused", f"The file is packed as {encoding[:20]}, which is not read")
    unpacker = zlib.decompressobj(47 if encoding != "deflate" else 15)
    packed = unpacked = 0
    try:
        async for piece in response.aiter_raw():
            packed += len(piece)
            rest = piece
            while rest and not unpacker.eof:
                out = unpacker.decompress(rest, _UNPACK_BYTES)
                rest = unpacker.unconsumed_tail
                unpacked += len(out)
                if unpacked > max(_RATIO_FREE_BYTES, packed * _MAX_RATIO) or unpacked > max_bytes:
                    raise DownloadError("refused", "The file unpacks to far more than was sent")
                if out:
                    yield out
        if not unpacker.eof:
            raise DownloadError("failed", "The packed file broke off")
    except zlib.error as error:
        raise DownloadError("unreadable", "The packed file is damaged") from error


def _refuse_status(status: int) -> None:
    if status == 200:
        return
    if status in _ABSENT:
        raise DownloadError("absent", f"There is nothing at the address (status {status})")
    if status in _BLOCKED:
        raise DownloadError("blocked", f"The host keeps programs out (status {status})")
    raise DownloadError("failed", f"The host answered with status {status}")


def _check_format(head: bytes, accept: frozenset[DownloadFormat]) -> DownloadFormat:
    if not head.strip():
        raise DownloadError("unreadable", "The file is empty")
    found = sniff_format(head)
    if found is not None and found in accept:
        return found
    wanted = " or ".join(TITLES[each] for each in sorted(accept))
    if found == "html" and is_login_page(head):
        raise DownloadError("blocked", f"A log-in page came in place of {wanted}")
    came = TITLES[found] if found is not None else "Something else"
    raise DownloadError("unreadable", f"{came[0].upper()}{came[1:]} came in place of {wanted}")


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())
