"""Refusals are gathered: bounded in lines and memory, and every one of them counted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.policy.audit import SUMMARY_ACTION, AuditRecord, RefusalSummaries

WHEN = datetime(2026, 7, 28, tzinfo=UTC)


def refusal(
    address: str, user: str = "anonymous", code: str = "unauthenticated", action: str = "identify"
) -> AuditRecord:
    return AuditRecord(
        WHEN,
        "r",
        "refused",
        user,
        None,
        "http",
        action,
        "mcp://",
        None,
        "failure",
        code,
        None,
        address,
        "agent",
    )


def counted(rows: list[AuditRecord]) -> int:
    return sum(row.parameters["count"] for row in rows if isinstance(row.parameters, dict))


@pytest.mark.promise("A5")
def test_the_first_few_of_one_caller_are_recorded_in_full_and_the_rest_summed_up() -> None:
    gathered = RefusalSummaries(period_seconds=300, recorded_in_full=5)
    full = [
        gathered.is_recorded_in_full(refusal("192.0.2.1", action=f"tool:{number % 9}"), 0.0)
        for number in range(1000)
    ]
    assert full == [True] * 5 + [False] * 995
    assert gathered.is_recorded_in_full(refusal("192.0.2.2"), 1.0), (
        "another caller is recorded as before"
    )
    assert gathered.seconds_left(100.0) == 200.0
    (row,) = gathered.summaries(WHEN + timedelta(minutes=5))
    assert (row.action, row.phase, row.ip_address, row.error_code) == (
        SUMMARY_ACTION,
        "refused",
        "192.0.2.1",
        "unauthenticated",
    )
    assert isinstance(row.parameters, dict)
    assert row.parameters["count"] == 995
    assert sum(row.parameters["actions"].values()) == 995
    assert len(row.parameters["actions"]) <= 6
    assert gathered.seconds_left(0.0) is None
    assert gathered.is_recorded_in_full(refusal("192.0.2.1"), 301.0), "a new period begins"


def test_a_summary_names_five_resources_each_once() -> None:
    gathered = RefusalSummaries(recorded_in_full=0)
    for number in (0, 0, 1, 2, 3, 4, 5, 6, 1):
        gathered.is_recorded_in_full(
            refusal("192.0.2.1")._replace(resource=f"paper://{number}"), 0.0
        )
    (row,) = gathered.summaries(WHEN)
    assert isinstance(row.parameters, dict)
    assert row.parameters["resources"] == [f"paper://{number}" for number in range(5)]


@pytest.mark.promise("A5")
def test_any_number_of_addresses_leaves_a_bounded_number_of_lines() -> None:
    gathered = RefusalSummaries()
    addresses = [f"10.{a}.{b}.{c}" for a in range(10) for b in range(100) for c in range(50)]
    full = sum(gathered.is_recorded_in_full(refusal(address), 0.0) for address in addresses)
    assert len(gathered._gathered) <= 201
    rows = gathered.summaries(WHEN)
    assert full + len(rows) <= 602
    assert full + counted(rows) == len(addresses), "none is forgotten"


@pytest.mark.promise("A5")
def test_one_holder_of_an_ipv6_network_is_one_caller() -> None:
    gathered = RefusalSummaries(recorded_in_full=5)
    full = [
        gathered.is_recorded_in_full(refusal(f"2001:db8::{number:x}"), 0.0) for number in range(100)
    ]
    assert sum(full) == 5


@pytest.mark.promise("A5")
def test_strangers_are_only_counted_when_space_is_short_and_known_callers_are_not() -> None:
    gathered = RefusalSummaries()
    assert not gathered.is_recorded_in_full(refusal("192.0.2.1"), 0.0, is_short_of_space=True)
    assert gathered.is_recorded_in_full(
        refusal("192.0.2.1", user="ada"), 0.0, is_short_of_space=True
    )
    assert counted(gathered.summaries(WHEN)) == 1


@given(
    st.lists(
        st.tuples(
            st.integers(0, 30), st.sampled_from(["anonymous", "ada"]), st.sampled_from(["a", "b"])
        ),
        max_size=400,
    )
)
def test_every_refusal_is_recorded_or_counted_once(calls: list[tuple[int, str, str]]) -> None:
    gathered = RefusalSummaries(recorded_in_full=2)
    full = sum(
        gathered.is_recorded_in_full(refusal(f"192.0.2.{host}", user, code), 0.0)
        for host, user, code in calls
    )
    assert full + counted(gathered.summaries(WHEN)) == len(calls)
