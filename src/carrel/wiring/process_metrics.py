"""What is measured by looking every few seconds: the process, its audit log, its database pool."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from carrel.libraries.telemetry.instruments import Counter, Registry
from carrel.services.telemetry.sender import Signal
from carrel.stores.audit_queue import QueuedAudit

_DESCRIPTORS = Path("/proc/self/fd")
_STATUS = Path("/proc/self/statm")


class ProcessMetrics:
    """Writes into the registry what this process is like now."""

    def __init__(
        self,
        registry: Registry,
        audit: QueuedAudit | None,
        signals: Sequence[Signal],
        pool: Callable[[], dict[str, int]] | None,
    ) -> None:
        self._audit = audit
        self._pool = pool
        self._signals = signals
        self._cpu = registry.counter("process.cpu.time", "s", "CPU time used")
        self._memory = registry.gauge("process.memory.usage", "By", "Resident memory")
        self._files = registry.gauge("process.open_files", "{file}", "Open files and connections")
        if audit is not None:
            self._open_audit(registry)
        if pool is not None:
            self._open_pool(registry)
        self._telemetry = registry.counter(
            "carrel.telemetry.rows",
            "{row}",
            "Spans, audit records and pushes of metrics, by what became of them",
            ("signal", "outcome"),
        )
        self._seen: dict[tuple[Counter, tuple[str, ...]], float] = {}

    def _open_audit(self, registry: Registry) -> None:
        self._written = registry.counter(
            "carrel.audit.written", "{record}", "Lines written to the audit log"
        )
        self._waiting = registry.gauge(
            "carrel.audit.waiting", "{record}", "Audit records not written yet"
        )
        self._failing = registry.gauge(
            "carrel.audit.failing", "{process}", "Processes that cannot write the audit log"
        )

    def _open_pool(self, registry: Registry) -> None:
        self._connections = registry.gauge(
            "db.client.connections", "{connection}", "Connections of the pool", ("state",)
        )
        self._pending = registry.gauge(
            "db.client.connection.pending_requests", "{request}", "Calls that wait for a connection"
        )
        self._timeouts = registry.counter(
            "db.client.connection.timeouts", "{timeout}", "Calls that got no connection in time"
        )
        self._waited = registry.counter(
            "carrel.database.connection.wait", "s", "How long calls waited for a connection"
        )

    def poll(self) -> None:
        """Look at everything once; cheap enough for the event loop."""
        self._count(self._cpu, (), time.process_time())
        if sys.platform == "linux":
            pages = int(_STATUS.read_text(encoding="ascii").split()[1])
            self._memory.set((), pages * os.sysconf("SC_PAGE_SIZE"))
            self._files.set((), sum(1 for _ in _DESCRIPTORS.iterdir()))
        if self._audit is not None:
            self._count(self._written, (), self._audit.written)
            self._waiting.set((), self._audit.waiting)
            self._failing.set((), float(self._audit.problem() is not None))
        for signal in self._signals:
            counts, buffer = signal.counts, signal.buffer
            self._count(self._telemetry, (signal.name, "sent"), counts.sent)
            self._count(self._telemetry, (signal.name, "rejected"), counts.rejected)
            self._count(self._telemetry, (signal.name, "failed"), counts.failed)
            dropped = 0 if buffer is None else buffer.dropped
            self._count(self._telemetry, (signal.name, "dropped"), dropped)
        if self._pool is not None:
            self._poll_pool(self._pool())

    def _poll_pool(self, statistics: dict[str, int]) -> None:
        size, idle = statistics.get("pool_size", 0), statistics.get("pool_available", 0)
        self._connections.set(("idle",), idle)
        self._connections.set(("used",), size - idle)
        self._pending.set((), statistics.get("requests_waiting", 0))
        self._count(self._timeouts, (), statistics.get("requests_errors", 0))
        self._count(self._waited, (), statistics.get("requests_wait_ms", 0) / 1000.0)

    def _count(self, counter: Counter, labels: tuple[str, ...], total: float) -> None:
        """Bring a counter to a total that is counted elsewhere in this process."""
        seen = self._seen.get((counter, labels), 0.0)
        # A pool that was closed and opened again begins at nothing.
        counter.add(labels, total - seen if total >= seen else total)
        self._seen[counter, labels] = total
