"""OTLP in JSON, read by OpenTelemetry's own classes."""

from __future__ import annotations

import random

from carrel.libraries.telemetry import otlp
from carrel.libraries.telemetry.instruments import Registry
from carrel.libraries.telemetry.spans import BoundedBuffer, Span, SpanShape
from carrel.libraries.telemetry.trace_context import Ids, TraceParent
from tests.observability.collector import attributes_of, read_otlp

SOURCE = otlp.Source({"service.name": "carrel", "process.pid": 7}, "carrel", "1.2")
PARENT = TraceParent("ab" * 16, "cd" * 8, True, 'vendor=a"b')
LINK = TraceParent("12" * 16, "34" * 8, False)


def test_spans_are_read_as_they_were_recorded() -> None:
    shape = SpanShape(
        'tools/call a "b"\n', True, {"a": "x", "n": 2**53, "yes": True, "f": 0.5}, "internal_error"
    )
    plain = SpanShape("call", False, {"n": 1})
    spans = [
        Span(shape, 10e-9, 20, PARENT, LINK, '"7"'),
        Span(plain, 0.0, 5, request_id=7),
    ]
    drawn = Ids(random.Random(3)).draw(2)
    message = read_otlp("/v1/traces", otlp.encode_spans(SOURCE, spans, Ids(random.Random(3))))
    (resource,) = message.resource_spans
    assert attributes_of(resource.resource) == {"service.name": "carrel", "process.pid": 7}
    first, second = resource.scope_spans[0].spans
    assert (first.start_time_unix_nano, first.end_time_unix_nano) == (10, 20)
    assert (first.trace_id.hex(), first.parent_span_id.hex()) == (PARENT.trace_id, "cd" * 8)
    assert (first.span_id.hex(), second.span_id.hex()) == (drawn[0][1], drawn[1][1])
    assert (first.name, int(first.kind), first.trace_state) == (shape.name, 2, PARENT.state)
    assert attributes_of(first) == {**shape.attributes, "jsonrpc.request.id": '"7"'}
    assert (int(first.status.code), first.status.message) == (2, "internal_error")
    assert first.flags & 0x301 == 0x301
    assert [link.span_id.hex() for link in first.links] == ["34" * 8]
    assert second.trace_id.hex() == drawn[1][0]
    assert attributes_of(second) == {"n": 1, "jsonrpc.request.id": "7"}
    assert (int(second.kind), second.parent_span_id, second.flags) == (1, b"", 0x101)
    assert second.status is None


def test_no_spans_are_an_empty_message() -> None:
    message = read_otlp("/v1/traces", otlp.encode_spans(SOURCE, [], Ids(random.Random(3))))
    assert message.resource_spans[0].scope_spans[0].spans == []


def test_metrics_are_read_as_they_were_measured() -> None:
    registry = Registry()
    registry.counter("lines", "{line}", "Lines", ("kind", "why")).add(("a", ""), 3)
    registry.gauge("level", "By", "Level").set((), 1.5)
    waits = registry.histogram("wait", "s", "Waits", ("who",), (1.0, 2.0))
    for value in (0.5, 1.5, 9.0):
        waits.observe(("b",), value)
    registry.counter("never", "1", "Nothing", ("a",))
    message = read_otlp("/v1/metrics", otlp.encode_metrics(SOURCE, registry.read(), 100, 200))
    lines, level, wait = message.resource_metrics[0].scope_metrics[0].metrics
    (point,) = lines.sum.data_points
    assert (point.as_double, point.start_time_unix_nano, point.time_unix_nano) == (3.0, 100, 200)
    assert lines.sum.is_monotonic
    assert int(lines.sum.aggregation_temporality) == 2
    assert attributes_of(point) == {"kind": "a"}
    assert level.gauge.data_points[0].as_double == 1.5
    (bars,) = wait.histogram.data_points
    assert (bars.count, bars.sum) == (3, 11.0)
    assert (bars.bucket_counts, bars.explicit_bounds) == ([1, 1, 1], [1.0, 2.0])


def test_texts_that_are_no_utf_8_lose_their_bad_signs_and_nothing_else() -> None:
    record = otlp.LogRecord(5, "a \udcff b", "audit", {"agent": "x\ud800", "n": 1}, True)
    message = read_otlp("/v1/logs", otlp.encode_logs(SOURCE, [record]))
    (found,) = message.resource_logs[0].scope_logs[0].log_records
    assert found.body.string_value == "a ? b"
    assert attributes_of(found) == {"agent": "x?", "n": 1}
    assert (found.event_name, int(found.severity_number)) == ("audit", 13)


def test_a_full_buffer_drops_what_comes_and_counts_it() -> None:
    buffer: BoundedBuffer[int] = BoundedBuffer(3)
    for number in range(5):
        buffer.put(number)
    assert (len(buffer), buffer.dropped) == (3, 2)
    assert buffer.take(2) == [0, 1]
    buffer.put(9)
    assert (buffer.take(10), len(buffer), buffer.dropped) == ([2, 9], 0, 2)
