"""Stances of sentences, in several fields: what turns a statement round, and what lowers trust."""

from __future__ import annotations

import pytest

from carrel.libraries.claims import Relation, Statement, judge_stance

SAID = [
    ("Minimum wages raise unemployment", "Minimum wages raised unemployment."),
    ("Annealing increases the hardness of the alloy", "Annealing increased the alloy's hardness."),
    ("Quicksort is faster than merge sort", "Quicksort was faster than merge sort."),
    ("Metformin reduces tumour growth", "Metformin reduced tumor growth in mice."),
]
DENIED = [
    ("Minimum wages raise unemployment", "Minimum wages lowered unemployment."),
    ("Minimum wages raise unemployment", "Minimum wages did not raise unemployment."),
    ("Minimum wages do not raise unemployment", "Minimum wages raised unemployment."),
    ("Annealing increases the hardness of the alloy", "Annealing decreased the alloy's hardness."),
    ("Quicksort is faster than merge sort", "Quicksort was slower than merge sort."),
    ("Metformin reduces tumour growth", "Metformin had no effect on tumor growth."),
]


def relation(statement: str, sentence: str) -> Relation:
    return judge_stance(Statement(statement), sentence).relation


@pytest.mark.parametrize(("statement", "sentence"), SAID)
def test_a_sentence_that_restates_a_statement_supports_it(statement: str, sentence: str) -> None:
    assert relation(statement, sentence) is Relation.SUPPORTS


@pytest.mark.parametrize(("statement", "sentence"), DENIED)
def test_a_sentence_with_the_other_sign_contradicts(statement: str, sentence: str) -> None:
    stance = judge_stance(Statement(statement), sentence)
    assert stance.relation is Relation.CONTRADICTS
    assert any("the statement" in reason for reason in stance.reasons)


@pytest.mark.parametrize(("statement", "sentence"), SAID)
def test_a_negated_claim_flips(statement: str, sentence: str) -> None:
    assert relation(f"It is not true that {statement.lower()}", sentence) is not Relation.SUPPORTS


def test_a_claim_that_is_negated_like_its_sentence_is_supported() -> None:
    stance = judge_stance(
        Statement("Caffeine does not affect bone density"), "Caffeine did not affect bone density."
    )
    assert stance.relation is Relation.SUPPORTS


@pytest.mark.parametrize(("statement", "sentence"), SAID)
def test_a_hedge_lowers_the_confidence(statement: str, sentence: str) -> None:
    plain = judge_stance(Statement(statement), sentence)
    hedged = judge_stance(Statement(statement), f"Perhaps {sentence[0].lower()}{sentence[1:]}")
    assert hedged.relation is plain.relation
    assert hedged.confidence < plain.confidence
    assert "it is hedged" in hedged.reasons


@pytest.mark.parametrize(
    "other", ["Annealing raised hardness by 5%.", "One in five trials ended early."]
)
def test_another_number_is_no_support(other: str) -> None:
    statements = ("Annealing raises hardness by 20%", "One in two trials ended early")
    assert all(relation(each, other) is not Relation.SUPPORTS for each in statements)


def test_a_sentence_that_says_both_takes_no_side() -> None:
    assert (
        relation(
            "Fruit consumption increases the risk of diabetes",
            "Fruit consumption was associated with a lower risk of diabetes, whereas juice "
            "consumption was associated with a higher risk of diabetes.",
        )
        is not Relation.SUPPORTS
    )


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("Vitamin D lowers mortality", "Stars form in cold clouds of gas."),
        ("Vitamin D lowers mortality", ""),
        ("", "Stars form in cold clouds of gas."),
        ("注意機構は翻訳を改善する", "Stars form in cold clouds of gas."),
        ("ζ" * 3_000, "ا" * 30_000),
        ("not not not", "no. " * 5_000),
    ],
)
def test_what_has_nothing_of_a_statement_is_unrelated(statement: str, sentence: str) -> None:
    assert relation(statement, sentence) in {Relation.UNRELATED, Relation.BEARS_ON}
    assert relation("Vitamin D lowers mortality", sentence) is Relation.UNRELATED


def test_other_scripts_are_compared() -> None:
    assert relation("注意機構は翻訳を改善する", "注意機構は翻訳を改善する。") is Relation.SUPPORTS
