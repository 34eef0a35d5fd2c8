"""The audit log read from its end: every call once, whatever the page and however often rotated."""

from __future__ import annotations

import io
from pathlib import Path

import orjson
import pytest

from carrel.core.errors import InvalidInputError
from carrel.policy.audit_search import (
    AuditFilter,
    Row,
    count_refusals,
    filter_lines,
    find_calls,
    join_calls,
    write_csv,
)
from carrel.stores.json_lines.audit import AnchorPlaces
from carrel.stores.json_lines.audit_reader import AuditFileReader

CALLS = 120


def line(number: int, phase: str, result: str = "started", **facts: object) -> bytes:
    row = {
        "timestamp": f"2026-07-28T12:{number // 60:02}:{number % 60:02}",
        "phase": phase,
        "request_id": f"r{number}",
        "user_id": "ada" if number % 3 else "bob",
        "action": "tool:search_papers" if number % 2 else "oauth:token",
        "result": result,
        **facts,
    }
    return orjson.dumps(row) + b"\n"


def call_lines() -> list[bytes]:
    """Calls that overlap: each ends five calls after it began, and the last five still run."""
    lines = [b'{"phase":"opened","door":"audit"}\n']
    for number in range(CALLS):
        lines.append(line(number, "started", parameters={"query": "x" * number * 40}))
        if number >= 5:
            result = "failure" if number % 7 == 0 else "success"
            code = {"error_code": "not_found"} if result == "failure" else {}
            lines.append(line(number - 5, "ended", result, duration_ms=1.5, **code))
    return [*lines, line(CALLS, "refused", "failure", error_code="rate_limit_exceeded")]


@pytest.fixture
def reader(tmp_path: Path) -> AuditFileReader:
    """A log in three files, the last of which ends in a line that was cut off."""
    lines, file = call_lines(), tmp_path / "audit.jsonl"
    (tmp_path / "audit.20260728T120000.jsonl").write_bytes(b"".join(lines[:90]))
    (tmp_path / "audit.20260728T120100.jsonl").write_bytes(b"".join(lines[90:91]))
    file.write_bytes(b"".join(lines[91:]) + b'{"timestamp":"2026')
    return AuditFileReader(file, AnchorPlaces.of(file, None, None))


def read_all(reader: AuditFileReader, chosen: AuditFilter, limit: int, lines: int) -> list[Row]:
    found, cursor = list[Row](), None
    while True:
        page = find_calls(reader, chosen, limit, cursor, lines)
        found += page.calls
        cursor = page.cursor
        if cursor is None:
            return found


def test_a_place_that_is_none_is_refused(reader: AuditFileReader) -> None:
    for wrong in ("", "../../etc/passwd", "0123456789abcdef-5", "0123456789abcdef-x"):
        with pytest.raises(InvalidInputError):
            list(reader.newest_lines(wrong))
    with pytest.raises(InvalidInputError):
        find_calls(reader, AuditFilter(), 10, "nonsense.nonsense")


def test_lines_come_backward_from_any_place(reader: AuditFileReader) -> None:
    backward = list(reader.newest_lines())
    whole = [given for _, given in backward if given.endswith(b"\n")]
    assert whole[::-1] == call_lines()
    for at in range(0, len(backward), 17):
        assert list(reader.newest_lines(backward[at][0])) == backward[at + 1 :]


def test_a_place_outlasts_the_rotation_of_its_file(reader: AuditFileReader, tmp_path: Path) -> None:
    backward = list(reader.newest_lines())
    (tmp_path / "audit.jsonl").rename(tmp_path / "audit.20260728T120200.jsonl")
    (tmp_path / "audit.jsonl").write_bytes(line(900, "noted"))
    assert list(reader.newest_lines(backward[3][0])) == backward[4:]


@pytest.mark.parametrize("limit", [1, 7, 50, 1000])
def test_pages_hold_each_call_once_with_its_result(reader: AuditFileReader, limit: int) -> None:
    found = read_all(reader, AuditFilter(), limit, 100_000)
    rows = filter_lines(reader.lines(), AuditFilter())
    joined = [row for row in join_calls(rows) if row["phase"] != "opened"]
    assert [row["request_id"] for row in found] == [row["request_id"] for row in joined][::-1]
    assert [row["result"] for row in found] == [row["result"] for row in joined][::-1]
    assert sum(row["result"] == "started" for row in found) == 5, "those that still run"


@pytest.mark.parametrize("limit", [1, 2, 10])
def test_equal_calls_of_one_request_each_have_their_own_end(tmp_path: Path, limit: int) -> None:
    """A page asks the same operation several times at once."""
    moment = "2026-07-28T12:00:0"
    lines = [
        line(1, "started", timestamp=f"{moment}1.0", parameters={"category": "author"}),
        line(1, "started", timestamp=f"{moment}2.0", parameters={"category": "venue"}),
        line(1, "started", timestamp=f"{moment}3.0", parameters={"category": "keyword"}),
        line(1, "ended", "success", timestamp=f"{moment}4.0", duration_ms=2000.0),
        line(1, "ended", "failure", timestamp=f"{moment}5.0", duration_ms=4000.0),
        line(1, "ended", "success", timestamp=f"{moment}6.0", duration_ms=3000.0),
    ]
    file = tmp_path / "audit.jsonl"
    file.write_bytes(b"".join(lines))
    reader = AuditFileReader(file, AnchorPlaces.of(file, None, None))
    expected = {"author": "failure", "venue": "success", "keyword": "success"}
    found = read_all(reader, AuditFilter(), limit, 1000)
    joined = join_calls([row for each in lines if (row := orjson.loads(each))])
    for calls in (found, joined):
        assert {row["parameters"]["category"]: row["result"] for row in calls} == expected
        assert len(calls) == len(expected)


def test_a_search_that_finds_little_goes_on_where_it_stopped(reader: AuditFileReader) -> None:
    chosen = AuditFilter(user="bob", is_refused=True)
    found = read_all(reader, chosen, 10, 100_000)
    assert {row["user_id"] for row in found} == {"bob"}
    assert read_all(reader, chosen, 10, 40) == found
    first = find_calls(reader, AuditFilter(error_code="rate_limit_exceeded"), 10)
    assert [row["request_id"] for row in first.calls] == [f"r{CALLS}"]


def test_a_search_ends_at_the_time_it_begins(reader: AuditFileReader) -> None:
    chosen = AuditFilter(since="2026-07-28T12:01:50")
    page = find_calls(reader, chosen, 1000)
    assert page.cursor is None
    assert page.lines_read < 40
    assert all(row["timestamp"] >= "2026-07-28T12:01:50" for row in page.calls)


def test_a_table_has_no_formulas() -> None:
    target = io.StringIO()
    write_csv([{"user_id": "=1+1", "user_agent": "@SUM(A1)", "parameters": {"a": 1}}], target)
    assert "'=1+1" in target.getvalue()
    assert "'@SUM(A1)" in target.getvalue()


def test_refusals_are_counted_by_caller_and_reason(tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    code = {"error_code": "rate_limit_exceeded", "ip_address": "10.0.0.7"}
    summed = {"action": "refusals", "parameters": {"count": 40, "actions": {"tool:x": 40}}}
    file.write_bytes(
        line(1, "refused", "failure", **code)
        + line(2, "refused", "failure", error_code="login_refused", ip_address="10.0.0.7")
        + b"".join(line(number, "started") for number in range(3, 40))
        + line(40, "refused", "failure", **code)
        + line(43, "refused", "failure", **{**code, **summed})
    )
    reader = AuditFileReader(file, AnchorPlaces.of(file, None, None))
    since, found = count_refusals(reader, "2026-07-28")
    assert since == "2026-07-28"
    told = [(each.user_id, each.error_code, each.count) for each in found]
    assert told == [
        ("ada", "rate_limit_exceeded", 42),
        ("ada", "login_refused", 1),
    ]
    assert found[0].actions == ["tool:x", "oauth:token", "tool:search_papers"]
    late, counted = count_refusals(reader, "2026-07-28T12:00:30")
    assert (late, counted[0].count) == ("2026-07-28T12:00:30", 41)
