"""Metrics, traces and the audit log elsewhere: opened where the settings ask for them."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from carrel.core.call_observer import CallObserver
from carrel.core.process_name import process_name
from carrel.core.telemetry import DeskMetrics, Tracer
from carrel.libraries.telemetry import otlp
from carrel.libraries.telemetry.instruments import Family, Registry
from carrel.libraries.telemetry.spans import BoundedBuffer, Span
from carrel.libraries.telemetry.trace_context import Ids, Sampler
from carrel.policy.audit import REFUSED, AuditRecord
from carrel.services.telemetry.sender import SendOptions, Signal, TelemetrySender
from carrel.settings import Settings
from carrel.settings.observability import read_pairs
from carrel.settings.observability_rules import check_observability
from carrel.stores.audit_queue import QueuedAudit
from carrel.wiring.process_metrics import ProcessMetrics

if TYPE_CHECKING:
    from carrel.policy.audit import Audit
    from carrel.services.telemetry.shared_numbers import WorkerNumbers

_POLL_SECONDS = 5.0
_SCOPE = "carrel"


class DeskTelemetry:
    """What is measured of one desk. Whoever opens it closes it."""

    def __init__(self, settings: Settings) -> None:
        chosen = settings.observability
        self._started_ns = time.time_ns()
        self._shared: WorkerNumbers | None = None
        metrics: DeskMetrics | None = None
        if chosen.has_page or chosen.pushes_metrics:
            metrics = DeskMetrics(self._open_registry())
        tracer: Tracer | None = None
        self.signals: list[Signal] = []
        delay = chosen.batch_delay_ms / 1000.0
        source = _source(settings)
        if chosen.has_traces:
            spans: BoundedBuffer[Span] = BoundedBuffer(chosen.queue_size)
            # Ids must differ between processes; nobody may guess anything from them.
            chance = random.Random(os.urandom(32))  # noqa: S311 - ids of traces are no secrets
            sampler = Sampler(chosen.sampler, chosen.sampler_ratio, chance.random)
            ids = Ids(chance, sampler.ratio)
            tracer = Tracer(sampler, spans)
            self._add_signal(
                settings,
                otlp.TRACES_PATH,
                lambda rows: otlp.encode_spans(source, rows, ids),
                delay,
                spans,
            )
        if chosen.pushes_metrics:
            self._add_signal(
                settings,
                otlp.METRICS_PATH,
                lambda _: otlp.encode_metrics(
                    source, self._own_families(), self._started_ns, time.time_ns()
                ),
                chosen.metrics_every_seconds,
            )
        self._records: BoundedBuffer[otlp.LogRecord] | None = None
        if chosen.sends_audit:
            self._records = BoundedBuffer(chosen.queue_size)
            self._add_signal(
                settings,
                otlp.LOGS_PATH,
                lambda rows: otlp.encode_logs(source, rows),
                delay,
                self._records,
            )
        self._metrics = metrics
        self.observer = CallObserver(metrics, tracer)
        self._pool_statistics: Callable[[], dict[str, int]] | None = None
        if metrics is not None and settings.database.url:
            from carrel.stores.postgres.pool import pool_statistics

            self._pool_statistics = pool_statistics
        self._sender = _open_sender(settings, self.signals)
        self._polls: list[Callable[[], None]] = []
        self._polling: asyncio.Task[None] | None = None

    def follow_audit(self, audit: Audit) -> None:
        """Send what is written to the audit log."""
        if self._records is not None and isinstance(audit, QueuedAudit):
            records = self._records
            audit.listen(lambda record: records.put(_log_record(record)))
        if self._metrics is not None:
            process = ProcessMetrics(
                self._metrics.registry,
                audit if isinstance(audit, QueuedAudit) else None,
                self.signals,
                self._pool_statistics,
            )
            self._polls.append(process.poll)

    async def collect(self) -> list[Family]:
        """What all workers of this server have measured."""
        self._poll()
        if self._shared is not None:
            return await asyncio.to_thread(self._shared.read)
        return self._own_families()

    async def start(self) -> None:
        """Begin to send and to look at what is measured by looking; needs a running loop."""
        if self._sender is not None:
            self._sender.start()
        if self._metrics is not None:
            self._polling = asyncio.create_task(self._keep_polling())

    async def close(self) -> None:
        """Send what waits, for two seconds at most."""
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.gather(self._polling, return_exceptions=True)
        self._poll()
        if self._sender is not None:
            await asyncio.to_thread(self._sender.close)

    def _own_families(self) -> list[Family]:
        if self._metrics is None:
            return []
        return self._metrics.registry.read()

    def _poll(self) -> None:
        if self._metrics is not None:
            self.observer.fold()
            self._metrics.http_active.set((), self.observer.under_way)
        for poll in self._polls:
            poll()

    async def _keep_polling(self) -> None:
        while True:
            self._poll()
            await asyncio.sleep(_POLL_SECONDS)

    def _open_registry(self) -> Registry:
        folder = os.environ.get("CARREL_METRICS_FOLDER")
        if not folder or sys.platform == "win32":
            return Registry()
        from carrel.services.telemetry.shared_numbers import WorkerNumbers

        self._shared = WorkerNumbers(Path(folder))
        return Registry(self._shared.values, self._shared.name_series)

    def _add_signal(
        self,
        settings: Settings,
        path: str,
        encode: Callable[[list[Any]], bytes],
        every_seconds: float,
        buffer: BoundedBuffer[Any] | None = None,
    ) -> None:
        chosen = settings.observability
        address = chosen.address(path)
        assert address is not None
        name = path.rpartition("/")[2]
        self.signals.append(Signal(name, address, encode, every_seconds, buffer, chosen.batch_size))


def open_telemetry(settings: Settings) -> DeskTelemetry:
    """Opens what the settings ask for; raises SettingsError for what cannot be."""
    check_observability(settings)
    return DeskTelemetry(settings)


def _open_sender(settings: Settings, signals: list[Signal]) -> TelemetrySender | None:
    if not signals:
        return None
    chosen = settings.observability
    options = SendOptions(read_pairs(chosen.otlp_headers), chosen.otlp_timeout_ms / 1000.0)
    return TelemetrySender(signals, options)


def _source(settings: Settings) -> otlp.Source:
    chosen = settings.observability
    version = settings.server.version
    resource: dict[str, str | int | float | bool] = {
        "service.version": version,
        "service.instance.id": process_name(),
        "host.name": socket.gethostname(),
        "process.pid": os.getpid(),
        "telemetry.sdk.name": "carrel",
        "telemetry.sdk.language": "python",
        "telemetry.sdk.version": version,
    }
    resource.update(read_pairs(chosen.resource_attributes))
    # A name that was set wins over one among the attributes, as the specification says.
    if chosen.service_name != "carrel" or "service.name" not in resource:
        resource["service.name"] = chosen.service_name
    return otlp.Source(resource, _SCOPE, version)


def _log_record(record: AuditRecord) -> otlp.LogRecord:
    """A record of the audit log as one of OTLP; its parameters are masked already."""
    attributes: dict[str, str | int | float | bool] = {
        "carrel.audit.phase": record.phase,
        "carrel.audit.request_id": record.request_id,
        "carrel.audit.resource": record.resource,
        "carrel.audit.result": record.result,
        "carrel.door": record.door,
        "carrel.action": record.action,
        "user.id": record.user_id,
        "client.address": record.ip_address,
        "user_agent.original": record.user_agent,
    }
    if record.client_id is not None:
        attributes["carrel.client.id"] = record.client_id
    if record.error_code is not None:
        attributes["error.type"] = record.error_code
    if record.duration_ms is not None:
        attributes["carrel.audit.duration_ms"] = record.duration_ms
    if record.parameters is not None:
        attributes["carrel.audit.parameters"] = _as_json(record.parameters)
    return otlp.LogRecord(
        int(record.timestamp.timestamp() * 1e9),
        f"{record.phase} {record.action}: {record.result}",
        "carrel.audit",
        attributes,
        is_warning=record.phase == REFUSED or record.result in {"failure", "error"},
    )


def _as_json(value: object) -> str:
    try:
        return orjson.dumps(value, default=str).decode()
    except TypeError:
        return ascii(value)[:1000]
