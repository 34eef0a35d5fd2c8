"""A light stemmer for English, for texts that are compared without an index."""

from __future__ import annotations

import re
from functools import lru_cache

_VOWEL = re.compile(r"[aeiouy]")
_DOUBLED = re.compile(r"([bdfgmnprt])\1$")
# The longest first; what is left must be a word of some length with a vowel in it.
_ENDINGS = (
    ("ational", "ate"), ("ization", "ize"), ("isation", "ise"), ("fulness", "ful"),
    ("ousness", "ous"), ("iveness", "ive"), ("ically", "ic"), ("ation", "ate"), ("ments", ""),
    ("ment", ""), ("ness", ""), ("ingly", ""), ("edly", ""), ("ally", "al"), ("ies", "y"),
    ("ied", "y"), ("sses", "ss"), ("ing", ""), ("ers", "er"), ("ed", ""), ("ly", ""), ("es", "e"),
    ("s", ""),
)  # fmt: skip
_SHORTEST_STEM = 3


@lru_cache(maxsize=65_536)
def light_stem(word: str) -> str:
    """One form for the common inflections of an English word; other words stay as they are."""
    if len(word) <= _SHORTEST_STEM or not word.isascii() or not word.isalpha():
        return word
    if word.endswith(("ss", "us", "is")):
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if len(rest) >= _SHORTEST_STEM and _VOWEL.search(rest):
                return _tidy(rest + instead, was_cut=instead == "")
            if ending != "s":
                continue
            return word
    return _tidy(word, was_cut=False)


def _tidy(stem: str, *, was_cut: bool) -> str:
    """Without a last e, and with one letter where an ending had doubled it."""
    if was_cut and _DOUBLED.search(stem):
        return stem[:-1]
    return stem[:-1] if stem.endswith("e") and len(stem) > _SHORTEST_STEM + 1 else stem
