"""Series are bounded, and what is exposed says the same to Prometheus' own parser."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.telemetry.exposition import write_text
from carrel.libraries.telemetry.instruments import MOST_SERIES, OTHER, Registry

parser = pytest.importorskip(
    "prometheus_client.parser", reason="prometheus-client is not installed (make install)"
)


def test_series_beyond_the_bound_are_counted_together() -> None:
    registry = Registry()
    counter = registry.counter("calls", "{call}", "Calls", ("name",))
    for number in range(3 * MOST_SERIES):
        counter.add((f"name {number}",))
    (family,) = registry.read()
    assert len(family.series) == MOST_SERIES + 1
    assert family.series[(OTHER,)] == [2.0 * MOST_SERIES]


def test_all_instruments_together_have_room_for_so_many_numbers() -> None:
    registry = Registry([0.0] * 20)
    histogram = registry.histogram("wait", "s", "Waits", ("name",), (1.0, 2.0, 3.0))
    for number in range(50):
        histogram.observe((f"name {number}",), 0.5)
    (family,) = registry.read()
    assert sum(sum(numbers[1:]) for numbers in family.series.values()) == 50
    assert len(family.series) < 5


def test_labels_that_do_not_fit_are_refused() -> None:
    counter = Registry().counter("calls", "{call}", "Calls", ("name",))
    with pytest.raises(ValueError, match="calls has labels"):
        counter.add(("a", "b"))


@given(
    st.lists(st.floats(min_value=0, max_value=100), max_size=50),
    st.text(st.characters(codec="utf-8"), max_size=30),
)
def test_a_histogram_reads_as_it_was_observed(values: list[float], label: str) -> None:
    registry = Registry()
    histogram = registry.histogram("a.wait", "s", "Back\\slash\nand line", ("who.is",), (0.1, 1.0))
    for value in values:
        histogram.observe((label,), value)
    families = list(parser.text_string_to_metric_families(write_text(registry.read())))
    if not values:
        assert families == []
        return
    (family,) = families
    assert (family.name, family.type) == ("a_wait_seconds", "histogram")
    assert family.documentation == "Back\\slash\nand line"
    found = {(s.name, s.labels.get("le")): s.value for s in family.samples}
    assert all(sample.labels["who_is"] == label for sample in family.samples)
    for bound, limit in (("0.1", 0.1), ("1", 1.0), ("+Inf", math.inf)):
        expected = sum(value <= limit for value in values)
        assert found["a_wait_seconds_bucket", bound] == expected
    assert found["a_wait_seconds_count", None] == len(values)
    assert found["a_wait_seconds_sum", None] == pytest.approx(sum(values))


@pytest.mark.parametrize("value", [0.0, -1.5, 1e300, math.inf, -math.inf, 1e15, 2.0**53])
def test_every_number_is_read_back(value: float) -> None:
    registry = Registry()
    registry.gauge("level", "By", "Level").set((), value)
    (family,) = parser.text_string_to_metric_families(write_text(registry.read()))
    assert family.samples[0].value == value
