"""Abbreviations that a text defines in brackets, and a table of them that widens a query.

The pairs are found as Schwartz and Hearst (2003) do, with stricter borders: a long form crosses no
end of a sentence, comma or bracket, and a short form is one word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrel.libraries.text.analysis import AskedWord, exact_words

MAX_SHORT_CHARACTERS = 10
# Of 12,965 pairs in two fields 12 to 14 % of short forms have several long ones
# (facts/claims-and-discovery.md, section 3); below this share of agreement none is chosen.
AGREEMENT = 0.9
# What an alternative counts beside the word that was typed.
EXPANSION_WEIGHT = 0.5

_BRACKET = re.compile(r"[(\[]([^()\[\]\n]{2,200})[)\]]")
_SHORT_FORM = re.compile(r"[^\W_][\w.&/+'\u2019\u2010-\u2013-]*")
_BORDERS = (". ", "! ", "? ", ".\n", ",", ";", ":", "(", ")", "[", "]", "\n\n")
_MAX_LONG_CHARACTERS = 250
_SEVERAL = re.compile(r"[\s-]")
_ENDS_PART = re.compile(r"[;,]\s")
_MAX_LONG_WORDS = 12


def find_abbreviations(text: str) -> list[tuple[str, str]]:
    """The (short, long) pairs that a text defines, each once, in order."""
    found: dict[tuple[str, str], None] = {}
    for bracket in _BRACKET.finditer(text):
        pair = _read_bracket(text, bracket)
        if pair is not None:
            found.setdefault(pair)
    return list(found)


def _read_bracket(text: str, bracket: re.Match[str]) -> tuple[str, str] | None:
    inside = _ENDS_PART.split(bracket[1].strip(), 1)[0].strip()
    before = _text_before(text, bracket.start())
    if _is_short_form(inside):
        long_form = _find_long_form(inside, before)
        return None if long_form is None else (inside, long_form)
    last_word = before.split()[-1] if before.split() else ""
    if inside == bracket[1].strip() and _is_short_form(last_word) and _SEVERAL.search(inside):
        long_form = _find_long_form(last_word, inside)
        return None if long_form is None else (last_word, long_form)
    return None


def _text_before(text: str, end: int) -> str:
    """What stands before a bracket back to the last border, as one line."""
    first = max(0, end - _MAX_LONG_CHARACTERS)
    for border in _BORDERS:
        place = text.rfind(border, first, end)
        first = first if place < 0 else place + len(border)
    return " ".join(text[first:end].split())


def _is_short_form(text: str) -> bool:
    return (
        2 <= len(text) <= MAX_SHORT_CHARACTERS
        and _SHORT_FORM.fullmatch(text) is not None
        and any(character.isalpha() for character in text)
        and (not text.islower() or not text.isalpha() or len(text) <= 3)
    )


def _find_long_form(short: str, before: str) -> str | None:
    """The words whose letters the short form takes, the first of them at the start of a word."""
    letters = [character.lower() for character in short if character.isalnum()]
    words = before.split()[-min(len(letters) + 5, len(letters) * 2) :]
    candidate = " ".join(words)
    lower = candidate.lower()
    if len(lower) != len(candidate):
        return None
    at = len(candidate)
    for place in range(len(letters) - 1, -1, -1):
        at -= 1
        while at >= 0 and (
            lower[at] != letters[place] or (place == 0 and at > 0 and lower[at - 1].isalnum())
        ):
            at -= 1
        if at < 0:
            return None
    start = candidate.rfind(" ", 0, at) + 1
    long_form = candidate[start:].strip(" -'\"")
    is_same = _long_key(short) in _long_key(long_form).split() or len(long_form) <= len(short)
    return None if is_same or short in long_form.split() else long_form


@dataclass(frozen=True, slots=True)
class Expansion:
    """Another way to say the asked words from `first` to before `end`; all its terms are needed."""

    first: int
    end: int
    typed: str
    terms: tuple[str, ...]
    weight: float = EXPANSION_WEIGHT


class AbbreviationTable:
    """How a corpus abbreviates: (short, long, number of documents that define it so)."""

    def __init__(self, definitions: Iterable[tuple[str, str, int]]) -> None:
        by_short: dict[str, dict[str, _Form]] = {}
        by_long: dict[str, dict[str, _Form]] = {}
        for short, long_form, count in definitions:
            short_key, long_key = _short_key(short), _long_key(long_form)
            if short_key and long_key:
                by_short.setdefault(short_key, {}).setdefault(long_key, _Form()).add(
                    long_form, count
                )
                by_long.setdefault(long_key, {}).setdefault(short_key, _Form()).add(short, count)
        self._long_of = _agreed(by_short)
        self._short_of = _agreed(by_long)

    def __len__(self) -> int:
        return len(self._long_of)

    def long_form(self, short: str) -> str | None:
        """What a short form stands for, where at least nine of ten definitions agree."""
        return self._long_of.get(_short_key(short))

    def short_form(self, long_form: str) -> str | None:
        """How a term is abbreviated, where at least nine of ten definitions agree."""
        return self._short_of.get(_long_key(long_form))

    def expand(self, words: Sequence[AskedWord]) -> list[Expansion]:
        """Other ways to say words of a query, to be searched with less weight beside them."""
        found: list[Expansion] = []
        for first, word in enumerate(words):
            long_form = self.long_form(word.typed)
            if long_form is not None:
                found.append(_expansion(first, first + 1, long_form))
            typed = word.typed
            for end in range(first + 1, min(len(words), first + _MAX_LONG_WORDS) + 1):
                if end > first + 1:
                    typed = f"{typed} {words[end - 1].typed}"
                short = self.short_form(typed)
                if short is not None:
                    found.append(_expansion(first, end, short))
        return found


class _Form:
    """One form with the number of documents that define it and its commonest spelling."""

    __slots__ = ("count", "spellings")

    def __init__(self) -> None:
        self.count = 0
        self.spellings: dict[str, int] = {}

    def add(self, spelling: str, count: int) -> None:
        self.count += count
        self.spellings[spelling] = self.spellings.get(spelling, 0) + count

    @property
    def best(self) -> str:
        return min(self.spellings, key=lambda spelling: (-self.spellings[spelling], spelling))


def _agreed(forms: dict[str, dict[str, _Form]]) -> dict[str, str]:
    agreed: dict[str, str] = {}
    for key, choices in forms.items():
        best = max(choices.values(), key=lambda form: form.count)
        if best.count >= AGREEMENT * sum(form.count for form in choices.values()):
            agreed[key] = best.best
    return agreed


def _expansion(first: int, end: int, form: str) -> Expansion:
    return Expansion(first, end, form, tuple(dict.fromkeys(exact_words(form))))


def _short_key(short: str) -> str:
    return "".join(exact_words(short))


def _long_key(long_form: str) -> str:
    """The same for hyphens, spelling and plural: `non-small cell` and `non small cells`."""
    return "".join(word.rstrip("s") for word in exact_words(long_form))
