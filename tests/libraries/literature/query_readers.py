"""A second, small reader of the services' query languages: does a text fit a translated query?

Operators are taken from left to right, as PubMed takes them, so that a missing bracket shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from carrel.libraries.query.papers import AllOf, AnyOf, Not, QueryNode, YearRange
from carrel.libraries.text.words import Phrase

_TOKEN = re.compile(r"\s*(\(|\)|[\w.]*:?\[[^\]]*\]|[\w.-]*:?\"[^\"]*\"(?:\[\w+\])?|[^\s()]+)")
_OPERATORS = {"AND", "OR", "NOT", "ANDNOT"}


@dataclass(frozen=True, slots=True)
class Text:
    """What a service would search."""

    title: tuple[str, ...]
    abstract: tuple[str, ...]
    year: int

    def has(self, words: list[str], *, in_title: bool = False, is_prefix: bool = False) -> bool:
        places = [self.title] if in_title else [self.title, self.abstract]
        return any(
            place[at : at + len(words) - 1] == tuple(words[:-1])
            and (
                place[at + len(words) - 1].startswith(words[-1])
                if is_prefix
                else place[at + len(words) - 1] == words[-1]
            )
            for place in places
            for at in range(len(place) - len(words) + 1)
        )


def fits_tree(node: QueryNode, text: Text) -> bool:
    """What our own language means."""
    match node:
        case AllOf(parts):
            return all(fits_tree(part, text) for part in parts)
        case AnyOf(parts):
            return any(fits_tree(part, text) for part in parts)
        case Not(part):
            return not fits_tree(part, text)
        case YearRange():
            return node.has(text.year)
        case Phrase(words, is_prefix, in_title):
            return text.has(list(words), in_title=in_title, is_prefix=is_prefix)
        case _:
            raise AssertionError(node)


def fits_boolean(query: str, text: Text, fits_leaf: Callable[[str, Text], bool]) -> bool:
    """Evaluate brackets, AND, OR, NOT and ANDNOT from left to right; neighbours are AND."""
    tokens = [found.group(1) for found in _TOKEN.finditer(query)]
    value, rest = _read_group(tokens, text, fits_leaf)
    assert not rest, query
    return value


def _read_group(
    tokens: list[str], text: Text, fits_leaf: Callable[[str, Text], bool]
) -> tuple[bool, list[str]]:
    value: bool | None = None
    operator = "AND"
    while tokens:
        token, tokens = tokens[0], tokens[1:]
        if token == ")":
            break
        if token in _OPERATORS:
            assert value is not None, "an operator begins a group"
            operator = token
            continue
        if token == "(":
            found, tokens = _read_group(tokens, text, fits_leaf)
        else:
            found = fits_leaf(token, text)
        if value is None:
            value = found
        elif operator == "OR":
            value = value or found
        else:
            value = value and (found if operator == "AND" else not found)
        operator = "AND"
    assert value is not None, "an empty group"
    return value, tokens


def _fits_words(written: str, text: Text, *, in_title: bool) -> bool:
    bare = written.strip('"')
    words = bare.rstrip("*").replace("-", " ").split()
    return text.has(words, in_title=in_title, is_prefix=bare.endswith("*"))


def fits_pubmed_leaf(token: str, text: Text) -> bool:
    if token == "all[sb]":
        return True
    if years := re.fullmatch(r"(\d+):(\d+)\[dp\]", token):
        return int(years.group(1)) <= text.year <= int(years.group(2))
    written, _, tag = token.partition("[")
    assert tag in {"", "all]", "ti]"}, token
    return _fits_words(written, text, in_title=tag == "ti]")


def fits_field_leaf(token: str, text: Text) -> bool:
    """Leaves such as `TITLE:word`, `all:"two words"`, `PUB_YEAR:[2000 TO 2010]`."""
    field, _, value = token.partition(":")
    if years := re.fullmatch(r"\[(\d{4})\d* TO (\d{4})\d*\]", value):
        assert field in {"PUB_YEAR", "submittedDate", "bibjson.year"}
        return int(years.group(1)) <= text.year <= int(years.group(2))
    if field in {"KW", "bibjson.keywords"}:
        return False
    if field in {"ABSTRACT", "bibjson.abstract"}:
        return _fits_words(value, Text(text.abstract, (), text.year), in_title=True)
    assert field in {"TITLE", "ti", "all", "bibjson.title"}, token
    return _fits_words(value, text, in_title=field != "all")


def fits_dblp(query: str, text: Text) -> bool:
    """Every group has a word that begins a word of the text, or is it where a `$` follows."""
    words = {*text.title, *text.abstract}
    return all(
        any(
            part[:-1] in words
            if part.endswith("$")
            else any(word.startswith(part) for word in words)
            for part in group.split("|")
        )
        for group in query.split()
    )
