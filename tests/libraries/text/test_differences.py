"""Differences and merges of texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.text.differences import (
    DifferenceLine,
    SkippedLines,
    compare_texts,
    match_lines,
)
from carrel.libraries.text.merging import MINE_MARK, merge_tags, merge_texts

_TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "long line of words"]), max_size=30).map(
    "\n".join
)


@given(before=_TEXTS, after=_TEXTS)
def test_a_difference_holds_both_texts(before: str, after: str) -> None:
    rows = compare_texts(before, after, context=1_000).rows
    lines = [row for row in rows if isinstance(row, DifferenceLine)]
    if before == after or before.splitlines() == after.splitlines():
        assert not lines or all(line.kind == "same" for line in lines)
        return
    assert [line.text for line in lines if line.kind != "added"] == before.splitlines()
    assert [line.text for line in lines if line.kind != "removed"] == after.splitlines()


@given(before=_TEXTS, after=_TEXTS)
def test_equal_stretches_are_equal_and_in_order(before: str, after: str) -> None:
    old, new = before.splitlines(), after.splitlines()
    a = b = 0
    for place, other, size in match_lines(old, new):
        assert place >= a and other >= b and size > 0
        assert old[place : place + size] == new[other : other + size]
        a, b = place + size, other + size


def test_only_the_words_of_a_changed_line_are_marked_and_far_lines_are_left_out() -> None:
    before = "\n".join([*(f"line {number}" for number in range(50)), "the cat sat here", "end"])
    found = compare_texts(before, before.replace("cat sat", "dog sat"))
    assert (found.added, found.removed) == (1, 1)
    assert found.rows[0] == SkippedLines(47)
    changed = [row for row in found.rows if isinstance(row, DifferenceLine) and row.kind != "same"]
    assert [[piece.text for piece in row.pieces if piece.is_changed] for row in changed] == [
        ["cat"],
        ["dog"],
    ]
    assert [(row.before, row.after) for row in changed] == [(51, None), (None, 51)]


def test_repetitive_and_long_texts_are_compared_within_bounds() -> None:
    repetitive = "\n".join("ab"[number % 2] for number in range(100_000))
    other = "\n".join("ba"[number % 3 % 2] for number in range(100_000))
    assert not compare_texts(repetitive, other).is_empty
    one_line = "word " * 40_000
    found = compare_texts(one_line, one_line + "more")
    assert (found.added, found.removed) == (1, 1)
    many = "\n".join(f"some words that stand in line {number}" for number in range(3_000))
    assert compare_texts(many, many.replace("words", "terms")).added == 3_000


@given(base=_TEXTS, change=_TEXTS)
def test_a_merge_with_no_change_on_one_side_is_the_other(base: str, change: str) -> None:
    for mine, theirs in ((base, change), (change, base), (change, change)):
        merged = merge_texts(base, mine, theirs, mine_name="mine", theirs_name="theirs")
        assert merged.conflicts == 0
        assert merged.text.splitlines() == change.splitlines()


def test_changes_of_different_lines_merge_and_of_the_same_line_are_both_kept() -> None:
    base = "one\ntwo\nthree\nfour\n"
    merged = merge_texts(
        base,
        "one!\ntwo\nthree\nfour\n",
        "one\ntwo\nthree\nfour\nfive\n",
        mine_name="yours",
        theirs_name="bob",
    )
    assert (merged.text, merged.conflicts) == ("one!\ntwo\nthree\nfour\nfive\n", 0)
    both = merge_texts(
        base, base.replace("two", "2"), base.replace("two", "II"), mine_name="m", theirs_name="t"
    )
    assert both.conflicts == 1
    assert f"{MINE_MARK} m\n2\n=======\nII\n>>>>>>> t" in both.text
    assert merge_tags(["a", "b"], ["a", "c"], ["a", "b", "d"]) == ["a", "d", "c"]
