"""Queries for papers in the one query language, as a small tree; no input is an error.

Loose words ask for all of them, or as many as there are. "Quoted words" are neighbours. Fields:
author: venue: tag: keyword: institution: title: id: doi: year:2019..2024 year:>2010.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from carrel.libraries.identifiers import ArxivId, Doi, NotAnIdentifierError, Pmcid, Pmid
from carrel.libraries.query import language
from carrel.libraries.query.language import (
    Conjunction,
    Disjunction,
    Lexeme,
    Negation,
    QueryFields,
    QueryLeaf,
    QueryTree,
    UnknownField,
    UnreadYear,
    find_unknown_fields,
    has_operators,
    parse_tree,
    parse_years,
    read_lexemes,
)
from carrel.libraries.text.folding import fold_text, text_key
from carrel.libraries.text.words import STOP_WORDS, Phrase, is_cjk, split_words

# The same node in the trees of papers and of references.
YearRange = language.YearRange
FacetCategory = Literal["author", "venue", "keyword", "institution", "tag"]
_PAPER_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class PaperIdentifier:
    """One identifier of a paper, in the form snapshots store it."""

    kind: Literal["doi", "arxiv", "pmid", "pmcid", "paper_id"]
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
        return _other_identifiers(asked)
    return (
        PaperIdentifier("arxiv", arxiv.value),
        PaperIdentifier("doi", arxiv.doi),
    )


def _other_identifiers(asked: str) -> tuple[PaperIdentifier, ...]:
    """Our own ids, and PubMed's where they are named as such: a number alone may be anything."""
    if _PAPER_ID.fullmatch(asked):
        return (PaperIdentifier("paper_id", asked),)
    with suppress(NotAnIdentifierError):
        return (PaperIdentifier("pmcid", Pmcid.parse(asked).value.lower()),)
    if not asked.isdigit():
        with suppress(NotAnIdentifierError):
            return (PaperIdentifier("pmid", Pmid.parse(asked).value),)
    return ()


@dataclass(frozen=True, slots=True)
class FacetPhrase:
    """Papers that have a value with these words in this facet."""

    category: FacetCategory
    words: tuple[str, ...]
    is_prefix: bool = False


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
    # Typed like fields that papers do not have; to be told beside the answer.
    unknown_fields: tuple[UnknownField, ...] = ()
    # Values of `year:` that are no years and were left out; to be told as well.
    unread_years: tuple[UnreadYear, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.loose and self.strict is None

    @property
    def notices(self) -> tuple[str, ...]:
        """What was not understood, as sentences to be told beside the answer."""
        unknown = (each.message for each in self.unknown_fields)
        return (*unknown, *(each.message for each in self.unread_years))

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """What a snippet may mark: all loose words together, every phrase, and each word."""
        asked = self.loose + tuple(positive_phrases(self.strict))
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


def positive_phrases(node: QueryNode | None) -> Iterator[Phrase]:
    """The phrases of a tree that a text should have, in order."""
    match node:
        case Phrase():
            yield node
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from positive_phrases(part)
        case _:
            return


_FACETS: dict[str, FacetCategory] = {
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
PAPER_FIELDS = QueryFields(
    {**_FACETS, "title": "title", "year": "year", "doi": "doi", "id": "id"}, has_headings=True
)


def parse_paper_query(text: str) -> PaperQuery:
    """Parses any text; what has no meaning as an operator or a field is taken as words."""
    typed = unicodedata.normalize("NFC", text).strip()
    lexemes = read_lexemes(typed, PAPER_FIELDS)
    identifiers = parse_identifiers(typed)
    unknown = () if identifiers else find_unknown_fields(lexemes, PAPER_FIELDS)
    unread = _find_unread_years(lexemes)
    title_key = text_key(typed)
    if has_operators(lexemes):
        tree = parse_tree(lexemes)
        strict = None if tree is None else _node(tree)
        return PaperQuery(typed, (), strict, identifiers, title_key, unknown, unread)
    loose: list[Phrase] = []
    firm: list[QueryNode] = []
    for leaf in lexemes:
        if isinstance(leaf, QueryLeaf):
            for node, is_loose in _read_leaf(leaf):
                if leaf.is_excluded:
                    firm.append(Not(node))
                elif is_loose and isinstance(node, Phrase):
                    loose.append(node)
                else:
                    firm.append(node)
    strict = _all(tuple(firm))
    return PaperQuery(typed, tuple(loose), strict, identifiers, title_key, unknown, unread)


def _find_unread_years(lexemes: Iterable[Lexeme]) -> tuple[UnreadYear, ...]:
    """The values of `year:` that are no years, each once."""
    leaves = (lexeme for lexeme in lexemes if isinstance(lexeme, QueryLeaf))
    return tuple(dict.fromkeys(UnreadYear(leaf.text) for leaf in leaves if _is_unread_year(leaf)))


def _is_unread_year(leaf: QueryLeaf) -> bool:
    return leaf.field == "year" and not leaf.has_gap and parse_years(leaf.text) is None


def _node(tree: QueryTree) -> QueryNode | None:
    """What a tree of the language asks of papers; None where nothing of it is a word."""
    match tree:
        case QueryLeaf():
            return _all(tuple(node for node, _ in _read_leaf(tree)))
        case Negation(part):
            inner = _node(part)
            return None if inner is None else Not(inner)
        case Conjunction(parts):
            return _all(tuple(node for part in parts for node in _flat_nodes(part)))
        case Disjunction(parts):
            found = tuple(node for part in parts if (node := _node(part)) is not None)
            return (found[0] if len(found) == 1 else AnyOf(found)) if found else None


def _flat_nodes(tree: QueryTree) -> Iterator[QueryNode]:
    if isinstance(tree, QueryLeaf):
        yield from (node for node, _ in _read_leaf(tree))
    elif (node := _node(tree)) is not None:
        yield node


def _read_leaf(leaf: QueryLeaf) -> Iterator[tuple[QueryNode, bool]]:
    """What a word, phrase or field value asks, and whether it only ranks."""
    if _is_unread_year(leaf):
        return
    if leaf.field is not None:
        yield from _field(leaf.field, leaf.text)
    elif leaf.is_quoted:
        firm = tuple(split_words(leaf.text))
        if firm:
            yield Phrase(firm, is_exact=True), False
    else:
        yield from _loose(leaf.text)


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
        years = parse_years(value)
        if years is not None:
            yield years, False
            return
    elif name in ("doi", "id"):
        identifiers = parse_identifiers(value)
        if identifiers:
            yield WithIdentifier(identifiers), False
            return
    elif found and name == "title":
        yield Phrase(found, is_prefix=value.endswith("*"), in_title=True), False
        return
    elif found:
        yield _facet(_FACETS[name], value), False
        return
    yield from _loose(name)
    yield from _loose(value)


def _facet(category: FacetCategory, value: str) -> QueryNode:
    """Papers with the value; `Family, Given` is an author's name in either order."""
    written = FacetPhrase(category, tuple(split_words(value)), is_prefix=value.endswith("*"))
    family, given = (tuple(split_words(part)) for part in value.partition(",")[::2])
    if category != "author" or written.is_prefix or not family or not given:
        return written
    return AnyOf((FacetPhrase(category, (*given, *family)), written))


def _all(parts: tuple[QueryNode, ...]) -> QueryNode | None:
    return (parts[0] if len(parts) == 1 else AllOf(parts)) if parts else None
