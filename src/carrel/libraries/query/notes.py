"""The query language of notes: that of papers, with `#tag #tag` and `text:words` before it, or `*`.

A plain question is the beginning of a title first, and then words that rank.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from carrel.libraries.query.errors import QueryError
from carrel.libraries.query.papers import AllOf, PaperQuery, QueryNode, parse_paper_query
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
    place = _read_tags(rest, tags)
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


@dataclass(frozen=True, slots=True)
class NoteQuery:
    """A parsed question: tags that notes carry, words that rank, and a title that comes first.

    `tags` are folded, and each stands for those below it. `title` is empty where the question
    cannot be the beginning of one. All words of a `text:` are wanted.
    """

    text: str
    words: PaperQuery
    tags: tuple[str, ...] = ()
    title: TitlePrefix | None = None

    @property
    def is_everything(self) -> bool:
        return not self.tags and self.title is None and self.words.is_empty


def parse_note_question(query: str) -> NoteQuery:
    """What is asked; QueryError for `#` or `text:` with nothing after it."""
    typed = query.strip()
    if typed == "*":
        return NoteQuery(typed, parse_paper_query(""))
    tags: dict[str, str] = {}
    rest = typed
    if typed.startswith("#"):
        place = _read_tags(typed, tags)
        if not tags:
            raise QueryError(
                "a tag is required after #", next_step="Write #tag, or several: #tag #other."
            )
        rest = typed[place:].strip()
    if _is_text_search(rest):
        asked = rest[len(_TEXT) :]
        _phrases(asked)
        return NoteQuery(typed, _want_every_word(parse_paper_query(asked)), tuple(tags))
    if tags:
        return NoteQuery(typed, parse_paper_query(rest), tuple(tags))
    return NoteQuery(typed, parse_paper_query(rest), (), TitlePrefix(fold_text(rest), rest))


def _read_tags(query: str, tags: dict[str, str]) -> int:
    """Collect the tags at the beginning of a query, and say where they end."""
    place = 0
    while match := _TAG.match(query, place):
        typed = (match[1] if match[1] is not None else match[2]).lstrip("#").strip()
        if fold_text(typed):
            tags.setdefault(fold_text(typed), typed)
        place = match.end()
    return place


def _want_every_word(query: PaperQuery) -> PaperQuery:
    strict: tuple[QueryNode, ...] = () if query.strict is None else (query.strict,)
    parts: tuple[QueryNode, ...] = (*query.loose, *strict)
    return replace(query, loose=(), strict=parts[0] if len(parts) == 1 else AllOf(parts))


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
