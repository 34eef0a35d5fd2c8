"""Follows the stores while a server runs: what changes there is in the cluster seconds later.

One process among many does the writing. It holds a lease, a document in the cluster that it
renews; another takes over when the lease has not moved for a while by its own clock. Should two
write at once for a moment, they write the same documents.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from elasticsearch import AsyncElasticsearch, NotFoundError
from elasticsearch import ConflictError as DriverConflictError

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, describe_error
from carrel.core.health import Health
from carrel.stores.elasticsearch.errors import translate_driver_errors
from carrel.stores.elasticsearch.indices import find_index
from carrel.stores.elasticsearch.sync import ClusterSource, bring_up_to_date, has_changes

log = logging.getLogger("carrel.search")

# How often the stores are asked for changes, and how long a failure makes the follower wait.
INTERVAL_SECONDS = 2.0
MAX_WAIT_SECONDS = 60.0
# How long a lease may stand still before another process takes it.
LEASE_SECONDS = 30.0


@dataclass(slots=True)
class IndexProgress:
    """How far one index follows its store, and when it is tried again."""

    cursor: str | None = None
    has_begun: bool = False
    failures: int = 0
    message: str = ""
    next_try: float = 0.0


class ClusterFollower:
    """Brings indices up to date again and again, if no other process does.

    `is_filled` tells whether the store behind an index is there at all.
    """

    def __init__(
        self,
        client: Callable[[], AsyncElasticsearch],
        sources: Iterable[ClusterSource],
        names: Mapping[str, str],
        lease: ClusterLease,
        clock: Clock,
        *,
        is_filled: Callable[[str], bool] = lambda index: True,
    ) -> None:
        self._client = client
        self._is_filled = is_filled
        self._sources = {source.index: source for source in sources}
        self._names = names
        self._lease = lease
        self._clock = clock
        self._task: asyncio.Task[None] | None = None
        self.progress = {index: IndexProgress() for index in self._sources}
        self.of_lease = IndexProgress()
        self.leads = False

    async def start(self) -> None:
        self._task = asyncio.create_task(self._follow())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        if self.leads:
            await self._lease.release()
            self.leads = False

    async def _follow(self) -> None:
        while True:
            try:
                await self.follow_once()
            except Exception:
                # A mistake of ours in one round must not end all that follow.
                log.exception("cluster not followed")
            await asyncio.sleep(INTERVAL_SECONDS)

    async def follow_once(self) -> None:
        """One round: hold the lease, then write what changed; failures are remembered."""
        if self._clock.monotonic() < self.of_lease.next_try:
            return
        try:
            self.leads = await self._lease.hold()
        except CarrelError as error:
            self.leads = False
            log.warning("cluster not followed", extra={"cause": describe_error(error)})
            self._remember(self.of_lease, error)
            return
        self.of_lease = IndexProgress()
        for index, source in self._sources.items():
            if self.leads:
                await self._bring(index, source)
            else:
                self.progress[index] = IndexProgress()

    async def _bring(self, index: str, source: ClusterSource) -> None:
        progress = self.progress[index]
        if self._clock.monotonic() < progress.next_try or not self._is_filled(index):
            return
        try:
            if not await self._is_behind(index, source, progress):
                progress.failures = 0
                return
            done = await bring_up_to_date(
                self._client(), source, self._names[index], lambda count: self._lease.touch()
            )
        except CarrelError as error:
            log.warning(
                "index not followed",
                extra={"index": index, "code": error.code, "cause": describe_error(error)},
            )
            self._remember(progress, error)
            return
        self.progress[index] = IndexProgress(done.cursor, has_begun=True)

    async def _is_behind(self, index: str, source: ClusterSource, progress: IndexProgress) -> bool:
        """Also where somebody removed the index, or put back an older one."""
        if not progress.has_begun:
            return True
        with translate_driver_errors():
            cursor = await _cursor(self._client(), self._names[index])
        return cursor != progress.cursor or await has_changes(source, cursor)

    def _remember(self, progress: IndexProgress, error: CarrelError) -> None:
        progress.failures += 1
        progress.message = error.message
        wait = min(INTERVAL_SECONDS * 2**progress.failures, MAX_WAIT_SECONDS)
        progress.next_try = self._clock.monotonic() + wait

    async def health(self) -> Health:
        """How the indices follow; trouble is a note, as searches of other rooms go on."""
        parts = {"cluster": self.of_lease, **self.progress}
        told = "; ".join(f"{name}: {one.message}" for name, one in parts.items() if one.failures)
        if told:
            return Health(True, f"not followed now, tried again: {told}", note="sync_failing")
        if not self.leads:
            return Health(True, "another process keeps the cluster up to date, or none has yet")
        return Health(True, f"following {', '.join(self.progress)}")

    async def describe(self) -> Health:
        """For the doctor, whose own process follows nothing: which indices are behind."""
        try:
            behind = [index for index in self._sources if await self._lacks(index)]
        except CarrelError as error:
            return Health(False, error.message, error.next_step)
        if behind:
            return Health(
                True,
                f"behind their stores: {', '.join(behind)}",
                "Start `carrel serve`, which follows, or run `carrel search sync`.",
                note="sync_behind",
            )
        return Health(True, "all indices are as their stores")

    async def _lacks(self, index: str) -> bool:
        if not self._is_filled(index):
            return False
        with translate_driver_errors():
            cursor = await _cursor(self._client(), self._names[index])
        return await has_changes(self._sources[index], cursor)


async def _cursor(client: AsyncElasticsearch, name: str) -> str | None:
    found = await find_index(client, name)
    cursor = None if found is None or found.facts is None else found.facts.get("cursor")
    return None if cursor is None else str(cursor)


class ClusterLease:
    """The right to write, held by one process of all that share a cluster."""

    def __init__(
        self,
        client: Callable[[], AsyncElasticsearch],
        index: str,
        holder: str,
        clock: Clock,
        *,
        name: str = "sync",
    ) -> None:
        """`name`: of several leases in one index, what this one lets write."""
        self._name = name
        self._client = client
        self._index = index
        self._holder = holder
        self._clock = clock
        self._seen: tuple[tuple[int, int], float] | None = None
        self._renewal: asyncio.Task[None] | None = None
        self._renewed = 0.0

    async def hold(self) -> bool:
        """Take or renew the lease; False while another process holds it."""
        with translate_driver_errors():
            return await self._hold()

    async def _hold(self) -> bool:
        try:
            found = await self._client().get(index=self._index, id=self._name)
        except NotFoundError:
            return await self._write({"op_type": "create"})
        version = (int(found["_seq_no"]), int(found["_primary_term"]))
        is_mine = found["_source"].get("holder") == self._holder
        if not is_mine and not found["_source"].get("is_free") and not self._stood_still(version):
            return False
        return await self._write({"if_seq_no": version[0], "if_primary_term": version[1]})

    def _stood_still(self, version: tuple[int, int]) -> bool:
        now = self._clock.monotonic()
        if self._seen is None or self._seen[0] != version:
            self._seen = (version, now)
        return now - self._seen[1] > LEASE_SECONDS

    async def _write(self, condition: dict[str, Any], *, is_free: bool = False) -> bool:
        document = {"holder": self._holder, "is_free": is_free}
        try:
            await self._client().index(
                index=self._index, id=self._name, document=document, **condition
            )
        except DriverConflictError:
            return False
        self._renewed = self._clock.monotonic()
        return True

    def touch(self) -> None:
        """Renew in the background while a long run writes."""
        is_due = self._clock.monotonic() - self._renewed > LEASE_SECONDS / 3
        if is_due and (self._renewal is None or self._renewal.done()):
            self._renewal = asyncio.create_task(self._renew())

    async def _renew(self) -> None:
        try:
            await self.hold()
        except CarrelError as error:
            log.warning("lease not renewed", extra={"cause": describe_error(error)})

    async def release(self) -> None:
        """Let another process begin at once; where that fails, it waits for the lease to age."""
        if self._renewal is not None:
            await asyncio.gather(self._renewal, return_exceptions=True)
        try:
            with translate_driver_errors():
                found = await self._client().get(index=self._index, id=self._name)
                if found["_source"].get("holder") == self._holder:
                    condition = {
                        "if_seq_no": found["_seq_no"],
                        "if_primary_term": found["_primary_term"],
                    }
                    await self._write(condition, is_free=True)
        except CarrelError as error:
            log.warning("lease not released", extra={"cause": describe_error(error)})
