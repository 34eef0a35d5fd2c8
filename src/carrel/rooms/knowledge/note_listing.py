"""Lists of notes for people: pages, extracts that show why, and the tags with their counts."""

from __future__ import annotations

import re
from dataclasses import replace

from carrel.core.answer import Explained
from carrel.libraries.query.notes import NoteQuery, parse_note_question
from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.passages import cut_passages
from carrel.libraries.text.snippets import Marker
from carrel.libraries.text.words import Phrase, split_words
from carrel.rooms.knowledge.errors import translate_query_errors
from carrel.rooms.knowledge.list_models import KnowledgeList, ListedNote, ListKnowledge, NoteTag
from carrel.rooms.knowledge.models import NoNotesFound
from carrel.rooms.knowledge.note_search import NoteSearches
from carrel.rooms.knowledge.notes import Note, NoteListing, Shelf, stands_on
from carrel.rooms.knowledge.ports import NoteFinder, NoteStore

# Ranked hits are looked through from the first one on, so that their pages have an end.
MAX_RANKED = 1_000
# How much of a long note is looked at for an extract where no passage was found.
_READ_CHARACTERS = 4_000

_WIKI_LINK = re.compile(r"!?\[\[([^\[\]\n|]+)(?:\|([^\[\]\n]*))?\]\]")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*(?:\s+\"[^\"\n]*\")?\)")
_LINE_START = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)", re.MULTILINE
)
_RULE = re.compile(r"^[ \t]*(?:[-*_][ \t]*){3,}$|^[ \t]*(?:```|~~~).*$|^[|:\- \t]+$", re.MULTILINE)
_EMPHASIS = re.compile(r"(\*\*|__|\*|`|~~)(?=\S)([^\n]{1,200}?)(?<=\S)\1")


class NoteListings:
    """Lists notes by the index and shows them as the store holds them now."""

    def __init__(self, store: NoteStore, finder: NoteFinder, searches: NoteSearches) -> None:
        self._store = store
        self._finder = finder
        self._searches = searches

    async def list_page(self, question: ListKnowledge, shelf: Shelf) -> KnowledgeList | Explained:
        """One page; where nothing fits at all, with an explanation."""
        asked = _parse(question)
        is_filter = asked.words.is_empty and asked.title is None
        listing = NoteListing(
            asked,
            shelf,
            question.limit if is_filter else 1,
            question.offset if is_filter else 0,
            question.tag_counts,
        )
        listed = await self._finder.list_notes(listing)
        nothing: NoNotesFound | None = None
        total = reachable = listed.total
        if is_filter:
            notes = await self._store.find_many(listed.ids)
            found = [(note, 0) for each in listed.ids if (note := notes.get(each)) is not None]
            found = [hit for hit in found if stands_on(hit[0], shelf)]
            if not total:
                _, _, nothing = await self._searches.find_hits(asked, shelf, question.order, 1)
        else:
            end = min(question.offset + question.limit, MAX_RANKED)
            hits, total, nothing = await self._searches.find_hits(asked, shelf, question.order, end)
            found = [(hit.note, hit.passage) for hit in hits[question.offset :]]
            reachable = min(total, MAX_RANKED)
        marker = Marker([Phrase((word,)) for word in split_words(question.query)])
        page = KnowledgeList(
            notes=tuple(_show(note, passage, marker) for note, passage in found),
            total=total,
            offset=question.offset,
            reachable=reachable,
            tags=tuple(NoteTag(tag=tag, count=count) for tag, count in listed.tags),
        )
        return page if nothing is None else Explained(page, nothing)


def _parse(question: ListKnowledge) -> NoteQuery:
    with translate_query_errors():
        asked = parse_note_question(question.query.strip() or "*")
    if not question.tags:
        return asked
    tags = dict.fromkeys((*asked.tags, *(fold_text(tag) for tag in question.tags)))
    # With tags beside it the question is words that rank, and no beginning of a title.
    return replace(asked, tags=tuple(tags), title=None)


def _show(note: Note, passage_number: int, marker: Marker) -> ListedNote:
    return ListedNote(
        id=note.id,
        title=note.title,
        snippet=marker.snippet([plain_text(_passage(note, passage_number))]),
        tags=note.tags,
        source=note.source,
        status=note.status,
        author=note.user_id,
        created_at=note.created_at.isoformat(),
        updated_at=note.updated_at.isoformat(),
    )


def _passage(note: Note, number: int) -> str:
    if number > 1:
        passages = cut_passages(note.content)
        passage = passages[min(number, len(passages)) - 1]
        return note.content[passage.start : passage.end]
    first, _, rest = note.content.lstrip().partition("\n")
    repeats_title = first.lstrip("# ").strip() == note.title.strip() and rest.strip()
    return (rest if repeats_title else note.content)[:_READ_CHARACTERS]


def plain_text(markdown: str) -> str:
    """Markdown as words for one line: without its marks, links as what they show."""
    text = _RULE.sub(" ", markdown)
    text = _WIKI_LINK.sub(lambda match: match[2] or match[1], text)
    text = _LINK.sub(r"\1", text)
    text = _LINE_START.sub("", text)
    return _EMPHASIS.sub(r"\2", text).replace("|", " ")
