"""Papers in doubt: segments mark the rows of doubtful papers, so that none other is read."""

from __future__ import annotations

import sqlite3

from carrel.rooms.papers.building.doubts import TRUE_DOUBTS, DoubtKind, find_doubts, read_mark
from carrel.rooms.papers.building.papers import PublishedPaper
from carrel.rooms.papers.review import DoubtsPage, PaperInDoubt
from carrel.stores.corpus.folder import CorpusSession
from carrel.stores.corpus.papers import papers_of_rows

# A category of `facet` that no list of facets shows.
CATEGORY = "doubt"


def doubt_facets(paper: PublishedPaper) -> list[tuple[str, str]]:
    """The marks of a paper in doubt, as facets of its segment."""
    return [
        (CATEGORY, each.mark) for each in find_doubts(paper.record, paper.conflicts, paper.twins)
    ]


def count_doubtful(connection: sqlite3.Connection, deleted: frozenset[int]) -> int:
    """How many papers of a segment have a doubt about something said."""
    marked = connection.execute(
        "SELECT value, row FROM facet JOIN paper_facet ON facet = number WHERE category = ?",
        (CATEGORY,),
    )
    rows = {
        row
        for value, row in marked
        if (doubt := read_mark(value)) is not None and doubt.kind in TRUE_DOUBTS
    }
    return len(rows - deleted)


def papers_in_doubt(
    session: CorpusSession, kind: DoubtKind | None, field: str | None, first: int, count: int
) -> DoubtsPage:
    """A page of the papers in doubt, those first whose doubts weigh most, then the oldest."""
    ranked = _ranked_rows(session, kind, field)
    rows = ranked[first : first + count]
    found = {each.row: each for each in papers_of_rows(session, rows)}
    papers = tuple(
        PaperInDoubt(
            stored.paper_id,
            stored.record,
            stored.conflicts,
            stored.sources,
            find_doubts(stored.record, stored.conflicts, stored.twins),
            stored.twins,
        )
        for row in rows
        if row in found
        for stored in [found[row].paper]
    )
    return DoubtsPage(papers, len(ranked))


def _ranked_rows(session: CorpusSession, kind: DoubtKind | None, field: str | None) -> list[int]:
    answers, key = session.version.answers, ("doubts", kind, field)
    if key not in answers:
        weights: dict[int, int] = {}
        for segment, reader in session.readers():
            marked = reader.all(
                "SELECT value, row FROM facet JOIN paper_facet ON facet = number "
                "WHERE category = ?",
                (CATEGORY,),
            )
            for value, row in marked:
                doubt = read_mark(value)
                if (
                    doubt is None
                    or row in segment.deleted
                    or (kind is not None and doubt.kind != kind)
                    or (field is not None and doubt.field != field)
                ):
                    continue
                weights[row] = weights.get(row, 0) + doubt.weight
        answers[key] = sorted(weights, key=lambda row: (-weights[row], row))
    found: list[int] = answers[key]
    return found
