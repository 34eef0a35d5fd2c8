"""Heads of requests that were parsed before, found again by their bytes.

The parser makes the same of the same bytes, and what is checked of a head alone comes out the same,
so that neither is done again. Only the length of the body may be another one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from carrel.doors.http.exchange import EXCHANGE, Exchange
from carrel.doors.http.messages import Header

_LONGEST_HEAD_BYTES = 2048
_MOST_KEPT = 512
_MOST_SEEN = 4096
_MOST_SENDERS = 64
_LENGTH = b"content-length"
_PASSING = frozenset({EXCHANGE, "state", "client", "server"})
# As clients write it; who writes it otherwise is parsed each time.
_SPELLINGS = (b"\r\ncontent-length: ", b"\r\nContent-Length: ")
_LONGEST_DIGITS = 5


class KnownHead:
    """A head that was parsed and passed the checks of its connection.

    `findings` are what the application found out of the head alone, by the address of the sender.
    """

    __slots__ = ("_headers", "_length_at", "_pairs", "_scope", "findings", "repeated")

    def __init__(self, exchange: Exchange) -> None:
        # Without what belongs to one connection or one request.
        scope = {name: each for name, each in exchange.scope.items() if name not in _PASSING}
        self._pairs: list[Header] = [*scope["headers"]]
        self._length_at = [name for name, _ in self._pairs].index(_LENGTH)
        self._headers = dict(exchange.headers)
        self.repeated = frozenset(exchange.repeated)
        self._scope = scope
        self.findings: dict[str, Any] = {}

    def scope(self, digits: bytes) -> dict[str, Any]:
        """The scope of a request with this head and a body of so many bytes."""
        scope = self._scope.copy()
        pairs = scope["headers"] = self._pairs.copy()
        pairs[self._length_at] = (_LENGTH, digits)
        return scope

    def note(self, peer: str, found: object) -> None:
        """Keep what the head says when it comes from there."""
        if len(self.findings) >= _MOST_SENDERS:
            self.findings.clear()
        self.findings[peer] = found

    def headers(self, digits: bytes) -> dict[bytes, bytes]:
        headers = self._headers.copy()
        headers[_LENGTH] = digits
        return headers


class FoundHead(NamedTuple):
    """A known head, the length of the body as it was sent, and where the body begins."""

    head: KnownHead
    digits: bytes
    body_at: int


class KnownHeads:
    """The heads that the connections of one process sent at least twice."""

    def __init__(self) -> None:
        self._known: dict[bytes, KnownHead] = {}
        self._seen: set[int] = set()

    def find(self, data: bytes) -> FoundHead | None:
        """The head of a request, if it is known and `data` is that one request and no more."""
        split = _split(data)
        if split is None:
            return None
        key, digits, body_at = split
        head = self._known.get(key)
        return None if head is None else FoundHead(head, digits, body_at)

    def learn(self, data: bytes, exchange: Exchange) -> None:
        """Keep the head of a request that was parsed from `data` alone, if it came before."""
        split = _split(data)
        if split is None:
            return
        key = split[0]
        mark = hash(key)
        if mark not in self._seen:
            if len(self._seen) >= _MOST_SEEN:
                self._seen.clear()
            self._seen.add(mark)
            return
        if len(self._known) >= _MOST_KEPT:
            del self._known[next(iter(self._known))]
        self._known[key] = KnownHead(exchange)


def _split(data: bytes) -> tuple[bytes, bytes, int] | None:
    """A head without the length in it, that length, and where the body begins.

    None where the bytes are not surely one request whose length is said in the usual way.
    """
    end = data.find(b"\r\n\r\n", 0, _LONGEST_HEAD_BYTES)
    if end < 0:
        return None
    for spelling in _SPELLINGS:
        at = data.find(spelling, 0, end)
        if at >= 0:
            break
    else:
        return None
    begin = at + len(spelling)
    stop = data.find(b"\r\n", begin)
    digits = data[begin:stop]
    body_at = end + 4
    if not digits.isdigit() or len(digits) > _LONGEST_DIGITS or len(data) - body_at != int(digits):
        return None
    return data[:begin] + data[stop:body_at], digits, body_at
