"""Characters of old fonts come out as the letters they print."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.pdf_layout.glyph_repairs import (
    Glyph,
    GlyphStyle,
    decode_nameless_fonts,
    expand_ligature,
    pair_halves,
    place_accents,
)

STYLE = GlyphStyle("CMR10", 10.0)


def place(text: str, x: float, width: float = 5.0) -> Glyph:
    return Glyph(text, x, 90.0, x + width, 100.0, 98.0, STYLE)


def test_dingbats_of_a_bitmap_font_are_the_letters_of_their_codes() -> None:
    codes = [ord(sign) for sign in "P❡♥❛❧✐③❡❞ ①✸"]
    assert "".join(decode_nameless_fonts(codes, [1] * len(codes))) == "Penalized x3"


def test_control_codes_are_ligatures_of_the_encoding_that_the_font_uses() -> None:
    t1 = [ord("o"), 0x1B, ord("e"), ord("r"), 0x15, 0x10, 0x11]
    assert "".join(decode_nameless_fonts(t1, [1] * len(t1))) == "offer–“”"
    ot1 = [ord("m"), ord("o"), ord("d"), ord("i"), 0x0C, ord("e"), ord("d"), 0x10]
    assert "".join(decode_nameless_fonts(ot1, [2] * len(ot1))) == "modifiedı"


def test_a_font_that_does_not_tell_its_encoding_follows_the_others() -> None:
    assert decode_nameless_fonts([0x10, 0x1C], [1, 2]) == ["“", "fi"]
    assert decode_nameless_fonts([0x10, 0x0C], [1, 2]) == ["ı", "fi"]


def test_an_accent_goes_on_the_letter_that_it_is_drawn_over() -> None:
    before = [place("t", 0), place("¨", 5), place("a", 5), place("t", 10)]
    place_accents(before)
    assert "".join(glyph.text for glyph in before) == "tät"
    at_the_end = [place("f", 0), place("u", 5), place("r", 10), place(" ", 15), place("¨", 5.2)]
    place_accents(at_the_end)
    assert "".join(glyph.text for glyph in at_the_end) == "für "
    dotless = [place("´", 0), place("ı", 0.5)]
    place_accents(dotless)
    assert "".join(glyph.text for glyph in dotless) == "í"


def test_a_caret_between_letters_is_a_caret() -> None:
    power = [place("x", 0), place("^", 5), place("y", 10)]
    place_accents(power)
    assert "".join(glyph.text for glyph in power) == "x^y"


def test_an_accent_of_another_line_is_left_alone() -> None:
    apart = [place("a", 5), replace(place("¨", 5), baseline=120.0)]
    place_accents(apart)
    assert [glyph.text for glyph in apart] == ["a", "¨"]


def test_halves_of_a_character_are_paired_and_a_half_alone_is_said_to_be_lost() -> None:
    glyphs = [place("\ud835", 0), place("\udc65", 0), place("\ud835", 5), place("a", 10)]
    pair_halves(glyphs)
    assert [glyph.text for glyph in glyphs] == ["\U0001d465", "", "\ufffd", "a"]


def test_ligature_signs_are_letters() -> None:
    assert expand_ligature("ﬃ") == "ffi"
    assert expand_ligature("x") == "x"


@given(st.lists(st.integers(1, 0xFFFF), max_size=60))
def test_any_codes_give_text_that_can_be_written(codes: list[int]) -> None:
    texts = decode_nameless_fonts(codes, [at % 3 for at in range(len(codes))])
    glyphs = [place(text, 5.0 * at) for at, text in enumerate(texts)]
    pair_halves(glyphs)
    place_accents(glyphs)
    "".join(glyph.text for glyph in glyphs).encode("utf-8")
