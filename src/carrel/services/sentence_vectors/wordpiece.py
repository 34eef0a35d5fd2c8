"""The WordPiece tokenizer of BERT models."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

_UNKNOWN, _START, _END = "[UNK]", "[CLS]", "[SEP]"
_MAX_WORD_CHARACTERS = 100
# Runs of letters and digits; any other visible or Chinese character is a word of its own.
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
_WORD = re.compile(rf"[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}]+|[^\w\s]|_")


class WordPieces:
    """A WordPiece tokenizer over a vocabulary with one piece per line."""

    def __init__(self, vocabulary: Path) -> None:
        lines = vocabulary.read_text(encoding="utf-8").split("\n")
        self._numbers = {piece: number for number, piece in enumerate(lines)}
        self._of_word = lru_cache(maxsize=50_000)(lambda word: tuple(self._pieces(word)))

    def numbers(self, text: str, max_pieces: int) -> list[int]:
        """The ids of a text between start and end signs, at most `max_pieces`."""
        found = [self._numbers[_START]]
        for word in _WORD.findall(_plain(text)):
            found.extend(self._of_word(word))
            if len(found) >= max_pieces:
                break
        return [*found[: max_pieces - 1], self._numbers[_END]]

    def _pieces(self, word: str) -> Iterator[int]:
        """Longest known beginning, then longest known continuations; all or nothing."""
        if len(word) > _MAX_WORD_CHARACTERS:
            yield self._numbers[_UNKNOWN]
            return
        found: list[int] = []
        start = 0
        while start < len(word):
            end = len(word)
            while (
                end > start
                and (f"##{word[start:end]}" if start else word[:end]) not in self._numbers
            ):
                end -= 1
            if end == start:
                yield self._numbers[_UNKNOWN]
                return
            found.append(self._numbers[f"##{word[start:end]}" if start else word[:end]])
            start = end
        yield from found


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFD", text.lower())
    return "".join(
        sign
        for sign in apart
        if unicodedata.category(sign) not in {"Mn", "Cf", "Cc"} or sign in "\t\n\r"
    )
