"""Passages of a corpus: by id, their neighbours, all of one paper, and its outline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from carrel.stores.corpus.assets import asset_body
from carrel.stores.corpus.folder import CorpusSession, Row, SegmentReader
from carrel.stores.corpus.papers import FoundPaper, find_paper, papers_of_rows
from carrel.stores.corpus.passages import ID_JOINT, abstract_text

_COLUMNS = 'SELECT number, id, section, kind, page, start, "end", asset FROM passage'


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage with its text: the slice `start` to `end` of the text that `asset` names.

    `asset` is empty for the passages of an abstract, of papers without full text.
    """

    id: str
    paper_id: str
    number: int
    section: str
    kind: str
    page: int | None
    start: int
    end: int
    asset: str
    text: str


def find_passage(session: CorpusSession, passage_id: str) -> StoredPassage | None:
    """The passage of that id, or None where the corpus has no such passage any more."""
    around = read_around(session, passage_id, before=0, after=0)
    return around[0] if around else None


def read_around(
    session: CorpusSession, passage_id: str, *, before: int, after: int
) -> list[StoredPassage]:
    """A passage with the ones before and after it in the same text; empty where there is none."""
    paper_id, joint, mark = passage_id.rpartition(ID_JOINT)
    paper = find_paper(session, paper_id) if joint else None
    if paper is None:
        return []
    reader = session.reader(paper.segment)
    found = reader.one(
        "SELECT number, asset FROM passage WHERE row = ? AND id = ?", (paper.row, mark)
    )
    if found is None:
        return []
    number, asset = found
    rows = reader.all(
        f"{_COLUMNS} WHERE row = ? AND number BETWEEN ? AND ? AND asset = ? ORDER BY number",
        (paper.row, number - before, number + after, asset),
    )
    return list(_with_texts(reader, paper, rows))


def passages_of(session: CorpusSession, paper_id: str) -> list[StoredPassage]:
    """All passages of a paper in order; empty where there is no such paper."""
    paper = find_paper(session, paper_id)
    return [] if paper is None else list(passages_of_row(session, paper))


def passages_of_row(session: CorpusSession, paper: FoundPaper) -> Iterator[StoredPassage]:
    """All passages of a paper that was found already."""
    reader = session.reader(paper.segment)
    rows = reader.all(f"{_COLUMNS} WHERE row = ? ORDER BY number", (paper.row,))
    return _with_texts(reader, paper, rows)


def passages_at(
    session: CorpusSession, places: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], StoredPassage]:
    """Passages by row and number, as the index names them; those of rows that count."""
    papers = {paper.row: paper for paper in papers_of_rows(session, [row for row, _ in places])}
    found: dict[tuple[int, int], StoredPassage] = {}
    for row, number in places:
        paper = papers.get(row)
        if paper is None:
            continue
        reader = session.reader(paper.segment)
        rows = reader.all(f"{_COLUMNS} WHERE row = ? AND number = ?", (row, number))
        for passage in _with_texts(reader, paper, rows):
            found[row, number] = passage
    return found


def _with_texts(
    reader: SegmentReader, paper: FoundPaper, rows: Sequence[Row]
) -> Iterator[StoredPassage]:
    texts: dict[int, tuple[str, str]] = {}
    for number, mark, section, kind, page, start, end, asset in rows:
        if asset not in texts:
            texts[asset] = _text(reader, paper, asset)
        name, text = texts[asset]
        yield StoredPassage(
            f"{paper.paper.paper_id}{ID_JOINT}{mark}",
            paper.paper.paper_id,
            number,
            section,
            kind,
            page,
            start,
            end,
            name,
            text[start:end],
        )


def _text(reader: SegmentReader, paper: FoundPaper, asset: int) -> tuple[str, str]:
    """The name and content of a text that passages were cut from."""
    if asset == 0:
        return "", abstract_text(paper.paper.record)
    found = reader.one("SELECT name FROM asset WHERE number = ?", (asset,))
    if found is None:
        raise reader.file.damaged()
    return str(found[0]), asset_body(reader, asset).decode("utf-8", "replace")
