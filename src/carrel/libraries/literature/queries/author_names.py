"""An author's name as typed, for services that index family names with initials."""

from __future__ import annotations

from carrel.libraries.text.folding import fold_text

# Belong to the family name that follows.
_PARTICLES = frozenset({
    "al", "ap", "ben", "bin", "da", "de", "del", "della", "den", "der", "des", "di", "do", "dos",
    "du", "el", "la", "le", "lo", "san", "st", "te", "ten", "ter", "und", "van", "vande", "vander",
    "von", "y", "zu", "zum", "zur",
})  # fmt: skip
_MAX_INITIALS = 2


def split_name(words: tuple[str, ...]) -> tuple[str, str, bool]:
    """Family name, initials, and whether nothing but initials was typed for the given names.

    `Jane van der Berg`, `J Berg` and `Berg J` are read; of one word alone there are no initials.
    """
    if len(words) == 1:
        return words[0], "", True
    if len(words[-1]) <= _MAX_INITIALS < len(words[0]) and fold_text(words[0]) not in _PARTICLES:
        # `Berg J`, `van Berg` is no such name.
        given, family = words[1:], words[:1]
    else:
        at = len(words) - 1
        while at > 1 and fold_text(words[at - 1]) in _PARTICLES:
            at -= 1
        if fold_text(words[0]) in _PARTICLES and at == 1:
            at = 0
        given, family = words[:at], words[at:]
    are_initials = all(len(word) <= _MAX_INITIALS for word in given)
    initials = "".join(_initials_of(word) for word in given)
    return " ".join(family), initials, are_initials


def _initials_of(word: str) -> str:
    return word if len(word) <= _MAX_INITIALS and word.isupper() else word[0]


def tell_initials(words: tuple[str, ...]) -> str:
    """What a search by initials leaves open."""
    return f'the first name of author:"{" ".join(words)}" beyond its initial'
