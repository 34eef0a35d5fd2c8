"""A collector on this machine that reads OTLP with OpenTelemetry's own classes."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from tests.loopback_server import Asked, Canned, LoopbackServer

_READY = "opentelemetry-proto and -proto-json are not installed (make install brings them)"
_logs = pytest.importorskip(
    "opentelemetry.proto_json.collector.logs.v1.logs_service", reason=_READY
)
_metrics = pytest.importorskip(
    "opentelemetry.proto_json.collector.metrics.v1.metrics_service", reason=_READY
)
_traces = pytest.importorskip(
    "opentelemetry.proto_json.collector.trace.v1.trace_service", reason=_READY
)
_binary_logs = pytest.importorskip("opentelemetry.proto.collector.logs.v1.logs_service_pb2")
_binary_metrics = pytest.importorskip(
    "opentelemetry.proto.collector.metrics.v1.metrics_service_pb2"
)
_binary_traces = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
_json_format = pytest.importorskip("google.protobuf.json_format")

_CLASSES = {
    "/v1/traces": (
        _traces.ExportTraceServiceRequest,
        _binary_traces.ExportTraceServiceRequest,
    ),
    "/v1/metrics": (
        _metrics.ExportMetricsServiceRequest,
        _binary_metrics.ExportMetricsServiceRequest,
    ),
    "/v1/logs": (_logs.ExportLogsServiceRequest, _binary_logs.ExportLogsServiceRequest),
}
_ID_FIELDS = {"traceId", "spanId", "parentSpanId"}


def read_otlp(path: str, body: bytes) -> Any:
    """The message, read twice: by the classes for OTLP's JSON, and strictly by protobuf's.

    Protobuf's own JSON has ids in base64 where OTLP has them in hexadecimal; unknown fields and
    wrong types are errors there.
    """
    by_json, by_protobuf = _CLASSES[path]
    _json_format.Parse(orjson.dumps(_with_base64_ids(orjson.loads(body))), by_protobuf())
    return by_json.from_json(body)


def _with_base64_ids(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _with_base64_ids(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_base64_ids(each) for each in value]
    if key in _ID_FIELDS:
        return base64.b64encode(bytes.fromhex(value)).decode()
    return value


class Collector(LoopbackServer):
    """Keeps what it got; `answer_next` says what the next requests get before they are taken."""

    def __init__(self, answer_next: list[Canned] | None = None) -> None:
        self.messages: list[tuple[str, Any]] = []
        self.asked: list[Asked] = []
        self.refused = 0
        self._answers = answer_next or []
        self._changed = threading.Condition()

    def answer(self, asked: Asked) -> Canned:
        with self._changed:
            self.asked.append(asked)
            if self._answers:
                self.refused += 1
                self._changed.notify_all()
                return self._answers.pop(0)
            self.messages.append((asked.path, read_otlp(asked.path, asked.body.encode())))
            self._changed.notify_all()
        return 200, {"content-type": "application/json"}, b'{"partialSuccess":{}}'

    def wait_for(self, is_there: Callable[[Collector], bool], seconds: float = 60.0) -> None:
        """Return when it is so; fails the test when that takes too long."""
        with self._changed:
            assert self._changed.wait_for(lambda: is_there(self), seconds), "nothing came"

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for path, message in self.messages
            if path == "/v1/traces"
            for resource in message.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def log_records(self) -> list[Any]:
        return [
            record
            for path, message in self.messages
            if path == "/v1/logs"
            for resource in message.resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]


def attributes_of(thing: Any) -> dict[str, object]:
    """The attributes of a span, a resource or a record, by name."""
    found: dict[str, object] = {}
    for pair in thing.attributes:
        value = pair.value
        kinds = (value.string_value, value.bool_value, value.int_value, value.double_value)
        found[pair.key] = next(kind for kind in kinds if kind is not None)
    return found
