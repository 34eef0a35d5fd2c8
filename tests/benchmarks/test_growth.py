"""The measurement of growth: what it calls suspicious and bad, and that one family cannot end the
others.
"""

from __future__ import annotations

import math
import os
import signal
import sys

import pytest

from carrel.libraries.text.budget import InputTooCostlyError

if sys.platform == "win32":
    pytest.skip("the measurement forks", allow_module_level=True)

from benchmarks.growth.families import nested, numbered, repeated
from benchmarks.growth.measure import SCREEN_SIZES, Measured, Sample, measure, screen

FULL_SIZES = (25_000, 50_000, 100_000, 200_000)


def measured(sizes: tuple[int, ...], *seconds: float, raised: str = "") -> Measured:
    return Measured(sizes, tuple(Sample(spent, 0, raised) for spent in seconds), "")


@pytest.mark.promise("Q8")
@pytest.mark.parametrize("power", [0.9, 1.0, 1.3, 2.0, 3.0])
def test_the_exponent_is_that_of_the_growth(power: float) -> None:
    found = measured(FULL_SIZES, *(0.05 * (size / FULL_SIZES[0]) ** power for size in FULL_SIZES))
    assert found.exponent == pytest.approx(power)


def test_noise_has_no_exponent_and_a_killed_one_has_none_that_is_allowed() -> None:
    assert measured(FULL_SIZES, 0.001, 0.002, 0.009, 0.019).exponent is None
    assert Measured(FULL_SIZES, (), "too much CPU").exponent == math.inf


@pytest.mark.parametrize(
    ("small", "large", "is_suspicious"),
    [
        (0.001, 0.004, False),
        (0.001, 0.016, True),
        (0.010, 0.047, True),
        (0.030, 0.100, True),
        (0.00001, 0.0004, False),
    ],
)
def test_the_screen_suspects_growth_and_slowness_above_noise(
    small: float, large: float, is_suspicious: bool
) -> None:
    assert measured(SCREEN_SIZES, small, large).is_suspicious is is_suspicious


def parse(text: str) -> None:
    """Fails as parsers do, by the first character."""
    match text[0]:
        case "k":
            os.kill(os.getpid(), signal.SIGKILL)
        case "r":
            raise RecursionError("too deep for us")
        case "d":
            raise InputTooCostlyError("deep", exceeded="depth", limit=200)
        case "c":
            raise InputTooCostlyError("slow", exceeded="cpu", limit=2)
        case "v":
            raise ValueError("documented")


def test_each_family_is_measured_whatever_the_one_before_did() -> None:
    found = screen(parse, [repeated(sign) for sign in "akrdcva"], (ValueError,))
    assert [one.problem for one in found] == [
        "",
        "SIGKILL",
        "RecursionError: too deep for us",
        "",
        "over its time",
        "",
        "",
    ]
    assert [len(one.samples) for one in found] == [2, 0, 2, 2, 2, 2, 2]
    assert measure(parse, repeated("a"), FULL_SIZES, ()).problem == ""


def test_families_are_about_as_long_as_they_are_asked_to_be() -> None:
    for family in (repeated("ab", "x", "y"), nested("{", "}"), numbered("w# ")):
        assert 8_000 <= len(family(10_000)) <= 10_010
