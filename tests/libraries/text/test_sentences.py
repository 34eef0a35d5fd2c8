"""The whole sentences that a stretch of a text lies in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.text.sentences import surrounding_sentences

_TEXT = (
    "# Sleep\n\n## Results\n"
    "Shrews slept for 3.5 h, vs. 4 h in Fig. 2. They woke at dawn! Nobody\nsaw them (see below).\n"
    "\nVoles of J. R. Roe slept. 他们睡了。他们醒了。\n## Outlook\nMore is needed"
)


def _sentence(part: str) -> str:
    start = _TEXT.index(part)
    begin, end = surrounding_sentences(_TEXT, start, start + len(part))
    return _TEXT[begin:end]


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ("slept for", "Shrews slept for 3.5 h, vs. 4 h in Fig. 2."),
        ("They woke at dawn", "They woke at dawn!"),
        ("They woke at dawn!", "They woke at dawn!"),
        ("dawn! Nobody", "They woke at dawn! Nobody\nsaw them (see below)."),
        ("Roe", "Voles of J. R. Roe slept."),
        ("醒了", "他们醒了。"),
        ("is needed", "More is needed"),
    ],
)
def test_a_stretch_lies_in_whole_sentences(part: str, sentence: str) -> None:
    assert _sentence(part) == sentence


@given(text=st.text(alphabet="ab .!?\n#。(", max_size=80), data=st.data())
def test_whatever_the_text_the_sentences_hold_the_stretch(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    begin, stop = surrounding_sentences(text, start, end)
    assert 0 <= begin <= start <= end <= stop <= len(text)
