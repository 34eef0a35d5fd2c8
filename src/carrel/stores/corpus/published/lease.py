"""One writer at a time: a lease in the object store, renewed while it is held.

A lease that its holder no longer renews may be taken by others once they have seen it unchanged for
its whole length, each by its own clock. What is published is safe without it: the pointer is
swapped only where nobody else did. The lease keeps writers from working in vain.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import orjson

from carrel.rooms.papers.errors import BuildInProgressError
from carrel.stores.objects.store import (
    LostSwapError,
    ObjectStore,
    ObjectStoreError,
    RegisterValue,
)

log = logging.getLogger("carrel.published")

LEASE = "writer"
# A writer that was killed keeps others waiting this long.
LEASE_SECONDS = 15.0
_RENEWALS = 3
_FIRST_LOOK_SECONDS = 0.05
_LONGEST_LOOK_SECONDS = 1.0


class LostLeaseError(Exception):
    """Somebody else took the lease because it was not renewed in time."""


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """How long a lease lasts, and how long whoever wants it waits."""

    lease_seconds: float = LEASE_SECONDS
    wait_seconds: float = 120.0


class HeldLease:
    """The lease while this process has it."""

    def __init__(self, store: ObjectStore, value: RegisterValue) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._value: RegisterValue | None = value

    def confirm(self) -> None:
        """Renew it now; raises LostLeaseError where somebody else has it."""
        with self._lock:
            if self._value is None:
                raise LostLeaseError
            try:
                self._value = self._store.swap_register(LEASE, _content("held"), self._value)
            except LostSwapError:
                self._value = None
                raise LostLeaseError from None

    def release(self) -> None:
        with self._lock:
            value, self._value = self._value, None
            if value is None:
                return
            try:
                self._store.swap_register(LEASE, _content("free"), value)
            except (LostSwapError, ObjectStoreError) as error:
                # It ends by itself.
                log.info("lease not released", extra={"reason": str(error)})


@contextmanager
def hold_lease(
    store: ObjectStore,
    times: LeaseTimes | None = None,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], object] = time.sleep,
) -> Iterator[HeldLease]:
    """Hold the lease while the block runs; BuildInProgressError where it cannot be had in time."""
    chosen = times or LeaseTimes()
    lease = HeldLease(store, _acquire(store, chosen, clock, wait))
    stop = threading.Event()

    def renew() -> None:
        while not stop.wait(chosen.lease_seconds / _RENEWALS):
            try:
                lease.confirm()
            except LostLeaseError:
                return
            except ObjectStoreError as error:
                log.warning("lease not renewed", extra={"reason": error.message})

    renewing = threading.Thread(target=renew, name="corpus lease", daemon=True)
    renewing.start()
    try:
        yield lease
    finally:
        stop.set()
        renewing.join()
        lease.release()


def _acquire(
    store: ObjectStore,
    times: LeaseTimes,
    clock: Callable[[], float],
    wait: Callable[[float], object],
) -> RegisterValue:
    started, pause = clock(), _FIRST_LOOK_SECONDS
    seen, seen_at = "", started
    while True:
        found = store.read_register(LEASE)
        tag = "" if found is None else found.tag
        if tag != seen:
            seen, seen_at = tag, clock()
        is_free = found is None or _is_free(found)
        if is_free or clock() - seen_at >= times.lease_seconds:
            try:
                return store.swap_register(LEASE, _content("held"), found)
            except LostSwapError:
                continue
        if clock() - started >= times.wait_seconds:
            raise BuildInProgressError
        wait(pause)
        pause = min(pause * 2, _LONGEST_LOOK_SECONDS)


def _content(state: str) -> bytes:
    # Never the same twice, as every register needs.
    return orjson.dumps({"state": state, "token": secrets.token_hex(16)})


def _is_free(found: RegisterValue) -> bool:
    try:
        facts: dict[str, Any] = orjson.loads(found.content)
        return bool(facts["state"] == "free")
    except (ValueError, TypeError, KeyError):
        # Nobody renews what nobody wrote.
        return True
