"""The index parts of a segment: what of a paper and of its passages is indexed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from carrel.libraries.text.plain_text import plain_text
from carrel.rooms.papers.building.papers import PublishedPaper
from carrel.stores.corpus.passages import PaperPassage
from carrel.stores.corpus.schema import PAPERS_PART, PASSAGES_PART
from carrel.stores.search.errors import translate_writer_errors
from carrel.stores.search.merging import remove_locks
from carrel.stores.search.parts import SMALL_HEAP_BYTES, PartWriter
from carrel.stores.search.schema import (
    FACETS,
    FULL_WEIGHT,
    INDEX_FORMAT,
    REFERENCES_WEIGHT,
    IndexedDocument,
)

__all__ = ["INDEX_FORMAT", "SegmentParts"]

# Every passage carries the title of its paper. No title is as long; a stranger's field of
# megabytes, which is cut into thousands of passages, would be indexed thousands of times.
_LONGEST_TITLE = 4_000


class SegmentParts:
    """Writes both parts of one segment."""

    def __init__(self, folder: Path, heap_bytes: int = SMALL_HEAP_BYTES) -> None:
        self._folder = folder
        with translate_writer_errors(folder):
            self._papers = PartWriter(folder / PAPERS_PART, heap_bytes=heap_bytes)
            try:
                self._passages = PartWriter(folder / PASSAGES_PART, heap_bytes=heap_bytes)
            except BaseException:
                self._papers.abandon()
                raise

    def add(
        self,
        row: int,
        paper: PublishedPaper,
        passages: Sequence[PaperPassage],
        facets: Sequence[tuple[str, str]],
    ) -> None:
        with translate_writer_errors(self._folder):
            self._papers.add(paper_document(row, paper, passages, facets))
            for each in passages:
                self._passages.add(passage_document(row, paper, each))

    def finish(self) -> None:
        with translate_writer_errors(self._folder):
            for part in (self._papers, self._passages):
                part.finish()
                remove_locks(part.folder)

    def abandon(self) -> None:
        """Let go of the folder; a writer that has already failed may refuse even that."""
        for part in (self._papers, self._passages):
            with suppress(ValueError, OSError):
                part.abandon()


def paper_document(
    row: int,
    paper: PublishedPaper,
    passages: Sequence[PaperPassage],
    known: Sequence[tuple[str, str]],
) -> IndexedDocument:
    """A paper by title, summaries and metadata; its full text answers filters and phrases."""
    record = paper.record
    about = (
        *record.authors,
        paper.venue,
        *record.keywords,
        *record.institutions,
        paper.year,
        record.doi or "",
    )
    facets: dict[str, list[str]] = {name: [] for name in FACETS}
    for category, value in known:
        if category in facets:
            facets[category].append(value)
    return IndexedDocument(
        row=row,
        title=record.title,
        text="\n".join([paper.summaries.searchable, " ".join(part for part in about if part)]),
        body=_body([each for each in passages if each.asset]),
        year=_year(paper),
        place=paper.paper_index,
        facets=facets,
        keys=[paper.paper_id],
    )


def _body(passages: Sequence[PaperPassage]) -> list[str]:
    """The full text: its passages, and the headings above them, which no passage holds."""
    headings = dict.fromkeys(title for each in passages for title in each.passage.headings)
    return [*(_words(each) for each in passages), *headings]


def passage_document(row: int, paper: PublishedPaper, each: PaperPassage) -> IndexedDocument:
    """One passage with the title of its paper, which says what it is about.

    What a list of references names is another's: it has no such title, and counts less.
    """
    is_references = each.passage.kind == "references"
    return IndexedDocument(
        row=row,
        title="" if is_references else paper.record.title[:_LONGEST_TITLE],
        weight=REFERENCES_WEIGHT if is_references else FULL_WEIGHT,
        title_times=1,
        text=_words(each),
        number=each.number,
        year=_year(paper),
        place=paper.paper_index,
    )


def _words(each: PaperPassage) -> str:
    """What a reader sees of the passage: no marks and link targets, but tables and code whole."""
    return each.text if each.passage.kind in {"table", "code"} else plain_text(each.text)


def _year(paper: PublishedPaper) -> int:
    return int(paper.year) if paper.year.isdecimal() else 0
