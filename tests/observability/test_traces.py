"""Traces, sent to a collector on this machine and read with OpenTelemetry's own classes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from carrel.settings import SettingsError, read_settings
from carrel.settings.observability_rules import check_observability
from tests.doors.house import MODERN, House, modern
from tests.observability.collector import Collector, attributes_of
from tests.observability.measured import measured_house

TRACE, SPAN, OTHER_SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{SPAN}-01"
ADD = {"name": "add_numbers", "arguments": {"a": 1, "b": 2}}


def within_session(house: House, *requests: tuple[str, Any, dict[str, str]]) -> None:
    """The requests at an open desk, which is closed after them: what waits is sent."""

    async def work() -> None:
        async with house.desk.session():
            for path, message, headers in requests:
                given = {"content-type": "application/json", **headers}
                answer = await house.request("POST", path, orjson.dumps(message), given.items())
                assert answer.status < 600

    asyncio.run(work())


def call(params: dict[str, Any], request_id: object = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


# Refusals
@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"OTEL_TRACES_EXPORTER": "otlp"}, "does not say where"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"}, "no address of HTTP"),
        (
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4317",
                "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
            },
            "not gRPC",
        ),
        (
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example",
                "CARREL_NETWORK": "false",
            },
            "network = false",
        ),
        (
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
                "OTEL_EXPORTER_OTLP_HEADERS": "x",
            },
            "name=value",
        ),
        (
            {
                "CARREL_OBSERVABILITY_AUDIT": "otlp",
                "CARREL_AUDIT_ENABLED": "false",
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
            },
            "switched off",
        ),
    ],
)
def test_what_cannot_be_sent_is_refused_at_the_start(variables: dict[str, str], says: str) -> None:
    with pytest.raises(SettingsError, match=says) as refused:
        check_observability(read_settings(environment=variables))
    assert refused.value.next_step


@pytest.mark.promise("Q10")
@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example"},
        {
            "OTEL_TRACES_EXPORTER": "none",
            "OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector.example",
        },
        {"OTEL_SERVICE_NAME": "desk", "OTEL_TRACES_SAMPLER": "always_on"},
    ],
)
def test_nothing_is_traced_unless_a_collector_is_named(variables: dict[str, str]) -> None:
    settings = read_settings(environment={**variables, "CARREL_NETWORK": "false"})
    assert not settings.observability.is_on
    check_observability(settings)


def test_a_collector_on_this_machine_needs_no_network() -> None:
    settings = read_settings(
        environment={
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318/",
            "CARREL_NETWORK": "false",
            "OTEL_BSP_SCHEDULE_DELAY": "250",
            "OTEL_TRACES_SAMPLER": "traceidratio",
            "OTEL_TRACES_SAMPLER_ARG": "0.25",
            "OTEL_METRICS_EXPORTER": "otlp,prometheus",
            "OTEL_METRIC_EXPORT_INTERVAL": "30000",
        }
    )
    check_observability(settings)
    chosen = settings.observability
    assert chosen.address("/v1/traces") == "http://localhost:4318/v1/traces"
    assert (chosen.sampler_ratio, chosen.batch_delay_ms) == (0.25, 250)
    assert chosen.metrics == ("otlp", "prometheus")
    assert (chosen.metrics_every_seconds, chosen.has_page, chosen.pushes_metrics) == (
        30,
        True,
        True,
    )


def test_our_own_names_win_over_those_of_opentelemetry() -> None:
    variables = {"OTEL_SERVICE_NAME": "theirs", "CARREL_OBSERVABILITY_SERVICE_NAME": "ours"}
    assert read_settings(environment=variables).observability.service_name == "ours"


def test_settings_of_the_file_win_over_those_of_opentelemetry(tmp_path: Path) -> None:
    file = tmp_path / "carrel.toml"
    file.write_text('[observability]\nmetrics = ["prometheus"]\n', encoding="utf-8")
    chosen = read_settings(environment={"OTEL_METRICS_EXPORTER": "none"}, config=file).observability
    assert chosen.has_page


def test_a_word_in_place_of_a_list_is_refused_in_words_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "carrel.toml"
    file.write_text('[observability]\nmetrics = "prometheus"\n', encoding="utf-8")
    with pytest.raises(SettingsError, match="a list") as raised:
        read_settings(environment={}, config=file)
    assert "tuple" not in str(raised.value)


def test_a_caller_who_does_not_trace_is_not_traced(tmp_path: Path) -> None:
    with Collector() as collector:
        house = measured_house(tmp_path, otlp_endpoint=collector.base)
        meta = {"traceparent": f"00-{TRACE}-{SPAN}-00"}
        within_session(house, ("/mcp", call({**ADD, "_meta": meta}), {}))
    assert collector.messages == []


def test_a_ratio_of_none_traces_nobody(tmp_path: Path) -> None:
    with Collector() as collector:
        house = measured_house(
            tmp_path, otlp_endpoint=collector.base, sampler="traceidratio", sampler_ratio=0.0
        )
        meta = {"traceparent": PARENT}
        within_session(house, ("/mcp", call({**ADD, "_meta": meta}), {}))
    assert collector.messages == []


# What is sent
@pytest.mark.promise("D21")
def test_the_context_of_the_message_is_the_parent_and_that_of_the_request_a_link(
    tmp_path: Path,
) -> None:
    meta = {"traceparent": PARENT, "tracestate": "vendor=x", "baggage": "user=ada"}
    header = f"00-{'c' * 32}-{OTHER_SPAN}-01"
    with Collector() as collector:
        house = measured_house(
            tmp_path,
            otlp_endpoint=collector.base,
            otlp_headers="x-team=library%20desk",
            resource_attributes="deployment.environment.name=test,service.name=ignored",
            service_name="desk",
        )
        message = call({**ADD, "_meta": meta}, "first")
        within_session(house, ("/mcp", message, {"traceparent": header}))
    (span,) = collector.spans
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, SPAN)
    assert span.trace_state == "vendor=x"
    assert [(link.trace_id.hex(), link.span_id.hex()) for link in span.links] == [
        ("c" * 32, OTHER_SPAN)
    ]
    assert (span.name, int(span.kind), span.status) == ("tools/call add_numbers", 2, None)
    assert attributes_of(span) == {
        "mcp.method.name": "tools/call",
        "gen_ai.tool.name": "add_numbers",
        "gen_ai.operation.name": "execute_tool",
        "network.transport": "tcp",
        "jsonrpc.request.id": "first",
    }
    assert 0 < span.end_time_unix_nano - span.start_time_unix_nano < 60e9
    resource = attributes_of(collector.messages[0][1].resource_spans[0].resource)
    assert (resource["service.name"], resource["deployment.environment.name"]) == ("desk", "test")
    assert collector.asked[0].headers["x-team"] == "library desk"
    assert "ada" not in collector.asked[0].body


def test_without_a_context_in_the_message_that_of_the_request_is_the_parent(
    tmp_path: Path,
) -> None:
    with Collector() as collector:
        house = measured_house(tmp_path, otlp_endpoint=collector.base)
        invocation = {"tool_name": "add_numbers", "params": {"a": 1, "b": 2}}
        within_session(
            house,
            ("/mcp", call(ADD), {"traceparent": PARENT}),
            ("/mcp/invoke", invocation, {"traceparent": PARENT}),
            ("/mcp", call(ADD), {"traceparent": "nonsense"}),
        )
    first, second, third = collector.spans
    assert first.parent_span_id.hex() == second.parent_span_id.hex() == SPAN
    assert second.name == "execute_tool add_numbers"
    assert attributes_of(second)["carrel.door"] == "http"
    assert (third.parent_span_id, third.links) == (b"", [])


def test_each_message_of_a_batch_is_a_span(tmp_path: Path) -> None:
    fail = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "fail"}}
    with Collector() as collector:
        house = measured_house(tmp_path, otlp_endpoint=collector.base)
        batch = [call(ADD, 1), fail, call(ADD, 3)]
        within_session(house, ("/mcp", batch, {"mcp-protocol-version": "2025-03-26"}))
    told = [attributes_of(span) for span in collector.spans]
    assert [each["jsonrpc.request.id"] for each in told] == ["1", "2", "3"]
    assert [each.get("error.type") for each in told] == [None, "tool_error", None]


def test_names_of_any_type_and_number_are_counted_as_one(tmp_path: Path) -> None:
    with Collector() as collector:
        house = measured_house(tmp_path, otlp_endpoint=collector.base, metrics=("prometheus",))
        strange: list[Any] = [[1], {"a": 1}, 7, None, "x" * 5000, *(f"tool {n}" for n in range(50))]
        within_session(house, *(("/mcp", call({"name": name}), {}) for name in strange))
        shown = house.send("GET", "/metrics").body.decode()
    assert {span.name for span in collector.spans} == {"tools/call _OTHER"}
    assert shown.count("\nmcp_server_operation_duration_seconds_count") == 1


def test_a_name_beside_a_method_that_has_none_tells_nothing_apart(tmp_path: Path) -> None:
    with Collector() as collector:
        house = measured_house(tmp_path, otlp_endpoint=collector.base, metrics=("prometheus",))
        names: list[Any] = ["add_numbers", "x" * 5000, [1], None]
        pings = [{**call({"name": name}), "method": "ping"} for name in names]
        within_session(house, *(("/mcp", ping, {}) for ping in pings))
        shown = house.send("GET", "/metrics").body.decode()
    assert {span.name for span in collector.spans} == {"ping"}
    (counted,) = [
        line
        for line in shown.splitlines()
        if line.startswith("mcp_server_operation_duration_seconds_count")
    ]
    assert counted.endswith(" 4")
    assert "x" * 100 not in shown


def test_failures_are_said_by_kind_and_only_ours_are_errors(tmp_path: Path) -> None:
    with Collector() as collector:
        house = measured_house(tmp_path, otlp_endpoint=collector.base)
        routing = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call"}
        within_session(
            house,
            ("/mcp", call({"name": "add_numbers", "arguments": {"a": "x"}}), {}),
            ("/mcp", call({"name": "secret tool"}), {}),
            ("/mcp", call({"name": "fail"}), {}),
            (
                "/mcp",
                modern("tools/call", {"name": "say", "arguments": {"text": "x"}}),
                {**routing, "mcp-name": "say"},
            ),
            ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "secret method"}, {}),
            ("/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, {}),
        )
    wrong, unknown, failed, good, nothing = collector.spans
    assert attributes_of(wrong)["error.type"] == "tool_error"
    assert attributes_of(wrong)["carrel.error.code"] == "invalid_input"
    assert attributes_of(unknown)["rpc.response.status_code"] == "-32602"
    assert attributes_of(failed)["carrel.error.code"] == "internal_error"
    assert attributes_of(good)["mcp.protocol.version"] == MODERN
    assert [span.status for span in (wrong, unknown, good, nothing)] == [None] * 4
    assert nothing.name == "_OTHER"
    assert not any("secret" in asked.body for asked in collector.asked)


def test_a_collector_that_is_busy_is_asked_again_and_nothing_is_sent_twice(tmp_path: Path) -> None:
    busy = (503, {"retry-after": "0"}, b"")
    with Collector([busy, busy]) as collector:
        house = measured_house(
            tmp_path, otlp_endpoint=collector.base, batch_size=4, metrics=("prometheus",)
        )

        async def work() -> str:
            async with house.desk.session():
                for _ in range(4):
                    await house.request(
                        "POST",
                        "/mcp/invoke",
                        b'{"tool_name":"add_numbers","params":{"a":1,"b":2}}',
                        [("content-type", "application/json")],
                    )
                await asyncio.to_thread(collector.wait_for, lambda it: len(it.spans) == 4)
            return (await house.request("GET", "/metrics")).body.decode()

        shown = asyncio.run(work())
    assert (collector.refused, len(collector.spans)) == (2, 4)
    assert 'carrel_telemetry_rows_total{signal="traces",outcome="sent"} 4' in shown


@pytest.mark.parametrize("status", [400, 401, 404])
def test_what_a_collector_refuses_for_good_is_dropped_and_counted(
    tmp_path: Path, status: int
) -> None:
    with Collector([(status, {}, b"no")]) as collector:
        house = measured_house(tmp_path, otlp_endpoint=collector.base, metrics=("prometheus",))
        within_session(house, ("/mcp", call(ADD), {}))
        shown = house.send("GET", "/metrics").body.decode()
    assert collector.messages == []
    assert 'carrel_telemetry_rows_total{signal="traces",outcome="failed"} 1' in shown


def test_without_a_collector_calls_go_on_and_the_queue_stays_bounded(tmp_path: Path) -> None:
    house = measured_house(
        tmp_path,
        # Nobody listens at the discard port.
        otlp_endpoint="http://127.0.0.1:9",
        queue_size=64,
        batch_size=1000,
        metrics=("prometheus",),
    )
    within_session(house, *[("/mcp", call(ADD), {})] * 100)
    found = house.send("GET", "/metrics").body.decode()
    assert 'carrel_telemetry_rows_total{signal="traces",outcome="dropped"} 36' in found
    assert 'carrel_telemetry_rows_total{signal="traces",outcome="failed"} 64' in found


def test_metrics_are_sent_at_the_end_as_well(tmp_path: Path) -> None:
    with Collector() as collector:
        house = measured_house(
            tmp_path, otlp_endpoint=collector.base, metrics=("otlp",), traces="none"
        )
        within_session(house, ("/mcp", call(ADD), {}))
        assert house.send("GET", "/metrics").status == 404
    ((path, message),) = collector.messages
    assert path == "/v1/metrics"
    metrics = {each.name: each for each in message.resource_metrics[0].scope_metrics[0].metrics}
    (point,) = metrics["mcp.server.operation.duration"].histogram.data_points
    assert point.count == 1
    assert attributes_of(point)["gen_ai.tool.name"] == "add_numbers"
    assert "gen_ai.prompt.name" not in attributes_of(point)


@pytest.mark.promise("D21")
def test_what_is_written_to_the_audit_log_is_sent_and_nothing_else(tmp_path: Path) -> None:
    with Collector() as collector:
        house = measured_house(
            tmp_path, is_audited=True, otlp_endpoint=collector.base, audit="otlp", traces="none"
        )
        secret = {"text": "x", "times": 1}
        within_session(
            house,
            ("/mcp", call({"name": "say", "arguments": secret}), {"user-agent": "tester"}),
            ("/mcp", call({"name": "fail"}), {}),
            ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "none/of ours"}, {}),
        )
    lines = (tmp_path / "audit" / "audit.jsonl").read_bytes().splitlines()
    written = [line for line in lines if b'"phase":"started"' in line or b'"ended"' in line]
    told = [attributes_of(record) for record in collector.log_records]
    phases = [each["carrel.audit.phase"] for each in told]
    assert phases.count("started") + phases.count("ended") == len(written) == 4
    assert phases.count("refused") == 1
    first = told[0]
    assert (first["user.id"], first["carrel.action"]) == ("local", "tool:say")
    assert first["user_agent.original"] == "tester"
    assert first["carrel.audit.parameters"] == '{"text":"x","times":1}'
    assert any(each.get("error.type") == "internal_error" for each in told)
