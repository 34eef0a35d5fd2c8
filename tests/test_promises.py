"""Every promise that is kept is proved by a test that cites it."""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@cache
def cited() -> dict[str, list[str]]:
    """Requirement numbers by the tests that cite them, read from the source so that skipped tests
    count too.
    """
    found: dict[str, list[str]] = {}
    for file in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "promise"
            ):
                for argument in node.args:
                    if isinstance(argument, ast.Constant):
                        found.setdefault(str(argument.value), []).append(file.name)
    return found


PROMISES = tomllib.loads((ROOT / "docs" / "promises.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "number", [number for number, promise in PROMISES.items() if promise["status"] == "kept"]
)
def test_a_kept_promise_is_cited_by_a_test(number: str) -> None:
    assert cited().get(number), f"no test cites {number}: {PROMISES[number]['sentence']}"


def test_no_test_cites_a_promise_that_was_never_made() -> None:
    assert set(cited()) <= set(PROMISES)


def test_every_promise_says_what_it_is_and_whether_it_is_kept() -> None:
    assert all(
        promise["sentence"] and promise["status"] in {"kept", "planned"}
        for promise in PROMISES.values()
    )
