"""Reads request bodies, bounded in size and time, and bounds what all of them hold in memory
together.
"""

from __future__ import annotations

from collections.abc import Mapping

from carrel.core.waiting import within
from carrel.doors.http.exchange import ClientGoneError, Receive
from carrel.doors.http.refusals import BodyTooLargeError, BodyTooSlowError, ServerBusyError

# A declared body below this is read without counting. It is told by the number of its digits, which
# costs nothing.
SMALL_BODY_BYTES = 10_000
_LARGE_DIGITS = len(str(SMALL_BODY_BYTES))


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
        """Counts more bytes. Raises ServerBusyError when that is too much, and then counts none of
        them.
        """
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


class HeldBody:
    """What one body takes of the budget. Whoever made it releases it when the request has been
    answered.
    """

    __slots__ = ("_budget", "_group", "_held")

    def __init__(self, budget: BodyBudget, group: str) -> None:
        self._budget = budget
        self._group = group
        self._held = 0

    def grow_to(self, size: int) -> None:
        """Raises ServerBusyError when that is too much."""
        self._budget.take(self._group, size - self._held)
        self._held = size

    def release(self) -> None:
        if self._held:
            self._budget.release(self._group, self._held)
            self._held = 0


async def read_body(
    receive: Receive, limit_bytes: int, timeout_seconds: float, held: HeldBody | None = None
) -> bytes:
    """The whole body. Raises BodyTooLargeError, BodyTooSlowError, ServerBusyError, or
    ClientGoneError.
    """
    try:
        return await within(timeout_seconds, _read(receive, limit_bytes, held))
    except TimeoutError:
        raise BodyTooSlowError(timeout_seconds) from None


async def _read(receive: Receive, limit_bytes: int, held: HeldBody | None) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > limit_bytes:
            raise BodyTooLargeError(limit_bytes)
        if held is not None:
            held.grow_to(size)
        if not message.get("more_body", False) and not chunks:
            return chunk
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


def check_declared_size(headers: Mapping[bytes, bytes], limit_bytes: int) -> None:
    """Refuses a body that says itself that it is too large."""
    declared = headers.get(b"content-length")
    if (
        declared is not None
        and declared.isdigit()
        and (len(declared) > 18 or int(declared) > limit_bytes)
    ):
        raise BodyTooLargeError(limit_bytes)


def may_be_large(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a body is worth counting, and asking for its sender's allowance before it is read."""
    declared = headers.get(b"content-length")
    if declared is None:
        return b"transfer-encoding" in headers
    return len(declared) >= _LARGE_DIGITS
