"""Trees of AND, OR and NOT taken apart: what must fit, the words in it, and how it is typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from carrel.libraries.literature.query_filter import describe_node
from carrel.libraries.query.papers import (
    AllOf,
    AnyOf,
    FacetPhrase,
    Not,
    PaperQuery,
    QueryNode,
    WithIdentifier,
    YearRange,
    without_stop_words,
)
from carrel.libraries.text.words import Phrase, join_cjk

QueryLeafNode = Phrase | FacetPhrase | YearRange | WithIdentifier


def list_conjuncts(query: PaperQuery) -> tuple[QueryNode, ...]:
    """What a work must fit: each loose word or phrase, and the parts of the strict tree.

    A query that is an identifier is that alone. Stop words ask for nothing beside others.
    """
    if query.identifiers:
        return (WithIdentifier(query.identifiers),)
    loose = tuple(without_stop_words(query.loose))
    strict = query.strict
    if strict is None:
        return loose
    return (*loose, *(strict.parts if isinstance(strict, AllOf) else (strict,)))


def list_leaves(node: QueryNode) -> Iterator[QueryLeafNode]:
    """All leaves of a tree, in order."""
    match node:
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from list_leaves(part)
        case Not(part):
            yield from list_leaves(part)
        case _:
            yield node


def list_positive_leaves(node: QueryNode) -> Iterator[QueryLeafNode]:
    """The leaves of a tree outside negations, in order."""
    match node:
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from list_positive_leaves(part)
        case Not():
            return
        case _:
            yield node


def has_negation(node: QueryNode) -> bool:
    match node:
        case AllOf(parts) | AnyOf(parts):
            return any(has_negation(part) for part in parts)
        case _:
            return isinstance(node, Not)


def describe_tree(node: QueryNode) -> str:
    """A part of a query as it may be typed."""
    match node:
        case AllOf(parts):
            return f"({' AND '.join(describe_tree(part) for part in parts)})"
        case AnyOf(parts):
            return f"({' OR '.join(describe_tree(part) for part in parts)})"
        case Not(part):
            return f"NOT {describe_tree(part)}"
        case _:
            return describe_node(node)


def write_words(words: Iterable[str]) -> str:
    """Words with blanks between them; Chinese, Japanese and Korean ones without."""
    return join_cjk(" ".join(words))
