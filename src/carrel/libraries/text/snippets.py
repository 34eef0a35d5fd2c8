"""Short extracts that show why a text was found: matches in Markdown bold, one readable line.

Made for every hit of every search, so it looks for the words with plain string search and reads no
more than it must.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from carrel.libraries.text.folding import fold_in_place, fold_text
from carrel.libraries.text.words import (
    STOP_WORDS,
    Phrase,
    find_word,
    has_cjk,
    is_inside_word,
    join_cjk,
    match_word,
)

SNIPPET_CHARACTERS = 280
_LEAD_CHARACTERS = 60
_EDGE_CHARACTERS = 30
_MATCHES_PER_PHRASE = 12

_HEADING = re.compile(r"(?:^|(?<= ))#{1,6} ")
_SPECIAL = re.compile(r"[\\*`<]")
_BETWEEN_BOLD = re.compile(r"(?<=\S)\*\*([ ,/–-]{0,2})\*\*(?=\S)")

Stem = Callable[[str], str]
_Match = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Needle:
    """A phrase to look for: what all forms of its first word begin with, and words or stems."""

    beginning: str
    words: tuple[str, ...]
    is_prefix: bool


class Marker:
    """Finds the phrases of one query in any number of texts, by stems where a stemmer is given."""

    def __init__(self, phrases: Iterable[Phrase], stem: Stem | None = None) -> None:
        self._stem = stem
        self._needles = [self._needle(phrase) for phrase in _worth_marking(phrases)]
        self._weights = [len(needle.words) for needle in self._needles]

    def snippet(self, texts: Iterable[str]) -> str:
        """The best extract of the first text with a match, else the beginning of the first text."""
        beginning = ""
        for text in texts:
            readable = _readable(text)
            matches = self._matches(readable)
            if matches:
                return _extract(
                    readable,
                    max(0, _best_start(matches, self._weights) - _LEAD_CHARACTERS),
                    matches,
                )
            beginning = beginning or readable
        return _extract(beginning, 0, [])

    def mark(self, text: str) -> str:
        """The whole text with its matches in bold."""
        readable = _readable(text)
        return _render(readable, 0, len(readable), self._matches(readable))

    def _needle(self, phrase: Phrase) -> _Needle:
        folded = tuple(fold_text(word) for word in phrase.words)
        if self._stem is None or phrase.is_exact or (phrase.is_prefix and len(folded) == 1):
            return _Needle(folded[0], folded, phrase.is_prefix)
        stems = tuple(self._stem(word) for word in folded)
        # Stems of one word differ from it at most in a last e, i or y.
        return _Needle(stems[0].rstrip("eiy") or folded[0], stems, phrase.is_prefix)

    def _matches(self, text: str) -> list[_Match]:
        """Places of all phrases, none overlapping another; the longer phrase wins."""
        folded = fold_in_place(text)
        found: list[_Match] = []
        for which, needle in enumerate(self._needles):
            self._add_places(found, folded, which, needle)
        if len(found) < 2:
            return found
        found.sort(key=_start_and_length)
        apart = [found[0]]
        for match in found:
            if match[0] >= apart[-1][1]:
                apart.append(match)
        return apart

    def _add_places(self, found: list[_Match], text: str, which: int, needle: _Needle) -> None:
        beginning, wanted, stem = needle.beginning, needle.words[0], self._stem
        is_whole_prefix = needle.is_prefix and len(needle.words) == 1
        left = _MATCHES_PER_PHRASE
        start = text.find(beginning)
        while start >= 0 and left:
            word = match_word(text, start)
            after = start + 1
            if word is not None and not (start and is_inside_word(text, start)):
                seen, after = word.group(), word.end()
                if seen == wanted or is_whole_prefix or (stem is not None and stem(seen) == wanted):
                    end = self._end_of_rest(text, after, needle) if len(needle.words) > 1 else after
                    if end:
                        left -= 1
                        found.append((start, end, which))
                        after = end
            start = text.find(beginning, after)

    def _end_of_rest(self, text: str, at: int, needle: _Needle) -> int:
        """The end of a phrase whose first word ends at `at`; 0 where the rest does not follow."""
        last = len(needle.words) - 1
        for place, wanted in enumerate(needle.words[1:], 1):
            word = find_word(text, at)
            if word is None:
                return 0
            seen = word.group()
            is_same = seen == wanted or (self._stem is not None and self._stem(seen) == wanted)
            if not is_same and not (needle.is_prefix and place == last and seen.startswith(wanted)):
                return 0
            at = word.end()
        return at


def _start_and_length(match: _Match) -> tuple[int, int]:
    return match[0], -match[1]


def _worth_marking(phrases: Iterable[Phrase]) -> list[Phrase]:
    """Stop words on their own are marked only where there is nothing else."""
    found = list(dict.fromkeys(phrases))
    return [
        phrase
        for phrase in found
        if len(phrase.words) > 1 or fold_text(phrase.words[0]) not in STOP_WORDS
    ] or found


def _readable(text: str) -> str:
    return text if text.isascii() or not has_cjk(text) else join_cjk(text)


def _best_start(matches: Sequence[_Match], weights: Sequence[int]) -> int:
    """The earliest start from which an extract shows the most words of the query."""
    most = sum(weights[which] for which in {which for _, _, which in matches})
    best_start, best = matches[0][0], 0
    for at, (start, _, _) in enumerate(matches):
        end = start + SNIPPET_CHARACTERS - _LEAD_CHARACTERS
        seen: set[int] = set()
        for later in range(at, len(matches)):
            if matches[later][1] > end:
                break
            seen.add(matches[later][2])
        weight = sum(weights[which] for which in seen)
        if weight > best:
            best_start, best = start, weight
        if best == most:
            break
    return best_start


def _extract(text: str, start: int, matches: Sequence[_Match]) -> str:
    """About SNIPPET_CHARACTERS from `start`, cut between words, with dots for what is left out."""
    end = min(len(text), start + SNIPPET_CHARACTERS)
    start = max(0, min(start, end - SNIPPET_CHARACTERS))
    if start > 0:
        space = text.find(" ", start, start + _EDGE_CHARACTERS)
        start = space + 1 if space >= 0 else start
    if end < len(text):
        space = text.rfind(" ", end - _EDGE_CHARACTERS, end)
        end = space if space > start else end
    body = _render(text, start, end, matches)
    return f"{'… ' if start > 0 else ''}{body}{' …' if end < len(text) else ''}"


def _render(text: str, start: int, end: int, matches: Sequence[_Match]) -> str:
    """A stretch of the text in one line of Markdown."""
    escape = _escape if _SPECIAL.search(text, start, end) else _as_it_is
    pieces: list[str] = []
    at = start
    for first, last, _ in matches:
        if first >= at and last <= end:
            pieces += (escape(text[at:first]), "**", escape(text[first:last]), "**")
            at = last
    pieces.append(escape(text[at:end]))
    line = " ".join("".join(pieces).split())
    if "#" in line:
        line = _HEADING.sub("", line)
    return _BETWEEN_BOLD.sub(r"\1", line) if len(pieces) > 5 else line


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def _as_it_is(text: str) -> str:
    return text
