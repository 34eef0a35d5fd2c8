"""Names near one that does not exist, for the error that says so."""

from __future__ import annotations

from collections.abc import Iterable

_LEAST_LIKENESS = 0.6
# Others are not worth naming beside it.
_SURELY_MEANT = 0.9
# One of two words is the same: as near as the least likeness.
_WORD_WEIGHT = 1.2
_MOST_NAMES = 3
_LONGEST_NAME = 100


def near_names(name: str, known: Iterable[str], most: int = _MOST_NAMES) -> list[str]:
    """The likeliest first: by shared words, whatever their order, and by spelling."""
    asked = name[:_LONGEST_NAME]
    scored = sorted(((_likeness(asked, each), each) for each in known), reverse=True)
    is_clear = bool(scored) and scored[0][0] >= _SURELY_MEANT
    least = _SURELY_MEANT if is_clear else _LEAST_LIKENESS
    return [each for score, each in scored[:most] if score >= least]


def _likeness(asked: str, known: str) -> float:
    first, second = _words(asked), _words(known)
    spelling = max(
        _shared_pairs("".join(first), "".join(second)),
        _shared_pairs("".join(sorted(first)), "".join(sorted(second))),
    )
    shared = len(set(first) & set(second)) / max(len(first), len(second), 1)
    return max(spelling, min(shared * _WORD_WEIGHT, 1.0))


def _shared_pairs(first: str, second: str) -> float:
    """Dice's coefficient of pairs of letters: 1 for the same letters in the same order."""
    one, other = ([text[at : at + 2] for at in range(len(text) - 1)] for text in (first, second))
    if not one or not other:
        return float(first == second)
    left = list(other)
    for pair in one:
        if pair in left:
            left.remove(pair)
    return 2 * (len(other) - len(left)) / (len(one) + len(other))


def _words(name: str) -> list[str]:
    """Words of a name in any convention, without a plural's s."""
    spaced = "".join(f"_{letter}" if letter.isupper() else letter for letter in name)
    parts = spaced.lower().replace("-", "_").replace(" ", "_").replace(".", "_").split("_")
    return [part.removesuffix("s") for part in parts if part]
