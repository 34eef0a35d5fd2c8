"""Papers in doubt: segments mark the rows of doubtful papers, so that none other is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable

from carrel.rooms.papers.building.doubts import DoubtKind, find_doubts, read_mark
from carrel.rooms.papers.building.papers import PublishedPaper
from carrel.rooms.papers.review import DoubtsPage, PaperInDoubt
from carrel.stores.corpus.folder import CorpusSession
from carrel.stores.corpus.papers import find_paper, papers_of_rows

# A category of `facet` that no list of facets shows.
CATEGORY = "doubt"
_MARKED = "SELECT value, row FROM facet JOIN paper_facet ON facet = number WHERE category = ?"


def doubt_facets(paper: PublishedPaper) -> list[tuple[str, str]]:
    """The marks of a paper in doubt, as facets of its segment."""
    return [
        (CATEGORY, each.mark) for each in find_doubts(paper.record, paper.conflicts, paper.twins)
    ]


def count_doubtful(connection: sqlite3.Connection, deleted: frozenset[int]) -> int:
    """How many papers of a segment are in doubt, as many as the whole list has of it."""
    return len(_weigh_rows(connection.execute(_MARKED, (CATEGORY,)), deleted))


def papers_in_doubt(
    session: CorpusSession,
    kind: DoubtKind | None,
    field: str | None,
    first: int,
    count: int,
    paper_id: str | None = None,
) -> DoubtsPage:
    """A page of the papers in doubt, those first whose doubts weigh most, then the oldest."""
    ranked = _ranked_rows(session, kind, field)
    if paper_id is not None:
        named = find_paper(session, paper_id)
        ranked = [row for row in ranked if named is not None and row == named.row]
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
            marked = reader.all(_MARKED, (CATEGORY,))
            weights |= _weigh_rows(marked, segment.deleted, kind, field)
        answers[key] = sorted(weights, key=lambda row: (-weights[row], row))
    found: list[int] = answers[key]
    return found


def _weigh_rows(
    marked: Iterable[tuple[str, int]],
    deleted: Collection[int],
    kind: DoubtKind | None = None,
    field: str | None = None,
) -> dict[int, int]:
    """The rows of a segment with such doubts, and how much these weigh together."""
    weights: dict[int, int] = {}
    for value, row in marked:
        doubt = read_mark(value)
        if doubt is None or row in deleted or (kind is not None and doubt.kind != kind):
            continue
        if field is None or doubt.field == field:
            weights[row] = weights.get(row, 0) + doubt.weight
    return weights
