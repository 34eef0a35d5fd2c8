"""Expressions of the lexicon: words, stems, alternatives and gaps, and nothing else."""

import pytest

from carrel.rooms.research.safety.evidence import Lexicon, lexicon

SMALL = Lexicon(
    "# a note\n[slip] giving in secret\nslip|slips ~2 into|in, spik*\n[meal] a meal\nsoup, hot "
    "meal*\n"
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("slip it into soup", ["slip", "meal"]),
        ("slip it right now into soup", ["meal"]),
        ("slipped into", []),
        ("spiking hot meals", ["slip", "meal"]),
        ("hot cold meals", []),
    ],
)
def test_an_expression_fits_its_words_in_order_and_within_its_gap(
    text: str, found: list[str]
) -> None:
    assert [one.concept for one in SMALL.find(text.split())] == found


def test_what_was_found_says_where_it_stands() -> None:
    (slip, _) = SMALL.find(["they", "slip", "poison", "into", "soup"])
    assert (slip.start, slip.end) == (1, 4)


def test_every_concept_has_a_name_to_explain_it_by() -> None:
    assert all(lexicon().labels.values())
    assert len(set(lexicon().labels.values())) == len(lexicon().labels)
