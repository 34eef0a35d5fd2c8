"""Reading a paper part by part, with its outline and the passages that were looked for."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from carrel.core.operation import Answer
from carrel.libraries.query.papers import parse_paper_query
from carrel.libraries.text.outline import Section, outline, section_numbers
from carrel.libraries.text.snippets import Marker
from carrel.rooms.papers.errors import PartNotFoundError, SectionNotFoundError
from carrel.rooms.papers.models import (
    MAX_PASSAGE_QUERY_CHARACTERS,
    OnePaper,
    Paper,
    PassageHit,
    PassageText,
)
from carrel.rooms.papers.outlines import find_section, list_headings
from carrel.rooms.papers.paper_names import MAX_NAME_CHARACTERS
from carrel.rooms.papers.passages import PaperPassages
from carrel.rooms.papers.ports import PaperStore
from carrel.rooms.papers.service import Papers
from carrel.rooms.papers.text_parts import TextParts, TextStretch

MOST_FOUND = 30
_EXCERPT_CHARACTERS = 100
# Structures of texts that are kept; that of a book of 500 pages takes about two megabytes.
_STRUCTURES_KEPT = 8


class ReadPaperPart(OnePaper):
    """Which part of a paper's text, and what is looked for in it."""

    part: Annotated[int | None, Field(ge=1, description="From 1; else where it was found")] = None
    section: Annotated[
        str | None, Field(min_length=1, max_length=300, description="A heading, or its number: 2.1")
    ] = None
    query: Annotated[
        str | None,
        Field(max_length=MAX_PASSAGE_QUERY_CHARACTERS, description="Find passages about it"),
    ] = None
    passage_id: Annotated[
        str | None, Field(max_length=MAX_NAME_CHARACTERS, description="Of find_passages")
    ] = None


class TextHeading(Answer):
    """A heading of a text; `part` is where it stands, `start` its place in the text."""

    number: str
    title: str
    depth: int
    page: int | None
    part: int
    start: int


class FoundInText(Answer):
    """A passage that was found, in the order of the text; `excerpt` is some of its words."""

    passage_id: str
    excerpt: str
    section: str
    page: int | None
    part: int
    start: int
    end: int


class TextPiece(Answer):
    """Some paragraphs as Markdown; `heading`, `depth` and `page` are what they begin with.

    `found` is the place in the list of found passages of the one that stands here.
    """

    start: int
    heading: str | None = None
    depth: int = 0
    page: int | None = None
    text: str
    found: int | None = None


class PaperPart(Answer):
    """A part of a paper's text. `focus` is the best of what was found, by its place in `found`.

    Without a text of its own the paper's abstract is read, and `has_source` is false. `elsewhere`
    is the text of a passage that stands in another text of the paper than the one shown.
    """

    paper_id: str
    title: str
    has_source: bool
    has_pdf: bool
    characters: int
    part: int
    parts: int
    outline: list[TextHeading]
    pieces: list[TextPiece]
    found: list[FoundInText]
    focus: int | None = None
    elsewhere: str | None = Field(default=None, exclude_if=lambda value: value is None)


@dataclass(frozen=True, slots=True)
class _TextStructure:
    """The parts and the outline of a text."""

    parts: TextParts
    sections: list[Section]
    numbers: list[str]


def _read_structure(text: str) -> _TextStructure:
    sections = outline(text)
    return _TextStructure(TextParts(text), sections, section_numbers(sections))


class PaperPartReader:
    """Cuts the texts of papers into parts."""

    def __init__(self, papers: Papers, passages: PaperPassages, store: PaperStore) -> None:
        self._papers = papers
        self._passages = passages
        self._store = store
        self._structures: OrderedDict[str, _TextStructure] = OrderedDict()

    async def read(self, question: ReadPaperPart) -> PaperPart:
        """PaperNotFoundError, SectionNotFoundError, PassageNotFoundError, PartNotFoundError."""
        paper = await self._papers.find_paper(question.paper_id)
        text = await self._text(paper)
        structure = await self._structure(paper, text)
        found, elsewhere = await self._find(question, paper, text)
        return _make_part(question, paper, text, structure, found, elsewhere)

    async def _structure(self, paper: Paper, text: str) -> _TextStructure:
        """The structure of a text; those of the last texts are kept for who reads on."""
        name = paper.source_hash
        known = self._structures.get(name or "")
        if known is None:
            known = await asyncio.to_thread(_read_structure, text)
        if name is not None:
            self._structures[name] = known
            self._structures.move_to_end(name)
        while len(self._structures) > _STRUCTURES_KEPT:
            self._structures.popitem(last=False)
        return known

    async def _text(self, paper: Paper) -> str:
        text = await self._papers.source_text(paper)
        if text is not None:
            return text
        return await self._store.abstract(paper.metadata.paper_id) or ""

    async def _find(
        self, question: ReadPaperPart, paper: Paper, text: str
    ) -> tuple[list[FoundInText], str | None]:
        """What was found, best first, and a passage that the text does not have."""
        found: list[FoundInText] = []
        elsewhere: str | None = None
        if question.passage_id is not None:
            read = await self._passages.read(question.passage_id, before=0, after=0)
            passage = read.passages[0]
            if text[passage.start : passage.end] == passage.text:
                found.append(_found_passage(passage, question.query or ""))
            else:
                elsewhere = passage.text
        if question.query and text:
            name = paper.metadata.paper_id
            hits = await self._passages.find(question.query, [name], page=1, limit=MOST_FOUND)
            found += [
                _found_passage(hit, question.query)
                for hit in hits
                if text[hit.start : hit.end] == hit.text
            ]
        unlike = {each.passage_id: each for each in reversed(found)}
        return [each for each in found if unlike[each.passage_id] is each], elsewhere


def _found_passage(passage: PassageHit | PassageText, query: str) -> FoundInText:
    """A passage with some words around the first match; its part is not known yet."""
    snippet = Marker(parse_paper_query(query).phrases).snippet([passage.text])
    excerpt = snippet.replace("*", "").replace("\\", "")
    if len(excerpt) > _EXCERPT_CHARACTERS:
        excerpt = excerpt[:_EXCERPT_CHARACTERS].rsplit(" ", 1)[0] + " …"
    return FoundInText(
        passage_id=passage.passage_id,
        excerpt=excerpt,
        section=passage.section,
        page=passage.page,
        part=0,
        start=passage.start,
        end=passage.end,
    )


def _make_part(
    question: ReadPaperPart,
    paper: Paper,
    text: str,
    structure: _TextStructure,
    best: Sequence[FoundInText],
    elsewhere: str | None,
) -> PaperPart:
    parts, sections, numbers = structure.parts, structure.sections, structure.numbers
    ordered = _order_found(parts, best)
    focus = ordered.index(best[0]) if best else None
    number = _choose_part(question, paper, text, parts, best)
    depths = {each.start: each.number.count(".") for each in sections}
    titles = {each.start: each.title for each in sections}
    pieces = parts.pieces(number, [(each.start, each.end) for each in ordered])
    return PaperPart(
        paper_id=paper.metadata.paper_id,
        title=paper.metadata.title,
        has_source=paper.source_hash is not None,
        has_pdf=paper.pdf_hash is not None,
        characters=len(text),
        part=number,
        parts=parts.count,
        outline=[
            TextHeading(
                number=own,
                title=each.title,
                depth=each.number.count("."),
                page=each.page,
                part=parts.part_of(each.start),
                start=each.start,
            )
            for each, own in zip(sections, numbers, strict=True)
        ],
        pieces=[_show_piece(each, text, titles, depths) for each in pieces],
        found=[each.model_copy(update={"part": parts.part_of(each.start)}) for each in ordered],
        focus=focus,
        elsewhere=elsewhere,
    )


def _order_found(parts: TextParts, best: Sequence[FoundInText]) -> list[FoundInText]:
    """What was found in the order of the text; of several in one paragraph the best alone."""
    kept: dict[int, FoundInText] = {}
    for each in best:
        kept.setdefault(parts.block_of(each.start), each)
    return sorted(kept.values(), key=lambda each: each.start)


def _choose_part(
    question: ReadPaperPart,
    paper: Paper,
    text: str,
    parts: TextParts,
    best: Sequence[FoundInText],
) -> int:
    if question.part is not None:
        if question.part > parts.count:
            raise PartNotFoundError(paper.metadata.paper_id, question.part, parts.count)
        return question.part
    if question.section is not None:
        section = find_section(text, question.section)
        if section is None:
            raise SectionNotFoundError(
                paper.metadata.paper_id, question.section, list_headings(text)
            )
        return parts.part_of(section.start)
    return parts.part_of(best[0].start) if best else 1


def _show_piece(
    piece: TextStretch, text: str, titles: dict[int, str], depths: dict[int, int]
) -> TextPiece:
    heading = piece.heading
    return TextPiece(
        start=piece.start if heading is None else heading.start,
        # The line of a guessed heading is a part of its paragraph.
        heading=None if heading is None or heading.is_in_text else titles.get(heading.start, ""),
        depth=0 if heading is None else depths.get(heading.start, 0),
        page=piece.page,
        text=text[piece.start : piece.end],
        found=piece.mark,
    )
