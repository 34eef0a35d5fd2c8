"""Characters become lines and spans as they are printed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.pdf_layout.glyph_repairs import Glyph, GlyphStyle
from carrel.libraries.pdf_layout.line_grouping import group_glyphs

BODY = GlyphStyle("Times", 10.0)
SMALL = GlyphStyle("Times", 6.0)


def write(
    text: str, x: float, baseline: float = 100.0, style: GlyphStyle = BODY, width: float = 0.5
) -> list[Glyph]:
    """Characters of one width, as a fixed font prints them."""
    step = style.size * width
    return [
        Glyph(
            sign,
            x + step * at,
            baseline - style.size * 0.8,
            x + step * (at + 1),
            baseline + style.size * 0.2,
            baseline,
            style,
        )
        for at, sign in enumerate(text)
    ]


def test_a_wide_gap_ends_a_line_and_a_narrower_one_a_span() -> None:
    glyphs = [*write("Left", 50), *write("right", 120), *write("Terry", 300), *write("Ann", 335)]
    lines = group_glyphs(glyphs, 1)
    assert [line.text for line in lines] == ["Left", "right", "Terry Ann"]
    assert [span.text for span in lines[2].spans] == ["Terry ", "Ann"]
    assert lines[2].spans[1].gap_before == 10.0


def test_a_marker_above_the_line_is_a_span_of_its_own_and_a_space_is_seen_behind_it() -> None:
    glyphs = [*write("Smith", 50), *write("a", 75, 96.0, SMALL), *write("and", 81)]
    (line,) = group_glyphs(glyphs, 1)
    assert line.text == "Smitha and"
    assert [span.text for span in line.spans] == ["Smith", "a ", "and"]
    assert line.spans[1].rise == 4.0
    assert line.baseline == 100.0


def test_the_next_baseline_is_the_next_line() -> None:
    lines = group_glyphs([*write("one", 50), *write("two", 50, 112.0)], 3)
    assert [(line.text, line.baseline, line.page) for line in lines] == [
        ("one", 100.0, 3),
        ("two", 112.0, 3),
    ]


def test_a_hyphen_of_line_breaking_ends_the_line_and_is_told() -> None:
    first = write("litera-", 50)
    first[-1].is_break_hyphen = True
    lines = group_glyphs([*first, *write("ture", 50, 112.0)], 1)
    assert [(line.text, line.has_hyphen) for line in lines] == [("litera-", True), ("ture", False)]


def test_words_of_a_line_that_are_written_in_another_order_are_joined() -> None:
    glyphs = [*write("world", 78), *write("below", 50, 112.0), *write("Hello", 50)]
    assert [line.text for line in group_glyphs(glyphs, 1)] == ["below", "Hello world"]


def test_turned_text_is_a_line_of_its_own_angle() -> None:
    turned = GlyphStyle("Times", 20.0, angle=90)
    stamp = [
        Glyph(sign, 10, 500 - 10 * at, 30, 510 - 10 * at, 500 - 10 * at, turned)
        for at, sign in enumerate("arXiv")
    ]
    lines = group_glyphs([*write("body", 50), *stamp], 1)
    assert [(line.text, line.angle) for line in lines] == [("body", 0), ("arXiv", 90)]


def test_letters_that_share_the_box_of_a_ligature_stay_together() -> None:
    glyphs = [*write("di", 50), *write("f", 60, width=0.9), *write("f", 60, width=0.9)]
    glyphs += write("erent", 69)
    assert [line.text for line in group_glyphs(glyphs, 1)] == ["different"]


@given(
    st.lists(
        st.tuples(
            st.text(min_size=1, max_size=1),
            st.floats(-1e6, 1e6),
            st.floats(-1e6, 1e6),
            st.floats(0, 1e4),
            st.sampled_from([0, 45, 90]),
        ),
        max_size=40,
    )
)
def test_no_visible_character_is_lost_wherever_it_stands(
    drawn: list[tuple[str, float, float, float, int]],
) -> None:
    glyphs = [
        Glyph(text, x, y - size, x + size, y, y, GlyphStyle("F", size, angle=angle))
        for text, x, y, size, angle in drawn
    ]
    found = "".join(line.text for line in group_glyphs(glyphs, 1))
    wanted = sorted(text for text, *_ in drawn if not text.isspace())
    assert sorted(sign for sign in found if not sign.isspace()) == wanted
