"""What a person types to find notes: a beginning of a title, `#tag #tag`, `text:words "and
phrases"`, or `*` for all.
"""

from __future__ import annotations

import re

from carrel.core.errors import InvalidInputError
from carrel.rooms.knowledge.notes import AnyTitle, Condition, Tagged, TextMatch, TitlePrefix
from carrel.rooms.knowledge.words import folded, words

_TAG = re.compile(r'#(?:"([^"]*)"?|(\S+))\s*')
_PHRASE = re.compile(r'"([^"]*)"?|(\S+)')
_TEXT = "text:"
MAX_PHRASES = 32


def parse(query: str) -> Condition:
    """The condition a query stands for. Any text has one, but a tag or a text search with nothing
    in it.
    """
    rest = query.strip()
    if rest == "*":
        return AnyTitle()
    if rest[: len(_TEXT)].casefold() == _TEXT:
        return TextMatch(_phrases(rest[len(_TEXT) :]))
    if not rest.startswith("#"):
        return TitlePrefix(folded(rest), rest)
    tags: dict[str, str] = {}
    place = 0
    while match := _TAG.match(rest, place):
        typed = (match[1] if match[1] is not None else match[2]).lstrip("#").strip()
        if folded(typed):
            tags.setdefault(folded(typed), typed)
        place = match.end()
    rest = rest[place:]
    if not tags:
        raise InvalidInputError(
            "a tag is required after #", next_step="Write #tag, or several: #tag #other."
        )
    if not rest:
        return Tagged(tuple(tags), tuple(tags.values()))
    if rest[: len(_TEXT)].casefold() == _TEXT:
        return TextMatch(_phrases(rest[len(_TEXT) :]), tuple(tags))
    raise InvalidInputError(
        f"after #tags only more tags or text: can follow, not {rest[:50]!r}",
        next_step=f"Write {query.strip()[: len(query.strip()) - len(rest)].strip()} "
        f"text:{rest[:50]}",
    )


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    phrases = (tuple(words(quoted or bare)) for quoted, bare in _PHRASE.findall(text))
    found = dict.fromkeys(phrase for phrase in phrases if phrase)
    if not found:
        raise InvalidInputError(
            "words are required after text:", next_step='Write text:word, or text:"a phrase".'
        )
    if len(found) > MAX_PHRASES:
        raise InvalidInputError(
            f"text: takes at most {MAX_PHRASES} words and phrases, not {len(found)}",
            next_step="Ask with fewer words.",
        )
    return tuple(found)
