"""Titles as they are compared: the key of a title, its numbers, and what kind of text it heads."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import CJK, STOP_WORDS, split_words

# Titles are compared by this many letters and digits; real ones are shorter.
MAX_TITLE_LETTERS = 400
_MAX_TITLE_CHARACTERS = 2_000
# Titles with fewer letters say too little; a character of Chinese, Japanese or Korean says as much
# as about three letters.
MIN_TELLING_LETTERS = 16
_LETTERS_OF_A_CJK_CHARACTER = 3
_BLOCK_LETTERS = 24
_IS_CJK = re.compile(f"[{CJK}]")
_MARKUP = re.compile(
    r"</?(?:i|b|em|strong|sub|sup|sc|span|italic|bold|scp|u|tt|jats:[a-z]{1,12}|mml:[a-z]{1,12})"
    r"\b[^<>]{0,200}>",
    re.IGNORECASE,
)
_TEX_COMMAND = re.compile(r"\\(?:text|math|emph|it|bf|rm|sc|tt)[a-z]{0,6}\b")
_DIGITS = re.compile(r"\d+")
_NUMERAL_WORDS = (
    "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv one two three four five six seven eight "
    "nine ten first second third fourth fifth sixth 1st 2nd 3rd 4th 5th"
)
_NUMERALS = frozenset(_NUMERAL_WORDS.split())
_NOTICES = (
    ("correction_of", r"correct(?:ion|ions|ed)\b|corrigend(?:um|a)\b|errat(?:um|a)\b|addendum\b"),
    ("correction_of", r"(?:publisher|author)s? correction\b|amendment\b"),
    ("retraction_of", r"retract(?:ion|ed)\b|withdraw(?:al|n)\b|expression of concern\b"),
    ("comment_on", r"comments? (?:on|to)\b|reply\b|repl(?:y|ies) to\b|response to\b|rebuttal\b"),
    ("comment_on", r"(?:book )?review of\b|decision letter\b|author response\b|commentary on\b"),
    ("comment_on", r"rejoinder\b|discussion of\b|re\s?:"),
    ("version_of", r"(?:data|code) (?:from|for)\b|supplement(?:ary|al) (?:material|data|info)"),
)
_NOTICE = tuple((relation, re.compile(rf"^[\W_]*(?:{written})")) for relation, written in _NOTICES)
# Of these a work may have several, of the same people in one year.
_REPEATED = re.compile(
    r"^[\W_]*(?:correct(?:ion|ions|ed)\b|corrigend|errat(?:um|a)\b|addendum\b|amendment\b"
    r"|(?:publisher|author)s? correction\b|retract(?:ion|ed)\b|withdraw(?:al|n)\b"
    r"|expression of concern\b|repl(?:y|ies)\b|rejoinder\b|author response\b|decision letter\b"
    r"|re\s?:)"
)
_GENERIC_TITLES = """
    editorial editorialboard index authorindex subjectindex contents tableofcontents preface
    foreword introduction conclusion conclusions abstract abstracts announcement announcements news
    newsinbrief inbrief bookreview bookreviews bookreceived booksreceived letterstotheeditor
    lettertotheeditor correspondence questionsandanswers obituary frontmatter backmatter
    issueinformation inthisissue fromtheeditor fromtheeditors editorsnote editorsnotes
    acknowledgements acknowledgments references bibliography appendix discussion summary
    guesteditorial specialissue callforpapers annualreport proceedings untitled notitle
    inmemoriam calendarofevents mastheads cover miscellany supplementarymaterial
    supplementaryinformation researchhighlights comment commentary perspective viewpoint reply
    erratum corrigendum correction retraction readme notes paper article document
"""
_GENERIC = frozenset(_GENERIC_TITLES.split())


@lru_cache(16_384)
def clean_title(title: str) -> str:
    """A title folded for comparing, without markup, trademark signs or a final dot."""
    text = title[:_MAX_TITLE_CHARACTERS]
    if "&" in text:
        text = html.unescape(text)
    if "<" in text:
        text = _MARKUP.sub("", text)
    if "\\" in text or "$" in text or "{" in text:
        text = _TEX_COMMAND.sub("", text).translate(_NO_TEX)
    return fold_text(text)


_NO_TEX = str.maketrans("", "", "{}$\\")


@lru_cache(16_384)
def title_words(title: str) -> tuple[str, ...]:
    return tuple(split_words(clean_title(title)))


def squash_title(title: str) -> str:
    """The letters and digits of a title: the form in which titles are equal."""
    return "".join(title_words(title))[:MAX_TITLE_LETTERS]


def count_telling_letters(key: str) -> int:
    """The letters of a squashed title, characters that stand for words counted as several."""
    return len(key) + (_LETTERS_OF_A_CJK_CHARACTER - 1) * len(_IS_CJK.findall(key))


def is_generic_title(key: str) -> bool:
    """Whether many works have this squashed title: Editorial, Index, Questions and Answers."""
    return key in _GENERIC


def find_notice(title: str) -> str | None:
    """How a correction, retraction, comment or data set is related to what its title names."""
    text = clean_title(title)
    return next((relation for relation, pattern in _NOTICE if pattern.match(text)), None)


def is_repeated_notice(title: str) -> bool:
    """Whether the title is one of a notice or reply that the same people may publish again."""
    return _REPEATED.match(clean_title(title)) is not None


def title_likeness(one: str, other: str) -> float:
    """How alike two squashed titles are, 0 to 1, whichever is first; small values are 0."""
    # The matcher gives another ratio when turned round.
    return 1.0 if one == other else _likeness(*sorted((one, other)))


@lru_cache(65_536)
def _likeness(one: str, other: str) -> float:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    if matcher.real_quick_ratio() < 0.5 or matcher.quick_ratio() < 0.5:
        return 0.0
    return matcher.ratio()


def have_different_numbers(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether titles that are not equal differ in a number: Part I and II, 1996 and 1997."""
    if _DIGITS.findall(" ".join(one)) != _DIGITS.findall(" ".join(other)):
        return True
    return bool((set(one) ^ set(other)) & _NUMERALS)


def title_blocks(words: Sequence[str], first_family: str | None, year: int | None) -> list[str]:
    """Keys that titles of one work share: how they begin, how they end, their longest words.

    The facts sheet of this round measured that 0.998 of true pairs share one of the four.
    """
    key = "".join(words)[:MAX_TITLE_LETTERS]
    if not key:
        return []
    longest = sorted({word for word in words if word not in STOP_WORDS}, key=lambda w: (-len(w), w))
    blocks = [f"begins {key[:_BLOCK_LETTERS]}", f"ends {key[-_BLOCK_LETTERS:]}"]
    if first_family and year and longest:
        blocks.append(f"by {first_family} {year} {' '.join(sorted(longest[:2]))}")
    if len(longest) >= 4:
        blocks.append(f"words {' '.join(sorted(longest[:4]))}")
    return blocks
