"""Text cut into words the same way everywhere: folded, without accents, Chinese, Japanese and
Korean in pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata

# Scripts written without spaces: kana, Han, Hangul, and Han beyond the basic plane.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_SPACES = re.compile(r"\s+")
MAX_WORD_CHARACTERS = 64


def case_key(text: str) -> str:
    """One form for comparison: compatible characters unified, case folded, outer spaces gone, inner
    ones single.
    """
    return _SPACES.sub(
        " ", unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    ).strip()


def split_words(text: str) -> list[str]:
    """The words of a text in order. A run of Japanese gives its pairs: 知識管理 is 知識, 識管, 管理."""  # noqa: E501
    found: list[str] = []
    for run in _RUN.findall(_plain(text)):
        if not _IS_UNSPACED.match(run):
            found.append(run[:MAX_WORD_CHARACTERS])
        elif len(run) == 1:
            found.append(run)
        else:
            found.extend(run[at : at + 2] for at in range(len(run) - 1))
    return found


def split_words_with_offsets(text: str) -> list[tuple[str, int, int]]:
    """The words with where they stand in the text as it was given."""
    found: list[tuple[str, int, int]] = []
    for match in _RUN.finditer(text):
        pieces = split_words(match[0])
        if len(pieces) > 1 and _IS_UNSPACED.match(match[0]) and len(pieces) == len(match[0]) - 1:
            found.extend(
                (piece, match.start() + at, match.start() + at + 2)
                for at, piece in enumerate(pieces)
            )
        else:
            found.extend((piece, match.start(), match.end()) for piece in pieces)
    return found


def name_trigrams(text: str) -> frozenset[str]:
    """The three-character pieces of a name, its ends marked; names that share many are spelled
    alike.
    """
    marked = f" {case_key(text)} "
    return frozenset(marked[at : at + 3] for at in range(max(1, len(marked) - 2)))


def _plain(text: str) -> str:
    """Folded and without accents, but with the marks that Japanese needs."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    kept = "".join(
        char for char in decomposed if not unicodedata.combining(char) or char in "\u3099\u309a"
    )
    return unicodedata.normalize("NFC", kept)
