"""The product, built: its rooms with their stores, and the gate in front of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from carrel.core.catalogue import Catalogue, Room
from carrel.core.clock import Clock, SystemClock
from carrel.core.health import Check, Health, check_by
from carrel.core.room import load
from carrel.policy.authorization.models import ClientDocuments
from carrel.policy.gate import Gate
from carrel.policy.limits import check_limits_of_instance
from carrel.rooms import declared_rooms
from carrel.settings import Settings
from carrel.settings.home_rules import refuse_lost_files
from carrel.settings.network_rules import refuse_open_server
from carrel.settings.places import audit_place, audit_store, store_folders
from carrel.stores.audit_queue import QueuedAudit
from carrel.stores.disk_space import check_disk_first
from carrel.stores.home.lock import serve_home
from carrel.wiring.access import Access, open_access
from carrel.wiring.audit import AuditStream
from carrel.wiring.home import POSTGRES_ACTION, embedded_databases

if TYPE_CHECKING:
    from carrel.core.call_observer import CallObserver
    from carrel.core.errors import CarrelError
    from carrel.rooms.papers.uploads import Uploads
    from carrel.wiring.papers import OpenCorpus
    from carrel.wiring.telemetry import DeskTelemetry


@dataclass(slots=True)
class OpenRoom:
    """A room with its stores: how to check and close them, and how to resume its jobs.

    `probes` only ask whether a store answers, at the same cost whatever it holds; where there are
    none the checks do.
    """

    room: Room
    checks: dict[str, Check] = field(default_factory=dict)
    close: Callable[[], Awaitable[None]] | None = None
    start: Callable[[], Awaitable[None]] | None = None
    probes: dict[str, Check] | None = None
    # Told of the whole catalogue, where the room uses operations of another one.
    meet: Callable[[Catalogue], None] | None = None
    # What callers over HTTP may send in pieces, and why not where that would not last.
    uploads: Uploads | None = None
    refuse_uploads: Callable[[], CarrelError] | None = None


@dataclass(slots=True)
class Desk:
    """The product, built. Whoever opens it closes it."""

    settings: Settings
    catalogue: Catalogue
    gate: Gate
    clock: Clock
    rooms: list[OpenRoom]
    access: Access
    corpus: OpenCorpus | None = None
    # What doors hold open beside the rooms.
    closers: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    # What is measured; None unless the settings ask for it.
    telemetry: DeskTelemetry | None = None

    @property
    def observer(self) -> CallObserver | None:
        """What doors measure with; None where nothing is."""
        return None if self.telemetry is None else self.telemetry.observer

    async def close(self) -> None:
        async with AsyncExitStack() as stack:
            if self.telemetry is not None:
                # Last, because closing the audit log writes what is sent.
                stack.push_async_callback(self.telemetry.close)
            stack.push_async_callback(self.access.close)
            if self.corpus is not None:
                stack.push_async_callback(self.corpus.close)
            for room in self.rooms:
                if room.close is not None:
                    stack.push_async_callback(room.close)
            for closer in self.closers:
                stack.push_async_callback(closer)

    async def health(self) -> dict[str, Health]:
        """What every part reports of itself."""
        return {name: await check() for name, check in self.checks().items()}

    def checks(self) -> dict[str, Check]:
        """Every part, looked at as thoroughly as the doctor does."""
        checks = {name: check for room in self.rooms for name, check in room.checks.items()}
        if self.access.store is not None:
            action = POSTGRES_ACTION if self.settings.database.url else ""
            checks["access"] = check_by(self.access.describe_users, action)
        if self.access.built_in is not None and self.access.built_in.institute is not None:
            checks["log-in"] = check_by(self.access.describe_institute)
        return checks | self._audit_check()

    def probes(self) -> dict[str, Check]:
        """Whether each store answers and can be written, at the same cost whatever it holds."""
        settings, probes = self.settings, dict[str, Check]()
        for room in self.rooms:
            probes.update(room.checks if room.probes is None else room.probes)
        if self.access.store is not None:
            probes["access"] = check_by(self.access.ping)
        probes.update(self._audit_check())
        if settings.auth.mode == "cloudrun" and not settings.database.url:
            probes["limits"] = check_limits_of_instance
        free = settings.server.min_free_disk_bytes
        for name, folder in store_folders(settings).items():
            if name in probes:
                probes[name] = check_disk_first(probes[name], folder, free)
        return probes

    def _audit_check(self) -> dict[str, Check]:
        audit, settings = self.access.audit, self.settings
        if not isinstance(audit, QueuedAudit):
            return {}
        note = "on_standard_output" if audit_store(settings) == "stdout" else ""
        return {"audit": partial(audit.health, audit_place(settings), note)}

    @asynccontextmanager
    async def session(self, *, resumes_jobs: bool = False) -> AsyncIterator[Desk]:
        """Open while inside; a process that stays resumes jobs that an earlier one left."""
        try:
            with serve_home(self.settings.home, stays=resumes_jobs):
                if resumes_jobs:
                    # A command uses one part or another, and each refuses its own lost database
                    # before it writes; a process that stays serves all of its rooms or none.
                    unused = set(declared_rooms()) - set(self.settings.rooms)
                    embedded_databases(self.settings).refuse_replaced(unused)
                if self.settings.cache is not None:
                    self.settings.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
                if self.telemetry is not None:
                    await self.telemetry.start()
                if resumes_jobs:
                    for room in self.rooms:
                        if room.start is not None:
                            await room.start()
                elif self.corpus is not None:
                    await self.corpus.catch_up()
                yield self
        finally:
            await self.close()


def open_desk(
    settings: Settings,
    extra_rooms: Iterable[OpenRoom] = (),
    *,
    documents: ClientDocuments | None = None,
    clock: Clock | None = None,
    audit_stream: AuditStream = "stderr",
) -> Desk:
    """Builds the rooms and the gate; only a server gives its standard output as `audit_stream`."""
    refuse_open_server(settings)
    refuse_lost_files(settings)
    clock = clock or SystemClock()
    declared, corpus = declared_rooms(), None
    if settings.rooms:
        # Only then: a desk without rooms starts without SQLite.
        from carrel.wiring.papers import open_corpus

        corpus = open_corpus(settings)
    rooms: list[OpenRoom] = [
        *(load(declared[name].opener)(settings, corpus) for name in settings.rooms),
        *extra_rooms,
    ]
    catalogue = Catalogue(room.room for room in rooms)
    for room in rooms:
        if room.meet is not None:
            room.meet(catalogue)
    access = open_access(settings, catalogue, clock, documents=documents, audit_stream=audit_stream)
    gate, telemetry = _open_gate(settings, access, clock)
    return Desk(settings, catalogue, gate, clock, rooms, access, corpus, telemetry=telemetry)


def _open_gate(
    settings: Settings, access: Access, clock: Clock
) -> tuple[Gate, DeskTelemetry | None]:
    """The gate, and what it measures with where the settings ask for it."""
    telemetry: DeskTelemetry | None = None
    if settings.observability.is_on:
        from carrel.wiring.telemetry import open_telemetry

        telemetry = open_telemetry(settings)
        telemetry.follow_audit(access.audit)
    observer = None if telemetry is None else telemetry.observer
    gate = Gate(access.identity, access.limits, access.audit, clock, access.quotas, observer)
    return gate, telemetry


def sqlite_version() -> str:
    """The version of the embedded database."""
    import sqlite3

    return sqlite3.sqlite_version
