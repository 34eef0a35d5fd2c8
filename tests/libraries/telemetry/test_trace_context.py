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


def traced(number: int, *, is_sampled: bool = True) -> TraceParent:
    """A parent in the trace of this number."""
    return TraceParent(f"{number:032x}", SPAN, is_sampled)


def test_a_sampler_follows_its_parent_only_where_its_name_says_so() -> None:
    low, high = 1, (1 << 128) - 1
    assert Sampler("parentbased_always_off").is_sampled(traced(high))
    assert not Sampler("parentbased_always_on").is_sampled(traced(low, is_sampled=False))
    assert Sampler("always_on").is_sampled(traced(high, is_sampled=False))
    assert not Sampler("always_off").is_sampled(traced(low))
    assert Sampler("traceidratio", 0.5).is_sampled(traced(low, is_sampled=False))
    assert not Sampler("traceidratio", 0.5).is_sampled(traced(high))
    with pytest.raises(ValueError, match="no sampler"):
        Sampler("sometimes")


def test_a_ratio_samples_its_share_and_the_same_traces_in_every_process() -> None:
    every = [TraceParent(trace, span, False) for trace, span in Ids(random.Random(5)).draw(20_000)]
    tenth = {each for each in every if Sampler("traceidratio", 0.1).is_sampled(each)}
    assert 1_800 < len(tenth) < 2_200
    assert tenth <= {each for each in every if Sampler("traceidratio", 0.3).is_sampled(each)}
    assert not any(Sampler("traceidratio", 0.0).is_sampled(each) for each in every)
    assert all(Sampler("traceidratio", 1.0).is_sampled(each) for each in every)


@pytest.mark.parametrize("name", ["traceidratio", "parentbased_traceidratio"])
def test_of_traces_that_begin_here_a_ratio_samples_its_share(name: str) -> None:
    tenth = Sampler(name, 0.1, random.Random(5).random)
    assert 1_800 < sum(tenth.is_sampled(None) for _ in range(20_000)) < 2_200
    assert not any(Sampler(name, 0.0).is_sampled(None) for _ in range(1_000))
    assert all(Sampler(name, 1.0).is_sampled(None) for _ in range(1_000))


@pytest.mark.parametrize("ratio", [1.0, 0.1, 0.0001])
def test_ids_of_chosen_traces_are_chosen_by_everybody_with_that_ratio(ratio: float) -> None:
    pairs = Ids(random.Random(5), ratio).draw(1_000)
    assert len({trace for trace, _ in pairs} | {span for _, span in pairs}) == 2_000
    for trace, span in pairs:
        assert read_trace_parent(f"00-{trace}-{span}-01") is not None
        assert Sampler("traceidratio", ratio).is_sampled(TraceParent(trace, span, False))
