"""Finds notes in the index, and explains where nothing was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from carrel.libraries.query.empty_answers import (
    AskedTerm,
    EmptyAnswer,
    FilterEffect,
    explain_empty,
)
from carrel.libraries.query.suggestions import suggest_spelling
from carrel.libraries.text.folding import fold_text
from carrel.rooms.knowledge.notes import (
    FoundId,
    FoundIds,
    ListedIds,
    MineAndTeam,
    NoteListing,
    RankedSearch,
    Shelf,
)
from carrel.stores.search.notes.index import BUILD_SECONDS, NoteIndex, ReadChanges
from carrel.stores.search.notes.ranking import NoteCondition, NoteRanking, RankedNote
from carrel.stores.search.views import View

# Tags that a mistyped one is compared with.
_KNOWN_TAGS = 2_000
_WHOLE_BUILD_SECONDS = 24 * 3600.0

_FIRST_NOTE = "save_knowledge saves the first."


class IndexedNotes:
    """The room's finder of notes, over an index in a cache folder."""

    def __init__(
        self, changes: ReadChanges, folder: Path, *, build_seconds: float = BUILD_SECONDS
    ) -> None:
        self._index = NoteIndex(changes, folder, build_seconds=build_seconds)

    async def search(self, search: RankedSearch) -> FoundIds:
        return await self._index.search(search.shelf, lambda view: _search(view, search))

    async def list_notes(self, listing: NoteListing) -> ListedIds:
        return await self._index.search(listing.shelf, lambda view: _list(view, listing))

    async def find_links(self, terms: Sequence[str], shelf: Shelf, limit: int) -> list[str]:
        def work(view: View | None) -> list[str]:
            if view is None:
                return []
            found = NoteRanking(view).pointing_at(terms, _hides_done(shelf), limit)
            return [note.id for note in found]

        return await self._index.search(shelf, work)

    async def update(self) -> None:
        """Bring the index up to date, however long that takes."""
        await self._index.catch_up(_WHOLE_BUILD_SECONDS)

    def follow_later(self) -> None:
        self._index.follow_later()

    async def close(self) -> None:
        await self._index.close()


def _search(view: View | None, search: RankedSearch) -> FoundIds:
    if view is None:
        return FoundIds((), (), 0, explain_empty("notes", 0, next_step=_FIRST_NOTE))
    query, ranking = search.query, NoteRanking(view)
    hides_done = _hides_done(search.shelf)
    tag = query.title.text if query.title is not None else ""
    condition = NoteCondition(query.words, query.tags, title_prefix=tag, hides_done=hides_done)
    tagged = ranking.tagged(tag, hides_done, search.limit) if tag else []
    ranked: list[RankedNote] = []
    if query.title is None or not query.words.is_empty:
        ranked = ranking.search(condition, search.order, search.limit)
    total = ranking.count(condition, tag)
    nothing = _explain(ranking, condition, search) if not total else None
    return FoundIds(_ids(tagged), _ids(ranked), total, nothing)


def _list(view: View | None, listing: NoteListing) -> ListedIds:
    if view is None:
        return ListedIds((), 0, ())
    query, ranking = listing.query, NoteRanking(view)
    tag = query.title.text if query.title is not None else ""
    condition = NoteCondition(
        query.words, query.tags, title_prefix=tag, hides_done=_hides_done(listing.shelf)
    )
    page = ranking.list_newest(condition, tag, listing.limit, listing.offset)
    tags = ranking.count_tags(condition, tag, listing.max_tags)
    return ListedIds(tuple(note.id for note in page), ranking.count(condition, tag), tuple(tags))


def _ids(found: Sequence[RankedNote]) -> tuple[FoundId, ...]:
    return tuple(FoundId(note.id, note.rank, note.passage) for note in found)


def _hides_done(shelf: Shelf) -> bool:
    """Originals that became a team note stand aside for it."""
    return isinstance(shelf, MineAndTeam)


def _explain(ranking: NoteRanking, condition: NoteCondition, search: RankedSearch) -> EmptyAnswer:
    documents = ranking.count_notes(condition.hides_done)
    words = [
        AskedTerm(word.typed, ranking.count_word(word)) for word in ranking.words_of(condition)
    ]
    filters = [FilterEffect(f"#{tag}", ranking.count_tag(tag)) for tag in condition.tags]
    unknown = {
        fold_text(word.typed): ranking.suggest(word.typed) for word in words if not word.documents
    }
    near_tags = [
        f"#{near}"
        for tag in condition.tags
        if not ranking.count_tag(tag)
        for near in suggest_spelling(fold_text(tag), ranking.known_tags(tag[:1], _KNOWN_TAGS))
    ]
    return explain_empty(
        "notes",
        documents,
        words=words,
        filters=filters,
        known_words=lambda word: [(known, 1) for known in unknown.get(word, [])],
        nearest=near_tags,
    )
