"""Papers of a corpus as documents: all at first, then what changed; and the words that rank."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from carrel.rooms.knowledge.documents import Checkpoint, DocumentChange, Drop, Put, Reset
from carrel.stores.corpus.current import CorpusPlace
from carrel.stores.corpus.documents import CorpusDocuments
from carrel.stores.corpus.version_to_index import version_to_index
from tests.stores.corpora import CorpusOnDisk, Texts, random_paper, random_papers, write_snapshot

pytestmark = pytest.mark.promise("P16")


def changes(source: CorpusDocuments, since: str | None) -> list[DocumentChange]:
    async def collect() -> list[DocumentChange]:
        return [change async for change in source.changes(since)]

    return asyncio.run(collect())


def test_after_the_first_time_only_changes_are_told(tmp_path: Path) -> None:
    chance, texts = random.Random(1), Texts()
    corpus = CorpusOnDisk(tmp_path, texts)
    papers = random_papers(1, 8, texts)
    corpus.put(papers)
    place = CorpusPlace(tmp_path / "paper_snapshot.db")
    source = CorpusDocuments(place.folder)
    first = changes(source, None)
    assert isinstance(first[0], Reset)
    told = {change.document.id for change in first if isinstance(change, Put)}
    assert told == {paper.paper_id for paper in papers}
    assert isinstance(first[-1], Checkpoint)
    cursor = first[-1].cursor
    assert changes(source, cursor) == []
    corpus.put([random_paper(chance, texts, 3, edition=2)])
    corpus.remove([papers[0].paper_id])
    corpus.compact()
    second = changes(source, cursor)
    assert [change.document.id for change in second if isinstance(change, Put)] == [
        papers[2].paper_id
    ]
    assert [change for change in second if isinstance(change, Drop)] == [Drop(papers[0].paper_id)]
    assert isinstance(changes(CorpusDocuments(place.folder), cursor)[0], Reset)
    place.close()


def test_both_kinds_of_corpus_rank_by_the_same_words(tmp_path: Path) -> None:
    texts = Texts()
    papers = random_papers(4, 12, texts)
    snapshot = write_snapshot(tmp_path / "snapshot", papers, texts)
    corpus = CorpusOnDisk(tmp_path / "corpus", texts)
    corpus.put(papers)
    told = []
    for place in (CorpusPlace(snapshot), CorpusPlace(corpus.folder / "paper_snapshot.db")):
        with version_to_index(place) as version:
            rows = list(version.rows())
            assert version.digests([row for row, _ in rows]) == dict(rows)
            assert set(version.row_numbers()) == dict(rows).keys()
            told.append(
                {
                    each.document.id: (
                        each.document.fields["title"],
                        each.ranked.title,
                        each.ranked.year,
                        each.ranked.place,
                        bool(each.ranked.body),
                        tuple(sorted(each.ranked.facets["author"])),
                    )
                    for each in version.papers([row for row, _ in rows])
                }
            )
        place.close()
    assert told[0] == told[1]
    assert len(told[0]) == 12
