"""A note as documents of the index: one for the note, and one for each passage of a long one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from carrel.libraries.text.folding import fold_text
from carrel.libraries.text.front_matter import split_front_matter
from carrel.libraries.text.passages import Passage, cut_passages
from carrel.rooms.knowledge.links import find_links
from carrel.rooms.knowledge.notes import Note, shelf_of
from carrel.stores.search.schema import IndexedDocument

# Fields of front matter that say something of the note beside its text, such as aliases.
MAX_PROPERTY_CHARACTERS = 6_000
# How often the title stands in what ranks a passage: 1 to 6 were tried on the questions that
# ranking.py names, and each more lowered the share of right notes.
TITLE_TIMES = 1

IS_NOTE, IS_PASSAGE, IS_DONE = "kind:note", "kind:passage", "state:done"
# The dashes and the name before a value in a line of front matter.
_KEY = re.compile(r"^\s*(?:- +)*(?:['\"]?[\w@.-]{1,60}['\"]?:(?=\s|$))?")
_LATEST_PLACE = (1 << 32) - 1
_TICKS_PER_SECOND = 100


def note_key(note_id: str) -> str:
    """The key that all documents of a note share."""
    return f"id:{note_id}"


def tag_key(tag: str) -> str:
    return f"tag:{'/'.join(part.strip() for part in fold_text(tag).split('/'))}"


def link_key(term: str) -> str:
    return f"link:{term}"


def note_row(note_id: str) -> int:
    """The number under which the documents of a note are grouped."""
    return int.from_bytes(hashlib.blake2b(note_id.encode(), digest_size=7).digest())


def note_digest(note: Note) -> bytes:
    """Changes whenever the documents of the note do."""
    origin = note.origin.front_matter if note.origin is not None else ""
    facts = (note.title, note.content, *note.tags, shelf_of(note), origin, str(note.created_at))
    return hashlib.blake2b("\0".join(facts).encode(), digest_size=12).digest()


def note_documents(note: Note) -> Iterator[IndexedDocument]:
    """The documents of a note; a short note is one document that is its own passage."""
    passages = cut_passages(note.content)
    keys = _keys(note)
    tags = " ".join(tag.replace("/", " ") for tag in note.tags)
    about = {"tag": note.tags, "keyword": note_properties(note)}
    row, year, place = note_row(note.id), *_time_of(note.created_at)
    links = [link_key(term) for target in find_links(note.content) for term in target.terms]
    whole = [IS_NOTE, f"title:{fold_text(note.title)}", *keys, *dict.fromkeys(links)]
    if len(passages) <= 1:
        yield IndexedDocument(
            row=row,
            number=passages[0].number if passages else 0,
            id=note.id,
            title=note.title,
            text=_text(note, passages[0], tags) if passages else tags,
            title_times=TITLE_TIMES,
            year=year,
            place=place,
            keys=[IS_PASSAGE, *whole],
            facets=about,
        )
        return
    headings = " ".join(dict.fromkeys(head for each in passages for head in each.headings))
    yield IndexedDocument(
        row=row,
        id=note.id,
        text="",
        title=note.title,
        title_times=0,
        body=f"{note.title}\n\n{tags}\n\n{headings}\n\n{note.content}",
        year=year,
        place=place,
        keys=whole,
        facets=about,
    )
    for passage in passages:
        yield IndexedDocument(
            row=row,
            number=passage.number,
            id=note.id,
            title=note.title,
            text=_text(note, passage, tags),
            title_times=TITLE_TIMES,
            year=year,
            place=place,
            keys=[IS_PASSAGE, *keys],
            facets=about if passage.number == 1 else {},
        )


def _text(note: Note, passage: Passage, tags: str) -> str:
    heading = passage.headings[-1] if passage.headings else ""
    return f"{tags}\n\n{heading}\n\n{note.content[passage.start : passage.end]}"


def _keys(note: Note) -> list[str]:
    keys = [note_key(note.id)]
    if note.source == "personal" and note.status == "promoted":
        keys.append(IS_DONE)
    for tag in note.tags:
        parts = tag_key(tag).split("/")
        keys += ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return list(dict.fromkeys(keys))


def _time_of(moment: datetime) -> tuple[int, int]:
    """Year and place within it, so that `newness` grows with the time of creation."""
    at = moment.astimezone(UTC)
    since = at - datetime(at.year, 1, 1, tzinfo=UTC)
    return at.year, _LATEST_PLACE - int(since.total_seconds() * _TICKS_PER_SECOND)


def note_properties(note: Note) -> list[str]:
    """The texts in a note's front matter that its title, tags and content do not have.

    Read line by line: what a line names is enough to be found by, and parsing YAML costs more than
    all the rest of indexing.
    """
    if note.origin is None or not note.origin.front_matter:
        return []
    block = split_front_matter(note.origin.front_matter).block
    if block is None:
        return []
    known = "\n".join(" ".join(text.split()) for text in (note.title, note.content, *note.tags))
    found: dict[str, None] = {}
    size = 0
    for line in block.splitlines():
        text = " ".join(_KEY.sub("", line).strip("'\"[]{}, \t").split())
        if text and text not in found and "://" not in text and text not in known:
            size += len(text)
            if size > MAX_PROPERTY_CHARACTERS:
                break
            found[text] = None
    return list(found)
