"""Search of notes: titles that begin so, the tag that is meant, and the rest by rank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrel.core.answer import Explained
from carrel.core.note_links import MAX_NOTES_ABOUT, NoteLink
from carrel.libraries.query.notes import AnyTitle, NoteQuery, parse_note_question
from carrel.libraries.text.passages import Passage, cut_passages, passage_ids
from carrel.rooms.knowledge.errors import translate_query_errors
from carrel.rooms.knowledge.models import FoundNote, NoNotesFound
from carrel.rooms.knowledge.notes import (
    TAG_SCORE,
    FoundId,
    FoundIds,
    Note,
    NoteHit,
    NoteSearch,
    Order,
    RankedSearch,
    Shelf,
    stands_on,
    text_score,
)
from carrel.rooms.knowledge.ports import NoteFinder, NoteStore

# A note of up to so many characters is shown whole, of a longer one the passage that fits best.
MAX_SHOWN_CHARACTERS = 1_000
# Ranks are sums of word weights; this many are half of the way to the best score.
_HALFWAY_RANK = 20.0
_CUT = "…"


@dataclass(frozen=True, slots=True)
class NotePassageHit:
    """A note found, its score from 0 to 1, and the number of its best passage, 0 for none."""

    note: Note
    score: float
    passage: int


class NoteSearches:
    """Searches notes by the index and shows them as the store holds them now."""

    def __init__(self, store: NoteStore, finder: NoteFinder) -> None:
        self._store = store
        self._finder = finder

    async def search(
        self, query: str, shelf: Shelf, order: Order, limit: int
    ) -> list[FoundNote] | Explained:
        with translate_query_errors():
            asked = parse_note_question(query)
        hits, total, nothing = await self.find_hits(asked, shelf, order, limit)
        if nothing is not None:
            return Explained([], nothing)
        return [show_note(hit.note, hit.score, hit.passage, total) for hit in hits]

    async def find_hits(
        self, asked: NoteQuery, shelf: Shelf, order: Order, limit: int
    ) -> tuple[list[NotePassageHit], int, NoNotesFound | None]:
        """The first notes that fit, how many do in all, and where none does, why."""
        first = await self._find_titles(asked, shelf, order, limit)
        found = await self._finder.search(RankedSearch(asked, shelf, order, limit))
        hits = [NotePassageHit(hit.note, hit.score, 0) for hit in first]
        hits += await self._read(found, {hit.note.id for hit in first}, shelf, asked)
        nothing = None if hits or found.nothing is None else NoNotesFound.of(found.nothing)
        return hits[:limit], max(found.total, len(hits)), nothing

    async def find_pointing(
        self, terms: Sequence[str], shelf: Shelf, but: str = ""
    ) -> list[NoteLink]:
        """The newest notes of a shelf that link to one of these."""
        ids = await self._finder.find_links(terms, shelf, MAX_NOTES_ABOUT + 1)
        notes = await self.find_visible([each for each in ids if each != but], shelf)
        found = [notes[note_id] for note_id in ids if note_id in notes]
        return [NoteLink(id=note.id, title=note.title) for note in found[:MAX_NOTES_ABOUT]]

    async def find_visible(self, note_ids: Sequence[str], shelf: Shelf) -> dict[str, Note]:
        """The notes of these ids that stand on the shelf."""
        if not note_ids:
            return {}
        notes = await self._store.find_many(note_ids)
        return {note_id: note for note_id, note in notes.items() if stands_on(note, shelf)}

    async def _find_titles(
        self, asked: NoteQuery, shelf: Shelf, order: Order, limit: int
    ) -> list[NoteHit]:
        if asked.is_everything:
            return await self._store.search(NoteSearch(AnyTitle(), shelf, order, limit))
        if asked.title is None:
            return []
        return await self._store.search(NoteSearch(asked.title, shelf, order, limit))

    async def _read(
        self, found: FoundIds, known: set[str], shelf: Shelf, asked: NoteQuery
    ) -> list[NotePassageHit]:
        """The notes of ids as they are now; one that changed or went since is judged anew."""
        scored = list(_scored(found, asked))
        wanted = list(dict.fromkeys(each.id for each, _ in scored if each.id not in known))
        notes = await self._store.find_many(wanted)
        hits: dict[str, NotePassageHit] = {}
        for each, score in scored:
            note = notes.get(each.id)
            if note is not None and each.id not in hits and stands_on(note, shelf):
                hits[each.id] = NotePassageHit(note, score, each.passage)
        return list(hits.values())


def _scored(found: FoundIds, asked: NoteQuery) -> Iterable[tuple[FoundId, float]]:
    for each in found.tagged:
        yield each, TAG_SCORE
    for each in found.ranked:
        # Without words nothing ranks: the tags that were asked for are all there is.
        yield each, (TAG_SCORE if asked.words.is_empty else text_score(each.rank / _HALFWAY_RANK))


def show_note(note: Note, score: float, passage_number: int, total: int) -> FoundNote:
    """A note as a hit: whole where it is short, else its best passage."""
    content, passage = note.content, None
    passages = cut_passages(content)
    ids = passage_ids(note.id, content, passages)
    place = min(max(passage_number, 1), len(passages)) - 1
    if passages:
        passage = passages[place]
    is_long = len(content) > MAX_SHOWN_CHARACTERS
    return FoundNote(
        id=note.id,
        title=note.title,
        content=_cut(content, passage) if is_long else content,
        score=round(score, 4),
        truncated=is_long,
        passage_id=ids[place] if passages and passage_number else None,
        section=passage.section or None if passage is not None and passage_number else None,
        total=total,
    ).written_by(note.user_id, note.tags)


def _cut(content: str, passage: Passage | None) -> str:
    start, end = (0, len(content)) if passage is None else (passage.start, passage.end)
    end = min(end, start + MAX_SHOWN_CHARACTERS)
    before = f"{_CUT} " if content[:start].strip() else ""
    after = f" {_CUT}" if content[end:].strip() else ""
    return f"{before}{content[start:end].strip()}{after}"
