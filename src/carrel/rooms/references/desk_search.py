"""The part of the references room in the search over the desk."""

from __future__ import annotations

import contextlib
import re

from carrel.core.answer import split_explanation
from carrel.core.caller import Call
from carrel.core.desk_search import DeskCandidate, RoomFindings
from carrel.libraries.identifiers import (
    ArxivId,
    Doi,
    Identifier,
    Isbn,
    NotAnIdentifierError,
    Pmcid,
    Pmid,
)
from carrel.libraries.query.desk_ranking import ROOM_WORDS
from carrel.libraries.text.analysis import analyze_query
from carrel.rooms.references.errors import ReferenceNotFoundError
from carrel.rooms.references.items import Item, names_text, text_of, year_of
from carrel.rooms.references.models import SearchReferences
from carrel.rooms.references.resources import READ
from carrel.rooms.references.service import ReferencesRoom

_LONGEST_QUERY = 500
_LONGEST_KEY = 500
_MOST_WORDS = 20
_OPERATORS = re.compile(r'["():*#]|\b(?:AND|OR|NOT)\b|(?:^|\s)-')
_TEXT_FIELDS = (
    "container-title", "publisher", "publisher-place", "keyword", "abstract", "note", "DOI", "PMID",
)  # fmt: skip


class ReferenceDeskSearch:
    """References by their citation key and identifiers, and as search_references ranks them."""

    scopes = READ

    def __init__(self, references: ReferencesRoom) -> None:
        self._references = references

    async def search(self, query: str, call: Call, count: int) -> RoomFindings:
        named = await self._named(query.strip(), call)
        asked = SearchReferences(query=query[:_LONGEST_QUERY], limit=count)
        items = await self._search(asked, call)
        if len(items) < count and (any_word := _any_word(query)):
            # The room's own search wants all words; across rooms some may be enough.
            items += await self._search(SearchReferences(query=any_word, limit=count), call)
            items = list({str(item.get("id")): item for item in items}.values())[:count]
        known = {str(item.get("id")) for item in named}
        found = [_candidate(item, is_named=True) for item in named]
        found += [
            _candidate(item, is_named=False) for item in items if str(item.get("id")) not in known
        ]
        return RoomFindings(found, "" if found else await self._explain(asked, call))

    async def _explain(self, asked: SearchReferences, call: Call) -> str:
        _, explanation = split_explanation(await self._references.search(asked, call))
        return "" if explanation is None else explanation.message

    async def _named(self, text: str, call: Call) -> list[Item]:
        """The reference of that key, or those of that identifier."""
        found: list[Item] = []
        if text and len(text) <= _LONGEST_KEY:
            with contextlib.suppress(ReferenceNotFoundError):
                found.append(await self._references.find(text.removeprefix("@"), call))
        for identifier in _identifiers(text):
            asked = SearchReferences(query=_field_query(identifier), limit=5)
            found += await self._search(asked, call)
        return list({str(item.get("id")): item for item in found}.values())

    async def _search(self, asked: SearchReferences, call: Call) -> list[Item]:
        answer, _ = split_explanation(await self._references.search(asked, call))
        return answer.references or []


def _any_word(query: str) -> str:
    """The content words of a plain question, any of which may match; empty for other queries."""
    if _OPERATORS.search(query):
        return ""
    words = [word.typed for word in analyze_query(query) if word.typed not in ROOM_WORDS]
    return " OR ".join(dict.fromkeys(words[:_MOST_WORDS]))


def _identifiers(text: str) -> list[Identifier]:
    found: list[Identifier] = []
    for kind in (Doi, ArxivId, Pmcid, Pmid, Isbn):
        try:
            found.append(kind.parse(text))
        except NotAnIdentifierError:
            continue
    return found


def _field_query(identifier: Identifier) -> str:
    match identifier:
        case Doi(value=value):
            return f'doi:"{value}"'
        case Pmid(value=value):
            return f"pmid:{value}"
        case Pmcid(value=value):
            return f"pmcid:{value}"
        case Isbn(value=value):
            return f"isbn:{value}"
        case ArxivId(value=value):
            return f'"{value}"'


def _candidate(item: Item, *, is_named: bool) -> DeskCandidate:
    name = str(item.get("id"))
    year = year_of(item)
    people = names_text(item) or ""
    facts = [
        people,
        "" if year is None else str(year),
        *(text_of(item, one) for one in _TEXT_FIELDS),
    ]
    return DeskCandidate(
        "reference",
        name,
        text_of(item, "title") or name,
        " ".join(fact for fact in facts if fact),
        "cite_references",
        {"ids": [name]},
        is_named=is_named,
    )
