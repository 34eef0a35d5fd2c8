"""Pages come out as Markdown that reads as the document does."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.pdf_layout.content import Box, Line, OutlineEntry, Picture, Span
from carrel.libraries.pdf_layout.structure import read_structure
from tests.libraries.pdf_layout.pages import document, line, prose

SENTENCES = ["the first line of a paragraph that is long enough", "and the line below it goes on"]


def column(name: str, x: float, page: int = 1) -> list[Line]:
    return [
        line(f"{name} line {at} with several words in it", 100 + 12 * at, x, width=220, page=page)
        for at in range(10)
    ]


def test_columns_are_read_one_after_the_other() -> None:
    mixed = [
        each for pair in zip(column("left", 50), column("right", 320), strict=True) for each in pair
    ]
    text = read_structure(document(mixed)).markdown
    places = [text.index(f"left line {at}") for at in range(10)]
    places += [text.index(f"right line {at}") for at in range(10)]
    assert places == sorted(places)


def test_a_line_across_the_columns_ends_what_stands_above_it() -> None:
    across = line("A line across both columns of the page", 400, 50, width=490)
    lower = [
        line(f"{name} low {at} with several words", 420 + 12 * at, x, width=220)
        for name, x in (("left", 50), ("right", 320))
        for at in range(8)
    ]
    text = read_structure(
        document([*column("left", 50), *column("right", 320), across, *lower])
    ).markdown
    wanted = ["left line 9", "right line 9", "A line across", "left low 7", "right low 0"]
    places = [text.index(each) for each in wanted]
    assert places == sorted(places)


def test_a_paragraph_goes_on_over_the_page_and_keeps_the_mark_at_the_end_of_its_sentence() -> None:
    first = prose(
        ["a paragraph that begins on this page and does not", "come to its end here so it"], 700
    )
    first[-1] = line("come to its end here so it", 712, width=460)
    second = prose(["goes on. A new sentence of the same paragraph stands", "here."], 80, page=2)
    text = read_structure(document(first, second)).markdown
    assert text == (
        "<!-- page 1 -->\n\na paragraph that begins on this page and does not come to its end here "
        "so it goes on.\n\n<!-- page 2 -->\n\nA new sentence of the same paragraph stands here."
    )


@pytest.mark.parametrize(
    ("before", "after", "elsewhere", "wanted"),
    [
        ("the litera-", "ture of it", "literature", "literature of"),
        ("the well-", "known one", "a well-known thing", "well-known one"),
        ("by Hsu-", "Han Ooi", "nothing", "Hsu-Han Ooi"),
        ("some uncom-", "mon words", "nothing", "uncommon words"),
    ],
)
def test_cut_words_are_mended_by_the_form_that_stands_elsewhere(
    before: str, after: str, elsewhere: str, wanted: str
) -> None:
    lines = prose([elsewhere, "x " + before, after, "end"], 100)
    assert wanted in read_structure(document(lines)).markdown


def test_running_heads_and_page_numbers_are_left_out() -> None:
    pages = [
        [
            line("Journal of Tests", 40, page=number),
            *prose([f"text of page {number} in words", "that go on."], 120, page=number),
            line(str(number), 780, 300, page=number),
        ]
        for number in range(1, 5)
    ]
    text = read_structure(document(*pages)).markdown
    assert "Journal" not in text
    assert "\n4\n" not in text and not text.endswith("\n4")
    assert "text of page 3" in text


def test_headings_that_begin_pages_are_no_running_heads() -> None:
    pages = [
        [
            line(f"{number} Chapter", 50, size=16, is_bold=True, page=number),
            *prose(SENTENCES * 4, 90, page=number),
        ]
        for number in range(1, 6)
    ]
    structure = read_structure(document(*pages))
    assert [heading.text for heading in structure.headings] == [
        f"{number} Chapter" for number in range(1, 6)
    ]


def test_footnotes_are_notes_behind_the_text_and_their_marks_are_links() -> None:
    body = [
        Span("A word", Box(70, 92, 100, 102), 10, "Times"),
        Span("1 ", Box(100, 90, 104, 96), 6, "Times", rise=4.0),
        Span("goes on to the end", Box(104, 92, 530, 102), 10, "Times"),
    ]
    marked = Line(tuple(body), Box(70, 92, 530, 102), 1, 100)
    note_spans = (
        Span("1", Box(70, 693, 74, 698), 5, "Times", rise=3.0),
        Span("The note itself.", Box(74, 694, 160, 702), 8, "Times"),
    )
    note = Line(note_spans, Box(70, 693, 160, 702), 1, 700)
    text = read_structure(document([marked, *prose(SENTENCES, 112), note])).markdown
    assert "A word[^1] goes on" in text
    assert text.endswith("[^1]: The note itself.")


def test_the_outline_gives_headings_where_they_are_printed() -> None:
    page = [
        line("Contents", 60, is_bold=True),
        line("1 Introduction 1", 80),
        line("2 Methods 2", 92),
        *prose(SENTENCES * 2, 130),
        line("1 Introduction", 200),
        *prose(SENTENCES * 2, 220),
        line("2 Methods", 290),
        *prose(SENTENCES * 2, 310),
    ]
    outline = (OutlineEntry(1, "Introduction", 1), OutlineEntry(1, "Methods", 1))
    structure = read_structure(document(page, outline=outline))
    assert [heading.text for heading in structure.headings] == ["1 Introduction", "2 Methods"]
    assert structure.markdown.count("## 1 Introduction") == 1
    assert structure.markdown.index("## 1") > structure.markdown.index("the first line")


def test_without_an_outline_numerals_and_bold_type_make_headings_and_code_none() -> None:
    page = [
        *prose(SENTENCES * 3, 60),
        line("1 Introduction", 160, is_bold=True),
        *prose(SENTENCES * 3, 178),
        line("1.1 Aims", 280, is_bold=True),
        *prose(SENTENCES * 3, 298),
        line("2 > x <- 1", 390, is_bold=True, is_monospaced=True, font="Courier"),
        line("> print(x)", 402, is_bold=True, is_monospaced=True, font="Courier"),
        line("2 Methods", 440, is_bold=True),
        *prose(SENTENCES * 3, 458),
    ]
    structure = read_structure(document(page))
    found = [(heading.level, heading.text) for heading in structure.headings]
    assert found == [(1, "1 Introduction"), (2, "1.1 Aims"), (1, "2 Methods")]
    assert "```\n2 > x <- 1\n> print(x)\n```" in structure.markdown


def test_a_caption_gives_a_figure_with_its_place_and_labels_in_it_are_no_text() -> None:
    page = [
        *prose(SENTENCES * 2, 60),
        line("axis label", 200, 200, size=7),
        line("Figure 3: What was seen.", 330),
        *prose(SENTENCES * 2, 370),
    ]
    drawing = Picture(Box(100, 150, 400, 310), is_drawing=True)
    structure = read_structure(document(page, pictures=(drawing,)))
    (figure,) = structure.figures
    assert (figure.kind, figure.label, figure.caption, figure.page) == (
        "figure", "Figure 3", "What was seen.", 1,
    )  # fmt: skip
    assert figure.region is not None
    assert figure.region.y0 < 150 and figure.region.y1 > 310
    assert "axis label" not in structure.markdown


def test_a_figure_below_a_table_is_read_though_the_table_took_several_blocks() -> None:
    rows = table_rows(
        [[("a", 100), ("b", 200), ("c", 300)], [("d", 100), ("e", 200), ("f", 300)]], 120
    )
    more = table_rows([[("g", 100), ("h", 200)], [("i", 100), ("j", 200)]], 144)
    page = [line("Table 1: Parts.", 100), *rows, *more, line("Figure 1: A plot.", 400)]
    drawing = Picture(Box(100, 250, 400, 385), is_drawing=True)
    structure = read_structure(document(page, pictures=(drawing,)))
    assert [figure.label for figure in structure.figures] == ["Table 1", "Figure 1"]


def table_rows(cells: list[list[tuple[str, float]]], y: float) -> list[Line]:
    return [line(text, y + 12 * at, x) for at, row in enumerate(cells) for text, x in row]


def test_a_table_is_markdown_where_columns_can_be_told() -> None:
    rows = table_rows(
        [
            [("name", 100), ("count", 200), ("share", 300)],
            [("a|b", 100), ("1", 200), ("0.5", 300)],
            [("c", 100), ("2", 200), ("0.7", 300)],
        ],
        120,
    )
    page = [line("Table 1: Things counted.", 100), *rows, *prose(SENTENCES * 3, 200)]
    structure = read_structure(document(page))
    (table,) = structure.figures
    assert table.markdown == (
        "| name | count | share |\n| --- | --- | --- |\n| a\\|b | 1 | 0.5 |\n| c | 2 | 0.7 |"
    )
    assert table.markdown in structure.markdown


def test_a_table_whose_columns_overlap_is_honestly_none() -> None:
    rows = table_rows(
        [
            [("a very long cell over all of it", 100), ("x", 330), ("y", 400)],
            [("b", 100), ("a long one here too and so on", 200), ("z", 400)],
            [("c", 100), ("d", 180), ("also a long one that spans", 250)],
        ],
        120,
    )
    structure = read_structure(document([line("Table 1: Mixed.", 100), *rows]))
    (table,) = structure.figures
    assert table.markdown is None


def test_reference_lines_are_those_below_the_last_heading_of_references() -> None:
    page = [
        *prose(SENTENCES * 3, 60),
        line("1 Introduction", 160, is_bold=True),
        *prose(SENTENCES * 3, 178),
        line("References", 280, is_bold=True),
        line("[1] A. Author. A title. 2001.", 300),
        line("[2] B. Author. Another. 2002.", 314),
        line("A Appendix", 350, is_bold=True),
        *prose(SENTENCES * 3, 370),
    ]
    structure = read_structure(document(page))
    assert [each.text[:3] for each in structure.reference_lines] == ["[1]", "[2]"]


def test_text_that_looks_like_markdown_stays_text() -> None:
    structure = read_structure(document([line("# 5 is a number sign", 100), line("| bar", 140)]))
    assert "\\# 5 is" in structure.markdown
    assert "\\| bar" in structure.markdown


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(min_size=1, max_size=30),
            st.floats(0, 600),
            st.floats(0, 800),
            st.sampled_from([5.0, 10.0, 14.0]),
            st.booleans(),
        ),
        max_size=60,
    )
)
def test_any_page_is_read(drawn: list[tuple[str, float, float, float, bool]]) -> None:
    lines = [
        line(text, y, x, size=size, is_bold=is_bold)
        for text, x, y, size, is_bold in drawn
        if text.strip()
    ]
    read_structure(document(lines, lines)).markdown.encode("utf-8", "replace")


def test_a_figure_after_a_table_in_two_blocks_is_found() -> None:
    cells = [[("name", 100.0), ("count", 200.0)], [("c", 100.0), ("2", 200.0)]]
    page = [
        line("Table 1: Things counted.", 100),
        *table_rows(cells, 120),
        *table_rows(cells, 162),
        line("Figure 1: What was seen.", 430),
        *prose(SENTENCES * 3, 470),
    ]
    drawing = Picture(Box(100, 250, 400, 410), is_drawing=True)
    structure = read_structure(document(page, pictures=(drawing,)))
    assert [each.label for each in structure.figures] == ["Table 1", "Figure 1"]


def figures_of(*pages: list[Line], pictures: tuple[Picture, ...] = ()) -> list[tuple[str, str]]:
    found = read_structure(document(*pages, pictures=pictures)).figures
    return [(figure.label, figure.caption) for figure in found]


@pytest.mark.parametrize(
    "row",
    ["Figure 15. For all of them the same is confirmed.", "Figure 29:", "Figure 15 shows it all."],
)
def test_a_sentence_that_names_a_figure_is_no_caption(row: str) -> None:
    words = [
        *SENTENCES[:1],
        "And the lower panels of the same plot are drawn once again in the",
        row,
    ]
    page = [*prose(SENTENCES * 2, 60), *prose(words, 160), *prose(SENTENCES * 2, 260)]
    assert figures_of(page) == []


def test_a_paragraph_that_begins_with_a_figures_name_is_no_caption() -> None:
    page = [*prose(SENTENCES * 2, 60), *prose(["Figure 15 shows it all.", *SENTENCES], 200)]
    assert figures_of(page) == []


def test_an_empty_caption_is_none_and_of_two_with_one_label_the_drawn_one_wins() -> None:
    first = [*prose(SENTENCES * 2, 60), line("Figure 3: All of it again.", 200)]
    first += [line("Figure 4:", 240), *prose(SENTENCES, 300)]
    second = [line("Figure 3: What was seen.", 330, page=2), *prose(SENTENCES, 370, page=2)]
    drawn = Picture(Box(100, 150, 400, 310), is_drawing=True)
    content = document(first, second)
    pages = (content.pages[0], replace(content.pages[1], pictures=(drawn,)))
    figures = read_structure(replace(content, pages=pages)).figures
    assert [(each.label, each.caption, each.page) for each in figures] == [
        ("Figure 3", "What was seen.", 2)
    ]
