"""Sections are known by the numbers that their headings print, else by their place."""

from __future__ import annotations

import pytest

from carrel.rooms.papers.outlines import find_section, list_headings, write_outline

HEADINGS = [
    "## Abstract",
    "## 1. Introduction",
    "## 2. Methods",
    "### 2.1 Sampling",
    "## 3. Results",
    "### 3.1 Yield",
    "### Loss",
]
NUMBERED = "\n\nWords.\n\n".join(["# A paper", *HEADINGS, ""])


@pytest.mark.parametrize(
    ("wanted", "title"),
    [
        ("1", "1. Introduction"),
        ("2.1", "2.1 Sampling"),
        ("3", "3. Results"),
        ("3.", "3. Results"),
        ("\u00a7 3.1", "3.1 Yield"),
        ("3.2", "Loss"),
        ("Abstract", "Abstract"),
        ("2.1 Sampling", "2.1 Sampling"),
    ],
)
def test_a_printed_number_wins_over_the_place(wanted: str, title: str) -> None:
    section = find_section(NUMBERED, wanted)
    assert section is not None
    assert section.title == title


def test_a_number_that_no_heading_prints_is_not_another_section() -> None:
    assert find_section(NUMBERED, "4") is None
    assert find_section(NUMBERED, "4.1") is None


def test_the_outline_numbers_no_heading_twice() -> None:
    assert list_headings(NUMBERED) == [
        "Abstract",
        "1. Introduction",
        "2. Methods",
        "2.1 Sampling",
        "3. Results",
        "3.1 Yield",
        "3.2 Loss",
    ]
    lines = write_outline(NUMBERED).splitlines()
    assert any(line.startswith("  - 2.1 Sampling (") for line in lines)


def test_one_heading_that_begins_with_a_count_numbers_nothing() -> None:
    text = "# A paper\n\n## Animals\n\nA.\n\n## 3 mice\n\nB.\n\n## 2020 in brief\n\nC.\n"
    assert list_headings(text) == ["1 Animals", "2 3 mice", "3 2020 in brief"]
    section = find_section(text, "2")
    assert section is not None
    assert section.title == "3 mice"
