"""Two sentences deny each other only on the same two things, and without a condition."""

from __future__ import annotations

import pytest

from carrel.libraries.claims import Denial, compare_effects, read_effects

pytestmark = pytest.mark.promise("S12")


def compare(one: str, other: str) -> Denial | None:
    found = [
        denial
        for mine in read_effects(one)
        for theirs in read_effects(other)
        if (denial := compare_effects(mine, theirs)) is not None
    ]
    return max(found, key=lambda each: each.is_sure, default=None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Minimum wages raise youth unemployment.", "Minimum wages lower youth unemployment."),
        ("Wages raise youth unemployment.", "Wages do not raise youth unemployment."),
        ("Annealing raises alloy hardness.", "Annealing had no effect on the hardness of alloys."),
        ("Loss of kinesin blocks axon growth.", "Kinesin is dispensable for axon growth."),
        ("Inhibition of kinesin reduces axon growth.", "Kinesin suppresses axon growth."),
        ("Dropout reduces overfitting in transformers.", "Dropout increases overfitting."),
        ("Interferon gamma (IFNG) promotes colitis.", "IFNG does not promote colitis."),
        ("Tariffs and quotas lower steel imports.", "Tariffs increase steel imports."),
    ],
)  # fmt: skip
def test_effects_that_cannot_both_hold_are_found(one: str, other: str) -> None:
    for first, second in ((one, other), (other, one)):
        denial = compare(first, second)
        assert denial is not None and denial.is_sure
        assert denial.reason.startswith("of the same two things")


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("Kinesin raises axon growth.", "Dynein lowers axon growth.", "another subject"),
        ("Kinesin raises axon growth.", "Kinesin lowers axon transport.", "another object"),
        ("Kinesin raises axon growth.", "Kinesin may lower axon growth.", "a hedge"),
        ("Kinesin raises axon growth.", "We asked whether kinesin lowers axon growth.", "asked"),
        ("Kinesin raises axon growth.", "Kinesin is thought to lower axon growth.", "an opinion"),
        ("Kinesin raises axon growth.", "Kinesin lowers axon growth when calcium is low.",
         "a condition"),
        ("Kinesin raises axon growth.", "Kinesin alone does not raise axon growth.", "room left"),
        ("Kinesin lowers axon growth.", "Kinesin does not raise axon growth.", "both may hold"),
        ("Kinesin raises axon growth.", "Loss of kinesin lowers axon growth.", "two turns"),
        ("This protein raises axon growth.", "This protein lowers axon growth.", "not named"),
        ("Inhibition of kinesin and dynein raises axon growth.", "Dynein raises axon growth.",
         "whether both are inhibited is not told"),
        ("Kinesin lowers tau, which raises axon growth.", "Tau lowers axon growth.",
         "what raises is not told"),
        ("It repeats ‘Kinesin raises axon growth’.", "It repeats ‘Kinesin lowers axon growth’.",
         "titles of others"),
    ],
)  # fmt: skip
def test_what_can_both_hold_is_no_denial(one: str, other: str, why: str) -> None:
    assert compare(one, other) is None, why
    assert compare(other, one) is None, why


def test_an_object_that_is_a_part_of_the_other_is_not_sure() -> None:
    denial = compare("Kinesin raises growth.", "Kinesin lowers axon growth.")
    assert denial is not None and not denial.is_sure
