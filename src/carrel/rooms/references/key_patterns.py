"""Citation keys by a pattern such as `{author}-{year}`: parsed once, filled from each reference."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from carrel.core.errors import InvalidInputError
from carrel.libraries.bibliography.citation_keys import TITLE_WORDS_LEFT_OUT, make_key, slug
from carrel.libraries.csl.schema import VARIABLES
from carrel.rooms.references.items import Item, family, first_family, people, text_of, year_of

LONGEST_KEY = 100
# The name of what is done without a pattern: an item without a person or a year has a key as well.
DEFAULT_PATTERN = "{author}-{year}"
_MAX_PATTERN = 200
_PLACE = re.compile(r"\{([^{}]*)\}")
_FIELD = re.compile(r"^([a-z][a-z-]*)(?::(\d{1,2}))?$", re.IGNORECASE)
_LITERAL = re.compile(r"^[A-Za-z0-9_.:+/-]*$")
_ALTERNATIVES = {"author", "authors", "editor", "editors", "year", "title", "journal", "type", "id"}
_HELP = (
    "Such as {author}-{year} or {authors:2}{year}{title:1}; docs/references.md has every field "
    "and change."
)


def _first_letters(words: list[str]) -> list[str]:
    return [word[:1] for word in words]


def _capitals(word: str) -> list[str]:
    """`DeBeauvoir` of `de_beauvoir`: a name of several words is one word of a key."""
    return [part[:1].upper() + part[1:] for part in word.split("_")]


_CHANGES: dict[str, Callable[[list[str]], list[str]]] = {
    "lower": lambda words: [word.lower() for word in words],
    "upper": lambda words: [word.upper() for word in words],
    "capital": lambda words: ["".join(_capitals(word)) for word in words],
    "initials": _first_letters,
    "short": lambda words: [word[-2:] for word in words],
}


@dataclass(frozen=True, slots=True)
class _Place:
    """A field of the pattern: how many words or names of it, how changed, and what instead."""

    field: str
    count: int | None
    changes: tuple[str, ...]
    letters: int | None
    joint: str
    instead: str


@dataclass(frozen=True, slots=True)
class KeyPattern:
    """A parsed pattern: texts and places in turn."""

    pieces: tuple[str | _Place, ...]

    def make(self, item: Item) -> str:
        """The key for an item; that of no pattern where nothing of the pattern is known."""
        filled = [piece if isinstance(piece, str) else _fill(piece, item) for piece in self.pieces]
        pairs = zip(filled, self.pieces, strict=True)
        said = [text for text, piece in pairs if isinstance(piece, _Place)]
        if not any(said):
            return make_key(first_family(item), year_of(item), text_of(item, "title"))
        return _tidy("".join(filled))


def parse_key_pattern(pattern: str) -> KeyPattern:
    """Raises InvalidInputError, which says what of the pattern is wrong."""
    if len(pattern) > _MAX_PATTERN:
        raise InvalidInputError("The pattern is too long", next_step=_HELP)
    pieces: list[str | _Place] = []
    at = 0
    for found in _PLACE.finditer(pattern):
        pieces += [_read_literal(pattern[at : found.start()]), _read_place(found.group(1))]
        at = found.end()
    pieces.append(_read_literal(pattern[at:]))
    if not any(isinstance(piece, _Place) for piece in pieces):
        raise InvalidInputError("The pattern has no field in braces", next_step=_HELP)
    return KeyPattern(tuple(piece for piece in pieces if piece != ""))


def _read_literal(text: str) -> str:
    if not _LITERAL.match(text):
        raise InvalidInputError(
            f"The pattern has {text!r}, which a key may not have",
            next_step=f"Between fields take letters, digits and _ . : + / -. {_HELP}",
        )
    return text


def _read_place(text: str) -> _Place:
    name, *changes = [part.strip() for part in text.split("|")]
    found = _FIELD.match(name)
    if found is None:
        raise InvalidInputError(f"{{{text}}} names no field", next_step=_HELP)
    count = int(found.group(2)) if found.group(2) else None
    field = found.group(1)
    if field.lower() not in _ALTERNATIVES and field not in VARIABLES:
        raise InvalidInputError(
            f"There is no field {field}", next_step=f"{_HELP} CSL's own names are taken as well."
        )
    letters, joint, instead, named = None, "", "", []
    for change in changes:
        word, _, value = change.partition(" ")
        if word == "letters" and value.isdecimal() and int(value) > 0:
            letters = int(value)
        elif word == "join" and _LITERAL.match(value):
            joint = value
        elif word == "else" and value and _LITERAL.match(value):
            instead = value
        elif change in _CHANGES:
            named.append(change)
        else:
            raise InvalidInputError(
                f"{change!r} is no change of a field",
                next_step=f"Take one of {', '.join(_CHANGES)}, letters N, join TEXT, else TEXT.",
            )
    return _Place(field, count, tuple(named), letters, joint, instead)


def _fill(place: _Place, item: Item) -> str:
    words = [word for word in _list_words(place, item) if word]
    for change in place.changes:
        words = _CHANGES[change](words)
    text = place.joint.join(words)
    if place.letters is not None:
        text = text[: place.letters]
    return text or place.instead


def _list_words(place: _Place, item: Item) -> list[str]:
    """The names or words of a field, plain; of `author` one name and of `title` three words."""
    field = place.field.lower()
    match field:
        case "author" | "authors" | "editor" | "editors":
            role = field.removesuffix("s")
            persons = list(people(item, role))
            if role == "author" and not persons:
                persons = list(people(item, "editor"))
            usual = len(persons) if field.endswith("s") else 1
            return [slug(family(person)) for person in persons[: place.count or usual]]
        case "year":
            year = year_of(item)
            return [] if year is None else [str(year)]
        case "title":
            return _list_telling(text_of(item, "title"))[: place.count or 3]
        case "journal":
            return _list_telling(text_of(item, "container-title"))[: place.count]
        case _:
            return [slug(word) for word in text_of(item, place.field).split()][: place.count]


def _list_telling(text: str) -> list[str]:
    words = [slug(word) for word in re.sub(r"<[^>]{1,200}>|[-–—/]", " ", text).split()]
    telling = [word for word in words if word and word not in TITLE_WORDS_LEFT_OUT]
    return telling or [word for word in words if word]


def _tidy(key: str) -> str:
    """Without separators that a missing field left at an end or twice."""
    return re.sub(r"([-_.:+/])[-_.:+/]+", r"\1", key).strip("-_.:+/")[:LONGEST_KEY].rstrip("-_.:+/")


def default_key(item: Item) -> str:
    """`family-year`, as without a pattern."""
    return make_key(first_family(item), year_of(item), text_of(item, "title"))


MakeKey = Callable[[Item], str]


def choose_key_maker(pattern: str) -> MakeKey:
    """How keys are made by a pattern; `DEFAULT_PATTERN` gives what no pattern gives."""
    return default_key if pattern in {"", DEFAULT_PATTERN} else parse_key_pattern(pattern).make
