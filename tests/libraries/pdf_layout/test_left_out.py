"""Nothing printed is lost silently: a line is in the Markdown, or left out for a stated reason."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.pdf_layout.content import Box, Line, PdfContent, Picture
from carrel.libraries.pdf_layout.structure import read_structure
from tests.libraries.pdf_layout.lost_text import find_lost_lines
from tests.libraries.pdf_layout.pages import document, line, prose

SENTENCES = [
    "The engine was built of brass and of the best iron that could be had,",
    "and it was set in motion by steam of a pressure that nobody had tried",
    "before that day in any of the workshops of the town on the river.",
]


def reasons(content: PdfContent, title: str | None = None) -> dict[str, str]:
    structure = read_structure(content, title)
    assert find_lost_lines(content, structure) == []
    return {each.line.text: each.reason for each in structure.left_out}


def test_the_last_line_of_a_list_in_small_print_is_no_footnote() -> None:
    """As in two columns of a conference, whose list is smaller and ends with a new entry."""
    left = prose(SENTENCES * 18, 80, 60, 230)
    right = [
        line(f"Author {at}. 2001. A title that fills its whole line.", 80 + 11 * at, 310,
             width=230, size=9)
        for at in range(57)
    ]  # fmt: skip
    last = line("Zed Author, and another one. 2017.", 727, 310, size=9)
    order = read_structure(document([*left, *right, last])).order.pages[0]
    assert not order.notes
    assert order.flows[-1].rows[-1].text == last.text


def test_a_numbered_list_in_small_print_has_no_footnotes() -> None:
    entries = [
        line(f"{at} Author A, Title of work {at}.", 80 + 11 * at, size=8) for at in range(1, 60)
    ]
    page = prose(SENTENCES * 18, 80)
    assert not read_structure(document(page, entries)).order.pages[1].notes


def test_notes_of_a_page_are_kept_where_a_paragraph_goes_on() -> None:
    note = line("1 A note on brass in workshops.", 740, size=7)
    first = [*prose(SENTENCES * 17, 80)[:-1], note]
    second = [line("under the bridge that was built that year.", 80, page=2)]
    second += prose(SENTENCES * 3, 120, page=2)
    markdown = read_structure(document(first, second)).markdown
    assert "[^1]: A note on brass in workshops." in markdown
    assert markdown.index("[^1]:") < markdown.index("<!-- page 2 -->")


@pytest.mark.parametrize("step", [12.0, 24.0])
def test_first_lines_of_text_are_no_running_heads(step: float) -> None:
    """Pages that begin with a short line and a gap, or with double space throughout."""
    pages = [
        [
            line(f"Chunk of {word}", 80, page=number),
            *(
                line(f"{word} {text}", 80 + step * at + (20 if step < 20 else 0), page=number)
                for at, text in enumerate(SENTENCES * 5, start=1)
            ),
        ]
        for number, word in enumerate(["brass", "iron", "steel", "zinc"], start=1)
    ]
    pages += [prose(SENTENCES * 5, 80, page=number) for number in (5, 6, 7)]
    assert "Chunk of iron" not in reasons(document(*pages))


def test_running_heads_with_changing_words_are_left_out() -> None:
    pages = [
        [line(f"Chapter of {word}", 50, page=at), *prose(SENTENCES * 15, 80, page=at)]
        for at, word in enumerate(["brass", "iron", "steel", "zinc"], start=1)
    ]
    left_out = reasons(document(*pages))
    assert left_out["Chapter of iron"] == "running_head"


def test_a_listing_in_a_frame_is_text_and_labels_of_a_plot_are_not() -> None:
    frame = Picture(Box(60, 190, 500, 310), is_drawing=True)
    listing = [
        line("fit <- function(x, y, weights) {", 210, is_monospaced=True),
        line("solve(crossprod(x), crossprod(x, y))", 222, is_monospaced=True),
    ]
    caption = line("Figure 1: How it is fitted.", 330)
    page = [*prose(SENTENCES * 3, 60), *listing, caption, *prose(SENTENCES * 3, 370)]
    content = document(page, pictures=(frame,))
    assert not reasons(content)
    assert "crossprod(x, y)" in read_structure(content).markdown
    labels = [line("0.5", 210, 100, size=7), line("time", 222, 250, size=7)]
    page = [*prose(SENTENCES * 3, 60), *labels, caption, *prose(SENTENCES * 3, 370)]
    assert reasons(document(page, pictures=(frame,))) == {"0.5": "figure", "time": "figure"}


def test_text_behind_a_contents_page_is_not_taken_for_it() -> None:
    contents = [line("Contents", 60, size=14, is_bold=True)]
    parts = [f"{at} {name}" for at, name in enumerate(["Brass", "Iron", "Steel", "Zinc"], start=1)]
    contents += [line(f"{part} . . . . . . 2", 80 + 20 * at) for at, part in enumerate(parts)]
    texts = ["This part tells what is known of engines.", "They were first seen in 1801"]
    page = [line(text, 80 + 12 * at, page=2) for at, text in enumerate(texts)]
    for at, part in enumerate(parts):
        page += [line(part, 150 + 120 * at, size=14, is_bold=True, page=2)]
        page += prose(SENTENCES * 2, 175 + 120 * at, page=2)
    left_out = reasons(document(contents, page))
    assert left_out["Contents"] == "contents"
    assert not left_out.keys() & set(texts)


WORDS = st.integers(0, 9).map(lambda at: ["plain", "Figure 1: seen", "Table 2. kept", "1 note",
    "References", "Contents", "a . . . . . . 3", "• item", "12", "cut-"][at])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(
                WORDS,
                st.sampled_from([60.0, 100.0, 310.0, 420.0]),
                st.integers(2, 65).map(lambda at: 12.0 * at),
                st.sampled_from([6.0, 8.0, 10.0, 14.0]),
                st.sampled_from([None, 230.0, 460.0]),
                st.booleans(),
            ),
            max_size=50,
        ),
        min_size=1,
        max_size=4,
    ),
    st.lists(st.tuples(st.floats(0, 400), st.floats(0, 600)), max_size=3),
)
def test_no_line_of_any_page_is_lost(
    drawn: Sequence[Sequence[tuple[str, float, float, float, float | None, bool]]],
    corners: Sequence[tuple[float, float]],
) -> None:
    """Each line has a word of its own, which must be in the Markdown or left out."""
    pages: list[list[Line]] = []
    for number, rows in enumerate(drawn, start=1):
        pages.append(
            [
                line(f"{text} own{number}x{at}q", y, x, size=size, width=width, page=number,
                     is_monospaced=is_monospaced)
                for at, (text, x, y, size, width, is_monospaced) in enumerate(rows)
            ]
        )  # fmt: skip
    pictures = tuple(Picture(Box(x, y, x + 150, y + 120), is_drawing=True) for x, y in corners)
    reasons(document(*pages, pictures=pictures))
