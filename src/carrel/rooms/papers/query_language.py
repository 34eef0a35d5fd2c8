"""What a person types into the search box, read into a small tree. Nothing that can be typed is an
error.

Loose words want all of them, or as many as there are. "Quoted words" stand together. AND, OR and
NOT in capitals, round
brackets, a star for a beginning (`neuro*`), and fields: author: venue: tag: keyword: institution:
title: doi: year:2019..2024.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

from carrel.rooms.papers.identifiers import Identifier, identifiers_in
from carrel.rooms.papers.models import FacetCategory
from carrel.rooms.papers.words import is_cjk, key, words


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that stand together in this order; a single word is the shortest. In quotes they are
    meant exactly as written.
    """

    words: tuple[str, ...]
    is_prefix: bool = False
    in_title: bool = False
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class Facet:
    """Papers that have a value with these words in one of their facets."""

    category: FacetCategory
    words: tuple[str, ...]
    is_prefix: bool = False


@dataclass(frozen=True, slots=True)
class Years:
    """Papers of these years, both ends included; None is an open end."""

    first: int | None
    last: int | None


@dataclass(frozen=True, slots=True)
class Named:
    """The paper with one of these identifiers."""

    identifiers: tuple[Identifier, ...]


@dataclass(frozen=True, slots=True)
class All:
    """Papers that fit every part."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """Papers that fit at least one part."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Papers that do not fit."""

    part: Node


Node: TypeAlias = Phrase | Facet | Years | Named | All | Any | Not


@dataclass(frozen=True, slots=True)
class Query:
    """What was asked: loose words, which rank; and what must hold, which decides."""

    text: str
    loose: tuple[Phrase, ...] = ()
    strict: Node | None = None
    identifiers: tuple[Identifier, ...] = ()
    title_key: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.loose and self.strict is None

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """Everything a found paper may show: what was asked for together, and each word of it."""
        asked = self.loose + tuple(_wanted_phrases(self.strict))
        whole = Phrase(tuple(word for phrase in self.loose for word in phrase.words))
        pieces = tuple(
            Phrase((word,)) for phrase in self.loose for word in phrase.words if not is_cjk(word)
        )
        return (whole, *asked, *pieces) if len(whole.words) > 1 else asked


def _wanted_phrases(node: Node | None) -> Iterator[Phrase]:
    match node:
        case Phrase():
            yield node
        case All(parts) | Any(parts):
            for part in parts:
                yield from _wanted_phrases(part)
        case _:
            return


_FIELDS: dict[str, FacetCategory] = {
    "author": "author",
    "authors": "author",
    "venue": "venue",
    "journal": "venue",
    "tag": "tag",
    "tags": "tag",
    "keyword": "keyword",
    "keywords": "keyword",
    "institution": "institution",
    "institutions": "institution",
}
_FIELD_NAMES = "|".join((*_FIELDS, "title", "year", "doi"))
_QUOTES = '"“”„‟«»「」『』'
_LEXEME = re.compile(
    rf"""(?:(?P<field>{_FIELD_NAMES}):[ ]*(?=[^\s():]))?
         (?:[{_QUOTES}](?P<quoted>[^{_QUOTES}]*)[{_QUOTES}]
         | (?P<open>\() | (?P<close>\)) | (?P<word>[^\s(){_QUOTES}]+) | [{_QUOTES}])""",
    re.VERBOSE,
)
_YEARS = re.compile(r"^(?P<first>\d{4})?\s*(?P<dots>\.\.+|…|-|–|—)?\s*(?P<last>\d{4})?$")


class _Sign(Enum):
    AND = auto()
    OR = auto()
    NOT = auto()
    OPEN = auto()
    CLOSE = auto()


_MAX_NESTING = 20
_OPERATORS = {"AND": _Sign.AND, "OR": _Sign.OR, "NOT": _Sign.NOT}


def parse(text: str) -> Query:
    """Reads anything. What has no meaning as an operator or a field is taken as words."""
    typed = unicodedata.normalize("NFC", text).strip()
    lexemes = list(_lexemes(typed))
    identifiers = identifiers_in(typed)
    title_key = key(typed)
    if _OPERATORS.keys() & {lexeme.name for lexeme in lexemes if isinstance(lexeme, _Sign)}:
        strict = _Reader(lexemes).read()
        return Query(typed, (), strict, identifiers, title_key)
    parts = [lexeme for lexeme in lexemes if not isinstance(lexeme, _Sign)]
    loose = tuple(part for part, is_loose in parts if is_loose and isinstance(part, Phrase))
    firm = tuple(part for part, is_loose in parts if not is_loose)
    return Query(typed, loose, _all(firm), identifiers, title_key)


_Lexeme: TypeAlias = "_Sign | tuple[Node, bool]"


def _lexemes(text: str) -> Iterator[_Lexeme]:
    """Signs, and nodes with whether they are loose words."""
    for found in _LEXEME.finditer(text):
        name, quoted, word = found["field"], found["quoted"], found["word"]
        if found["open"]:
            yield _Sign.OPEN
        elif found["close"]:
            yield _Sign.CLOSE
        elif name:
            yield from _field(name, quoted if quoted is not None else (word or ""))
        elif quoted is not None:
            firm = tuple(words(quoted))
            if firm:
                yield Phrase(firm, is_exact=True), False
        elif word in _OPERATORS:
            yield _OPERATORS[word]
        elif word:
            yield from _loose(word)


def _loose(chunk: str) -> Iterator[tuple[Node, bool]]:
    """The words between two spaces: letters that a sign joins stay together, CJK runs stand on
    their own.
    """
    run: list[str] = []
    found = words(chunk)
    for at, word in enumerate(found):
        if run and is_cjk(word) != is_cjk(run[-1]):
            yield Phrase(tuple(run)), True
            run = []
        run.append(word)
        if at == len(found) - 1:
            yield Phrase(tuple(run), is_prefix=chunk.endswith("*") and not is_cjk(word)), True


def _field(name: str, value: str) -> Iterator[tuple[Node, bool]]:
    found = tuple(words(value))
    if name == "year":
        years = _years(value)
        if years is not None:
            yield years, False
            return
    elif name == "doi":
        identifiers = identifiers_in(value)
        if identifiers:
            yield Named(identifiers), False
            return
    elif found and name == "title":
        yield Phrase(found, is_prefix=value.endswith("*"), in_title=True), False
        return
    elif found:
        yield Facet(_FIELDS[name], found, is_prefix=value.endswith("*")), False
        return
    yield from _loose(name)
    yield from _loose(value)


def _years(value: str) -> Years | None:
    found = _YEARS.match(value.strip())
    if found is None or not (found["first"] or found["last"]):
        return None
    first = int(found["first"]) if found["first"] else None
    last = int(found["last"]) if found["last"] else None
    if not found["dots"]:
        return Years(first, first) if last is None else None
    if first is not None and last is not None and last < first:
        first, last = last, first
    return Years(first, last)


def _all(parts: tuple[Node, ...]) -> Node | None:
    return (parts[0] if len(parts) == 1 else All(parts)) if parts else None


class _Reader:
    """Operators by precedence: NOT, then AND and standing side by side, then OR. Signs with nothing
    to join are skipped.
    """

    def __init__(self, lexemes: list[_Lexeme]) -> None:
        self._lexemes = lexemes
        self._at = 0
        self._depth = 0

    def read(self) -> Node | None:
        parts: list[Node] = []
        while self._at < len(self._lexemes):
            part = self._either()
            if part is not None:
                parts.append(part)
            if self._peek() is _Sign.CLOSE:
                self._at += 1
        return _all(tuple(parts))

    def _peek(self) -> _Lexeme | None:
        return self._lexemes[self._at] if self._at < len(self._lexemes) else None

    def _either(self) -> Node | None:
        parts: list[Node] = []
        while True:
            part = self._every()
            if part is not None:
                parts.append(part)
            if self._peek() is not _Sign.OR:
                break
            self._at += 1
        return (parts[0] if len(parts) == 1 else Any(tuple(parts))) if parts else None

    def _every(self) -> Node | None:
        parts: list[Node] = []
        while (
            (lexeme := self._peek()) is not None
            and lexeme is not _Sign.OR
            and lexeme is not _Sign.CLOSE
        ):
            if lexeme is _Sign.AND:
                self._at += 1
                continue
            part = self._one()
            if part is not None:
                parts.append(part)
        return _all(tuple(parts))

    def _one(self) -> Node | None:
        lexeme = self._lexemes[self._at]
        self._at += 1
        if lexeme is _Sign.NOT:
            following = self._peek()
            if following is None or following in (_Sign.OR, _Sign.CLOSE, _Sign.AND, _Sign.NOT):
                return None
            part = self._one()
            return None if part is None else Not(part)
        if lexeme is _Sign.OPEN:
            if self._depth == _MAX_NESTING:
                return None
            self._depth += 1
            part = self._either()
            self._depth -= 1
            if self._peek() is _Sign.CLOSE:
                self._at += 1
            return part
        assert not isinstance(lexeme, _Sign)
        node, _ = lexeme
        return node
