"""Statements taken from claims, drafts and hypotheses."""

from __future__ import annotations

import pytest

from carrel.libraries.claims import (
    MAX_TEXT_CHARACTERS,
    StatementKind,
    TextTooLongError,
    split_statements,
)


def texts(text: str) -> list[str]:
    return [each.text for each in split_statements(text)]


def test_a_hypothesis_with_a_bridge_is_a_claim_and_two_links() -> None:
    found = split_statements("Metformin may lower tumour growth through AMPK activation.")
    assert [(each.kind, each.text) for each in found] == [
        (StatementKind.CLAIM, "Metformin may lower tumour growth"),
        (StatementKind.LINK, "Metformin is linked to AMPK activation"),
        (StatementKind.LINK, "AMPK activation is linked to tumour growth"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Minimum wages raise unemployment and lower hours worked.",
         ["Minimum wages raise unemployment", "Minimum wages lower hours worked"]),
        ("Annealing increases hardness, whereas quenching reduces ductility.",
         ["Annealing increases hardness", "quenching reduces ductility"]),
        ("Quicksort is faster than merge sort.", ["Quicksort is faster than merge sort"]),
        ("We hypothesise that caffeine does not affect sleep.", ["caffeine does not affect sleep"]),
        ("# Results\n\n- Zinc raises yield [12].\n- Iron lowers it (Smith et al., 2019).\n",
         ["Zinc raises yield", "Iron lowers it"]),
    ],
)  # fmt: skip
def test_what_can_be_checked_alone_is_a_statement(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@pytest.mark.parametrize("text", ["", "  \n", "...", "Yes.", "#", "😀😀", "\x00", "[1]", "of the"])
def test_what_says_nothing_gives_no_statement(text: str) -> None:
    assert texts(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "機械翻訳は注意機構により改善される。",
        "يزيد الحد الأدنى للأجور البطالة",
        "Минимальная зарплата повышает безработицу.",
        "น้ำตาลเพิ่มความเสี่ยงต่อโรคเบาหวาน",
    ],
)
def test_other_scripts_give_statements(text: str) -> None:
    assert len(texts(text)) == 1


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(TextTooLongError, match="in parts"):
        split_statements("a" * (MAX_TEXT_CHARACTERS + 1))
