"""Why a search of papers found nothing: words that no paper has, and the nearest there is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from carrel.core.nothing_found import NothingFound
from carrel.libraries.query.empty_answers import AskedTerm, FilterEffect, explain_empty
from carrel.libraries.query.language import YearRange
from carrel.libraries.query.papers import (
    AllOf,
    AnyOf,
    FacetPhrase,
    PaperIdentifier,
    PaperQuery,
    QueryNode,
    WithIdentifier,
    parse_paper_query,
)
from carrel.libraries.text.analysis import analyze_query
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.words import split_words
from carrel.rooms.papers.ports import PaperStore

_IDENTIFIER_NAMES = {
    "doi": "DOI",
    "arxiv": "arXiv id",
    "pmid": "PMID",
    "pmcid": "PMCID",
    "paper_id": "paper id",
}
BEING_READ = (
    "A chosen folder is being read, and its papers come in as they are read: ask again in a few "
    "seconds. If none come, it has none: add_paper adds one."
)
_FILTER = re.compile(r'\b\w+:(?P<value>"[^"]*"|[^\s"()]+)')
_MOST_WORDS = 8
_NEAREST = 3


class EmptySearches:
    """Explains empty answers of a store of papers."""

    def __init__(self, store: PaperStore, *, follows_folders: bool = False) -> None:
        self._store = store
        self._follows_folders = follows_folders

    async def explain(self, text: str, *, within: int = 0) -> NothingFound:
        """Looks each word up alone; only what is asked of an empty answer costs so much.

        `within` is to how many papers the search was limited, 0 where it was not.
        """
        query = parse_paper_query(text)
        documents = (await self._store.statistics()).papers
        missing = await self._missing_identifiers(query)
        asked = () if query.identifiers else analyze_query(_words(query))
        typed = list(dict.fromkeys(word.typed for word in asked))
        words = [
            AskedTerm(word, await self._count(parse_paper_query(word)))
            for word in typed[:_MOST_WORDS]
        ]
        known = {
            fold_text(word.typed): await self._store.words_like(word.typed)
            for word in words
            if not word.documents
        }
        empty = explain_empty(
            "papers",
            within or documents,
            words=words,
            filters=[await self._filter_effect(query, each) for each in _filters(query)],
            known_words=lambda word: known.get(word, ()),
            notices=(*query.notices, *(f"No paper here has the {each}." for each in missing)),
            next_step=self._next_step(documents, missing),
            asks_nothing=query.is_empty,
            limited_by="within" if within else "",
        )
        if not empty.nearest and documents:
            instead = [
                empty.did_you_mean.get(word.typed, [word.typed])[0]
                for word in words
                if word.documents or word.typed in empty.did_you_mean
            ]
            empty = replace(empty, nearest=await self._titles(" ".join(instead)))
        return NothingFound.of(empty)

    def _next_step(self, documents: int, missing: Sequence[str]) -> str:
        if not documents:
            return BEING_READ if self._follows_folders else "add_paper adds the first."
        return "Check the identifier, or search by title." if missing else ""

    async def _missing_identifiers(self, query: PaperQuery) -> list[str]:
        """The identifiers of a query that no paper has, each as `DOI 10.1000/xyz`."""
        asked = [
            each.identifiers for each in _parts(query.strict) if isinstance(each, WithIdentifier)
        ]
        if query.identifiers:
            asked.append(query.identifiers)
        return [
            _name_identifier(same[0])
            for same in dict.fromkeys(asked)
            if not await self._count(PaperQuery(query.text, strict=WithIdentifier(same)))
        ]

    async def _count(self, query: PaperQuery) -> int:
        if query.is_empty:
            return 0
        hits = await self._store.search(query, first=0, count=1)
        return (hits[0].total or 1) if hits else 0

    async def _filter_effect(self, query: PaperQuery, part: QueryNode) -> FilterEffect:
        alone = await self._count(PaperQuery(query.text, strict=part))
        rest = tuple(each for each in _parts(query.strict) if each is not part)
        strict = AllOf(rest) if rest else None
        without = await self._count(replace(query, strict=strict))
        return FilterEffect(_echo(part, query.text), alone, without)

    async def _titles(self, words: str) -> tuple[str, ...]:
        query = parse_paper_query(words)
        if query.is_empty:
            return ()
        hits = await self._store.search(query, first=0, count=_NEAREST)
        return tuple(f"{hit.title} ({hit.paper_id})" for hit in hits)


def _words(query: PaperQuery) -> str:
    """The words that papers were to have, without fields and excluded ones."""
    phrases = query.phrases or query.loose
    return " ".join(dict.fromkeys(word for phrase in phrases for word in phrase.words))


def _parts(strict: QueryNode | None) -> tuple[QueryNode, ...]:
    if strict is None:
        return ()
    return strict.parts if isinstance(strict, AllOf) else (strict,)


def _name_identifier(identifier: PaperIdentifier) -> str:
    return f"{_IDENTIFIER_NAMES[identifier.kind]} {identifier.value}"


def _filters(query: PaperQuery) -> list[QueryNode]:
    return [each for each in _parts(query.strict) if _typed(each)]


def _echo(part: QueryNode, text: str) -> str:
    """A filter as it stands in the query, else as it can be typed."""
    alternatives = part.parts if isinstance(part, AnyOf) else (part,)
    wanted = [
        split_words(fold_text(" ".join(each.words)))
        for each in alternatives
        if isinstance(each, FacetPhrase)
    ]
    written = [
        found[0]
        for found in _FILTER.finditer(text)
        if split_words(fold_text(found["value"])) in wanted
    ]
    return written[0] if len(written) == 1 else _typed(part)


def _typed(part: QueryNode) -> str:
    """A filter as it can be typed; empty for what is none."""
    match part:
        case AnyOf(parts) if all(isinstance(each, FacetPhrase) for each in parts):
            # A name in either order, or several that one may choose from.
            return " OR ".join(dict.fromkeys(_typed(each) for each in parts))
        case FacetPhrase(category, words):
            value = " ".join(words)
            return f'{category}:"{value}"' if len(words) > 1 else f"{category}:{value}"
        case YearRange(first, last):
            if first == last:
                return f"year:{first}"
            return f"year:{first or ''}..{last or ''}"
        case _:
            return ""
