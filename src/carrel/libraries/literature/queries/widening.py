"""Queries for services with a binary NOT: asked wider where they lack words, never narrower.

A part that a service cannot express is left out where that finds more works, and told; a narrower
query would lose works that nobody could get back. Within NOT the same holds the other way round.
A leaf may be written wider than it is, and NOT may stand within OR.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from carrel.libraries.literature.queries.boolean import QueryLeafNode, describe_tree, write_words
from carrel.libraries.query.papers import (
    AllOf,
    AnyOf,
    FacetPhrase,
    Not,
    PaperQuery,
    QueryNode,
    WithIdentifier,
    without_stop_words,
)
from carrel.libraries.text.words import Phrase

# Read as operators, so never sent as bare words.
_BARE_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
_OPERATORS = frozenset({"AND", "OR", "NOT", "ANDNOT", "TO", "NEAR", "ADJ"})


@dataclass(frozen=True, slots=True)
class Clause:
    """A leaf in a service's language; a wider one also finds works that do not fit.

    `remark` says in plain words what the clause leaves open.
    """

    text: str
    is_wider: bool = False
    remark: str = ""


@dataclass(frozen=True, slots=True)
class BooleanLanguage:
    """How a service writes its queries.

    `write_leaf` gives None for what the service cannot be asked. `everything` is a clause that
    every work fits, needed before a NOT that stands alone; empty where there is none.
    """

    write_leaf: Callable[[QueryLeafNode], Clause | None]
    not_operator: str = "NOT"
    and_operator: str = "AND"
    or_operator: str = "OR"
    everything: str = ""
    # Between two bare words, where the service reads neighbours better than words apart.
    word_joint: str = " AND "


@dataclass(frozen=True, slots=True)
class _All:
    parts: tuple[_Asked, ...]


@dataclass(frozen=True, slots=True)
class _Any:
    parts: tuple[_Asked, ...]


@dataclass(frozen=True, slots=True)
class _Without:
    part: _Asked


# True is every work, False is none.
_Asked: TypeAlias = "str | bool | _All | _Any | _Without"


def as_tree(query: PaperQuery) -> QueryNode | None:
    """The whole query as one tree: all loose words but stop words, and the strict part.

    A query that is an identifier asks for that alone.
    """
    if query.identifiers:
        return WithIdentifier(query.identifiers)
    loose: list[QueryNode] = list(without_stop_words(query.loose)) if query.loose else []
    parts = (*loose, *((query.strict,) if query.strict is not None else ()))
    return AllOf(parts) if len(parts) > 1 else parts[0] if parts else None


def write_query(query: PaperQuery, language: BooleanLanguage) -> tuple[str, tuple[str, ...]]:
    """The query as text, and what it leaves open; no text where nothing can be asked."""
    tree = as_tree(query)
    return ("", ()) if tree is None else write_tree(tree, language)


def write_tree(tree: QueryNode, language: BooleanLanguage) -> tuple[str, tuple[str, ...]]:
    """The same for a tree, which may be a part of a query."""
    writer = _Writer(language)
    text = writer.write(writer.widen(tree))
    return text, tuple(dict.fromkeys(writer.remarks))


def quote_phrase(phrase: Phrase | FacetPhrase) -> str:
    """The words as a service takes them: bare if one, quoted if several or an operator."""
    text = write_words(phrase.words)
    is_bare = " " not in text and text.upper() not in _OPERATORS
    return text if is_bare and len(phrase.words) == 1 else f'"{text}"'


@dataclass(slots=True)
class _Writer:
    language: BooleanLanguage
    remarks: list[str] = field(default_factory=list)

    def widen(self, node: QueryNode) -> _Asked:
        """What finds every work that fits, and perhaps others."""
        match node:
            case AllOf(parts):
                return _all([self.widen(part) for part in parts])
            case AnyOf(parts):
                return self._tell_if(True, _any([self.widen(part) for part in parts]), node)
            case Not(part):
                return _without(self.narrow(part))
            case _:
                return self._write_leaf(node, is_wide=True)

    def narrow(self, node: QueryNode) -> _Asked:
        """What finds only works that fit, and perhaps not all."""
        match node:
            case AllOf(parts):
                return self._tell_if(False, _all([self.narrow(part) for part in parts]), Not(node))
            case AnyOf(parts):
                return _any([self.narrow(part) for part in parts])
            case Not(part):
                return _without(self.widen(part))
            case _:
                return self._write_leaf(node, is_wide=False)

    def _tell_if(self, fallen: bool, asked: _Asked, node: QueryNode) -> _Asked:
        """One part that cannot be said takes the others with it, so all are told."""
        if asked is fallen:
            self.remarks.append(describe_tree(node))
        return asked

    def _write_leaf(self, node: QueryLeafNode, *, is_wide: bool) -> _Asked:
        clause = self.language.write_leaf(node)
        if clause is None or (clause.is_wider and not is_wide):
            self.remarks.append(describe_tree(node if is_wide else Not(node)))
            return is_wide
        if clause.remark:
            self.remarks.append(clause.remark)
        return clause.text

    def write(self, asked: _Asked) -> str:
        """The text of a whole query; empty where it is a NOT that cannot stand alone."""
        if isinstance(asked, bool):
            return ""
        if not isinstance(asked, _Without):
            return self._write(asked)
        if not self.language.everything:
            self.remarks.append("a query of nothing but NOT")
            return ""
        return self._write(_All((self.language.everything, asked)))

    def _write(self, asked: _Asked) -> str:
        match asked:
            case _All(parts):
                wanted = [self._atom(part) for part in parts if not isinstance(part, _Without)]
                unwanted = [self._atom(each.part) for each in parts if isinstance(each, _Without)]
                return f" {self.language.not_operator} ".join([self._join(wanted), *unwanted])
            case _Any(parts):
                either = f" {self.language.or_operator} "
                return either.join(self._atom(part) for part in parts)
            case _:
                return str(asked)

    def _join(self, wanted: list[str]) -> str:
        text = wanted[0]
        for before, part in pairwise(wanted):
            are_bare = _BARE_WORD.fullmatch(before) and _BARE_WORD.fullmatch(part)
            joint = f" {self.language.and_operator} "
            text += f"{self.language.word_joint if are_bare else joint}{part}"
        return text

    def _atom(self, asked: _Asked) -> str:
        return asked if isinstance(asked, str) else f"({self._write(asked)})"


def _flatten(parts: list[_Asked], kind: type[_All | _Any]) -> Iterator[_Asked]:
    for part in parts:
        if isinstance(part, kind):
            yield from part.parts
        else:
            yield part


def _all(parts: list[_Asked]) -> _Asked:
    """All of them, at least one of which is no NOT; of NOT alone it is NOT of any."""
    if any(part is False for part in parts):
        return False
    kept = tuple(dict.fromkeys(part for part in _flatten(parts, _All) if part is not True))
    refused = [part.part for part in kept if isinstance(part, _Without)]
    if refused and len(refused) == len(kept):
        return _without(_any(refused))
    return _All(kept) if len(kept) > 1 else kept[0] if kept else True


def _any(parts: list[_Asked]) -> _Asked:
    """Any of them, none of which is a NOT: `a OR NOT b` is `NOT (b AND NOT a)`."""
    if any(part is True for part in parts):
        return True
    kept = tuple(dict.fromkeys(part for part in _flatten(parts, _Any) if part is not False))
    refused: list[_Asked] = [part.part for part in kept if isinstance(part, _Without)]
    if refused:
        wanted: list[_Asked] = [part for part in kept if not isinstance(part, _Without)]
        return _without(_all([*refused, *([_without(_any(wanted))] if wanted else [])]))
    return _Any(kept) if len(kept) > 1 else kept[0] if kept else False


def _without(asked: _Asked) -> _Asked:
    if isinstance(asked, bool):
        return not asked
    return asked.part if isinstance(asked, _Without) else _Without(asked)
