"""Why a search of papers found nothing: words that no paper has, and the nearest there is."""

from __future__ import annotations

from dataclasses import replace

from carrel.core.nothing_found import NothingFound
from carrel.libraries.query.empty_answers import AskedTerm, FilterEffect, explain_empty
from carrel.libraries.query.language import YearRange
from carrel.libraries.query.papers import (
    AllOf,
    FacetPhrase,
    PaperQuery,
    QueryNode,
    parse_paper_query,
)
from carrel.libraries.text.analysis import analyze_query
from carrel.libraries.text.folding import fold_text
from carrel.rooms.papers.ports import PaperStore

_MOST_WORDS = 8
_NEAREST = 3


class EmptySearches:
    """Explains empty answers of a store of papers."""

    def __init__(self, store: PaperStore) -> None:
        self._store = store

    async def explain(self, text: str) -> NothingFound:
        """Looks each word up alone; only what is asked of an empty answer costs so much."""
        query = parse_paper_query(text)
        documents = (await self._store.statistics()).papers
        typed = list(dict.fromkeys(word.typed for word in analyze_query(_words(query))))
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
            documents,
            words=words,
            filters=[await self._filter_effect(query, each) for each in _filters(query)],
            known_words=lambda word: known.get(word, ()),
            notices=query.notices,
        )
        if not empty.nearest and documents:
            instead = [
                empty.did_you_mean.get(word.typed, [word.typed])[0]
                for word in words
                if word.documents or word.typed in empty.did_you_mean
            ]
            empty = replace(empty, nearest=await self._titles(" ".join(instead)))
        return NothingFound.of(empty)

    async def _count(self, query: PaperQuery) -> int:
        if query.is_empty:
            return 0
        hits = await self._store.search(query, first=0, count=1)
        return (hits[0].total or 1) if hits else 0

    async def _filter_effect(
        self, query: PaperQuery, part: FacetPhrase | YearRange
    ) -> FilterEffect:
        alone = await self._count(PaperQuery(query.text, strict=part))
        rest = tuple(each for each in _parts(query.strict) if each is not part)
        strict = AllOf(rest) if rest else None
        without = await self._count(replace(query, strict=strict))
        return FilterEffect(_typed(part), alone, without)

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


def _filters(query: PaperQuery) -> list[FacetPhrase | YearRange]:
    return [each for each in _parts(query.strict) if isinstance(each, FacetPhrase | YearRange)]


def _typed(part: FacetPhrase | YearRange) -> str:
    match part:
        case FacetPhrase(category, words):
            value = " ".join(words)
            return f'{category}:"{value}"' if len(words) > 1 else f"{category}:{value}"
        case YearRange(first, last):
            if first == last:
                return f"year:{first}"
            return f"year:{first or ''}..{last or ''}"
