"""An exported snapshot opens with the snapshot reader and answers as the segments do."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import ConflictError
from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.rooms.papers.ports import PaperStore
from carrel.services.static_assets import FolderAssets
from carrel.stores.corpus.assets import CorpusAssets
from carrel.stores.corpus.folder import CorpusFolder
from carrel.stores.corpus.snapshot_export import export_snapshot
from tests.stores.corpora import CorpusOnDisk, Texts, random_papers, write_snapshot
from tests.stores.test_corpus_store import ask_segments, ask_snapshot, read_everything

pytestmark = pytest.mark.promise("P16")


async def find_titles(store: PaperStore) -> dict[str, str]:
    """For every title, the first paper that a search for it finds."""
    found: dict[str, str] = {}
    for paper_id in await store.list_ids(first=0, count=1000):
        paper = await store.find(paper_id)
        assert paper is not None
        query = parse_paper_query(paper.metadata.title)
        found[paper.metadata.title] = (await store.search(query, first=0, count=1))[0].paper_id
    return found


async def read_paged(store: PaperStore) -> set[str]:
    """Everything that a search finds, page by page."""
    query, found = parse_paper_query("whale OR krill OR protein"), set[str]()
    for first in range(0, 1000, 7):
        page = {hit.paper_id for hit in await store.search(query, first=first, count=7)}
        if not page:
            return found
        assert not page & found, "a page repeats another"
        found |= page
    raise AssertionError("the pages do not end")


@pytest.mark.parametrize("seed", range(3))
def test_an_exported_snapshot_answers_as_the_segments_do(tmp_path: Path, seed: int) -> None:
    texts = Texts()
    papers = random_papers(seed, 50, texts)
    corpus = CorpusOnDisk(tmp_path / "corpus", texts)
    corpus.put(papers[:30])
    corpus.put(papers[30:])
    corpus.remove([paper.paper_id for paper in papers[5:9]])
    target = tmp_path / "theirs"
    assert export_snapshot(corpus.folder, target) == 46
    snapshot = target / "paper_snapshot.db"
    for question in (read_everything, find_titles, read_paged):
        told: Any = ask_segments(corpus.folder, question)
        exported = ask_snapshot(snapshot, question)
        if isinstance(told, dict):
            for name in told:
                assert exported[name] == told[name], name
        assert exported == told
    folder = CorpusFolder(corpus.folder)
    ours = CorpusAssets(folder, timeout_seconds=10.0, max_bytes=1_000_000)
    theirs = FolderAssets(target / "paper-static")
    names = sorted(
        path.relative_to(target / "paper-static").as_posix()
        for path in (target / "paper-static").rglob("*")
        if path.is_file()
    )
    assert len([name for name in names if name.startswith("summary/")]) >= 46
    for name in names:
        assert asyncio.run(ours.read(name)) == asyncio.run(theirs.read(name)), name
    folder.close()


def test_an_export_is_replaced_by_the_next_and_keeps_nothing_of_before(tmp_path: Path) -> None:
    texts = Texts()
    papers = random_papers(7, 12, texts)
    corpus = CorpusOnDisk(tmp_path / "corpus", texts)
    corpus.put(papers)
    export_snapshot(corpus.folder, tmp_path / "theirs")
    gone = next(paper for paper in papers if paper.record.markdown_sha256)
    corpus.remove([gone.paper_id])
    export_snapshot(corpus.folder, tmp_path / "theirs")
    static = tmp_path / "theirs" / "paper-static"
    assert not (static / "md" / f"{gone.record.markdown_sha256}.md").exists()
    assert not (static / "summary" / f"{gone.paper_id}.json").exists()
    again = ask_snapshot(tmp_path / "theirs" / "paper_snapshot.db", read_everything)
    assert again == ask_segments(corpus.folder, read_everything)


def test_nobodys_snapshot_and_no_corpus_is_written_over(tmp_path: Path) -> None:
    texts = Texts()
    papers = random_papers(1, 4, texts)
    corpus = CorpusOnDisk(tmp_path / "corpus", texts)
    corpus.put(papers)
    theirs = write_snapshot(tmp_path / "theirs", papers[:2], texts)
    before = theirs.read_bytes()
    for target in (tmp_path / "theirs", corpus.folder):
        with pytest.raises(ConflictError):
            export_snapshot(corpus.folder, target)
    assert theirs.read_bytes() == before
    with pytest.raises(SnapshotUnavailableError):
        export_snapshot(tmp_path / "theirs", tmp_path / "else")
