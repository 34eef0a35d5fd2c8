"""In which words two titles differ, and whether one work can have both.

Case, punctuation, accents, word joins, spellings, plurals, minor words, a subtitle, an abbreviation
and damage of a single word leave a title the same. Any other word makes it another title: nearly
equal titles of the same people in one year are as often two works (men and women, with and without,
zinc and iron) as one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from carrel.libraries.text.spelling import unify_spelling
from carrel.libraries.text.words import split_words
from carrel.libraries.works.titles import clean_title, squash_title

# Words compared; longer titles are those of broken records, and their ends are not looked at.
_MAX_WORDS = 120
# A beginning of a title that can be a title of its own.
_MIN_LETTERS_OF_BEGINNING = 20
# In shorter words another letter makes another word.
_MIN_LETTERS_OF_DAMAGED = 5
_MIN_LETTERS_OF_HALVED = 7
_MAX_LETTERS_OF_ACRONYM = 8

_MINOR = """
    a an the and of in on at to for from by with as is are was were be been being it its their our
    that this these those which into upon via has have do does can
"""
_MINOR_WORDS = frozenset(_MINOR.split())
_LIGATURES = ("ffi", "ffl", "ff", "fi", "fl")
# What scans read for other letters. Any other letter may be another word: of the words of eLife's
# abstracts some hundred pairs of eight and more letters differ in one inner letter (projection and
# protection, presented and prevented, osteoblast and osteoclast).
_READ_AS = (("rn", "m"), ("cl", "d"), ("vv", "w"), ("ii", "u"))
# Words that differ so, or in a doubled consonant, and are two.
_PAIRS_OF_WORDS = """
    modern/modem clone/done clown/down clear/dear close/dose cloud/doud clump/dump latter/later
    desert/dessert planning/planing scarred/scared starring/staring filling/filing winning/wining
    welcome/wellcome striped/stripped hopping/hoping tapping/taping planner/planer
"""
_OTHER_WORDS = frozenset(frozenset(pair.split("/")) for pair in _PAIRS_OF_WORDS.split())
# Stands for a letter that was lost on the way and left a mark: Schr?dinger.
_ANY_LETTER = "\u0294"
_LOST_LETTER = re.compile(r"(?<=[^\W\d_])[?\ufffd](?=[^\W\d_])")
_BREAK = re.compile(r"[:.?!;|]|\s--?-?\s|--")
_CUT = re.compile(r"(?:\.\.\.|\u2026)[\s\"'\])]*$")
# A single capital A between words is a name, not an article: vitamin A, drug A.
_NAMED_A = re.compile(r"(?<=[^\W_][ -])A\b(?=\W|$)")
# A subtitle that says that the text is about the title, not the same text.
_NAMES_OF_NOTICES = """
    reply response comment commentary correction corrigendum erratum addendum retraction rejoinder
    discussion protocol supplement supplementary update appendix part volume chapter summary
    abstract poster slide errata review data dataset code
"""
_TELLING_SUBTITLE = frozenset(_NAMES_OF_NOTICES.split())


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a title in one form, and whether a new part of it begins at each."""

    forms: tuple[str, ...]
    breaks: tuple[bool, ...]
    is_cut: bool
    names_a: bool

    @property
    def count(self) -> int:
        return len(self.forms)


def find_title_difference(one: str, other: str) -> str | None:
    """The words in which two titles differ so that they are other titles, said for a person."""
    if squash_title(one) == squash_title(other):
        return None
    # The matcher gives other blocks when turned round.
    return _find_difference(*sorted((one, other)))


@lru_cache(65_536)
def _find_difference(one: str, other: str) -> str | None:
    here, there = _read_words(one), _read_words(other)
    if here.forms == there.forms:
        return None
    matcher = SequenceMatcher(None, here.forms, there.forms, autojunk=False)
    for action, first, end, other_first, other_end in matcher.get_opcodes():
        if action == "equal":
            continue
        mine, theirs = here.forms[first:end], there.forms[other_first:other_end]
        if _is_end_left_out(here, first, end, there, other_first, other_end):
            continue
        if _is_end_left_out(there, other_first, other_end, here, first, end):
            continue
        mine, theirs = _drop_minor(mine, here.names_a), _drop_minor(theirs, there.names_a)
        if _is_same_text(mine, theirs):
            continue
        if _is_own_acronym(mine, theirs, here.forms[:first], there.forms[:other_first]):
            continue
        return f"their titles differ in {_say(mine)} / {_say(theirs)}"
    return None


@lru_cache(16_384)
def _read_words(title: str) -> _Words:
    text = _LOST_LETTER.sub(_ANY_LETTER, clean_title(title))
    words = split_words(text)[:_MAX_WORDS]
    breaks, place = [], 0
    for word in words:
        at = text.index(word, place)
        breaks.append(_BREAK.search(text[place:at]) is not None)
        place = at + len(word)
    return _Words(
        tuple(map(_word_form, words)),
        tuple(breaks),
        _CUT.search(text) is not None,
        not title.isupper() and _NAMED_A.search(title) is not None,
    )


@lru_cache(65_536)
def _word_form(word: str) -> str:
    """One form for spellings, plurals, and a Greek letter and its name."""
    if len(word) == 1 and not word.isascii():
        name = unicodedata.name(word, "")
        return name.rpartition(" ")[2].lower() if name.startswith("GREEK SMALL LETTER") else word
    word = unify_spelling(word)
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("xes", "ches", "shes", "sses", "zes")) else word[:-1]


def _drop_minor(words: Sequence[str], names_a: bool) -> tuple[str, ...]:
    return tuple(word for word in words if word not in _MINOR_WORDS or (word == "a" and names_a))


def _is_same_text(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether the same words are written otherwise: joined, shortened to initials or damaged."""
    here, there = "".join(mine), "".join(theirs)
    if here == there:
        return True
    if not here or not there:
        return False
    if _is_acronym(here, theirs) or _is_acronym(there, mine) or _lost_ligature(here, there):
        return True
    return len(mine) == len(theirs) and all(
        a == b or is_damaged_word(a, b) for a, b in zip(mine, theirs, strict=True)
    )


def _is_acronym(short: str, words: Sequence[str]) -> bool:
    """Whether a word is the initials of several others: `bec` of `bose einstein condensate`."""
    initials = "".join(word[0] for word in words)
    return 2 <= len(words) <= _MAX_LETTERS_OF_ACRONYM and short == initials


def _is_own_acronym(
    mine: Sequence[str],
    theirs: Sequence[str],
    before_mine: Sequence[str],
    before_theirs: Sequence[str],
) -> bool:
    """Whether one title only adds the initials of the words before: `... analysis (PCA)`."""
    for added, missing, before in ((mine, theirs, before_mine), (theirs, mine, before_theirs)):
        if len(added) == 1 and not missing and len(added[0]) >= 2:
            for words in (before, _drop_minor(before, names_a=False)):
                if _is_acronym(added[0], words[-len(added[0]) :]):
                    return True
    return False


def is_damaged_word(one: str, other: str) -> bool:
    """Whether two words are one that lost a ligature, half of a double letter, or was misread."""
    if min(len(one), len(other)) < _MIN_LETTERS_OF_DAMAGED:
        return _lost_ligature(one, other)
    if frozenset((one, other)) in _OTHER_WORDS:
        return False
    return (
        _lost_ligature(one, other)
        or _fits_mark(one, other)
        or _is_double_halved(*sorted((one, other), key=len))
        or any(_is_read_as(one, other, *pair) for pair in _READ_AS)
    )


def _fits_mark(one: str, other: str) -> bool:
    return len(one) == len(other) and all(
        a == b or _ANY_LETTER in (a, b) for a, b in zip(one, other, strict=True)
    )


def _is_double_halved(shorter: str, longer: str) -> bool:
    """`occurence` for `occurrence`."""
    return _MIN_LETTERS_OF_HALVED <= len(shorter) == len(longer) - 1 and any(
        longer[at] == longer[at - 1]
        and longer[at] not in "aeiou"
        and longer[:at] + longer[at + 1 :] == shorter
        for at in range(1, len(longer) - 1)
    )


def _lost_ligature(one: str, other: str) -> bool:
    """Whether one text is the other without some of its ligatures: `ecient` for `efficient`."""
    shorter, longer = sorted((one, other), key=lambda word: (len(word), word))
    if len(longer) < _MIN_LETTERS_OF_DAMAGED:
        return False
    place, at = 0, 0
    while at < len(longer):
        if place < len(shorter) and shorter[place] == longer[at]:
            place, at = place + 1, at + 1
            continue
        lost = next((each for each in _LIGATURES if longer.startswith(each, at)), None)
        if lost is None:
            return False
        at += len(lost)
    return place == len(shorter) > 0


def _is_read_as(one: str, other: str, printed: str, read: str) -> bool:
    """Whether two words are equal but for one place where a scan read some letters as others."""
    return any(
        word[:at] + read + word[at + len(printed) :] == turned
        for word, turned in ((one, other), (other, one))
        for at in range(len(word))
        if word.startswith(printed, at)
    )


def _is_end_left_out(
    longer: _Words, first: int, end: int, shorter: _Words, other_first: int, other_end: int
) -> bool:
    """Whether the rest of a title is its subtitle, or was cut off where the other one says so."""
    if end != longer.count or other_end != shorter.count or first == end:
        return False
    if len("".join(shorter.forms)) < _MIN_LETTERS_OF_BEGINNING:
        return False
    left = shorter.forms[other_first:other_end]
    if shorter.is_cut:
        return not left or (len(left) == 1 and longer.forms[first].startswith(left[0]))
    opening = next(iter(_drop_minor(longer.forms[first:], names_a=False)), "")
    return not left and longer.breaks[first] and opening not in _TELLING_SUBTITLE


def _say(words: Sequence[str]) -> str:
    return f"“{' '.join(words)[:60]}”" if words else "nothing"
