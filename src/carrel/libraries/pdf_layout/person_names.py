"""Names of people and groups as printed under a title: what is one, and where one ends."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set

from carrel.libraries.pdf_layout.front_words import (
    GROUP_WORDS,
    HAN_NOT_NAMES,
    HAN_SURNAMES,
    HANGUL_SURNAMES,
    INSTITUTION_STEMS,
    INSTITUTION_WORDS,
    MONTHS,
    NOT_NAME_WORDS,
    PARTICLES,
    PLACES,
)

MOST_NAME_TOKENS = 6
# More are two people whose names stand side by side.
MOST_WHOLE_NAMES = 4
LONGEST_NAME = 60
_MARKERS = re.compile(
    r"[*∗†‡§¶‖⋆★☆✉✝✦◦#♯⊥♠♣♥♦♮♭①-⑳]|(?<=[^\W\d_])[⁰¹²³⁴-⁹]+(?:[,⁰¹²³⁴-⁹]+)*|[⁰¹²³⁴-⁹]"
)
_SEPARATOR = re.compile(
    r"\s*[,;，；、·•|]\s*(?:(?:and|und|et|y|e|en|och|og|и|та|&)\s+)?"
    r"|\s+(?:and|und|et|y|en|och|og|и|та|with|AND)\s+|\s+[&＆]\s*|\s*[&＆]\s+|\s+/\s+"
    r"|(?<=[㐀-鿿])和(?=[㐀-鿿])|(?<=[一-鿿가-힣])\s{2,}(?=[一-鿿가-힣])"
)
_LEADING = re.compile(
    r"^(?:(?:authors?|autor(?:en|es|a|as)?|auteurs?|written\s+by|by|von|par|por|door|di|av|af"
    r"|автор(?:ы)?|作者)\s*[:：]\s*|(?:written\s+by|by|von|par|por|door|and|und|et|y|&)\s+"
    r"|著者?\s*[:：]?\s*)(?=\S)",
    re.IGNORECASE,
)
_TITLE_BEFORE = re.compile(
    r"^(?:(?:prof|professor|assoc|asst|dr|dipl|ing|inf|math|phys|mag|msc|m\.sc|b\.sc|ph\.d|rer|nat"
    r"|med|habil|priv|pd|mr|mrs|ms|sir|ir|drs|lic|doc|univ)(?:\.[-\s]?|\s))+",
    re.IGNORECASE,
)
_DEGREE_AFTER = re.compile(
    r"^(?:Ph\.?\s?D|M\.?D|M\.?Sc|B\.?Sc|M\.?S|B\.?S|M\.?A|B\.?A|M\.?P\.?H|Dr\.?P\.?H|Sc\.?D|D\.?Phil"
    r"|M\.?Phil|M\.?B\.?A|M\.?Eng|R\.?N|Pharm\.?D|D\.?V\.?M|Psy\.?D|Ed\.?D|J\.?D|F\.?R\.?S|F\.?A\.?C\.?P"
    r"|F\.?A\.?C\.?C|F\.?A\.?H\.?A|M\.?B\.?B\.?S|MBChB|FRCP|FRCS|(?:Senior|Student)?\s?Member|Fellow"
    r"|(?:(?:Student|Senior|Life|Graduate\s+Student)\s+)?(?:Member|Fellow)(?:,?\s+(?:IEEE|ACM))?"
    r"|IEEE|ACM|Jr|Sr|II|III|IV)\.?$"
)
_SUFFIXES = frozenset({"jr", "jr.", "sr", "sr.", "ii", "iii", "iv"})
_INITIALS = re.compile(r"^(?:[^\W\d_a-zà-ÿ]\.?[-‐–]?){1,4}\.?$")
_WORD = re.compile(r"^[^\W\d_]+(?:['’ʼ‘`´\-‐‑–.][^\W\d_]+)*\.?$")
_HAN = re.compile(r"^[㐀-鿿]{1,4}(?:[\s·・　][㐀-鿿]{1,4})?$")
_HANGUL = re.compile(r"^[가-힣]{1,2}\s?[가-힣]{1,3}$")
_KATAKANA = re.compile(r"^[゠-ヿ㐀-鿿]{1,8}[\s·・＝=　][゠-ヿ㐀-鿿ぁ-ん]{1,8}$")


def strip_markers(text: str) -> str:
    """The text without footnote marks."""
    return " ".join(_MARKERS.sub(" ", text).split())


def split_names(text: str) -> list[str]:
    """The pieces between commas and conjunctions, without degrees, titles and "by"."""
    text = _LEADING.sub("", strip_markers(text).strip(" ,;"))
    pieces: list[str] = []
    for part in _SEPARATOR.split(text):
        piece = _LEADING.sub("", part.strip(" ,;:"))
        if not piece:
            continue
        if all(_DEGREE_AFTER.match(word) for word in piece.split()):
            if pieces and piece.rstrip(".").lower() in {"jr", "sr", "ii", "iii", "iv"}:
                pieces[-1] = f"{pieces[-1]} {piece}"
            continue
        if name := _without_degree(_TITLE_BEFORE.sub("", piece)):
            pieces.append(name)
    return pieces


def _without_degree(piece: str) -> str:
    words = piece.split()
    while len(words) > 2 and _DEGREE_AFTER.match(words[-1]) and not _INITIALS.match(words[-1]):
        if words[-1].lower() in _SUFFIXES:
            break
        words.pop()
    return " ".join(words)


def is_person_name(text: str, common_words: Set[str] = frozenset()) -> bool:
    """Whether the text is shaped like one person's name.

    `common_words` are words that the document itself writes in lower case: a name made of nothing
    but such words is none ("Getting Started").
    """
    text = text.strip()
    if not text or len(text) > LONGEST_NAME:
        return False
    if "぀" <= text[0] <= "鿿" or "가" <= text[0] <= "힣":
        return _is_east_asian_name(text)
    if has_institution_word(text):
        return False
    tokens = _split_tokens(text)
    if tokens is None:
        return False
    whole = [token for token in tokens if _is_whole_name(token)]
    initials = [token for token in tokens if _INITIALS.match(token) and token not in whole]
    if not 0 < len(whole) <= MOST_WHOLE_NAMES or len(whole) + len(initials) < 2:
        return False
    if not initials and all(token.lower().strip(".") in common_words for token in whole):
        return False
    return _has_name_words(whole)


def _split_tokens(text: str) -> list[str] | None:
    """The tokens that are no particles; None where one cannot stand in a name."""
    tokens = text.split()
    if not 1 < len(tokens) <= MOST_NAME_TOKENS + 2:
        return None
    kept = []
    for at, token in enumerate(tokens):
        lowered = token.lower()
        if at and lowered in _SUFFIXES:
            continue
        is_particle = lowered in PARTICLES and token[0].islower()
        if is_particle and at < len(tokens) - 1:
            continue
        if not (_INITIALS.match(token) or (_WORD.match(token) and _starts_as_name(token))):
            return None
        kept.append(token)
    return kept if kept and len(kept) <= MOST_NAME_TOKENS else None


def _starts_as_name(token: str) -> bool:
    """Whether it begins with a capital, perhaps after d', l', al- or such."""
    if token[0].isupper() or unicodedata.category(token[0]) in ("Lo", "Lt"):
        return True
    rest = re.split(r"['’ʼ‘\-‐‑]", token, maxsplit=1)
    return len(rest) == 2 and len(rest[0]) <= 2 and rest[1][:1].isupper()


def _is_whole_name(token: str) -> bool:
    letters = token.strip(".")
    return len(letters) > 1 and not (_INITIALS.match(token) and ("." in token or len(letters) < 2))


def _has_name_words(words: list[str]) -> bool:
    lowered = [word.lower().strip(".") for word in words]
    if any(word in MONTHS or word in NOT_NAME_WORDS for word in lowered):
        return False
    # "MRC Unit", "NLM": a name may be all capitals, but not made of abbreviations alone.
    return any(len(word) > 1 and _has_vowel(word) for word in lowered)


def _has_vowel(word: str) -> bool:
    plain = unicodedata.normalize("NFKD", word)
    return not plain.isascii() or any(letter in "aeiouyw" for letter in plain)


def _is_east_asian_name(text: str) -> bool:
    packed = re.sub(r"[\s·・　]", "", text)
    if any(word in packed for word in HAN_NOT_NAMES):
        return False
    if _HAN.match(text):
        return 2 <= len(packed) <= 4 and (
            packed[0] in HAN_SURNAMES or packed[:2] in HAN_SURNAMES or " " in text
        )
    if _HANGUL.match(text):
        return 2 <= len(packed) <= 4 and packed[0] in HANGUL_SURNAMES
    return bool(_KATAKANA.match(text))


def has_institution_word(text: str) -> bool:
    """Whether a word of the text is one of institutions or addresses."""
    lowered = text.lower()
    if any(stem in lowered for stem in INSTITUTION_STEMS):
        return True
    return any(word in INSTITUTION_WORDS for word in re.findall(r"[^\W\d_]+", lowered))


def is_place(text: str) -> bool:
    """Whether the text is a country or a large region and nothing else."""
    packed = " ".join(re.sub(r"[.,()\d]", " ", text.lower()).split())
    return packed in PLACES or packed.removeprefix("the ") in PLACES


def is_group_name(text: str) -> bool:
    """Whether the text names a team, consortium or collaboration."""
    words = text.lower().split()
    return (
        1 < len(words) <= 9
        and words[-1].strip(".") in GROUP_WORDS
        and not has_institution_word(" ".join(words[:-1]))
        and not text.rstrip().endswith(".")
    )


def tidy_name(name: str) -> str:
    """The name in mixed case, if it is printed in capitals, with plain spaces."""
    name = " ".join(name.split()).strip(" ,;*")
    if name.isupper() and sum(letter.isalpha() for letter in name) > 4:
        first, *others = name.split()
        return " ".join([_mixed_case(first, is_first=True), *map(_mixed_case, others)])
    return name


def _mixed_case(word: str, *, is_first: bool = False) -> str:
    if _INITIALS.match(word) and ("." in word or len(word) == 1):
        return word
    if word.lower() in PARTICLES and not is_first:
        return word.lower()
    return re.sub(
        r"[^\W\d_]+", lambda found: found.group()[0].upper() + found.group()[1:].lower(), word
    )
