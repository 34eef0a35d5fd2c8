"""The one query language of papers, notes and references; no text is an error.

Words, "phrases", a star for a beginning (`neuro*`), AND, OR and NOT in capitals, `-word`, round
brackets, `#tag`, and fields (`author:smith year:2019..2024`). Each room says which fields it has
and what a word or field value becomes; what is no operator and no field is taken as words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

from carrel.libraries.query.suggestions import count_edits
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import STOP_WORDS

_QUOTES = '"“”„‟«»「」『』'
_LEXEME = re.compile(
    rf"""(?P<minus>(?<!\S)-(?=[^\W\d_]|[{_QUOTES}(]))?
         (?:(?P<field>[a-zA-Z][a-zA-Z_]{{1,19}}):(?P<gap>[ ]*)(?=[^\s():])
         |(?P<hash>(?<!\S)\#)(?=[^\s()]))?
         (?:[{_QUOTES}](?P<quoted>[^{_QUOTES}]*)[{_QUOTES}]
         | (?P<open>\() | (?P<close>\)) | (?P<word>[^\s(){_QUOTES}]+) | [{_QUOTES}])""",
    re.VERBOSE,
)
_YEARS = re.compile(r"^(?P<first>\d{4})?\s*(?P<dots>\.\.+|…|-|–|—)?\s*(?P<last>\d{4})?$")
_YEARS_BEYOND = re.compile(r"^(?P<sign>>=|<=|[><≥≤])\s*(?P<year>\d{4})$")
# What stands before a colon in addresses and names of other registers is no field.
_OTHER_SCHEMES = frozenset(
    {"http", "https", "ftp", "mailto", "urn", "info", "arxiv", "hal", "file", "pmid", "pmcid"}
)
_NEAR_FIELD = 2
# A sentence of a paper has at least so many words and function words; see test_language.py.
_PROSE_WORDS = 12
_PROSE_STOP_WORDS = 2
# Signs that are operators and fields only where somebody types a query: ` -word`, ` #5`, `doi: 10`.
_SIGN_IN_PROSE = re.compile(r"(?<!\S)[-#]+(?=\S)|(?<=[a-zA-Z]):(?=\s)")
MAX_NESTING = 20


class QueryOperator(Enum):
    """An operator or bracket of a query."""

    AND = auto()
    OR = auto()
    NOT = auto()
    OPEN = auto()
    CLOSE = auto()


OPERATOR_WORDS = {"AND": QueryOperator.AND, "OR": QueryOperator.OR, "NOT": QueryOperator.NOT}


@dataclass(frozen=True, slots=True)
class QueryLeaf:
    """A word, quoted phrase or field value as typed; `field` is the room's name of the field."""

    text: str
    field: str | None = None
    is_quoted: bool = False
    # Written `-word`: an answer must not have it.
    is_excluded: bool = False
    # What was typed as a field that the room does not have.
    unknown_field: str | None = None
    # Written `year: soon`, as in a heading or a sentence.
    has_gap: bool = False


Lexeme: TypeAlias = QueryOperator | QueryLeaf


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Documents that fit every part."""

    parts: tuple[QueryTree, ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    """Documents that fit at least one part."""

    parts: tuple[QueryTree, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """Documents that do not fit."""

    part: QueryTree


QueryTree: TypeAlias = QueryLeaf | Conjunction | Disjunction | Negation


@dataclass(frozen=True, slots=True)
class YearRange:
    """Documents of these years, both ends included; None is an open end."""

    first: int | None
    last: int | None

    def has(self, year: int | None) -> bool:
        return year is not None and (self.first or year) <= year <= (self.last or year)


@dataclass(frozen=True, slots=True)
class UnknownField:
    """Something typed like a field that the room does not have; it is searched as words."""

    typed: str
    nearest: str | None
    known: tuple[str, ...]

    @property
    def message(self) -> str:
        meant = f" Did you mean {self.nearest}:?" if self.nearest else ""
        fields = " ".join(f"{name}:" for name in self.known)
        return (
            f"There is no field {self.typed}: here, so it was searched as words.{meant} "
            f"Fields: {fields}"
        )


@dataclass(frozen=True, slots=True)
class UnreadYear:
    """A value of `year:` that is no year; it is left out."""

    typed: str

    @property
    def message(self) -> str:
        return (
            f"year:{self.typed} was not understood and left out. "
            "Write year:2020, year:2019..2024, year:>2010 or year:<=1999."
        )


class QueryFields:
    """The fields that a room has, by every name under which they can be typed."""

    def __init__(self, names: Mapping[str, str], *, has_headings: bool = False) -> None:
        """`names` gives the room's field for each typed name, such as venue for journal.

        With `has_headings`, `Title: words` as pasted from a document is words.
        """
        self._names = dict(names)
        self._has_headings = has_headings
        self.known = tuple(dict.fromkeys(self._names.values()))

    def find(self, typed: str, *, has_gap: bool = False) -> str | None:
        is_heading = self._has_headings and has_gap and not typed.islower()
        return None if is_heading else self._names.get(typed.lower())

    def describe_unknown(self, typed: str) -> UnknownField:
        """What to say about a field that the room does not have."""
        near = {
            name: edits
            for name in self._names
            if (edits := count_edits(typed.lower(), name, _NEAR_FIELD)) is not None
            and edits < len(name) / 2
        }
        return UnknownField(typed, min(near, key=near.__getitem__, default=None), self.known)


def read_lexemes(text: str, fields: QueryFields) -> list[Lexeme]:
    """The operators, words, phrases and field values of a query in order."""
    if is_prose(text):
        text = _SIGN_IN_PROSE.sub(" ", text)
    return [lexeme for found in _LEXEME.finditer(text) for lexeme in _read_match(found, fields)]


def is_prose(text: str) -> bool:
    """Whether a query is a pasted sentence, in which a dash or a number sign is no operator."""
    words = text.split()
    if len(words) < _PROSE_WORDS:
        return False
    return sum(word in STOP_WORDS for word in words) >= _PROSE_STOP_WORDS


def _read_match(found: re.Match[str], fields: QueryFields) -> Iterator[Lexeme]:
    quoted, word, is_excluded = found["quoted"], found["word"], found["minus"] is not None
    if found["open"] or found["close"]:
        if is_excluded:
            yield QueryOperator.NOT
        yield QueryOperator.OPEN if found["open"] else QueryOperator.CLOSE
    elif quoted is None and word is None:
        return
    elif quoted is None and not found["field"] and not is_excluded and word in OPERATOR_WORDS:
        yield OPERATOR_WORDS[word]
    elif found["hash"] is not None:
        yield _read_tag(quoted, word or "", fields, is_excluded)
    elif found["field"] is None:
        yield QueryLeaf(word if quoted is None else quoted, None, quoted is not None, is_excluded)
    else:
        yield from _read_field(found, fields, is_excluded)


def _read_tag(quoted: str | None, word: str, fields: QueryFields, is_excluded: bool) -> QueryLeaf:
    value = word if quoted is None else quoted
    tag = fields.find("tag")
    if tag is not None and value.strip("#"):
        return QueryLeaf(value.lstrip("#"), tag, quoted is not None, is_excluded)
    return QueryLeaf(value, None, quoted is not None, is_excluded)


def _read_field(
    found: re.Match[str], fields: QueryFields, is_excluded: bool
) -> Iterator[QueryLeaf]:
    typed, is_quoted = found["field"], found["quoted"] is not None
    value = found["quoted"] if is_quoted else found["word"]
    has_gap = bool(found["gap"])
    name = fields.find(typed, has_gap=has_gap)
    if name is not None:
        yield QueryLeaf(value, name, is_quoted, is_excluded, has_gap=has_gap)
        return
    # `Title: a`, an address, a ratio are words and nobody's mistake.
    is_plain = has_gap or not typed.islower() or typed in _OTHER_SCHEMES
    is_plain = is_plain or value.startswith(("/", ":", "="))
    unknown = None if is_plain else typed
    if is_quoted or has_gap:
        yield QueryLeaf(typed, None, False, is_excluded, unknown)
        yield QueryLeaf(value, None, is_quoted, is_excluded)
    else:
        yield QueryLeaf(f"{typed}:{value}", None, False, is_excluded, unknown)


def find_unknown_fields(lexemes: Iterable[Lexeme], fields: QueryFields) -> tuple[UnknownField, ...]:
    """What was typed like a field that the room does not have, each once."""
    typed = (
        lexeme.unknown_field
        for lexeme in lexemes
        if isinstance(lexeme, QueryLeaf) and lexeme.unknown_field is not None
    )
    return tuple(fields.describe_unknown(name) for name in dict.fromkeys(typed))


def has_operators(lexemes: Iterable[Lexeme]) -> bool:
    """Whether AND, OR or NOT combine the parts of a query; brackets alone combine nothing."""
    return any(lexeme in OPERATOR_WORDS.values() for lexeme in lexemes)


def parse_years(value: str) -> YearRange | None:
    """`2020`, `2019..2024`, `2019-`, `..2020`, `>2010`, `<=1999`; None for anything else."""
    beyond = _YEARS_BEYOND.match(value.strip())
    if beyond is not None:
        year, is_open = int(beyond["year"]), beyond["sign"] in "<>"
        if beyond["sign"] in (">", ">=", "≥"):
            return YearRange(year + is_open, None)
        return YearRange(None, year - is_open)
    found = _YEARS.match(value.strip())
    if found is None or not (found["first"] or found["last"]):
        return None
    first = int(found["first"]) if found["first"] else None
    last = int(found["last"]) if found["last"] else None
    if not found["dots"]:
        return YearRange(first, first) if last is None else None
    if first is not None and last is not None and last < first:
        first, last = last, first
    return YearRange(first, last)


def tag_and_ancestors(tag: str) -> tuple[str, ...]:
    """A tag of a tree and everything above it, folded: methods/stats is also under methods."""
    parts = [name for part in fold_text(tag.lstrip("#")).split("/") if (name := part.strip())]
    return tuple("/".join(parts[:count]) for count in range(1, len(parts) + 1))


def parse_tree(lexemes: Sequence[Lexeme]) -> QueryTree | None:
    """The tree of a query: NOT before AND (also implied) before OR; None where it asks nothing."""
    return _Parser(lexemes).parse()


class _Parser:
    """Skips operators without operands and brackets without a partner."""

    def __init__(self, lexemes: Sequence[Lexeme]) -> None:
        self._lexemes = lexemes
        self._at = 0
        self._depth = 0

    def parse(self) -> QueryTree | None:
        parts: list[QueryTree] = []
        while self._at < len(self._lexemes):
            part = self._parse_or()
            if part is not None:
                parts.append(part)
            if self._peek() is QueryOperator.CLOSE:
                self._at += 1
        return _join_all(parts)

    def _peek(self) -> Lexeme | None:
        return self._lexemes[self._at] if self._at < len(self._lexemes) else None

    def _parse_or(self) -> QueryTree | None:
        parts: list[QueryTree] = []
        while True:
            part = self._parse_and()
            if part is not None:
                parts.append(part)
            if self._peek() is not QueryOperator.OR:
                break
            self._at += 1
        return (parts[0] if len(parts) == 1 else Disjunction(tuple(parts))) if parts else None

    def _parse_and(self) -> QueryTree | None:
        parts: list[QueryTree] = []
        while (
            (lexeme := self._peek()) is not None
            and lexeme is not QueryOperator.OR
            and lexeme is not QueryOperator.CLOSE
        ):
            if lexeme is QueryOperator.AND:
                self._at += 1
                continue
            part = self._parse_operand()
            if part is not None:
                parts.append(part)
        return _join_all(parts)

    def _parse_operand(self) -> QueryTree | None:
        lexeme = self._lexemes[self._at]
        self._at += 1
        if lexeme is QueryOperator.NOT:
            following = self._peek()
            if isinstance(following, QueryLeaf) or following is QueryOperator.OPEN:
                part = self._parse_operand()
                return None if part is None else Negation(part)
            return None
        if lexeme is QueryOperator.OPEN:
            return self._parse_bracket()
        assert isinstance(lexeme, QueryLeaf)
        return Negation(lexeme) if lexeme.is_excluded else lexeme

    def _parse_bracket(self) -> QueryTree | None:
        if self._depth == MAX_NESTING:
            return None
        self._depth += 1
        part = self._parse_or()
        self._depth -= 1
        if self._peek() is QueryOperator.CLOSE:
            self._at += 1
        return part


def _join_all(parts: Sequence[QueryTree]) -> QueryTree | None:
    return (parts[0] if len(parts) == 1 else Conjunction(tuple(parts))) if parts else None
