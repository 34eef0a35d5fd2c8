"""OTLP in its JSON form: ids in hexadecimal, 64-bit integers as texts, enumerations as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from carrel.libraries.telemetry.instruments import Family
from carrel.libraries.telemetry.spans import AttributeValue, Span, SpanShape
from carrel.libraries.telemetry.trace_context import Ids, TraceParent

TRACES_PATH = "/v1/traces"
METRICS_PATH = "/v1/metrics"
LOGS_PATH = "/v1/logs"
_INTERNAL, _SERVER = 1, 2
_ERROR = 2
_CUMULATIVE = 2
# The flags of a span: bits 8 and 9 say whether its parent is in another process.
_HAS_IS_REMOTE, _IS_REMOTE, _SAMPLED = 0x100, 0x200, 0x1

# The end of a message with an empty list of rows.
_END = "]}]}]}"
_ROOT = f',"flags":{_HAS_IS_REMOTE | _SAMPLED}'
_CHILD = f',"flags":{_HAS_IS_REMOTE | _IS_REMOTE | _SAMPLED}'
_REQUEST_ID = ',{"key":"jsonrpc.request.id","value":{"stringValue":'
_LONGEST_REQUEST_ID = 100

Attributes = Mapping[str, AttributeValue]


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One record of a log; `attributes` hold its fields."""

    time_ns: int
    body: str
    event_name: str
    attributes: Attributes
    is_warning: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """Who measured: the resource's attributes and the version of the program."""

    resource: Attributes
    scope: str
    version: str


def encode_spans(source: Source, spans: Sequence[Span], ids: Ids) -> bytes:
    """The body of a POST to /v1/traces. Written by hand, because every traced call passes here."""
    empty = _message(source, "resourceSpans", "scopeSpans", {"spans": []})
    pieces: list[str] = []
    for span, (trace_id, span_id) in zip(spans, ids.draw(len(spans)), strict=True):
        pieces += _span_pieces(span, trace_id, span_id)
    # Joined once, which takes half as long as a text for each span.
    text = "".join([empty[: -len(_END)].decode(), *pieces[1:], _END])
    return text.encode()


def encode_metrics(
    source: Source, families: Iterable[Family], started_ns: int, now_ns: int
) -> bytes:
    """The body of a POST to /v1/metrics; sums since the start."""
    times = {"startTimeUnixNano": str(started_ns), "timeUnixNano": str(now_ns)}
    rows = [_metric(family, times) for family in families if family.series]
    return _message(source, "resourceMetrics", "scopeMetrics", {"metrics": rows})


def encode_logs(source: Source, records: Iterable[LogRecord]) -> bytes:
    """The body of a POST to /v1/logs."""
    rows = [
        {
            "timeUnixNano": str(record.time_ns),
            "observedTimeUnixNano": str(record.time_ns),
            "severityNumber": 13 if record.is_warning else 9,
            "severityText": "WARN" if record.is_warning else "INFO",
            "body": {"stringValue": record.body},
            "eventName": record.event_name,
            "attributes": _attributes(record.attributes),
        }
        for record in records
    ]
    return _message(source, "resourceLogs", "scopeLogs", {"logRecords": rows})


def _message(source: Source, outer: str, inner: str, rows: Mapping[str, Sequence[object]]) -> bytes:
    scope = {"name": source.scope, "version": source.version}
    resource = {"attributes": _attributes(source.resource)}
    message = {outer: [{"resource": resource, inner: [{"scope": scope, **rows}]}]}
    try:
        return orjson.dumps(message)
    except TypeError:
        # Bytes of a caller that were no UTF-8, as lone surrogates, have no form in JSON.
        return orjson.dumps(_replace_surrogates(message))


def _replace_surrogates(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {key: _replace_surrogates(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_surrogates(each) for each in value]
    return value


def _attributes(given: Attributes) -> list[dict[str, object]]:
    return [{"key": key, "value": _value(value)} for key, value in given.items()]


def _value(value: AttributeValue) -> dict[str, object]:
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value}


def _span_pieces(span: Span, trace_id: str, span_id: str) -> tuple[str, ...]:
    """What a span's JSON is made of, a comma before it."""
    shape, seconds, ended, parent, link, request_id = span
    more = _ROOT
    if parent is not None:
        trace_id = parent.trace_id
        more = f'{_CHILD},"parentSpanId":"{parent.span_id}"'
        if parent.state:
            more += f',"traceState":{_json(parent.state)}'
    if link is not None:
        more += f',"links":[{_json(_link(link))}]'
    if request_id is None:
        last = "]}"
    elif isinstance(request_id, int):
        last = f'{_REQUEST_ID}"{request_id}"}}}}]}}'
    else:
        last = f"{_REQUEST_ID}{_json(request_id[:_LONGEST_REQUEST_ID])}}}}}]}}"
    return (
        ",",
        '{"traceId":"',
        trace_id,
        '","spanId":"',
        span_id,
        '","startTimeUnixNano":"',
        str(ended - int(seconds * 1e9)),
        '","endTimeUnixNano":"',
        str(ended),
        '"',
        more,
        shape.encoded or _encode_shape(shape),
        last,
    )


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _encode_shape(shape: SpanShape) -> str:
    """What spans of one shape share, up to the open end of their attributes."""
    facts: dict[str, object] = {
        "name": shape.name,
        "kind": _SERVER if shape.is_server else _INTERNAL,
    }
    if shape.problem is not None:
        facts["status"] = {"code": _ERROR, "message": shape.problem}
    facts["attributes"] = _attributes(shape.attributes)
    shape.encoded = "," + _json(facts)[1:-2]
    return shape.encoded


def _link(link: TraceParent) -> dict[str, object]:
    row: dict[str, object] = {
        "traceId": link.trace_id,
        "spanId": link.span_id,
        "flags": _HAS_IS_REMOTE | _IS_REMOTE | link.is_sampled,
    }
    if link.state:
        row["traceState"] = link.state
    return row


def _metric(family: Family, times: Mapping[str, str]) -> dict[str, object]:
    about = family.description
    points: list[dict[str, object]] = []
    for labels, numbers in family.series.items():
        named = dict(zip(about.labels, labels, strict=True))
        point: dict[str, object] = {
            # An empty label means that there is none; OTLP can say so.
            "attributes": _attributes({name: value for name, value in named.items() if value}),
            **times,
        }
        if about.kind == "histogram":
            counts = [int(number) for number in numbers[1:]]
            point["count"] = str(sum(counts))
            point["sum"] = numbers[0]
            point["bucketCounts"] = [str(count) for count in counts]
            point["explicitBounds"] = list(about.bounds)
        else:
            point["asDouble"] = numbers[0]
        points.append(point)
    shown: dict[str, object] = {"dataPoints": points}
    key = {"counter": "sum", "gauge": "gauge", "histogram": "histogram"}[about.kind]
    if about.kind != "gauge":
        shown["aggregationTemporality"] = _CUMULATIVE
    if about.kind == "counter":
        shown["isMonotonic"] = True
    return {"name": about.name, "unit": about.unit, "description": about.help, key: shown}
