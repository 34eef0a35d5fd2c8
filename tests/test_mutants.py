"""The judge of mutants changes what it says it changes, and its exceptions are real."""

from __future__ import annotations

import pytest

from tests.mutants.__main__ import all_mutants, draw, harmless_changes
from tests.mutants.areas import AREAS, ROOT
from tests.mutants.mutations import mutations_of

SOURCE = """
LIMIT = 3 if True else 4


def admit(caller, count):
    if count > LIMIT and caller is not None:
        raise ValueError("é")
    return count
"""


def test_each_kind_of_change_is_made_once_and_nowhere_outside_functions() -> None:
    changed = {(each.kind, each.apply(SOURCE)) for each in mutations_of(SOURCE)}
    assert changed == {
        ("comparison", SOURCE.replace("count > LIMIT", "(count) >= (LIMIT)")),
        ("comparison", SOURCE.replace("caller is not None", "(caller) is (None)")),
        (
            "condition",
            SOURCE.replace(
                "count > LIMIT and caller is not None", "((count > LIMIT) or (caller is not None))"
            ),
        ),
        (
            "condition",
            SOURCE.replace(
                "count > LIMIT and caller is not None",
                "(not (count > LIMIT and caller is not None))",
            ),
        ),
        ("raise", SOURCE.replace('raise ValueError("é")', "pass")),
        ("return", SOURCE.replace("return count", "return None")),
    }


@pytest.mark.parametrize("area", AREAS)
def test_an_area_has_sources_and_tests(area: str) -> None:
    assert AREAS[area].files()
    assert [test for test in AREAS[area].tests if not (ROOT / test).exists()] == []


def test_a_seed_draws_the_same_changes_again_and_none_that_is_harmless() -> None:
    drawn = draw(["policy", "knowledge"], 9, seed=3)
    assert drawn == draw(["policy", "knowledge"], 9, seed=3) != draw(["policy"], 9, seed=4)
    assert [each.area for each in drawn] == ["policy"] * 5 + ["knowledge"] * 4
    assert not {each.identity for each in drawn} & harmless_changes()


def test_every_harmless_change_is_one_that_could_be_drawn() -> None:
    possible = {each.identity for area in AREAS for each in all_mutants(area)}
    assert harmless_changes() <= possible
