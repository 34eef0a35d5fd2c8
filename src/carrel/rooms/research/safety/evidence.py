"""Evidence: what a text shows, as features that weights are fitted to: concepts, concepts that meet, and plain words."""

from __future__ import annotations

import re

from carrel.rooms.research.safety.concepts import Found, lexicon
from carrel.rooms.research.safety.wording import plain_wording

_TOKEN = re.compile(r"[a-z0-9]+(?:'[a-z]+)?|[.!?;:](?=\s|$)")
_ENDS = frozenset(".!?;:")
_ENDINGS = ("ations", "ation", "ingly", "ings", "ing", "ies", "ied", "edly", "ed", "es", "ly", "s", "e", "y")
_SHORTEST_STEM = 3
_NEAR = 7

Features = dict[str, tuple[str, ...]]
"""Each feature with the words that show it."""


def sentences(text: str) -> list[list[str]]:
    """The words of each sentence, without disguise and in small letters."""
    found: list[list[str]] = [[]]
    plain = plain_wording(text).lower().replace("won't", "will not").replace("can't", "cannot").replace("n't", " not")
    for token in _TOKEN.findall(plain):
        if token in _ENDS:
            found.append([])
        else:
            found[-1].append(token.removesuffix("'s"))
    return [words for words in found if words]


def stem(word: str) -> str:
    """A word without its ending, near enough that forms of one word meet."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def features(words: list[str]) -> Features:
    """What one sentence shows."""
    shown: Features = {}
    found = lexicon().find(words)
    for one in found:
        shown.setdefault(one.concept, _said(words, one))
    for first in found:
        for second in found:
            if first.concept == second.concept:
                continue
            if first.end <= second.start and second.start - first.end <= _NEAR:
                shown.setdefault(f"{first.concept}>{second.concept}", _said(words, first) + _said(words, second))
            if first.concept < second.concept:
                shown.setdefault(f"{first.concept}+{second.concept}", _said(words, first) + _said(words, second))
    stems = [stem(word) for word in words]
    for place, (one_stem, word) in enumerate(zip(stems, words, strict=True)):
        shown.setdefault(f"w:{one_stem}", (word,))
        if place:
            shown.setdefault(f"w:{stems[place - 1]} {one_stem}", (f"{words[place - 1]} {word}",))
    return shown


def _said(words: list[str], found: Found) -> tuple[str, ...]:
    return (" ".join(words[found.start : found.end]),)
