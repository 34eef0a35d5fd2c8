"""Recorded answers of services, one readable file each, so that a search can be repeated."""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from carrel.services.atomic_files import write_atomically
from carrel.services.literature.requests import RequestKey, request_key

# A longer body lies beside its exchange, compressed.
_MAX_INLINE_BYTES = 60_000
_KEPT_HEADERS = re.compile(
    r"content-type|retry-after|link|location|etag|last-modified|date"
    r"|x-api-pool|x-(?:rate-?limit|concurrency).*|ratelimit.*"
)
_NOT_A_NAME = re.compile(r"[^a-z0-9]+")
_MAX_SLUG = 48


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and what came of it: an answer, or with status 0 a failure to get one."""

    method: str
    url: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    request_body: str = ""
    # When it was answered: a date as its header or an ISO time.
    recorded: str = ""
    # What failed, as FailureKind, and why, in a sentence.
    failure: str = ""
    reason: str = ""
    retry_after_seconds: float | None = None

    @property
    def key(self) -> RequestKey:
        return request_key(self.method, self.url, self.request_body)


# What reading a file that is no exchange raises; one must not keep the others from being read.
_NO_EXCHANGE = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    EOFError,
    OverflowError,
    RecursionError,
    zlib.error,
)
# Three times what an answer of a service may have, since JSON escapes make it longer.
_MAX_FILE_BYTES = 64_000_000


class UnreadableRecordingError(Exception):
    """A file is no recorded exchange."""


def _read_file(path: Path) -> bytes:
    """Recordings are handed on: one may be a device, or larger than any answer we take."""
    if not path.is_file() or path.stat().st_size > _MAX_FILE_BYTES:
        raise ValueError
    return path.read_bytes()


def _unpack(packed: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
        body = file.read(_MAX_FILE_BYTES + 1)
    if len(body) > _MAX_FILE_BYTES:
        raise ValueError
    return body


def read_exchange(path: Path) -> Exchange:
    """The exchange in a file; raises UnreadableRecordingError."""
    try:
        found = json.loads(_read_file(path))
        request = found["request"]
        if "body_file" in found:
            body = _unpack(_read_file(path.parent / Path(found["body_file"]).name))
        else:
            body = str(found.get("body") or "").encode()
        return Exchange(
            str(request["method"]),
            str(request["url"]),
            int(found["status"] or 0),
            {str(name).lower(): str(value) for name, value in found["headers"].items()},
            body,
            str(request.get("body") or ""),
            str(found.get("recorded") or ""),
            str(found.get("failure") or ""),
            str(found.get("reason") or ""),
            None if (after := found.get("retry_after_seconds")) is None else float(after),
        )
    except _NO_EXCHANGE as error:
        raise UnreadableRecordingError(f"{path.name} is no recorded exchange") from error


def read_exchanges(folder: Path) -> Iterator[tuple[Path, Exchange]]:
    """Every exchange under a folder, by path; other JSON files are passed over."""
    for path in sorted(folder.rglob("*.json")):
        try:
            yield path, read_exchange(path)
        except UnreadableRecordingError:
            continue


class Recordings:
    """A folder of recorded exchanges. Its methods read and write files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[RequestKey, Path] = {}
        self._seen: frozenset[Path] = frozenset()

    def find(self, key: RequestKey) -> Exchange | None:
        """The recorded exchange of a request: of several the latest that succeeded."""
        if key not in self._known:
            self._look_again()
        path = self._known.get(key)
        try:
            return read_exchange(path) if path is not None else None
        except UnreadableRecordingError:
            return None

    def save(self, service: str, exchange: Exchange) -> None:
        """Keep an exchange in place of an earlier one of the same request."""
        key = exchange.key
        path = self.folder / _slug(service) / f"{_exchange_slug(exchange)}-{key.digest[:12]}.json"
        request: dict[str, str] = {"method": exchange.method, "url": exchange.url}
        if exchange.request_body:
            request["body"] = exchange.request_body
        content: dict[str, Any] = {
            "request": request,
            "status": exchange.status,
            "headers": {
                name.lower(): value
                for name, value in exchange.headers.items()
                if _KEPT_HEADERS.fullmatch(name.lower())
            },
        }
        text = _as_text(exchange.body)
        if text is not None and len(exchange.body) <= _MAX_INLINE_BYTES:
            content["body"] = text
        else:
            kind = "json" if exchange.body[:1] in {b"{", b"["} else "xml" if text else "bin"
            beside = path.with_name(f"{path.stem}.body.{kind}.gz")
            write_atomically(beside, gzip.compress(exchange.body, mtime=0))
            content["body_file"] = beside.name
        content["recorded"] = exchange.recorded
        if exchange.failure:
            content |= {"failure": exchange.failure, "reason": exchange.reason}
        if exchange.retry_after_seconds is not None:
            content["retry_after_seconds"] = exchange.retry_after_seconds
        write_atomically(path, json.dumps(content, ensure_ascii=False, indent=1).encode())
        self._known[key] = path

    def _look_again(self) -> None:
        """Read the folder where files came or went since it was last read."""
        paths = frozenset(self.folder.rglob("*.json"))
        if paths == self._seen:
            return
        best: dict[RequestKey, tuple[bool, Path]] = {}
        for path, exchange in read_exchanges(self.folder):
            found = exchange.status == 200, path
            key = exchange.key
            if key not in best or found >= best[key]:
                best[key] = found
        self._known = {key: path for key, (_, path) in best.items()}
        self._seen = paths


def _as_text(body: bytes) -> str | None:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


def _slug(text: str) -> str:
    return _NOT_A_NAME.sub("-", text.lower()).strip("-")[:_MAX_SLUG].strip("-") or "request"


def _exchange_slug(exchange: Exchange) -> str:
    parts = urlsplit(exchange.url)
    return _slug(f"{parts.path.rpartition('/')[2]} {parts.query}")
