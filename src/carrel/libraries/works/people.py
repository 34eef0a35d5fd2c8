"""Names of people as they are compared: are two lists of authors the same people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import split_words

# Longer lists are compared by their first names: a collaboration of thousands costs no more.
MAX_PEOPLE = 60
_MAX_NAME_CHARACTERS = 200
_SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv", "phd", "md", "esq", "dr", "prof"})
_NOBODY = frozenset({"others", "et al", "etal", "et alii", "anonymous", "anon", "unknown", "n n"})
_CAPITALS = re.compile(r"^[^\W\d_]{1,3}$")
_MARKERS = re.compile(r"[*†‡§¶\d]+$")


@dataclass(frozen=True, slots=True)
class ComparableName:
    """A name folded for comparing: `family` as one word, first letters of the given names."""

    family: str
    initials: str
    words: frozenset[str]

    def is_same_person(self, other: ComparableName) -> bool:
        """Whether the family names agree and the given names do not speak against it.

        Names written family first, in another order or with a part left out count as the same.
        """
        if self.family == other.family:
            return _agree_on_initials(self.initials, other.initials)
        if len(self.words) > 1 and self.words == other.words:
            return True
        smaller, larger = sorted((self.words, other.words), key=len)
        return len(smaller) > 1 and smaller < larger


def _agree_on_initials(one: str, other: str) -> bool:
    if not one or not other:
        return True
    return one[0] in other or other[0] in one


@lru_cache(65_536)
def read_person(name: str) -> ComparableName | None:
    """`Ann B. Smith`, `Smith, Ann B.` or `Smith AB`; None for `et al.` and the like."""
    text = _MARKERS.sub("", name[:_MAX_NAME_CHARACTERS].strip()).strip(" ,;")
    family_first, comma, rest = text.partition(",")
    if comma and fold_text(rest).strip(" .") in _SUFFIXES:
        text, comma = family_first, ""
    if comma:
        family_words, given_words = _words(family_first), _words(rest)
        given_text = rest
    else:
        pieces = [piece for piece in text.split() if fold_text(piece).strip(".,") not in _SUFFIXES]
        at = _family_end(pieces)
        family_words = _words(" ".join(pieces[:at] if at else pieces[-1:]))
        given_text = " ".join(pieces[at:] if at else pieces[:-1])
        given_words = _words(given_text)
    if not family_words or " ".join(_words(text)) in _NOBODY:
        return None
    initials = _first_letters(given_text)
    words = frozenset(word for word in (*family_words, *given_words) if len(word) > 1)
    return ComparableName(family_words[-1], initials, words or frozenset(family_words))


def _family_end(pieces: Sequence[str]) -> int:
    """Where the family name ends in `Smith JA`; 0 where it stands last."""
    if len(pieces) < 2 or not _CAPITALS.match(pieces[-1]) or not pieces[-1].isupper():
        return 0
    return len(pieces) - 1 if any(not _is_initials(piece) for piece in pieces[:-1]) else 0


def _is_initials(piece: str) -> bool:
    """`J.`, `J.-P.` and `JP`, but not `Li`."""
    bare = piece.replace(".", "").replace("-", "")
    return len(bare) <= 1 or (len(bare) <= 3 and (bare.isupper() or "." in piece))


def _first_letters(given: str) -> str:
    letters = []
    for piece in re.split(r"[\s.\-]+", given):
        folded = "".join(split_words(fold_text(piece)))
        if not folded:
            continue
        letters.append(folded if piece.isupper() and len(folded) <= 3 else folded[0])
    return "".join(letters)


def _words(text: str) -> list[str]:
    return split_words(fold_text(text.replace("'", "").replace("’", "")))


def read_people(names: Iterable[str]) -> tuple[ComparableName, ...]:
    """The people of a list that are named, at most `MAX_PEOPLE`."""
    found: list[ComparableName] = []
    for name in names:
        person = read_person(name)
        if person is not None:
            found.append(person)
        if len(found) == MAX_PEOPLE:
            break
    return tuple(found)


@dataclass(frozen=True, slots=True)
class PeopleInCommon:
    """How many of the shorter list are in the longer, and whether first authors are in both."""

    shared: int
    shorter: int
    has_first: bool

    @property
    def share(self) -> float:
        return self.shared / self.shorter if self.shorter else 0.0


def _count_matches(people: Sequence[ComparableName], others: Sequence[ComparableName]) -> int:
    free = list(others)
    shared = 0
    for person in people:
        at = next((at for at, each in enumerate(free) if person.is_same_person(each)), None)
        if at is not None:
            del free[at]
            shared += 1
    return shared


def count_shared_people(
    one: Sequence[ComparableName], other: Sequence[ComparableName]
) -> PeopleInCommon:
    """Compare two lists; each name counts once."""
    fewer, more = (one, other) if len(one) <= len(other) else (other, one)
    shared = max(_count_matches(fewer, more), _count_matches(more, fewer))
    has_first = bool(one and other) and (
        any(one[0].is_same_person(each) for each in other)
        and any(other[0].is_same_person(each) for each in one)
    )
    return PeopleInCommon(shared, len(fewer), has_first)
