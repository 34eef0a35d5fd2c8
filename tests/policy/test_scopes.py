"""Scopes and what they imply."""

from __future__ import annotations

import pytest

from carrel.policy.scopes import ALL_SCOPES, SCOPES, expand_scopes


def test_admin_implies_every_scope() -> None:
    assert expand_scopes({"admin"}) == ALL_SCOPES


@pytest.mark.parametrize(
    ("held", "implied"),
    [
        ("research:write", {"research:read"}),
        ("hypotheses:generate", {"research:read", "hypotheses:read"}),
        ("hypotheses:evolve", {"hypotheses:read"}),
        ("reviews:write", {"reviews:read", "hypotheses:read"}),
        ("knowledge:promote", {"knowledge:read"}),
    ],
)
def test_a_scope_implies_what_the_specification_says(held: str, implied: set[str]) -> None:
    assert expand_scopes({held}) == {held} | implied


def test_reading_implies_nothing() -> None:
    for name in SCOPES:
        if name.endswith(":read"):
            assert expand_scopes({name}) == {name}


def test_an_unknown_scope_grants_nothing() -> None:
    assert expand_scopes({"papers:everything"}) & ALL_SCOPES == frozenset()
