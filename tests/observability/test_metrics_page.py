"""/metrics: who may read it, and that it is what Prometheus reads."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from carrel.libraries.telemetry.instruments import MOST_SERIES
from carrel.settings import SettingsError, read_settings
from tests.doors.house import MODERN, Answer, House
from tests.observability.measured import TOKEN, measured_house

parser = pytest.importorskip(
    "prometheus_client.parser", reason="prometheus-client is not installed (make install)"
)
PROMETHEUS: dict[str, Any] = {"metrics": ("prometheus",)}


def read_metrics(answer: Answer) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """Every sample by name and labels."""
    assert answer.status == 200
    assert answer.header("content-type") == "text/plain; version=0.0.4; charset=utf-8"
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in parser.text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }


def total(found: dict[Any, float], name: str, **labels: str) -> float:
    """The sum of the samples with these labels among theirs."""
    return sum(
        value
        for (key, pairs), value in found.items()
        if key == name and labels.items() <= dict(pairs).items()
    )


def ask(house: House, headers: list[tuple[str, str]] | None = None, **more: Any) -> Answer:
    return house.send("GET", "/metrics", headers=headers or [], **more)


# Refusals
@pytest.mark.promise("Q10")
def test_nothing_is_there_unless_it_was_asked_for(tmp_path: Path) -> None:
    house = measured_house(tmp_path)
    assert ask(house).status == 404
    assert house.desk.telemetry is None
    quiet = measured_house(tmp_path, disabled=True, **PROMETHEUS)
    assert ask(quiet).status == 404


@pytest.mark.parametrize(
    "given", [[], ["Bearer wrong-0123456789abcdef"], [f"Basic {TOKEN}"], ["Bearer é"], ["Bearer"]]
)
def test_without_the_token_nobody_reads_them(tmp_path: Path, given: list[str]) -> None:
    house = measured_house(tmp_path, metrics_token=TOKEN, **PROMETHEUS)
    answer = ask(house, [("authorization", each) for each in given])
    assert answer.status == 401
    assert b"carrel_" not in answer.body
    opened = read_metrics(ask(house, [("authorization", f"Bearer {TOKEN}")]))
    assert total(opened, "carrel_refusals_total", door="http") == 1


def test_where_people_have_tokens_strangers_and_readers_are_refused(tmp_path: Path) -> None:
    house = measured_house(tmp_path, mode="tokens", **PROMETHEUS)
    assert ask(house).status == 401
    assert ask(house, [("authorization", "Bearer carrel_unknown")]).status == 401


def test_a_page_of_another_site_cannot_read_the_metrics_of_a_local_desk(tmp_path: Path) -> None:
    house = measured_house(tmp_path, **PROMETHEUS)
    assert ask(house, host="evil.example").status == 421
    listed = house.send("GET", "/metrics", headers=[("origin", "http://evil.example")])
    assert listed.status == 403
    own = ask(house)
    assert own.status == 200
    assert own.header("access-control-allow-origin") is None


@pytest.mark.parametrize(
    "token", ["short", "x" * 501, "with space 0123456789", "ümlaut-0123456789"]
)
def test_a_token_that_a_header_cannot_carry_is_refused(token: str) -> None:
    variables = {"CARREL_OBSERVABILITY_METRICS_TOKEN": token}
    with pytest.raises(SettingsError, match="metrics_token") as refused:
        read_settings(environment=variables)
    assert token not in str(refused.value)


def test_a_token_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="metrics_token_file"):
        measured_house(tmp_path, metrics_token_file=tmp_path / "absent", **PROMETHEUS)


# What is shown
def test_a_scraper_shows_the_token_of_a_file_under_any_host(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n", encoding="ascii")
    house = measured_house(
        tmp_path, mode="tokens", metrics_token_file=tmp_path / "token", **PROMETHEUS
    )
    answer = ask(house, [("authorization", f"Bearer {TOKEN}")], host="10.1.2.3:8080")
    assert total(read_metrics(answer), "carrel_build_info") == 1


@pytest.mark.promise("D20", "Q10")
def test_calls_at_every_door_are_counted_by_what_became_of_them(tmp_path: Path) -> None:
    house = measured_house(tmp_path, **PROMETHEUS)
    add = {"name": "add_numbers", "arguments": {"a": 1, "b": 2}}
    assert house.ask("2025-11-25", "tools/call", add).status == 200
    assert house.ask(MODERN, "tools/call", add).status == 200
    house.ask("2025-11-25", "tools/call", {"name": "add_numbers", "arguments": {"a": "x"}})
    house.ask("2025-11-25", "tools/call", {"name": "fail", "arguments": {}})
    house.ask("2025-11-25", "tools/call", {"name": "none of ours", "arguments": {}})
    house.ask("2025-11-25", "none/of ours", {})
    house.ask("2025-11-25", "prompts/get", {"name": "plan", "arguments": {}}, "/desk/mcp")
    house.post("/mcp/invoke", {"tool_name": "add_numbers", "params": {"a": 1, "b": 2}})
    found = read_metrics(ask(house))
    mcp = "mcp_server_operation_duration_seconds_count"
    assert total(found, mcp, gen_ai_tool_name="add_numbers", error_type="") == 2
    assert total(found, mcp, gen_ai_tool_name="add_numbers", error_type="tool_error") == 1
    assert total(found, mcp, gen_ai_tool_name="_OTHER", error_type="-32602") == 1
    assert total(found, mcp, mcp_method_name="_OTHER", error_type="-32601") == 1
    assert total(found, mcp, mcp_method_name="prompts/get") == 1
    assert total(found, mcp, network_transport="tcp") == total(found, mcp)
    calls = "carrel_call_duration_seconds_count"
    # Those that are MCP requests are not counted a second time.
    assert total(found, calls) == total(found, calls, operation="add_numbers") == 1
    http = "http_server_request_duration_seconds_count"
    assert total(found, http, http_route="/mcp", http_response_status_code="200") == 6
    assert total(found, http, http_route="/mcp/invoke") == 1
    assert total(found, "http_server_active_requests") == 1
    assert total(found, "carrel_ready", check="audit") == 0


def test_what_callers_write_is_in_no_label(tmp_path: Path) -> None:
    house = measured_house(tmp_path, **PROMETHEUS)
    mark = "zanzibar"
    house.ask("2025-11-25", "tools/call", {"name": mark, "arguments": {mark: mark}})
    house.ask("2025-11-25", mark, {})
    house.ask("2025-11-25", "resources/read", {"uri": f"sample://things/{mark}"})
    house.ask("2025-11-25", "prompts/get", {"name": mark}, "/desk/mcp")
    house.ask("2025-11-25", "tools/call", {"name": "say", "arguments": {"text": mark}})
    house.send("GET", f"/{mark}")
    house.send("GET", f"/mcp/tools/{mark}")
    house.send(mark.upper(), "/mcp")
    house.send("GET", "/health", headers=[("user-agent", mark), ("authorization", mark)])
    body = ask(house).body.decode()
    assert mark not in body.lower()
    assert "local" not in {
        value for (_, pairs) in read_metrics(ask(house)) for name, value in pairs
    }


def test_names_without_end_make_no_series_without_end(tmp_path: Path) -> None:
    house = measured_house(tmp_path, **PROMETHEUS)

    async def flood() -> None:
        for number in range(300):
            await house.request("GET", f"/page/{number}")
            await house.request(f"M{number}", "/mcp")

    asyncio.run(flood())
    lines = ask(house).body.decode().count("\nhttp_server_request_duration_seconds_count")
    assert 0 < lines < 10 < MOST_SERIES


def test_parts_that_are_not_well_are_said(tmp_path: Path) -> None:
    house = measured_house(tmp_path, is_audited=True, **PROMETHEUS)
    house.ask("2025-11-25", "tools/call", {"name": "add_numbers", "arguments": {"a": 1, "b": 2}})
    audit: Any = house.desk.access.audit
    assert audit.flush()
    found = read_metrics(ask(house))
    assert total(found, "carrel_ready", check="audit") == 1
    assert total(found, "carrel_audit_written_total") >= 3
    assert total(found, "process_memory_usage_bytes") > 10_000_000
    assert total(found, "process_cpu_time_seconds_total") > 0
    audit.close()


def test_a_desk_that_measures_nothing_loads_nothing_for_it(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from carrel.settings import Settings; "
        "from carrel.wiring.desk import open_desk; from carrel.wiring.http import http_app; "
        f"http_app(open_desk(Settings(home=Path({str(tmp_path)!r})))); "
        "print(sorted(n for n in sys.modules if 'telemetry' in n or 'observed' in n))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"
