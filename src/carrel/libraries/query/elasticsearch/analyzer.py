"""The analyzer of our indices as a cluster runs it, so that both find the same words.

A cluster gets it as settings (`ANALYSIS_SETTINGS`): accents written as signs of their own removed,
the standard tokenizer (words by Unicode's rules, UAX 29), width, case and accents folded, Chinese,
Japanese and Korean in pairs. `analyze_text` is the same for the embedded index.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from carrel.libraries.query.elasticsearch.ascii_folds import LETTER_FOLDS

# Longer runs are cut there, as Elasticsearch cuts them.
MAX_TOKEN_CHARACTERS = 255
_ACCENTS = "\u0300-\u036f"
ANALYSIS_SETTINGS: dict[str, Any] = {
    "char_filter": {
        "carrel_accents": {
            "type": "pattern_replace",
            "pattern": r"[\u0300-\u036f]",
            "replacement": "",
        }
    },
    "analyzer": {
        "carrel": {
            "type": "custom",
            "char_filter": ["carrel_accents"],
            "tokenizer": "standard",
            "filter": ["cjk_width", "lowercase", "asciifolding", "cjk_bigram"],
        },
        "carrel_words": {"type": "custom", "tokenizer": "whitespace"},
    },
}


@dataclass(frozen=True, slots=True)
class Token:
    """A word as it is indexed, and where it stands in the text as given."""

    term: str
    start: int
    end: int


def analyze_text(text: str) -> list[Token]:
    """The words of a text, in order."""
    return list(_analyze(text))


def analyze_terms(text: str) -> list[str]:
    """The same without their places."""
    return [token.term for token in _analyze(text)]


def fold_term(term: str) -> str:
    """A word or a part of one as the filters leave it; patterns and prefixes stay as they are."""
    return term.translate(_FOLDS)


# One letter for each class of character in Unicode's rules of word breaks (UAX 29), as
# Elasticsearch 8.12 treats the characters U+0020 to U+1FFFF; recorded answers of it are in
# tests/libraries/query/test_standard_analyzer.py.
_LETTER, _HEBREW, _HANGUL, _KATAKANA, _HIRAGANA, _HAN = "abgkhi"
_DIGIT, _JOINER, _EXTENDER, _UNSPACED, _UNSPACED_MARK = "nexsy"
_MID_LETTER, _MID_NUMBER, _MID_BOTH, _QUOTE, _DOUBLE_QUOTE = "lumqd"
_EMOJI, _FLAG, _ZERO_WIDTH_JOINER, _OTHER = "jrz "


def _parse_ranges(text: str) -> list[tuple[int, int]]:
    found = []
    for part in text.split():
        first, _, last = part.partition("-")
        found.append((int(first, 16), int(last or first, 16)))
    return found


_RANGES: list[tuple[str, list[tuple[int, int]]]] = [
    (_ZERO_WIDTH_JOINER, [(0x200D, 0x200D)]),
    (_QUOTE, [(0x27, 0x27)]),
    (_DOUBLE_QUOTE, [(0x22, 0x22)]),
    (_MID_BOTH, _parse_ranges("2E 2018-2019 2024 FE52 FF07 FF0E")),
    (_MID_LETTER, _parse_ranges("3A B7 387 5F4 2027 FE13 FE55 FF1A")),
    (_MID_NUMBER, _parse_ranges("2C 3B 37E 589 60C-60D 66C 7F8 2044 FE10 FE14 FE50 FE54 "
                                "FF0C FF1B")),
    (_JOINER, _parse_ranges("5F 202F 203F-2040 2054 FE33-FE34 FE4D-FE4F FF3F")),
    (_HAN, _parse_ranges("2E80-2E99 2E9B-2EF3 2F00-2FD5 3005 3007 3021-3029 3038-303B 3400-4DB5 "
                         "4E00-9FEF F900-FA6D FA70-FAD9 20000-2FA1F")),
    (_HIRAGANA, _parse_ranges("3041-3096 309D-309F 1B001-1B11E 1B150-1B152 1F200")),
    (_KATAKANA, _parse_ranges("3031-3035 309B-309C 30A0-30FA 30FC-30FF 31F0-31FF 32D0-32FE "
                              "3300-3357 FF66-FF9D 1B000 1B164-1B167")),
    (_HANGUL, _parse_ranges("1100-11FF 3131-318E A960-A97C AC00-D7A3 D7B0-D7C6 D7CB-D7FB "
                            "FFA0-FFBE FFC2-FFC7 FFCA-FFCF FFD2-FFD7 FFDA-FFDC")),
    (_UNSPACED, _parse_ranges(
        "E01-E3A E40-E4E E81-E82 E84 E86-E8A E8C-EA3 EA5 EA7-EBD EC0-EC4 EC6 EC8-ECD EDC-EDF "
        "1000-103F 1050-108F 109A-109F 1780-17D3 17D7 17DC-17DD 1950-196D 1970-1974 1980-19AB "
        "19B0-19C9 19DA 19DE-19DF 1A20-1A5E 1A60-1A7C 1AA0-1AAD A9E0-A9EF A9FA-A9FE AA60-AAC2 "
        "AADB-AADF 11700-1171A 1171D-1172B 1173A-1173B 1173F")),
    (_DIGIT, [(0x66B, 0x66B)]),
    (_EXTENDER, _parse_ranges("FF9E-FF9F 1F3FB-1F3FF")),
    (_LETTER, _parse_ranges("2C2-2C5 2D2-2D7 2DE-2DF 2ED 2EF-2FF 55B-55C 55E 5F3 24B6-24C1 "
                            "24C3-24E9 A720-A721 A789-A78A AB5B 1F130-1F149 1F150-1F169 "
                            "1F172-1F17D 1F180-1F189")),
    (_FLAG, [(0x1F1E6, 0x1F1FF)]),
    (_EMOJI, _parse_ranges(
        "A9 AE 203C 2049 2122 2139 2194-2199 21A9-21AA 231A-231B 2328 2388 23CF 23E9-23F3 "
        "23F8-23FA 24C2 25AA-25AB 25B6 25C0 25FB-25FE 2600-2605 2607-2612 2614-2685 2690-2705 "
        "2708-2712 2714 2716 271D 2721 2728 2733-2734 2744 2747 274C 274E 2753-2755 2757 "
        "2763-2767 2795-2797 27A1 27B0 27BF 2934-2935 2B05-2B07 2B1B-2B1C 2B50 2B55 3030 303D "
        "3297 3299 1F000-1F0FF 1F10D-1F10F 1F12F 1F16C-1F171 1F17E-1F17F 1F18E 1F191-1F19A "
        "1F1AD 1F201-1F202 1F21A 1F22F 1F232-1F23A 1F250-1F251 1F260-1F265 1F300-1F53D "
        "1F546-1F64F 1F680-1F6FF 1F774-1F77F 1F7D5-1F7FF 1F80C-1F8FF 1F90C-1F93A 1F93C-1F945 "
        "1F947-1FFFD")),
    # Letters that are no words to the tokenizer: signs of Tangut, Nushu and Khitan.
    (_OTHER, _parse_ranges("200B 3006 17000-18D08 1B170-1B2FB")),
]  # fmt: skip
_CATEGORIES = {
    **dict.fromkeys(("Lu", "Ll", "Lt", "Lm", "Lo", "Nl"), _LETTER),
    **dict.fromkeys(("Mn", "Mc", "Me", "Cf"), _EXTENDER),
    "Nd": _DIGIT,
}


class _Classes(dict[int, str]):
    """The class of a character, found when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = found = _classify(code)
        return found


def _classify(code: int) -> str:
    category = unicodedata.category(chr(code))
    for name, ranges in _RANGES:
        if any(first <= code <= last for first, last in ranges):
            if name == _UNSPACED and category in {"Mn", "Mc"}:
                return _UNSPACED_MARK
            return name
    if "\u05d0" <= chr(code) <= "\u05f2" or "\ufb1d" <= chr(code) <= "\ufb4f":
        return _HEBREW if category == "Lo" else _CATEGORIES.get(category, _OTHER)
    return _CATEGORIES.get(category, _OTHER)


_CLASSES = _Classes()
_X = "[xyz]*"
_NUMBER = f"n{_X}(?:(?:(?:e{_X})*|[umq]{_X})n{_X})*"
_LETTERS = f"[abg]{_X}(?:(?:(?:e{_X})*|[lmq]{_X})[abg]{_X})*"
_HEBREW_WORD = f"b{_X}(?:q{_X}(?![abg])|d{_X}b{_X})"
_KATAKANAS = f"k{_X}(?:(?:e{_X})*k{_X})*"
_PIECE = f"(?:{_KATAKANAS}|(?:{_HEBREW_WORD}|{_NUMBER}|{_LETTERS})+)"
_WORDS = re.compile(
    f"(?P<emoji>j[xy]*(?:zj[xy]*)*|rr)"
    f"|(?P<hangul>g{_X}(?:g{_X})*(?![abnegxyzlmq]))"
    f"|(?P<katakana>{_KATAKANAS}(?!e))"
    f"|(?P<word>(?:e{_X})*{_PIECE}(?:(?:e{_X})+{_PIECE})*(?:e{_X})*)"
    f"|(?P<unspaced>[sy]{_X}(?:[sy]{_X})*)"
    f"|(?P<han>i{_X})|(?P<hiragana>h{_X})"
)
_PAIRED = {"han", "hiragana", "katakana", "hangul"}
_ASCII_WORDS = re.compile(
    r"_*(?:[a-z]+(?:(?:_*|['.:])[a-z]+)*|[0-9]+(?:(?:_*|['.,;])[0-9]+)*)"
    r"(?:_*(?:[a-z]+(?:(?:_*|['.:])[a-z]+)*|[0-9]+(?:(?:_*|['.,;])[0-9]+)*))*_*"
)


def _analyze(text: str) -> Iterator[Token]:
    if text.isascii():
        for match in _ASCII_WORDS.finditer(text.lower()):
            yield from _cut(match[0], match.start(), match.end())
        return
    given, places = _without_accents(text)
    pair: list[Token] = []
    for kind, start, end in _split(given):
        first, last = places(start), places(end - 1) + 1
        if kind in _PAIRED:
            if pair and pair[-1].end != first:
                yield from _pair_up(pair)
                pair = []
            pair += _characters(given, start, end, places)
            continue
        yield from _pair_up(pair)
        pair = []
        yield from _cut(fold_term(given[start:end]), first, last)
    yield from _pair_up(pair)


def _split(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _WORDS.finditer(text.translate(_CLASSES)):
        yield str(match.lastgroup), match.start(), match.end()


def _cut(term: str, start: int, end: int) -> Iterator[Token]:
    for at in range(0, len(term), MAX_TOKEN_CHARACTERS):
        yield Token(term[at : at + MAX_TOKEN_CHARACTERS], start, end)


def _without_accents(text: str) -> tuple[str, Any]:
    """The text without accents that are characters of their own, and where each one stood."""
    if not re.search(f"[{_ACCENTS}]", text):
        return text, int
    kept = [at for at, sign in enumerate(text) if not "\u0300" <= sign <= "\u036f"]
    return "".join(text[at] for at in kept), kept.__getitem__


def _characters(text: str, start: int, end: int, places: Any) -> list[Token]:
    return [
        Token(fold_term(text[at]), places(at), places(at) + 1)
        for at in range(start, end)
        if _CLASSES[ord(text[at])] not in "xyz"
    ]


def _pair_up(signs: list[Token]) -> Iterator[Token]:
    """Neighbouring characters in pairs; one that stands alone stays alone."""
    if len(signs) == 1:
        yield signs[0]
    for one, other in pairwise(signs):
        yield Token(one.term + other.term, one.start, other.end)


class _Folds(dict[int, str]):
    """What the filters for width, case and accents make of a character, found at its first use."""

    def __missing__(self, code: int) -> str:
        self[code] = found = _fold(chr(code))
        return found


def _fold(sign: str) -> str:
    code = ord(sign)
    # Fullwidth ASCII and halfwidth Katakana; not the halfwidth letters of Hangul.
    if 0xFF01 <= code <= 0xFF5E or 0xFF65 <= code <= 0xFF9F:
        sign = unicodedata.normalize("NFKC", sign)
    sign = "i" if sign == "İ" else sign.lower()
    if len(sign) != 1 or sign.isascii():
        return sign
    if sign in LETTER_FOLDS:
        return LETTER_FOLDS[sign]
    if "\u0080" <= sign <= "\u024f" or "\u1e00" <= sign <= "\u1eff":
        plain = unicodedata.normalize("NFD", sign)[0]
        return plain if plain.isascii() else sign
    return sign


_FOLDS = _Folds()
