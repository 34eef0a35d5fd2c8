"""Spelling suggestions: the known words that a mistyped one is nearest to. Nothing is replaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, pairwise

from carrel.libraries.text.folding import fold_text

# How many letters may be wrong: none in words that are others with one letter changed, two in long
# ones.
_SHORTEST_WITH_ONE = 4
_SHORTEST_WITH_TWO = 8
MAX_SUGGESTIONS = 3
# Longer words than this are not typed, and comparing them costs the square of their length.
_LONGEST_WORD = 64
# A key beside the right one is hit by mistake, and one vowel is taken for another; other letters
# are seldom exchanged: "melting" is not "meeting" mistyped.
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_VOWELS = "aeiouy"
_SOUNDS = ("ckqsz", "fvw", "bp", "dt", "gj", "mn")
_LIKELY = 1
_UNLIKELY = 2


def allowed_edits(word: str) -> int:
    """How many letters of a word of this length may be wrong."""
    if len(word) < _SHORTEST_WITH_ONE or len(word) > _LONGEST_WORD:
        return 0
    return 1 if len(word) < _SHORTEST_WITH_TWO else 2


def candidate_prefixes(word: str) -> list[str]:
    """Two letters with which the word that was meant may begin, for looking up candidates.

    Its own first; then as they are where the first letters were swapped, doubled or left out. A
    single letter stands for a second one that was left out.
    """
    asked = fold_text(word)
    if not allowed_edits(asked):
        return []
    first, second, third = asked[0], asked[1], asked[2]
    found = (first + second, second + first, first + third, second + third, first)
    return list(dict.fromkeys(found))


def suggest_spelling(
    word: str, candidates: Iterable[tuple[str, int]], limit: int = MAX_SUGGESTIONS
) -> list[str]:
    """The nearest of the (word, number of documents) candidates, commonest first where equal."""
    asked = fold_text(word)
    most = allowed_edits(asked)
    if not most or not asked.isalpha():
        return []
    found: dict[str, tuple[int, int, int]] = {}
    for candidate, count in candidates:
        is_short = len(candidate) < _SHORTEST_WITH_ONE
        if count <= 0 or is_short or candidate == asked or abs(len(candidate) - len(asked)) > most:
            continue
        edits = count_edits(asked, candidate, most)
        if edits is not None:
            # The first letter is seldom the wrong one.
            found[candidate] = (edits, int(candidate[:1] != asked[:1]), -count)
    return sorted(found, key=lambda candidate: (*found[candidate], candidate))[:limit]


def count_edits(one: str, other: str, most: int) -> int | None:
    """Letters to insert, remove, change or swap with a neighbour; None for more than `most`.

    A change that is no likely mistake of the hand or the ear counts as two.
    """
    if abs(len(one) - len(other)) > most:
        return None
    before: list[int] = []
    previous = list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        current = [row] + [0] * len(other)
        for column, target in enumerate(other, start=1):
            best = min(
                previous[column] + 1,
                current[column - 1] + 1,
                previous[column - 1] + _change(letter, target),
            )
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == target:
                best = min(best, before[column - 2] + 1)
            current[column] = best
        if min(current) > most:
            return None
        before, previous = previous, current
    return previous[-1] if previous[-1] <= most else None


def _change(one: str, other: str) -> int:
    if one == other:
        return 0
    if not (one.isascii() and other.isascii()):
        return _LIKELY
    return _LIKELY if frozenset((one, other)) in _LIKELY_CHANGES else _UNLIKELY


def _likely_changes() -> Iterator[frozenset[str]]:
    for group in (_VOWELS, *_SOUNDS):
        yield from (frozenset(pair) for pair in combinations(group, 2))
    for row in _KEYS:
        yield from (frozenset(pair) for pair in pairwise(row))
    for upper, lower in pairwise(_KEYS):
        for at, key in enumerate(lower):
            yield from (frozenset((key, near)) for near in upper[at : at + 2])


_LIKELY_CHANGES = frozenset(_likely_changes())
