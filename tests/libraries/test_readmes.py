"""The lines of use in every library's README work as they stand."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import carrel.libraries

READMES = sorted(
    readme
    for readme in Path(carrel.libraries.__path__[0]).glob("*/README.md")
    if ">>>" in readme.read_text("utf-8")
)


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.parent.name)
def test_the_lines_of_use_work(readme: Path) -> None:
    found = doctest.testfile(str(readme), module_relative=False, encoding="utf-8")
    assert found.attempted > 0
    assert found.failed == 0


def test_the_libraries_that_stand_alone_say_how_they_are_used() -> None:
    named = {readme.parent.name for readme in READMES}
    assert {"csl", "bibliography", "identifiers", "text"} <= named
