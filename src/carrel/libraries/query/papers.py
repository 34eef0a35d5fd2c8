"""The query language of paper search, parsed into a small tree; no input is an error.

Loose words ask for all of them, or as many as there are. "Quoted words" are neighbours. AND, OR and
NOT in capitals, round brackets, a star for a beginning (`neuro*`), and fields: author: venue: tag:
keyword: institution: title: doi: year:2019..2024.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise
from typing import Literal, TypeAlias

from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError
from carrel.libraries.text.folding import fold_text, text_key
from carrel.libraries.text.words import STOP_WORDS, Phrase, is_cjk, split_words

FacetCategory = Literal["author", "venue", "keyword", "institution", "tag"]
_PAPER_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class PaperIdentifier:
    """One identifier of a paper, in the form snapshots store it."""

    kind: Literal["doi", "arxiv", "paper_id"]
    value: str


def parse_identifiers(text: str) -> tuple[PaperIdentifier, ...]:
    """The identifiers of a paper, if the whole text is one; else none."""
    asked = text.strip().strip("<>\"'")
    try:
        doi = Doi.parse(asked)
    except NotAnIdentifierError:
        pass
    else:
        named = (PaperIdentifier("doi", doi.value),)
        return named if doi.arxiv is None else (*named, PaperIdentifier("arxiv", doi.arxiv.value))
    try:
        arxiv = ArxivId.parse(asked)
    except NotAnIdentifierError:
        return (PaperIdentifier("paper_id", asked),) if _PAPER_ID.fullmatch(asked) else ()
    return (
        PaperIdentifier("arxiv", arxiv.value),
        PaperIdentifier("doi", f"10.48550/arxiv.{arxiv.value}"),
    )


@dataclass(frozen=True, slots=True)
class FacetPhrase:
    """Papers that have a value with these words in this facet."""

    category: FacetCategory
    words: tuple[str, ...]
    is_prefix: bool = False


@dataclass(frozen=True, slots=True)
class YearRange:
    """Papers of these years, both ends included; None is an open end."""

    first: int | None
    last: int | None


@dataclass(frozen=True, slots=True)
class WithIdentifier:
    """The paper with one of these identifiers."""

    identifiers: tuple[PaperIdentifier, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """Papers that fit every part."""

    parts: tuple[QueryNode, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Papers that fit at least one part."""

    parts: tuple[QueryNode, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Papers that do not fit."""

    part: QueryNode


QueryNode: TypeAlias = Phrase | FacetPhrase | YearRange | WithIdentifier | AllOf | AnyOf | Not


@dataclass(frozen=True, slots=True)
class PaperQuery:
    """A parsed query: loose words rank papers, the `strict` tree decides which ones match."""

    text: str
    loose: tuple[Phrase, ...] = ()
    strict: QueryNode | None = None
    identifiers: tuple[PaperIdentifier, ...] = ()
    title_key: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.loose and self.strict is None

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """What a snippet may mark: all loose words together, every phrase, and each word."""
        asked = self.loose + tuple(_positive_phrases(self.strict))
        together = Phrase(tuple(word for phrase in self.loose for word in phrase.words))
        pieces = tuple(
            Phrase((word,)) for phrase in self.loose for word in phrase.words if not is_cjk(word)
        )
        return (together, *asked, *pieces) if len(together.words) > 1 else asked


def without_stop_words(phrases: Sequence[Phrase]) -> list[Phrase]:
    """The phrases that are more than a single stop word; all of them where none is."""
    return [phrase for phrase in phrases if not is_stop_word(phrase)] or list(phrases)


def is_stop_word(phrase: Phrase) -> bool:
    is_whole_word = len(phrase.words) == 1 and not phrase.is_prefix
    return is_whole_word and fold_text(phrase.words[0]) in STOP_WORDS


def split_phrases(phrases: Iterable[Phrase]) -> list[Phrase]:
    """Single words, and pairs of neighbouring CJK characters, which mean more than one does."""
    pieces: dict[Phrase, None] = {}
    for phrase in phrases:
        words = phrase.words
        if len(words) == 1:
            pieces[phrase] = None
        elif is_cjk(words[0]):
            pieces.update((Phrase(pair), None) for pair in pairwise(words))
        else:
            pieces.update(
                (Phrase((word,)), None) for word in words if not is_stop_word(Phrase((word,)))
            )
    return list(pieces)


def _positive_phrases(node: QueryNode | None) -> Iterator[Phrase]:
    match node:
        case Phrase():
            yield node
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from _positive_phrases(part)
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


class _Operator(Enum):
    AND = auto()
    OR = auto()
    NOT = auto()
    OPEN = auto()
    CLOSE = auto()


_MAX_NESTING = 20
_OPERATORS = {"AND": _Operator.AND, "OR": _Operator.OR, "NOT": _Operator.NOT}


def parse_paper_query(text: str) -> PaperQuery:
    """Parses any text; what has no meaning as an operator or a field is taken as words."""
    typed = unicodedata.normalize("NFC", text).strip()
    lexemes = list(_lexemes(typed))
    identifiers = parse_identifiers(typed)
    title_key = text_key(typed)
    if _OPERATORS.keys() & {lexeme.name for lexeme in lexemes if isinstance(lexeme, _Operator)}:
        strict = _Parser(lexemes).parse()
        return PaperQuery(typed, (), strict, identifiers, title_key)
    parts = [lexeme for lexeme in lexemes if not isinstance(lexeme, _Operator)]
    loose = tuple(part for part, is_loose in parts if is_loose and isinstance(part, Phrase))
    firm = tuple(part for part, is_loose in parts if not is_loose)
    return PaperQuery(typed, loose, _all(firm), identifiers, title_key)


_Lexeme: TypeAlias = "_Operator | tuple[QueryNode, bool]"


def _lexemes(text: str) -> Iterator[_Lexeme]:
    """Operators, and nodes with whether they are loose words."""
    for found in _LEXEME.finditer(text):
        name, quoted, word = found["field"], found["quoted"], found["word"]
        if found["open"]:
            yield _Operator.OPEN
        elif found["close"]:
            yield _Operator.CLOSE
        elif name:
            yield from _field(name, quoted if quoted is not None else (word or ""))
        elif quoted is not None:
            firm = tuple(split_words(quoted))
            if firm:
                yield Phrase(firm, is_exact=True), False
        elif word in _OPERATORS:
            yield _OPERATORS[word]
        elif word:
            yield from _loose(word)


def _loose(chunk: str) -> Iterator[tuple[QueryNode, bool]]:
    """Phrases of a chunk without spaces: words joined by a sign, and runs of CJK apart."""
    run: list[str] = []
    found = split_words(chunk)
    for at, word in enumerate(found):
        if run and is_cjk(word) != is_cjk(run[-1]):
            yield Phrase(tuple(run)), True
            run = []
        run.append(word)
        if at == len(found) - 1:
            yield Phrase(tuple(run), is_prefix=chunk.endswith("*") and not is_cjk(word)), True


def _field(name: str, value: str) -> Iterator[tuple[QueryNode, bool]]:
    found = tuple(split_words(value))
    if name == "year":
        years = _years(value)
        if years is not None:
            yield years, False
            return
    elif name == "doi":
        identifiers = parse_identifiers(value)
        if identifiers:
            yield WithIdentifier(identifiers), False
            return
    elif found and name == "title":
        yield Phrase(found, is_prefix=value.endswith("*"), in_title=True), False
        return
    elif found:
        yield FacetPhrase(_FIELDS[name], found, is_prefix=value.endswith("*")), False
        return
    yield from _loose(name)
    yield from _loose(value)


def _years(value: str) -> YearRange | None:
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


def _all(parts: tuple[QueryNode, ...]) -> QueryNode | None:
    return (parts[0] if len(parts) == 1 else AllOf(parts)) if parts else None


class _Parser:
    """Parses NOT before AND (also implied) before OR; skips operators without operands."""

    def __init__(self, lexemes: list[_Lexeme]) -> None:
        self._lexemes = lexemes
        self._at = 0
        self._depth = 0

    def parse(self) -> QueryNode | None:
        parts: list[QueryNode] = []
        while self._at < len(self._lexemes):
            part = self._parse_or()
            if part is not None:
                parts.append(part)
            if self._peek() is _Operator.CLOSE:
                self._at += 1
        return _all(tuple(parts))

    def _peek(self) -> _Lexeme | None:
        return self._lexemes[self._at] if self._at < len(self._lexemes) else None

    def _parse_or(self) -> QueryNode | None:
        parts: list[QueryNode] = []
        while True:
            part = self._parse_and()
            if part is not None:
                parts.append(part)
            if self._peek() is not _Operator.OR:
                break
            self._at += 1
        return (parts[0] if len(parts) == 1 else AnyOf(tuple(parts))) if parts else None

    def _parse_and(self) -> QueryNode | None:
        parts: list[QueryNode] = []
        while (
            (lexeme := self._peek()) is not None
            and lexeme is not _Operator.OR
            and lexeme is not _Operator.CLOSE
        ):
            if lexeme is _Operator.AND:
                self._at += 1
                continue
            part = self._parse_operand()
            if part is not None:
                parts.append(part)
        return _all(tuple(parts))

    def _parse_operand(self) -> QueryNode | None:
        lexeme = self._lexemes[self._at]
        self._at += 1
        if lexeme is _Operator.NOT:
            following = self._peek()
            if following is None or following in (
                _Operator.OR,
                _Operator.CLOSE,
                _Operator.AND,
                _Operator.NOT,
            ):
                return None
            part = self._parse_operand()
            return None if part is None else Not(part)
        if lexeme is _Operator.OPEN:
            if self._depth == _MAX_NESTING:
                return None
            self._depth += 1
            part = self._parse_or()
            self._depth -= 1
            if self._peek() is _Operator.CLOSE:
                self._at += 1
            return part
        assert not isinstance(lexeme, _Operator)
        node, _ = lexeme
        return node
