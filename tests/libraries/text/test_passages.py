"""Passages: every visible character in one, never over a heading, ids that survive other edits."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.text.outline import HeadingLine, PageMark, outline, read_parts
from carrel.libraries.text.passages import (
    LONG,
    LONG_WHOLE,
    Passage,
    cut_passages,
    passage_ids,
)
from carrel.libraries.text.sentences import sentence_ends

pytestmark = pytest.mark.promise("P13")

_TEXT = """
ribosome stalls under magnesium depletion while the control culture grows at the same rate as before
and no further change was seen in any of the twelve replicates
"""
WORDS = _TEXT.split()


def sentences(count: int, seed: int = 1) -> str:
    chance = random.Random(seed)
    return " ".join(" ".join(chance.choices(WORDS, k=14)).capitalize() + "." for _ in range(count))


def shown(text: str) -> list[str]:
    return [text[each.start : each.end] for each in cut_passages(text)]


_LINES = st.sampled_from(
    [
        "",
        " ",
        "# Title",
        "## Results",
        "### References",
        "Heading\n===",
        "Other\n---",
        "```",
        "~~~~ python",
        "| a | b |",
        "<!-- page 3 -->",
        "a\fb",
        "1. Doe J (2020). A title. Journal 3:4.",
        "[12] Roe R. Another.",
        "- an item",
        "2 Related Work",
        "References",
        "word " * 90,
        "x" * 1_700,
        "Dr. J. R. Doe et al. saw 3.5 mg (Fig. 2). It fell.",
        "漢字。" * 200,
        "\r",
        "\u2028",
    ]
)


@given(st.one_of(st.lists(_LINES, max_size=30).map("\n".join), st.text(max_size=300)))
def test_passages_are_ordered_and_hold_every_visible_character_but_marks(text: str) -> None:
    covered = bytearray(len(text))
    last = 0
    for number, passage in enumerate(cut_passages(text), 1):
        assert passage.number == number
        assert last <= passage.start < passage.end <= len(text)
        stretch = text[passage.start : passage.end]
        assert stretch == stretch.strip()
        covered[passage.start : passage.end] = b"x" * (passage.end - passage.start)
        last = passage.end
    for part in read_parts(text):
        if isinstance(part, PageMark) or (isinstance(part, HeadingLine) and not part.is_in_text):
            assert not any(covered[part.start : part.end])
            covered[part.start : part.end] = b"m" * (part.end - part.start)
    missed = [text[at] for at in range(len(text)) if not covered[at] and not text[at].isspace()]
    assert not missed


@given(st.lists(_LINES, max_size=30).map("\n".join))
def test_no_passage_is_longer_than_the_bound(text: str) -> None:
    assert all(each.end - each.start <= LONG_WHOLE + LONG for each in cut_passages(text))
    assert all(
        each.end - each.start <= LONG + 250 for each in cut_passages(text) if each.kind == "text"
    )


@given(st.lists(_LINES, max_size=30).map("\n".join))
def test_sections_of_an_outline_nest_and_start_at_their_headings(text: str) -> None:
    sections = outline(text)
    for before, after in pairwise(sections):
        assert before.start < after.start
        assert after.start >= before.end or after.end <= before.end
    assert len({each.number for each in sections}) == len(sections)


def test_long_paragraphs_are_cut_at_sentence_ends_and_short_ones_joined() -> None:
    text = "\n\n".join([sentences(40), "A short line.", "Another short line.", sentences(6, 2)])
    found = shown(text)
    assert all(each.endswith(".") for each in found)
    assert all(40 <= len(each.split()) <= 220 for each in found)
    assert "A short line.\n\nAnother short line." in "\n".join(found)


def test_a_passage_never_crosses_a_heading_or_a_page() -> None:
    text = "# T\n\n## A\n\nOne.\n\n## B\n\nTwo.\n\n<!-- page 2 -->\n\nThree.\n"
    assert [
        (each.section, each.page, text[each.start : each.end]) for each in cut_passages(text)
    ] == [
        ("A", None, "One."),
        ("B", None, "Two."),
        ("B", 2, "Three."),
    ]


@pytest.mark.parametrize("separator", ["\n", "\r\n"])
def test_an_edit_elsewhere_changes_no_id(separator: str) -> None:
    paragraphs = [sentences(8, seed) for seed in range(12)]
    paragraphs.insert(4, "## A heading")
    paragraphs.insert(8, "A short remark.")
    text = (separator * 2).join(paragraphs)
    before = _by_text(text)
    for at in (0, 5, 8, 13):
        edited = [*paragraphs]
        edited[at] = "Something else entirely. " + sentences(3, 99)
        after = _by_text((separator * 2).join(edited))
        kept = [stretch for stretch in before if paragraphs[at] not in stretch]
        assert len(kept) >= 10
        assert all(after.get(stretch) == before[stretch] for stretch in kept)


def _by_text(text: str) -> dict[str, str]:
    passages = cut_passages(text)
    ids = passage_ids("paper", text, passages)
    return {text[each.start : each.end]: name for each, name in zip(passages, ids, strict=True)}


def test_equal_passages_have_ids_of_their_own_and_spelling_of_space_has_none() -> None:
    text = "## A\n\nThe same words.\n\n## B\n\nThe same\nWORDS.\n"
    first, second = passage_ids("doc", text, cut_passages(text))
    assert first.startswith("doc~")
    assert len(first) == len("doc~") + 10
    assert second == f"{first}.2"


@pytest.mark.parametrize(
    "sentence",
    [
        "As shown by Doe et al. (2020) and in Fig. 3, e.g. at 3.5 mg vs. 4 mg, it fell.",
        "Dr. J. R. Doe met Prof. Roe, i.e. the author, cf. Eq. 2 and Refs. 3 and 4.",
        "The U.S. Department of A. B. Smith counted no. 5 of approx. 20 in vol. 3, pp. 4.",
        "Version 2.0.1 of the program (see Sec. 2.1 and Suppl. Fig. 4) was used.",
        "Mice (C57BL/6J strain, n = 5 per group) were fed at 12 p.m. and weighed.",
    ],
)
def test_abbreviations_initials_and_numbers_end_no_sentence(sentence: str) -> None:
    text = f"It began here. {sentence} And so it ended."
    ends = list(sentence_ends(text, 0, len(text)))
    assert ends == [14, 15 + len(sentence), len(text)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("知識は力である。研究は続く！「本当か？」終わり。", 4),
        ("यह पहला है। यह दूसरा है।", 2),
        ("هل هذا صحيح؟ نعم.", 2),
        ("He said \u201cno.\u201d She left. Why? Because\u2026 nobody knew.", 4),
        ("- one item\n- another item\n- a third", 3),
    ],
)
def test_sentences_of_other_scripts_and_lists_end(text: str, count: int) -> None:
    assert len(list(sentence_ends(text, 0, len(text)))) == count


def test_tables_and_code_are_kept_whole_up_to_a_bound() -> None:
    table = "\n".join(f"| row {at} | {at * at} |" for at in range(90))
    code = "```python\n" + "\n\n# not a heading\nprint(1)\n" * 40 + "```"
    text = f"{sentences(9)}\n\n{table}\n\n{sentences(9, 2)}\n\n{code}\n\n{sentences(9, 3)}"
    found = shown(text)
    assert table in found
    assert code in found
    long_table = "\n".join(f"| row {at} | {at * at} |" for at in range(900))
    pieces = cut_passages(long_table)
    assert len(pieces) > 3
    assert {each.kind for each in pieces} == {"table"}
    assert all(long_table[each.start] == "|" for each in pieces)


def test_a_code_fence_that_is_never_closed_hides_no_headings() -> None:
    text = f"```\n\n{sentences(6)}\n\n## Results\n\n{sentences(6, 2)}"
    assert [each.title for each in outline(text)] == ["Results"]


@pytest.mark.parametrize(
    "heading", ["References", "BIBLIOGRAPHY", "7. Literature cited", "参考文献"]
)
def test_reference_lists_are_passages_of_a_few_entries(heading: str) -> None:
    entries = [
        f"{at}. Doe J, Roe R ({1990 + at}). {sentences(1, at)} *J Test* {at}:1."
        for at in range(1, 21)
    ]
    text = f"## Results\n\n{sentences(5)}\n\n## {heading}\n\n" + "\n".join(entries)
    found = [each for each in cut_passages(text) if each.section == "References"]
    assert {each.kind for each in found} == {"references"}
    assert 4 <= len(found) <= 10
    assert all(text[each.start : each.end].split(".")[0].isdigit() for each in found)


def test_a_pdfs_pages_and_its_plain_headings_are_known() -> None:
    pages = [
        "A Study of Things\nJane Doe\nAbstract\n" + sentences(5),
        "1 Introduction\n" + sentences(20, 2) + "\n2 Methods\n" + sentences(5, 3),
        "2.1 Counting mice\n" + sentences(20, 4) + "\n7 of the mice died\nReferences\n"
        "[1] Doe J. One.\n[2] Roe R. Two.",
    ]
    text = "# A Study of Things\n\n" + "\n\n".join(
        f"<!-- page {number} -->\n\n{page}" for number, page in enumerate(pages, 1)
    )
    assert [(each.number, each.title, each.page) for each in outline(text)] == [
        ("1", "Abstract", 1),
        ("2", "1 Introduction", 2),
        ("3", "2 Methods", 2),
        ("3.1", "2.1 Counting mice", 3),
        ("4", "References", 3),
    ]
    passages = cut_passages(text)
    assert {each.page for each in passages} == {1, 2, 3}
    assert passages[-1].section == "References"
    counting = [each.page for each in passages if each.section == "2 Methods > 2.1 Counting mice"]
    assert set(counting) == {3}


def test_form_feeds_are_page_ends() -> None:
    text = "First page.\fSecond page.\f"
    assert [(each.page, text[each.start : each.end]) for each in cut_passages(text)] == [
        (1, "First page."),
        (2, "Second page."),
    ]


def test_dense_scripts_make_shorter_passages() -> None:
    found = cut_passages("知識は力である。研究は続くものだ。" * 60)
    assert all(150 <= each.end - each.start <= 500 for each in found)


def test_nothing_makes_no_passages() -> None:
    assert cut_passages("") == []
    assert cut_passages(" \n\n\t") == []
    assert cut_passages("# Only a title\n") == []
    assert isinstance(cut_passages("x")[0], Passage)


def test_numbered_lines_are_no_headings_where_headings_are_marked() -> None:
    marked = "# T\n\n## 1 One\n\n## 2 Two\n\n## 3 Three\n\n"
    listed = "<!-- page 1 -->\n\n1 Read the file\n\n2 Run the analysis\n"
    assert [each.title for each in outline(marked + listed)] == ["1 One", "2 Two", "3 Three"]
    assert [each.title for each in outline(listed)] == ["1 Read the file", "2 Run the analysis"]
