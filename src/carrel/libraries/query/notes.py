"""The query language of notes: a title prefix, `#tag #tag`, `text:words "a phrase"`, or `*`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from carrel.libraries.query.errors import QueryError
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.tokenizer import index_terms

_TAG = re.compile(r'#(?:"([^"]*)"?|(\S+))\s*')
_PHRASE = re.compile(r'"([^"]*)"?|(\S+)')
_TEXT = "text:"
MAX_PHRASES = 32


@dataclass(frozen=True, slots=True)
class AnyTitle:
    """Every note."""


@dataclass(frozen=True, slots=True)
class TitlePrefix:
    """Notes whose folded title begins so. `as_typed` serves stores that compare exactly."""

    text: str
    as_typed: str = ""


@dataclass(frozen=True, slots=True)
class Tagged:
    """Notes that carry all of these folded tags; `as_typed` is as for titles."""

    tags: tuple[str, ...]
    as_typed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextMatch:
    """Notes that contain every phrase, each a sequence of words, and carry all of the tags."""

    phrases: tuple[tuple[str, ...], ...]
    tags: tuple[str, ...] = ()


Condition = AnyTitle | TitlePrefix | Tagged | TextMatch


def parse_note_query(query: str) -> Condition:
    """The condition of a query; QueryError for `#` or `text:` with nothing after it."""
    rest = query.strip()
    if rest == "*":
        return AnyTitle()
    if _is_text_search(rest):
        return TextMatch(_phrases(rest[len(_TEXT) :]))
    if not rest.startswith("#"):
        return TitlePrefix(fold_text(rest), rest)
    tags: dict[str, str] = {}
    place = 0
    while match := _TAG.match(rest, place):
        typed = (match[1] if match[1] is not None else match[2]).lstrip("#").strip()
        if fold_text(typed):
            tags.setdefault(fold_text(typed), typed)
        place = match.end()
    before, rest = rest[:place].strip(), rest[place:]
    if not tags:
        raise QueryError(
            "a tag is required after #", next_step="Write #tag, or several: #tag #other."
        )
    if not rest:
        return Tagged(tuple(tags), tuple(tags.values()))
    if _is_text_search(rest):
        return TextMatch(_phrases(rest[len(_TEXT) :]), tuple(tags))
    raise QueryError(
        f"after #tags only more tags or text: can follow, not {rest[:50]!r}",
        next_step=f"Write {before} text:{rest[:50]}",
    )


def _is_text_search(query: str) -> bool:
    return query[: len(_TEXT)].casefold() == _TEXT


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    phrases = (tuple(index_terms(quoted or bare)) for quoted, bare in _PHRASE.findall(text))
    found = dict.fromkeys(phrase for phrase in phrases if phrase)
    if not found:
        raise QueryError(
            "words are required after text:", next_step='Write text:word, or text:"a phrase".'
        )
    if len(found) > MAX_PHRASES:
        raise QueryError(
            f"text: takes at most {MAX_PHRASES} words and phrases, not {len(found)}",
            next_step="Ask with fewer words.",
        )
    return tuple(found)
