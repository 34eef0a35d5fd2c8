"""Abbreviations: found where a text defines them, used where definitions agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.text.abbreviations import (
    AGREEMENT,
    AbbreviationTable,
    find_abbreviations,
)
from carrel.libraries.text.analysis import analyze_query


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("magnetic resonance imaging (MRI)", [("MRI", "magnetic resonance imaging")]),
        (
            "Of non-small cell lung cancer (NSCLC; n = 5)",
            [("NSCLC", "non-small cell lung cancer")],
        ),
        ("the heat shock protein 90 (HSP90) binds", [("HSP90", "heat shock protein 90")]),
        ("LDL (low-density lipoprotein) rose", [("LDL", "low-density lipoprotein")]),
        ("NMDA (N-methyl-D-aspartate)", [("NMDA", "N-methyl-D-aspartate")]),
        ("tumour necrosis factor-α (TNF-α)", [("TNF-α", "tumour necrosis factor-α")]),
        ("alcohol-associated liver disease (ALD)", [("ALD", "alcohol-associated liver disease")]),
        ("We imaged. Resonance of Mice (RoM)", [("RoM", "Resonance of Mice")]),
        # A long form crosses no sentence, comma or bracket; a short form is one word.
        ("We measure. All sites (MAS)", []),
        ("in mice, all sites (MAS)", []),
        ("in mice (two) all sites (MAS)", []),
        ("resonance imaging of brains (RI brains)", []),
        ("see the figure (n = 5) and (Smith et al. 2020)", []),
        ("MRI (MRI)", []),
        ("", []),
    ],
)
def test_definitions_in_brackets_are_found(text: str, pairs: list[tuple[str, str]]) -> None:
    assert find_abbreviations(text) == pairs


def test_a_query_is_widened_both_ways_where_nine_of_ten_agree() -> None:
    table = AbbreviationTable(
        [
            ("NSCLC", "non-small cell lung cancer", 40),
            ("NSCLC", "non small-cell lung cancers", 9),
            ("NSCLC", "Nordic Society for Clinical Chemistry", 5),
        ]
    )
    [long_form] = table.expand(analyze_query("NSCLC therapy"))
    assert (long_form.first, long_form.end, long_form.terms) == (
        0, 1, ("non", "small", "cell", "lung", "cancer"),
    )  # fmt: skip
    assert long_form.weight < 1
    [short] = table.expand(analyze_query("therapy of non small cell lung cancer"))
    assert (short.first, short.end, short.terms) == (1, 5, ("nsclc",))


def test_a_short_form_with_two_meanings_is_left_alone() -> None:
    table = AbbreviationTable([("ER", "estrogen receptor", 8), ("ER", "endoplasmic reticulum", 2)])
    assert AGREEMENT * 10 > 8
    assert table.expand(analyze_query("ER stress")) == []
    assert table.short_form("oestrogen receptors") == "ER"


@given(st.text("(ab) .,A1-[é", max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    for short, long_form in find_abbreviations(text):
        assert short in text
        assert long_form


@pytest.mark.parametrize("piece", ["(", "(AB)", "a b (AB) ", "[A", "word "])
def test_a_million_characters_of_one_kind_are_read(piece: str) -> None:
    find_abbreviations(piece * (1_000_000 // len(piece)))
