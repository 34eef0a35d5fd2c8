"""Reads request bodies, bounded in size and time, and bounds what all of them hold in memory together."""

from __future__ import annotations

from collections.abc import Mapping

from carrel.core.waiting import within
from carrel.doors.http.exchange import ClientGoneError, Receive
from carrel.doors.http.refusals import BodyTooLargeError, BodyTooSlowError, ServerBusyError

# A body up to here may be read before anything but the caller's name is known, and is not worth counting.
SMALL_BODY_BYTES = 64 * 1024


class BodyBudget:
    """Bytes of bodies held in memory now, over all requests and for each address group."""

    def __init__(self, max_bytes: int, max_bytes_per_address: int) -> None:
        self._max_bytes = max_bytes
        self._max_bytes_per_address = max_bytes_per_address
        self._held = 0
        self._held_by: dict[str, int] = {}

    @property
    def held_bytes(self) -> int:
        return self._held

    def take(self, group: str, size: int) -> None:
        """Counts more bytes. Raises ServerBusyError when that is too much, and then counts none of them."""
        held = self._held_by.get(group, 0) + size
        if held > self._max_bytes_per_address or self._held + size > self._max_bytes:
            raise ServerBusyError("Too many large requests are being received at once")
        self._held += size
        self._held_by[group] = held

    def release(self, group: str, size: int) -> None:
        self._held -= size
        left = self._held_by.get(group, 0) - size
        if left > 0:
            self._held_by[group] = left
        else:
            self._held_by.pop(group, None)


class IncomingBody:
    """The body of one request. Whoever reads it releases it when the request has been answered."""

    __slots__ = ("_budget", "_group", "_held", "_limit_bytes", "_receive", "_timeout_seconds")

    def __init__(self, receive: Receive, budget: BodyBudget, group: str, limit_bytes: int, timeout_seconds: float) -> None:
        self._receive = receive
        self._budget = budget
        self._group = group
        self._limit_bytes = limit_bytes
        self._timeout_seconds = timeout_seconds
        self._held = 0

    async def read(self) -> bytes:
        """The whole body. Raises BodyTooLargeError, BodyTooSlowError, ServerBusyError, or ClientGoneError."""
        try:
            return await within(self._timeout_seconds, self._read())
        except TimeoutError:
            raise BodyTooSlowError(self._timeout_seconds) from None

    async def _read(self) -> bytes:
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientGoneError
            chunk: bytes = message.get("body", b"")
            size += len(chunk)
            if size > self._limit_bytes:
                raise BodyTooLargeError(self._limit_bytes)
            if size > SMALL_BODY_BYTES:
                self._budget.take(self._group, size - self._held)
                self._held = size
            if chunk:
                chunks.append(chunk)
            if not message.get("more_body", False):
                return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def release(self) -> None:
        if self._held:
            self._budget.release(self._group, self._held)
            self._held = 0


def check_declared_size(headers: Mapping[bytes, bytes], limit_bytes: int) -> None:
    """Refuses a body that says itself that it is too large."""
    declared = headers.get(b"content-length")
    if declared is not None and declared.isdigit() and (len(declared) > 18 or int(declared) > limit_bytes):
        raise BodyTooLargeError(limit_bytes)


def may_be_large(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a body is worth asking for its sender's allowance before it is read."""
    declared = headers.get(b"content-length")
    if declared is None:
        return b"transfer-encoding" in headers
    return len(declared) > 5 or not declared.isdigit() or int(declared) > SMALL_BODY_BYTES
