"""Our queries for dblp, which knows words (as beginnings), AND and OR of words, and no more."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from itertools import product

from carrel.libraries.literature.queries import TranslatedParameters
from carrel.libraries.literature.queries.widening import as_tree
from carrel.libraries.literature.query_filter import describe_node
from carrel.libraries.query.papers import AllOf, AnyOf, FacetPhrase, Not, PaperQuery, QueryNode
from carrel.libraries.text.words import Phrase

# A query of more groups of alternatives is asked without the OR that makes them so many.
_MOST_GROUPS = 24
INDEX_DATE_REMARK = "the day a record came to dblp, so that everything is asked anew"
# Words of which a title must have one; all groups together are the query.
_Groups = tuple[tuple[str, ...], ...]


def translate(
    query: PaperQuery, *, since: date | None = None, until: date | None = None
) -> TranslatedParameters:
    """The words of `q`: dblp looks for each in title, authors and venue together."""
    remarks: list[str] = []
    tree = as_tree(query)
    groups = _widen(tree, remarks) if tree is not None else ()
    if since is not None or until is not None:
        remarks.append(INDEX_DATE_REMARK)
    told = tuple(dict.fromkeys(remarks))
    if not groups:
        return TranslatedParameters(not_expressed=told)
    text = " ".join("|".join(group) for group in dict.fromkeys(groups))
    return TranslatedParameters({"q": text}, text, told)


def _widen(node: QueryNode, remarks: list[str]) -> _Groups:
    """Groups that every fitting work has; none where nothing of the part can be asked."""
    match node:
        case AllOf(parts):
            return tuple(group for part in parts for group in _widen(part, remarks))
        case AnyOf(parts):
            return _join_alternatives([_widen(part, remarks) for part in parts], remarks)
        case Phrase():
            return _write_phrase(node, remarks)
        case FacetPhrase(category, words) if category in ("author", "venue"):
            remarks.append(f"{describe_node(node)} in this field alone")
            return tuple((_write_word(word),) for word in words)
        case Not(part):
            remarks.append(f"NOT {_describe(part)}")
            return ()
        case _:
            remarks.append(describe_node(node))
            return ()


def _join_alternatives(parts: list[_Groups], remarks: list[str]) -> _Groups:
    """`(a b) OR c` is `(a OR c) AND (b OR c)`."""
    if not all(parts):
        return ()
    total = 1
    for part in parts:
        total *= len(part)
    if total > _MOST_GROUPS:
        remarks.append("an OR of many long parts")
        return ()
    return tuple(_unique(word for group in chosen for word in group) for chosen in product(*parts))


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))


def _write_phrase(phrase: Phrase, remarks: list[str]) -> _Groups:
    if phrase.in_title:
        remarks.append(f"{describe_node(phrase)} in this field alone")
    elif len(phrase.words) > 1:
        remarks.append(f'the words of "{" ".join(phrase.words)}" as neighbours')
    last = len(phrase.words) - 1
    return tuple(
        (_write_word(word, is_exact=phrase.is_exact and not (phrase.is_prefix and at == last)),)
        for at, word in enumerate(phrase.words)
    )


def _write_word(word: str, *, is_exact: bool = False) -> str:
    return f"{word.lower()}$" if is_exact else word.lower()


def _describe(node: QueryNode) -> str:
    match node:
        case AllOf(parts) | AnyOf(parts):
            return f"({' … '.join(_describe(part) for part in parts)})"
        case Not(part):
            return f"NOT {_describe(part)}"
        case _:
            return describe_node(node)
