"""Short extracts that show why a paper was found: the match in Markdown bold, the words around it readable."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from carrel.rooms.papers.query_language import Phrase
from carrel.rooms.papers.words import STOP_WORDS, fold, fold_in_place, is_cjk, join_cjk, words

SNIPPET_CHARACTERS = 280
_LEAD_CHARACTERS = 60
_MAX_MATCHES = 400

_NOISE = re.compile(r"(?:^|(?<=\s))#{1,6}(?=\s)|[ \t\r\n\f\v\u00a0]+")
_SPACES = re.compile(r" {2,}")
_SPECIAL = re.compile(r"[\\*`<]")
_BETWEEN_BOLD = re.compile(r"(?<=\S)\*\*([ ,/–-]{0,2})\*\*(?=\S)")

Stem = Callable[[str], str]
_Match = tuple[int, int, int]


class Marker:
    """Finds the phrases of one question in any number of texts. With a stemmer, words match by their stems."""

    def __init__(self, phrases: Iterable[Phrase], stem: Stem | None = None) -> None:
        self._stem = stem
        self._wanted = _worth_marking(phrases)
        patterns = [_pattern(phrase, stem) for phrase in self._wanted]
        self._pattern = re.compile("|".join(f"({pattern})" for pattern in patterns)) if patterns else None
        self._stems = [[stem(fold(word)) for word in phrase.words] if stem else [] for phrase in self._wanted]

    def snippet(self, texts: Iterable[str]) -> str:
        """The best extract from the first text that shows a match; the beginning of the first text where none does."""
        beginning = ""
        for text in texts:
            clean = _clean(text)
            matches = self._matches(clean) if clean else []
            if matches:
                first = _best_start(matches)
                return _extract(clean, max(0, first - _LEAD_CHARACTERS), matches)
            beginning = beginning or clean
        return _extract(beginning, 0, [])

    def mark(self, text: str) -> str:
        """The whole text with its matches in bold."""
        clean = _clean(text)
        return _render(clean, 0, len(clean), self._matches(clean))

    def _matches(self, text: str) -> list[_Match]:
        if self._pattern is None:
            return []
        matches: list[_Match] = []
        for found in self._pattern.finditer(fold_in_place(text)):
            which = (found.lastindex or 1) - 1
            if self._stem and not self._is_same(which, found.group()):
                continue
            matches.append((found.start(), found.end(), which))
            if len(matches) == _MAX_MATCHES:
                break
        return matches

    def _is_same(self, which: int, text: str) -> bool:
        if self._stem is None or self._wanted[which].is_prefix:
            return True
        return [self._stem(word) for word in words(text)] == self._stems[which]


def _worth_marking(phrases: Iterable[Phrase]) -> list[Phrase]:
    """Longer phrases first, so that they win over their words; stop words only where there is nothing else."""
    found = sorted(set(phrases), key=lambda phrase: (-len(phrase.words), phrase.words))
    return [phrase for phrase in found if len(phrase.words) > 1 or fold(phrase.words[0]) not in STOP_WORDS] or found


def _pattern(phrase: Phrase, stem: Stem | None) -> str:
    """A regular expression over folded text. With a stemmer it is wide, and the stems are compared afterwards."""
    pieces: list[str] = []
    for at, word in enumerate(phrase.words):
        folded = fold(word)
        is_last = at == len(phrase.words) - 1
        if is_cjk(word):
            pieces.append(re.escape(folded) if not pieces else rf"\s*{re.escape(folded)}")
            continue
        before = r"(?<![^\W_])" if at == 0 else r"[\W_]+"
        if stem is not None and not (phrase.is_prefix and is_last):
            known = stem(folded)
            shared = _shared_beginning(folded, known)
            body = re.escape(shared if len(shared) < 4 else shared[: max(3, len(known) - 2)]) + r"[^\W_]{0,8}(?![^\W_])"
        else:
            body = re.escape(folded) + (r"[^\W_]*" if phrase.is_prefix and is_last else r"(?![^\W_])")
        pieces.append(before + body)
    return "".join(pieces)


def _shared_beginning(one: str, other: str) -> str:
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return one[:length]


def _clean(text: str) -> str:
    return _SPACES.sub(" ", _NOISE.sub(" ", join_cjk(text))).strip()


def _best_start(matches: Sequence[_Match]) -> int:
    """Where the extract should begin so that it shows as many different phrases as it can, the earliest of equals."""
    best_start, best_count, last = matches[0][0], 0, 0
    room = SNIPPET_CHARACTERS - _LEAD_CHARACTERS
    for at, (start, _, _) in enumerate(matches):
        while last < len(matches) and matches[last][1] <= start + room:
            last += 1
        count = len({which for _, _, which in matches[at:last]})
        if count > best_count:
            best_start, best_count = start, count
    return best_start


def _extract(text: str, start: int, matches: Sequence[_Match]) -> str:
    """About SNIPPET_CHARACTERS from `start`, cut between words, with dots where something was left out."""
    end = min(len(text), start + SNIPPET_CHARACTERS)
    start = max(0, min(start, end - SNIPPET_CHARACTERS))
    if start > 0:
        space = text.find(" ", start, start + 30)
        start = space + 1 if space >= 0 else start
    if end < len(text):
        space = text.rfind(" ", end - 30, end)
        end = space if space > start else end
    body = _render(text, start, end, matches)
    return f"{'… ' if start > 0 else ''}{body}{' …' if end < len(text) else ''}"


def _render(text: str, start: int, end: int, matches: Sequence[_Match]) -> str:
    pieces: list[str] = []
    at = start
    for first, last, _ in matches:
        if first < at or last > end:
            continue
        pieces += (_escape(text[at:first]), "**", _escape(text[first:last]), "**")
        at = last
    pieces.append(_escape(text[at:end]))
    return _BETWEEN_BOLD.sub(r"\1", "".join(pieces))


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
