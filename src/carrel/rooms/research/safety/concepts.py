"""Concepts: the meanings a text is read for, each known by many expressions that stand in
lexicon.txt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_HEAD = re.compile(r"\[(\w+)\] (.+)")
_GAP = "~"


@dataclass(frozen=True)
class Slot:
    """One place of an expression: whole words or stems, after at most so many other words."""

    words: frozenset[str]
    stems: tuple[str, ...]
    gap: int

    def fits(self, word: str) -> bool:
        """Whether a word may stand here."""
        return word in self.words or (bool(self.stems) and word.startswith(self.stems))


@dataclass(frozen=True)
class Expression:
    """What a concept is known by: one word, or several in order."""

    concept: str
    slots: tuple[Slot, ...]


@dataclass(frozen=True)
class Found:
    """A concept in a text, from its first word to behind its last."""

    concept: str
    start: int
    end: int


class Lexicon:
    """All expressions, found by the first word."""

    def __init__(self, text: str) -> None:
        self.labels: dict[str, str] = {}
        self._by_word: dict[str, list[Expression]] = {}
        self._by_stem: dict[str, list[Expression]] = {}
        concept = ""
        for line in text.splitlines():
            if head := _HEAD.fullmatch(line):
                concept = head.group(1)
                self.labels[concept] = head.group(2)
            elif line and not line.startswith("#"):
                for part in line.split(","):
                    self._learn(Expression(concept, _slots(part.split())))
        self._shortest = min(map(len, self._by_stem))
        self._longest = max(map(len, self._by_stem))

    def _learn(self, expression: Expression) -> None:
        for word in expression.slots[0].words:
            self._by_word.setdefault(word, []).append(expression)
        for stem in expression.slots[0].stems:
            self._by_stem.setdefault(stem, []).append(expression)

    def find(self, words: Sequence[str]) -> list[Found]:
        """Every concept a sentence names, in order."""
        return [
            Found(expression.concept, start, end)
            for start, word in enumerate(words)
            for expression in self._beginning(word)
            if (end := _end(expression.slots, words, start))
        ]

    def knows(self, word: str) -> bool:
        """Whether an expression may begin with this word."""
        return next(self._beginning(word), None) is not None

    def _beginning(self, word: str) -> Iterator[Expression]:
        yield from self._by_word.get(word, ())
        for length in range(self._shortest, min(len(word), self._longest) + 1):
            yield from self._by_stem.get(word[:length], ())


def _slots(parts: list[str]) -> tuple[Slot, ...]:
    found: list[Slot] = []
    gap = 0
    for part in parts:
        if part.startswith(_GAP):
            gap = int(part.removeprefix(_GAP))
            continue
        choices = part.split("|")
        stems = tuple(choice.removesuffix("*") for choice in choices if choice.endswith("*"))
        found.append(
            Slot(frozenset(choice for choice in choices if not choice.endswith("*")), stems, gap)
        )
        gap = 0
    return tuple(found)


def _end(slots: tuple[Slot, ...], words: Sequence[str], start: int) -> int:
    """Where the expression ends that begins here; 0 if it does not."""
    at = start + 1
    for slot in slots[1:]:
        for place in range(at, min(at + slot.gap + 1, len(words))):
            if slot.fits(words[place]):
                at = place + 1
                break
        else:
            return 0
    return at


@cache
def lexicon() -> Lexicon:
    """Read at the first check: most sessions never make one."""
    return Lexicon((Path(__file__).parent / "lexicon.txt").read_text(encoding="utf-8"))
