"""Words of scientific prose: their normal form, how general they are, and what they cannot name."""

import lzma
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

_DATA = Path(__file__).parent / "data"
_LISTS = tomllib.loads((_DATA / "word_lists.toml").read_text(encoding="utf-8"))
_FORMS = tomllib.loads((_DATA / "normal_forms.toml").read_text(encoding="utf-8"))
_GREEK: dict[str, str] = dict(_FORMS["greek"])
_BRITISH = tuple((re.compile(spelt), american) for spelt, american in _FORMS["british"])
_IRREGULAR: dict[str, str] = dict(_FORMS["irregular"])
_INVARIANT = frozenset(_FORMS["invariant"])
_NOUN_ENDINGS: tuple[tuple[str, tuple[str, ...]], ...] = tuple(
    (ending, tuple(nouns)) for ending, nouns in _FORMS["noun_endings"]
)
_SURE_NOUN_ENDINGS: tuple[tuple[str, str], ...] = tuple(map(tuple, _FORMS["sure_noun_endings"]))
_NOT_A_HEAD = tuple(_FORMS["not_a_head"])

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_TOKENS_AND_GAPS = re.compile(r"([^\W_]+(?:['’][^\W_]+)?)")
LONGEST_SHORT_FORM = 10


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 3 or not word.endswith("s") or word in _INVARIANT:
        return word
    if word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("yses"):
        return word[:-2] + "is"
    if word.endswith("oses") and len(word) > 7:
        return word[:-2] + "is"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=400_000)
def normal_word(word: str) -> str:
    """A word in normal form: `Haemorrhages` becomes `hemorrhage`."""
    plain = word.casefold().replace("’", "'")
    plain = plain.removesuffix("'s")
    plain = plain.replace("'", "")
    if not plain.isascii():
        plain = "".join(_GREEK.get(letter, letter) for letter in plain)
        # Folded once more: a raised capital comes apart into a plain one.
        decomposed = unicodedata.normalize("NFKD", plain).casefold()
        plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    for pattern, american in _BRITISH:
        plain = pattern.sub(american, plain)
    return _singular(plain)


def words_of(text: str) -> list[str]:
    """The words of a text as written, hyphens counting as spaces."""
    return _TOKEN.findall(text)


def words_and_gaps(text: str) -> list[str]:
    """Split a text into gaps (even positions) and words (odd ones); joined, it is the text."""
    return _TOKENS_AND_GAPS.split(text)


@lru_cache(maxsize=400_000)
def short_form(word: str) -> str | None:
    """The word as a short form (`AML`, `mPFC`) without a plural s, or None if it is none."""
    plain = word.removesuffix("s")
    if not 2 <= len(plain) <= LONGEST_SHORT_FORM or not plain.isalnum() or not plain.isascii():
        return None
    return plain if sum(letter.isupper() for letter in plain) >= 2 else None


def has_capitals(key: str) -> bool:
    """Whether a key is a short form: normal forms have no ASCII capitals."""
    return key.isascii() and key != key.lower()


def is_shouted(text: str) -> bool:
    """Whether the first 200 characters are mostly capitals, so that case tells nothing."""
    opening = text[:200]
    return sum(map(str.isupper, opening)) > sum(map(str.islower, opening))


def normal_phrase(text: str) -> str:
    """A phrase as a concept's key: normal words with single spaces."""
    return " ".join(normal_word(word) for word in _TOKEN.findall(text))


@lru_cache(maxsize=200_000)
def nouns_behind(adjective: str) -> tuple[str, ...]:
    """Nouns an adjective may derive from (`hypoxic`: `hypoxia`), likeliest first, unchecked."""
    return tuple(
        adjective[: -len(ending)] + noun
        for ending, nouns in _NOUN_ENDINGS
        if adjective.endswith(ending) and len(adjective) - len(ending) >= 3
        for noun in nouns
    )


def sure_noun_behind(adjective: str) -> str | None:
    """The noun of a long adjective with an unambiguous ending (`neurodegenerative`), or None."""
    if len(adjective) < 8:
        return None
    return next(
        (
            adjective[: -len(ending)] + noun
            for ending, noun in _SURE_NOUN_ENDINGS
            if adjective.endswith(ending)
        ),
        None,
    )


def _words(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name].split())


_NOUNS_DESPITE_ENDING = _words("nouns_despite_ending")


@lru_cache(maxsize=400_000)
def may_end_a_concept(word: str) -> bool:
    """Whether a word can head a term: no number, adverb, participle or adjective by its ending."""
    if len(word) < 3 or word.isdigit():
        return False
    return not word.endswith(_NOT_A_HEAD) or word in _NOUNS_DESPITE_ENDING


# What each list holds is said in `word_lists.toml`.
SAYS_LITTLE: frozenset[str] = _words("says_little")
FUNCTION_WORDS: frozenset[str] = _words("closed_class") | _words("talk_of_papers")
NEEDS_COMPANY: frozenset[str] = _words("needs_company")
GENERIC_HEADS = _words("generic_heads")
GENERIC_OPENERS = _words("generic_openers")
PARTICIPLES = _words("participles")
PLACES = _words("places")
PEOPLE = _words("people")
PAPER_AND_MEETING_HEADS = _words("paper_and_meeting_heads")
STUDY_HEADS = _words("study_heads")
STUDY_PHRASES = frozenset(_LISTS["study_phrases"])
NO_TERM_ALONE = _words("no_term_alone")
UNITS = _words("units")
BESIDE_BODIES = _words("beside_bodies")
NAME_HEADS = _words("name_heads")
NAMES = frozenset(_LISTS["names"])
ENGLISH_MARKS = _words("english_marks")
LABORATORY = _words("laboratory")
EXPRESSIONS: tuple[str, ...] = tuple(_LISTS["expressions"])
DETERMINERS = _words("determiners")
BEFORE_PLACES = _words("before_places")
BEFORE_VERBS = _words("before_verbs")
BEFORE_ADJECTIVES = _words("before_adjectives")
ADJECTIVE_ENDINGS = tuple(_FORMS["adjective_endings"])
JOINING = frozenset(("and", "or"))
"""Words behind which a name may still be going on (`hematopoietic stem and progenitor cells`)."""


_GREEK_NAME = re.compile(r"alpha|beta|gamma|delta|epsilon|kappa|lambda|sigma|omega")


def are_variants(one: str, other: str) -> bool:
    """Whether two keys are variants: the same letters, or one abbreviates the other."""
    # `c-Src` is Src, as the cell has it.
    first, second = (_plain_letters(key.removeprefix("c ")) for key in (one, other))
    if first == second:
        return True
    return _abbreviates(one, other) or _abbreviates(other, one)


def _plain_letters(key: str) -> str:
    # `nf kappab` and `nf kb` are one: where authors save themselves a Greek letter they write its
    # Latin one.
    return _GREEK_NAME.sub(lambda found: found[0][0], key).replace(" ", "").removesuffix("s")


def _abbreviates(short: str, long: str) -> bool:
    # `ltp`, `nmdar` and `p aeruginosa`: initials (small words counted or not), a first word with
    # initials, a genus cut to its letter.
    letters, words = short.replace(" ", ""), long.split(" ")
    if len(words) < 2 or len(letters) < 2:
        return False
    if letters == words[0] + "".join(word[0] for word in words[1:]):
        return True
    if short.split(" ")[1:] == words[1:] and short.split(" ", maxsplit=1)[0] == words[0][0]:
        return True
    carrying = [word for word in words if word not in FUNCTION_WORDS]
    return letters in {"".join(word[0] for word in words), "".join(word[0] for word in carrying)}


_KINDS = _DATA / "word_kinds.txt.xz"
# `2016The` and `2005a`: a year with what a lost space or a citation added; `2009` alone is a date.
_YEAR = re.compile(r"(1[89]|20)\d\d[a-z]*|[a-z]{3,}(1[89]|20)\d\d|\d{2,}(st|nd|rd|th|[a-z]{4,})")
_LONGEST_SYMBOL = 2
_AGES = frozenset(("age", "aged", "day", "week", "grade"))
_BODY_OF = ("department of ", "institute of ", "university of ", "ministry of ", "faculty of ")


@cache
def word_kinds() -> Mapping[str, frozenset[str]]:
    """Words that are no nouns, people, places and names; `benchmarks/word_kinds.py` makes them."""
    lines = lzma.decompress(_KINDS.read_bytes()).decode("ascii").splitlines()
    return {
        name: frozenset(words.split(",")) for name, words in (line.split("\t") for line in lines)
    }


@lru_cache(maxsize=200_000)
def names_no_subject(key: str, *, is_short_form: bool = False) -> bool:
    """Whether a phrase names people, a place, a part of a paper, a meeting, a time or a symbol.

    A short form (`FRET`, `VIP`) is not read as the word it looks like.
    """
    if is_short_form and " " not in key:
        return key in UNITS or _YEAR.fullmatch(key) is not None
    words = key.lower().split(" ")
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    head, is_numbered = words[-1], len(words) <= key.count(" ")
    if len(words) == 1 and (
        head in NO_TERM_ALONE
        or head in UNITS
        or is_no_noun(head)
        or (is_numbered and head in _AGES)
    ):
        return True
    return (
        _names_someone_or_somewhere(words)
        or head in PAPER_AND_MEETING_HEADS | STUDY_HEADS
        or not STUDY_PHRASES.isdisjoint((" ".join(words), " ".join(words[-2:])))
        or any(_YEAR.fullmatch(word) for word in words)
        or (" " in key and all(len(w) <= _LONGEST_SYMBOL or w in UNITS for w in key.split(" ")))
    )


def _names_someone_or_somewhere(words: list[str]) -> bool:
    head, whole, kinds = words[-1], " ".join(words), word_kinds()
    return (
        head in PEOPLE
        or head in PLACES
        or head in kinds["people"]
        or any(" ".join(words[-n:]) in kinds["places"] for n in range(1, 4))
        or whole in kinds["names"]
        or " ".join(words[-2:]) in NAMES
        or whole.startswith(_BODY_OF)
    )


def is_no_noun(word: str) -> bool:
    """Whether a word is an adjective, adverb or verb that is hardly ever used as a noun."""
    return word in word_kinds()["no_nouns"]


_TABLE = _DATA / "general_words.txt.xz"


@cache
def general_levels() -> Mapping[str, int]:
    """The level of every word that all fields use; see `general_level`."""
    # `benchmarks/general_words.py` makes the file and says from which texts.
    lines = lzma.decompress(_TABLE.read_bytes()).decode("ascii").splitlines()
    return {word: int(level) for word, level in (line.split(" ") for line in lines)}


def general_level(word: str) -> int:
    """Half octaves by which all fields use a normal word more than one text in 5,000; else 0."""
    return general_levels().get(word, 0)
