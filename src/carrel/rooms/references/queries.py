"""Queries for references: the syntax of other reference managers, in the one query language.

All terms must match; content matches inside words, identifiers as a whole. A query with AND, OR,
NOT or `-word` is a tree of such terms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from carrel.libraries.query.language import (
    Conjunction,
    Disjunction,
    Negation,
    QueryFields,
    QueryLeaf,
    QueryTree,
    UnknownField,
    YearRange,
    find_unknown_fields,
    has_operators,
    parse_tree,
    parse_years,
    read_lexemes,
)
from carrel.libraries.text.analysis import QUESTION_WORDS
from carrel.libraries.text.folding import fold_keeping_case, fold_text
from carrel.libraries.text.words import STOP_WORDS

IDENTIFIER_FIELDS = frozenset(
    {
        "id", "doi", "pmid", "pmcid", "isbn", "url", "year", "type", "has", "collection", "tagged",
        "read",
    }
)  # fmt: skip
CONTENT_FIELDS = frozenset({"author", "title", "venue", "keyword", "tag"})
REFERENCE_FIELDS = QueryFields(
    {
        **{
            name: name
            for name in (
                "id", "author", "title", "year", "doi", "pmid", "pmcid", "isbn", "url", "keyword",
                "tag", "type", "venue", "has", "collection", "tagged", "read",
            )
        },
        "authors": "author",
        "journal": "venue",
        "keywords": "keyword",
        "tags": "tag",
        "collections": "collection",
    }
)  # fmt: skip
_TOKEN = re.compile(
    r'(?P<minus>-(?=[^\W\d_]|"))?(?:(?P<field>[A-Za-z]+):)?(?:"(?P<phrase>[^"]*)"?|(?P<word>\S+))'
)
_PUNCTUATION = "?!.,;:"
_CAPITALS = re.compile(r"[A-Z]{2,}")


@dataclass(frozen=True, slots=True)
class ReferenceTerm:
    """One text that must match. `exact_case` has its capitals, where two of them are adjacent.

    With `is_beginning` (`neuro*`) it stands at the start of a word, with `is_quoted` no other form
    of its words will do.
    """

    text: str
    field: str | None = None
    exact_case: str | None = None
    is_beginning: bool = False
    is_quoted: bool = False

    @property
    def words(self) -> list[str]:
        return self.text.split()


@dataclass(frozen=True, slots=True)
class AllTerms:
    """References that fit every part."""

    parts: tuple[ReferenceNode, ...]


@dataclass(frozen=True, slots=True)
class AnyTerm:
    """References that fit at least one part."""

    parts: tuple[ReferenceNode, ...]


@dataclass(frozen=True, slots=True)
class NotTerm:
    """References that do not fit."""

    part: ReferenceNode


ReferenceNode: TypeAlias = ReferenceTerm | YearRange | AllTerms | AnyTerm | NotTerm


@dataclass(frozen=True, slots=True)
class ReferenceQuery:
    """A parsed query; without a `node` it asks for everything."""

    text: str
    node: ReferenceNode | None
    unknown_fields: tuple[UnknownField, ...] = ()

    @property
    def terms(self) -> tuple[ReferenceTerm, ...]:
        """The terms that a reference should have, in order."""
        return tuple(_positive_terms(self.node))

    @property
    def ranking_text(self) -> str:
        """The words that rank: those that match inside a text."""
        return " ".join(term.text for term in self.terms if term.field not in IDENTIFIER_FIELDS)

    @property
    def plain_terms(self) -> tuple[ReferenceTerm, ...]:
        """The terms of a query of bare words; empty where a phrase, field or operator is exact."""
        parts = self.node.parts if isinstance(self.node, AllTerms) else (self.node,)
        terms = tuple(part for part in parts if isinstance(part, ReferenceTerm))
        is_plain = len(terms) == len(parts) and not any(
            term.field is not None or term.is_quoted or term.is_beginning for term in terms
        )
        return terms if is_plain else ()


def parse_reference_query(query: str) -> ReferenceQuery:
    """Any text is a query; `*` alone asks for everything."""
    query = query.encode("utf-8", "replace").decode()
    lexemes = read_lexemes(query, REFERENCE_FIELDS)
    unknown = find_unknown_fields(lexemes, REFERENCE_FIELDS)
    if has_operators(lexemes):
        tree = parse_tree(lexemes)
        return ReferenceQuery(query, None if tree is None else _read_tree(tree), unknown)
    nodes = tuple(_read_tokens(query))
    content = tuple(node for node in nodes if not _is_stop_word(node))
    return ReferenceQuery(query, _all(content or nodes), unknown)


def _is_stop_word(node: ReferenceNode) -> bool:
    """Whether a node is a bare word that names nothing: `of`, `which`."""
    if not isinstance(node, ReferenceTerm) or node.field is not None or node.is_quoted:
        return False
    word = node.text.strip(_PUNCTUATION)
    return node.exact_case is None and (word in STOP_WORDS or word in QUESTION_WORDS)


def _read_tokens(query: str) -> Iterator[ReferenceNode]:
    """The terms between spaces, brackets and all, as other reference managers read them."""
    for found in _TOKEN.finditer(query):
        typed = found["field"] or ""
        field = REFERENCE_FIELDS.find(typed) if typed else None
        is_phrase = found["phrase"] is not None
        raw = found["phrase"] if is_phrase else found["word"] or ""
        if typed and field is None:
            raw = f"{typed}:{raw}"
        node = _read_term(raw, field, is_phrase=is_phrase)
        if node is not None:
            yield NotTerm(node) if found["minus"] else node


def _read_term(raw: str, field: str | None, *, is_phrase: bool) -> ReferenceNode | None:
    if field == "year" and (years := parse_years(raw)) is not None and years.first != years.last:
        return years
    if field is None and not is_phrase and not raw.strip("*"):
        return None
    is_beginning = (
        not is_phrase and raw.endswith("*") and len(raw) > 1 and field not in IDENTIFIER_FIELDS
    )
    raw = raw.rstrip("*") if is_beginning else raw
    text = fold_text(raw)
    if not text:
        return None
    has_capitals = _CAPITALS.search(raw) is not None and field not in IDENTIFIER_FIELDS
    return ReferenceTerm(
        text, field, fold_keeping_case(raw) if has_capitals else None, is_beginning, is_phrase
    )


def _read_tree(tree: QueryTree) -> ReferenceNode | None:
    match tree:
        case QueryLeaf(text, field, is_quoted):
            return _read_term(text, field, is_phrase=is_quoted)
        case Negation(part):
            inner = _read_tree(part)
            return None if inner is None else NotTerm(inner)
        case Conjunction(parts):
            return _all(tuple(node for part in parts if (node := _read_tree(part)) is not None))
        case Disjunction(parts):
            found = tuple(node for part in parts if (node := _read_tree(part)) is not None)
            return (found[0] if len(found) == 1 else AnyTerm(found)) if found else None


def _all(parts: tuple[ReferenceNode, ...]) -> ReferenceNode | None:
    return (parts[0] if len(parts) == 1 else AllTerms(parts)) if parts else None


def _positive_terms(node: ReferenceNode | None) -> Iterator[ReferenceTerm]:
    match node:
        case ReferenceTerm():
            yield node
        case AllTerms(parts) | AnyTerm(parts):
            for part in parts:
                yield from _positive_terms(part)
        case _:
            return
