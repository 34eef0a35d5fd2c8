"""W3C trace context is read as it is specified, and nothing else is believed."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.telemetry.trace_context import (
    Ids,
    Sampler,
    TraceParent,
    read_trace_parent,
)

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.mark.parametrize(
    "text",
    [
        None,
        7,
        "",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}-1",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01\n",
        f"00-{TRACE}-{SPAN}-0٣",
        f"01-{TRACE}-{SPAN}-01-" + "x" * 200,
    ],
)
def test_what_is_no_parent_is_none(text: object) -> None:
    assert read_trace_parent(text) is None


def test_a_parent_is_read_with_its_flag_and_state() -> None:
    found = read_trace_parent(f"00-{TRACE}-{SPAN}-01", "vendor=a b, other@x=1")
    assert found == TraceParent(TRACE, SPAN, True, "vendor=a b,other@x=1")
    # A later version may have more fields and more flags.
    later = read_trace_parent(f"cc-{TRACE}-{SPAN}-fe-what-the-future-holds")
    assert later == TraceParent(TRACE, SPAN, False)


@pytest.mark.parametrize(
    "state",
    [
        "a",
        "=b",
        "A=b",
        "a=b,a=c",
        "a=b\nc",
        "a=" + "b" * 600,
        7,
        "a=é",
        ",".join(f"k{n}=v" for n in range(33)),
    ],
)
def test_a_state_that_cannot_be_handed_on_is_dropped(state: object) -> None:
    found = read_trace_parent(f"00-{TRACE}-{SPAN}-00", state)
    assert found == TraceParent(TRACE, SPAN, False, "")


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_text_breaks_the_reader(traceparent: str, tracestate: str) -> None:
    read_trace_parent(traceparent, tracestate)


def test_a_sampler_follows_its_parent_only_where_its_name_says_so() -> None:
    yes, no = TraceParent(TRACE, SPAN, True), TraceParent(TRACE, SPAN, False)
    low, high = 1, (1 << 128) - 1
    assert Sampler("parentbased_always_off").is_sampled(yes, high)
    assert not Sampler("parentbased_always_on").is_sampled(no, low)
    assert Sampler("always_on").is_sampled(no, high)
    assert not Sampler("always_off").is_sampled(yes, low)
    assert Sampler("traceidratio", 0.5).is_sampled(no, low)
    assert not Sampler("traceidratio", 0.5).is_sampled(yes, high)
    with pytest.raises(ValueError, match="no sampler"):
        Sampler("sometimes")


def test_a_ratio_samples_its_share_and_the_same_traces_in_every_process() -> None:
    ids = Ids(random.Random(5))
    traces = [ids.trace_id() for _ in range(20_000)]
    tenth = {each for each in traces if Sampler("traceidratio", 0.1).is_sampled(None, each)}
    assert 1_800 < len(tenth) < 2_200
    assert tenth <= {each for each in traces if Sampler("traceidratio", 0.3).is_sampled(None, each)}
    assert not any(Sampler("traceidratio", 0.0).is_sampled(None, each) for each in traces)
    assert all(Sampler("traceidratio", 1.0).is_sampled(None, each) for each in traces)
