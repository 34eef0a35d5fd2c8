"""Short forms as papers define them, `acute myeloid leukemia (AML)`, and their meaning."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from carrel.libraries.discovery.concepts.words import (
    FUNCTION_WORDS,
    LONGEST_SHORT_FORM,
    normal_phrase,
    short_form,
    words_of,
)
from carrel.libraries.discovery.tuned import MEANINGS

Definition = tuple[str, str]
"""A short form and the key of what it stands for."""


_IN_BRACKETS = re.compile(r"\(([^()\s;,]{2,14})(?:[;,][^()]*)?\)")
# No definition crosses the end of a sentence, a comma or a bracket.
_SENTENCE_BREAK = re.compile(r"[.;:,!?()\[\]]\s*")


def defined_in(text: str) -> Iterator[tuple[str, str]]:
    """The short forms a text defines in brackets, with their long forms as written before them."""
    for found in _IN_BRACKETS.finditer(text):
        short = _as_short_form(found[1])
        if short is None:
            continue
        before = _SENTENCE_BREAK.split(text[max(0, found.start() - 120) : found.start()])[-1]
        long = _long_form(
            found[1].removesuffix("s") if short != found[1] else found[1], before.rstrip()
        )
        if long is not None:
            yield short, long


def _as_short_form(written: str) -> str | None:
    words = words_of(written)
    if not words or len(written) > LONGEST_SHORT_FORM + 2:
        return None
    if len(words) == 1:
        return short_form(words[0]) if words[0] == written else None
    # With hyphens it is known by its normal form (`sars cov 2`), which no ordinary word can be.
    return normal_phrase(written) if sum(letter.isupper() for letter in written) >= 2 else None


def _long_form(short: str, before: str) -> str | None:
    """The shortest run of words ending `before` that has the short form's letters in order."""
    letters = [letter for letter in short.casefold() if letter.isalnum()]
    text = before.casefold()
    place = len(text)
    for position in range(len(letters) - 1, -1, -1):
        place -= 1
        while place >= 0 and not (
            text[place] == letters[position]
            and (position or place == 0 or not text[place - 1].isalnum())
        ):
            place -= 1
        if place < 0:
            return None
    long = before[place:]
    count = len(words_of(long))
    is_told = len(long) > len(short) and count <= min(len(letters) + 5, 2 * len(letters))
    return (
        long
        if is_told
        and (count > 1 or len(letters) <= MEANINGS.short_of_a_word * len(long))
        and short not in words_of(long)
        else None
    )


class ShortForms:
    """Counts definitions by document and resolves short forms on which the papers agree."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}
        self.generation = 0

    def add(self, definitions: Iterable[Definition]) -> None:
        """Add the definitions of one document."""
        for short, long in definitions:
            self._counts.setdefault(short, Counter())[long] += 1
            self.generation += 1

    def remove(self, definitions: Iterable[Definition]) -> None:
        """Remove the definitions of one document."""
        for short, long in definitions:
            counts = self._counts[short]
            counts[long] -= 1
            if not counts[long]:
                del counts[long]
            if not counts:
                del self._counts[short]
            self.generation += 1

    def is_defined(self, short: str) -> bool:
        """Whether any document says what a short form stands for."""
        return short in self._counts

    def meanings(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Every unambiguous short form, with its meaning and the variants of that."""
        for short, counts in self._counts.items():
            if counts.total() >= MEANINGS.least_definitions:
                long = max(counts, key=lambda key: (counts[key], key))
                agreeing = sum(
                    count for other, count in counts.items() if _is_reworded(long, other)
                )
                if (
                    counts[long] >= MEANINGS.least_definitions
                    and agreeing >= MEANINGS.one_meaning_share * counts.total()
                ):
                    others = (key for key in counts if key != long and _is_same_wording(long, key))
                    yield short, long, tuple(others)


def _is_same_wording(one: str, other: str) -> bool:
    # `epithelial to mesenchymal transition` and `epithelial mesenchymal transition`, `myeloid` and
    # `myelogenous`.
    first, second = (
        [word[:4] for word in key.split(" ") if word not in FUNCTION_WORDS] for key in (one, other)
    )
    return first == second


def _is_reworded(one: str, other: str) -> bool:
    # `acute myelogenous leukemia` is no second meaning of AML: more than half of the words are the
    # same.
    first, second = set(one.split(" ")), set(other.split(" "))
    return 2 * len(first & second) > max(len(first), len(second))
