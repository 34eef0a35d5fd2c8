"""Spelling variants: whether two keys are one name, spelt or shortened otherwise."""

import re

from carrel.libraries.discovery.concepts.words import FUNCTION_WORDS

_GREEK = re.compile(r"alpha|beta|gamma|delta|epsilon|kappa|lambda|sigma|omega")


def are_variants(one: str, other: str) -> bool:
    """Whether two keys are variants: the same letters, or one abbreviates the other."""
    first, second = _letters(one), _letters(other)
    if first == second:
        return True
    return _abbreviates(one, other) or _abbreviates(other, one)


def _letters(key: str) -> str:
    # `nf kappab` and `nf kb` are one: where authors save themselves a Greek letter they write its
    # Latin one.
    return _GREEK.sub(lambda found: found[0][0], key).replace(" ", "").removesuffix("s")


def _abbreviates(short: str, long: str) -> bool:
    # `ltp`, `nmdar` and `p aeruginosa`: initials (small words counted or not), a first word with
    # initials, a genus cut to its letter.
    letters, words = short.replace(" ", ""), long.split(" ")
    if len(words) < 2 or len(letters) < 2:
        return False
    if letters == words[0] + "".join(word[0] for word in words[1:]):
        return True
    if short.split(" ")[1:] == words[1:] and short.split(" ", maxsplit=1)[0] == words[0][0]:
        return True
    carrying = [word for word in words if word not in FUNCTION_WORDS]
    return letters in {"".join(word[0] for word in words), "".join(word[0] for word in carrying)}
