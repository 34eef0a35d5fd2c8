"""Where a quotation stands in a text, and how exactly: word for word, same words, or nearly."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import Literal

from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import CJK, STOP_WORDS, WORD_MARKS, is_inside_word

Exactness = Literal["exact", "same words", "near"]
EXACTNESS_ORDER: tuple[Exactness, ...] = ("exact", "same words", "near")

# A text that shares less of its words with the quotation is another text. Chosen on 297 sentences
# of 100 eLife full texts (tests/libraries/text/test_quotes.py): with a fifth of their words changed
# 296 are at .63 or above, and in other papers than their own 296 are at .49 or below.
NEAR = 0.6
# Fewer words than this say nothing when some of them differ.
_FEWEST_NEAR_WORDS = 4
# Only this many words of a long quotation are aligned; a whole match has no such bound.
_MOST_ALIGNED_WORDS = 600
# Words of the text that a quotation may leave out in one place, with dots or without.
_LONGEST_OMISSION = 60
_LONGEST_ELLIPSIS_CHARACTERS = 5_000
# How often the letters of a quotation are looked for in a text that has them inside of words.
_MOST_TRIES = 50
_WINDOW_SLACK = 0.5
# Sums of the same weights in another order differ by less.
_ROUNDING = 1e-9
_SHOWN_CHARACTERS = 200

_ELLIPSIS = re.compile(r"[\[(]?\s*(?:\u2026|\.\s?\.\s?\.(?:\s?\.)?)\s*[\])]?")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n|\f")
_SENTENCE_END = re.compile(r"[.!?]\S{0,5}\s|[\u3002\uff01\uff1f]")
_UNSPACED = f"{CJK}\U00020000-\U0003ffff"


@dataclass(frozen=True, slots=True)
class Difference:
    """Words of the quotation and the words that the text has in their place."""

    quoted: str
    stored: str


@dataclass(frozen=True, slots=True)
class QuoteMatch:
    """A place in a text; `similarity` is 1.0 where all words are the same."""

    start: int
    end: int
    exactness: Exactness
    similarity: float
    differences: tuple[Difference, ...] = ()

    @property
    def order(self) -> tuple[int, float]:
        """Sorts better matches first."""
        return EXACTNESS_ORDER.index(self.exactness), -self.similarity


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a text, folded, with where they stand."""

    text: str
    folded: list[str]
    starts: list[int]
    ends: list[int]


class QuoteFinder:
    """Looks for one quotation in any number of texts."""

    def __init__(self, quotation: str) -> None:
        self._quotation = quotation.strip()
        self._words = _read_words(self._quotation)
        pieces = [_read_words(part) for part in _ELLIPSIS.split(self._quotation)]
        self._pieces = ["".join(piece.folded) for piece in pieces if piece.folded]

    @property
    def search_words(self) -> list[str]:
        """The words of the quotation as they are written, to search for texts that may have it."""
        words = self._words
        return [words.text[a:b] for a, b in zip(words.starts, words.ends, strict=True)]

    def find(self, text: str) -> QuoteMatch | None:
        """The best place in a text; None where it has nothing of the quotation."""
        if not self._words.folded:
            return None
        exact = self.find_exact(text)
        if exact is not None:
            return exact
        words = _read_words(text)
        return self._find_same_words(words) or self._find_near(words)

    def find_exact(self, text: str) -> QuoteMatch | None:
        """The place that has the very characters of the quotation, found fast."""
        at = _find_exactly(text, self._quotation) if self._words.folded else None
        if at is None:
            return None
        return QuoteMatch(at, at + len(self._quotation), "exact", 1.0)

    def _find_same_words(self, words: _Words) -> QuoteMatch | None:
        """All letters in order, whatever divides them; between pieces words may be left out."""
        letters = "".join(words.folded)
        borders = [0, *accumulate(map(len, words.folded))]
        found: list[tuple[int, int]] = []
        after = 0
        for piece in self._pieces:
            place = _find_whole_words(letters, borders, piece, after)
            if place is None or (found and place[0] - found[-1][1] > _LONGEST_ELLIPSIS_CHARACTERS):
                return None
            found.append(place)
            after = place[1]
        spans = [
            (words.starts[bisect_right(borders, first) - 1], words.ends[_word_at(borders, last)])
            for first, last in found
        ]
        omitted = tuple(
            Difference("\u2026", _shorten(words.text[before[1] : behind[0]]))
            for before, behind in pairwise(spans)
        )
        return QuoteMatch(spans[0][0], spans[-1][1], "same words", 1.0, omitted)

    def _find_near(self, words: _Words) -> QuoteMatch | None:
        asked = self._words.folded[:_MOST_ALIGNED_WORDS]
        if len(asked) < _FEWEST_NEAR_WORDS:
            return None
        window = _best_window(asked, words.folded)
        if window is None:
            return None
        stored = words.folded[window[0] : window[1]]
        pairs = _tighten(_align(asked, stored), len(asked))
        if not pairs:
            return None
        pairs = _tighten(_align_ends(pairs, asked, stored), len(asked))
        similarity = _similarity(pairs, len(asked))
        pairs = [(at, window[0] + place) for at, place in pairs]
        first, last = self._reach(pairs, len(asked), words)
        differences = tuple(self._differences(pairs, len(asked), words, (first, last)))
        start, end = words.starts[first], words.ends[last]
        return QuoteMatch(start, end, "near", round(similarity, 3), differences)

    def _reach(
        self, pairs: Sequence[tuple[int, int]], asked: int, words: _Words
    ) -> tuple[int, int]:
        """The first and last word of the place: changed words at its ends are part of it.

        It does not grow into another sentence, unless the quotation has one there as well.
        """
        at, first = pairs[0]
        while at > 0 and first > 0:
            if _is_break(words, first) and not _is_break(self._words, at):
                break
            at, first = at - 1, first - 1
        at, last = pairs[-1]
        while at + 1 < asked and last + 1 < len(words.folded):
            if _is_break(words, last + 1) and not _is_break(self._words, at + 1):
                break
            at, last = at + 1, last + 1
        return first, last

    def _differences(
        self,
        pairs: Sequence[tuple[int, int]],
        asked: int,
        words: _Words,
        place: tuple[int, int],
    ) -> Iterator[Difference]:
        before = (-1, place[0] - 1)
        for pair in (*pairs, (asked, place[1] + 1)):
            quoted = _stretch(self._words, before[0] + 1, pair[0])
            stored = _stretch(words, before[1] + 1, pair[1])
            if quoted or stored:
                yield Difference(_shorten(quoted), _shorten(stored))
            before = pair


def _find_exactly(text: str, quotation: str) -> int | None:
    """Where the quotation stands as it is, not beginning or ending inside of a word."""
    at = text.find(quotation)
    for _ in range(_MOST_TRIES):
        if at < 0:
            return None
        if not (_is_inside(text, at) or _is_inside(text, at + len(quotation))):
            return at
        at = text.find(quotation, at + 1)
    return None


def _is_inside(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at].isalnum() and is_inside_word(text, at)


@cache
def _mark_or_word() -> re.Pattern[str]:
    """Compiled at the first quotation: the classes are large."""
    # Marks of Markdown and HTML are no words of the text: addresses of links, tags, comments.
    return re.compile(
        r"<!--[^<>]{0,300}-->|</?[a-zA-Z][^<>]{0,300}>|\]\([^()\s]{0,1000}\)"
        rf"|([{_UNSPACED}]|[^\W_{_UNSPACED}](?:[^\W_{_UNSPACED}]|[{WORD_MARKS}])*)"
    )


def _read_words(text: str) -> _Words:
    known: dict[str, str] = {}
    folded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for found in _mark_or_word().finditer(text):
        word = found[1]
        if word is None:
            continue
        form = known.get(word)
        if form is None:
            form = known[word] = fold_text(word) or word
        folded.append(form)
        starts.append(found.start())
        ends.append(found.end())
    return _Words(text, folded, starts, ends)


def _find_whole_words(
    letters: str, borders: Sequence[int], piece: str, after: int
) -> tuple[int, int] | None:
    """Where a run of letters stands as whole words: it begins and ends with words of the text."""
    at = letters.find(piece, after)
    for _ in range(_MOST_TRIES):
        if at < 0:
            return None
        if _is_border(borders, at) and _is_border(borders, at + len(piece)):
            return at, at + len(piece)
        at = letters.find(piece, at + 1)
    return None


def _is_border(borders: Sequence[int], at: int) -> bool:
    return borders[bisect_right(borders, at) - 1] == at


def _word_at(borders: Sequence[int], end: int) -> int:
    """The number of the word that ends at a border."""
    return bisect_right(borders, end - 1) - 1


def _best_window(asked: Sequence[str], words: Sequence[str]) -> tuple[int, int] | None:
    """The stretch, somewhat longer than the quotation, with the most and rarest of its words."""
    content = {word for word in asked if word not in STOP_WORDS} or set(asked)
    width = len(asked) + max(_FEWEST_NEAR_WORDS, int(len(asked) * _WINDOW_SLACK))
    places = [(at, word) for at, word in enumerate(words) if word in content]
    counts = Counter(word for _, word in places)
    weights = {word: math.log1p(len(words) / count) for word, count in counts.items()}
    inside: Counter[str] = Counter()
    weight, heaviest, best, first = 0.0, 0.0, 0, 0
    for at, word in places:
        inside[word] += 1
        weight += weights[word] if inside[word] == 1 else 0.0
        while places[first][0] <= at - width:
            gone = places[first][1]
            inside[gone] -= 1
            weight -= 0.0 if inside[gone] else weights[gone]
            first += 1
        if weight > heaviest + _ROUNDING:
            heaviest, best = weight, places[first][0]
    if not places:
        return None
    # The densest stretch may begin in the middle of the place.
    return max(0, best - len(asked)), min(len(words), best + width + len(asked))


def _align(asked: Sequence[str], words: Sequence[str]) -> list[tuple[int, int]]:
    """The longest common subsequence as pairs of places, by rows of bits (Hyyro 2004)."""
    places: dict[str, int] = {}
    for at, word in enumerate(words):
        places[word] = places.get(word, 0) | (1 << at)
    everything = (1 << len(words)) - 1
    row = everything
    rows = [row]
    for word in asked:
        same = row & places.get(word, 0)
        row = ((row + same) | (row - same)) & everything
        rows.append(row)
    return list(_trace_back(asked, words, rows))[::-1]


def _trace_back(
    asked: Sequence[str], words: Sequence[str], rows: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """From the end: a zero bit marks a column that has one more word in common than the last."""
    at, column = len(asked), len(words)
    while at and column:
        bit = 1 << (column - 1)
        if rows[at] & bit:
            column -= 1
        elif not rows[at - 1] & bit:
            at -= 1
        else:
            at -= 1
            column -= 1
            yield at, column


def _tighten(pairs: Sequence[tuple[int, int]], asked: int) -> list[tuple[int, int]]:
    """The pairs without stray words at their ends, which only make the place longer."""
    runs: list[list[tuple[int, int]]] = []
    for pair in pairs:
        if runs and pair[1] - runs[-1][-1][1] <= _LONGEST_OMISSION:
            runs[-1].append(pair)
        else:
            runs.append([pair])
    run = max(runs, key=len, default=[])
    for _ in range(2):
        # From the front, then from the back.
        best = max(range(len(run)), key=lambda at: _similarity(run[at:], asked), default=0)
        run = run[best:][::-1]
    return run


def _align_ends(
    pairs: Sequence[tuple[int, int]], asked: Sequence[str], words: Sequence[str]
) -> list[tuple[int, int]]:
    """The pairs, and those of the words before and behind them with the nearest equal words."""
    (at, first), (until, last) = pairs[0], pairs[-1]
    before = words[max(0, first - 2 * at) : first][::-1]
    behind = words[last + 1 : last + 1 + 2 * (len(asked) - until - 1)]
    front = [(at - 1 - i, first - 1 - j) for i, j in _align(asked[:at][::-1], before)]
    back = [(until + 1 + i, last + 1 + j) for i, j in _align(asked[until + 1 :], behind)]
    return [*front[::-1], *pairs, *back]


def _is_break(words: _Words, at: int) -> bool:
    """Whether a sentence or a paragraph ends before a word."""
    start = words.starts[at]
    between = words.text[words.ends[at - 1] : start]
    if _PARAGRAPH_END.search(between):
        return True
    return bool(_SENTENCE_END.search(between)) and not words.text[start].islower()


def _similarity(pairs: Sequence[tuple[int, int]], asked: int) -> float:
    return 2 * len(pairs) / (asked + abs(pairs[-1][1] - pairs[0][1]) + 1)


def _stretch(words: _Words, first: int, last: int) -> str:
    return words.text[words.starts[first] : words.ends[last - 1]] if first < last else ""


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}\u2026"
