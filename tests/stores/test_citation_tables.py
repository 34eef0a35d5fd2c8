"""Citations of a corpus on segments, judged by a second reckoning without hashes and tables."""

from __future__ import annotations

import hashlib
import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from carrel.libraries.works.cited_works import CitedWork
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.corpus import manifest
from carrel.stores.corpus.citation_edges import load_graph
from carrel.stores.corpus.citation_keys import hash_key
from carrel.stores.corpus.citation_lookups import (
    count_lists,
    count_shared_references,
    find_citing,
    find_versions,
    link_references,
    list_references,
)
from carrel.stores.corpus.folder import CorpusFolder, CorpusSession
from carrel.stores.corpus.manifest import read_manifest
from carrel.stores.corpus.papers import find_paper, ids_of_rows, papers_of_rows
from carrel.stores.corpus.publication import SegmentedCorpus, WorkshopAssets
from tests.stores.citing_corpora import Judge, citing_papers, describe, random_references
from tests.stores.corpora import CorpusOnDisk, Texts

pytestmark = pytest.mark.promise("P17")

TABLES = ("work_key", "reference_key", "reference_list")


def read_links(session: CorpusSession, paper_id: str) -> list[tuple[str | None, frozenset[str]]]:
    """Where each entry of a list leads, and what it may lead to."""
    paper = find_paper(session, paper_id)
    assert paper is not None
    works = list_references(session, paper)
    assert works is not None
    links = link_references(session, paper, works)
    rows = [link.resolution.row for link in links if link.resolution.row is not None]
    ids = ids_of_rows(
        session, [*rows, *(row for each in links for row in each.resolution.candidates)]
    )
    return [
        (
            None if link.resolution.row is None else ids[link.resolution.row],
            frozenset(ids[row] for row in link.resolution.candidates),
        )
        for link in links
    ]


def check_against_judge(folder: Path, judge: Judge) -> None:
    """Every paper's references and citing papers, all versions and the whole graph."""
    corpus = CorpusFolder(folder)
    try:
        with corpus.current().session() as session:
            assert count_lists(session) == len(judge.lists)
            ids: dict[str, int] = {}
            for paper_id in judge.papers:
                paper = find_paper(session, paper_id)
                assert paper is not None
                ids[paper_id] = paper.row
            names = {row: paper_id for paper_id, row in ids.items()}
            for paper_id, row in ids.items():
                versions = find_versions(session, row)
                assert {names[each] for each in versions} == judge.work_of(paper_id)
                citing = find_citing(session, papers_of_rows(session, versions))
                assert {names[link.row] for link in citing.links} == judge.citing(paper_id)
                for link in citing.links:
                    assert names[link.cited_row] in judge.work_of(paper_id)
                unclear = {names[each] for each in citing.ambiguous_rows}
                assert unclear == judge.perhaps_citing(paper_id)
            for paper_id, judged in judge.links.items():
                for (found, candidates), told in zip(
                    read_links(session, paper_id), judged, strict=True
                ):
                    if told.paper_id is None:
                        assert (found, candidates) == (None, told.candidates)
                    else:
                        assert found in told.candidates
            for paper_id, row in ids.items():
                shared = count_shared_references(session, papers_of_rows(session, [row]))
                assert {names[each]: count for each, count in shared.items()} == (
                    judge.shared_references(paper_id)
                )
            graph = load_graph(session)
            works = {
                work: frozenset(names[row] for row in graph.rows_of(work))
                for work in range(graph.graph.node_count)
            }
            assert set(works.values()) == set(judge.groups.values())
            edges = {
                (works[work], works[cited])
                for work in works
                for cited in graph.graph.cited_by_node(work)
            }
            assert edges == judge.edges()
    finally:
        corpus.close()


@pytest.mark.parametrize("seed", range(3))
def test_links_are_those_of_the_judge_in_one_segment_and_in_several(
    tmp_path: Path, seed: int
) -> None:
    texts = Texts()
    papers = citing_papers(seed, 60, texts)
    judge = Judge(papers, texts)
    assert sum(link.paper_id is not None for links in judge.links.values() for link in links) > 100
    links = [link for each in judge.links.values() for link in each]
    assert any(link.candidates and not link.paper_id for link in links)
    undated = {each for each, paper in judge.papers.items() if not paper.record.publication_date}
    assert any(link.kind == "title" and link.paper_id in undated for link in links)
    assert any(len(link.candidates) == 1 and not link.paper_id for link in links)
    for size in (60, 25):
        corpus = CorpusOnDisk(tmp_path / str(size), texts)
        for first in range(0, 60, size):
            corpus.put(papers[first : first + size])
        check_against_judge(corpus.folder, judge)


@pytest.mark.parametrize("seed", range(3))
def test_links_are_those_of_the_judge_after_any_changes(tmp_path: Path, seed: int) -> None:
    chance, texts = random.Random(seed), Texts()
    corpus = CorpusOnDisk(tmp_path, texts)
    papers = citing_papers(seed + 10, 60, texts)
    corpus.put(papers[:30])
    waiting = papers[30:]
    records = [paper.record for paper in papers]
    for step in range(24):
        match chance.choice(("add", "add", "change", "remove", "compact")):
            case "add":
                corpus.put([waiting.pop()])
            case "change":
                old = chance.choice(corpus.papers)
                references = random_references(chance, records)
                changed = describe(old.record, old.paper_index, references, texts)
                corpus.put([replace(changed, keys=old.keys)])
            case "remove":
                gone = chance.sample(corpus.papers, 2)
                corpus.remove([paper.paper_id for paper in gone])
            case _:
                corpus.compact()
        if step % 8 == 7:
            check_against_judge(corpus.folder, Judge(corpus.papers, texts))


def make_first_format(folder: Path) -> None:
    """Segments and manifest as the version before the citations wrote them."""
    facts = orjson.loads((folder / "manifest.json").read_bytes())
    for entry in facts["segments"]:
        # The format is part of what a name is the hash of.
        old = folder / "segments" / entry["name"]
        entry["name"] = hashlib.sha256(entry["name"].encode()).hexdigest()[:32]
        segment = old.rename(folder / "segments" / entry["name"])
        with closing(sqlite3.connect(segment / "records.db")) as connection, connection:
            for table in TABLES:
                connection.execute(f"DROP TABLE {table}")
            connection.execute("UPDATE segment_meta SET value = '1' WHERE name = 'format'")
    (folder / "manifest.json").write_bytes(orjson.dumps({**facts, "format": 1}))


def test_segments_of_the_first_format_are_read_and_get_tables_when_written_again(
    tmp_path: Path,
) -> None:
    texts = Texts()
    corpus = CorpusOnDisk(tmp_path, texts)
    papers = citing_papers(5, 30, texts)
    corpus.put(papers[:20])
    make_first_format(tmp_path)
    folder = CorpusFolder(tmp_path)
    with folder.current().session() as session:
        assert count_lists(session) == 0
        assert load_graph(session).graph.edge_count == 0
    folder.close()
    # A newer segment cites papers of the older one by their identifiers.
    cited = next(paper for paper in papers[:20] if paper.record.doi and not paper.record.related)
    record = PaperRecord(title="A new one", doi="10.1000/new", citation_key="new")
    citing = describe(record, 99, [CitedWork(doi=cited.record.doi)], texts)
    corpus.put([citing])
    folder = CorpusFolder(tmp_path)
    with folder.current().session() as session:
        (link,) = read_links(session, citing.paper_id)
        assert cited.paper_id in {link[0], *link[1]}
    folder.close()
    staged = tmp_path / "staged"
    SegmentedCorpus(tmp_path, WorkshopAssets(tmp_path, staged, tmp_path / "earlier")).reindex(
        lambda done: None
    )
    check_against_judge(tmp_path, Judge(corpus.papers, texts))


def test_a_corpus_written_now_is_refused_by_an_earlier_carrel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = Texts()
    corpus = CorpusOnDisk(tmp_path, texts)
    papers = citing_papers(5, 4, texts)
    corpus.put(papers[:3])
    make_first_format(tmp_path)
    corpus.put(papers[3:])
    monkeypatch.setattr(manifest, "FORMAT", 1)
    with pytest.raises(SnapshotUnavailableError, match="newer version"):
        read_manifest(tmp_path)


def test_odd_entries_of_a_list_link_nothing_and_keep_no_paper_out(tmp_path: Path) -> None:
    texts = Texts()
    corpus = CorpusOnDisk(tmp_path, texts)
    record = PaperRecord(title="An old study of many odd things in lists", citation_key="odd")
    odd = [
        CitedWork(),
        CitedWork(title="x", doi="no doi", pmid="twelve", arxiv_id="../../etc"),
        CitedWork(title="A title that is long enough to be a key", authors=("A",), year=2**60),
        CitedWork(title="A title that is long enough to be a key", authors=("A",), year=-5),
        CitedWork(title="\0" * 50 + "of the sea" * 9, authors=(", ",), year=2000),
        CitedWork(title="深" * 100_000, authors=("王" * 10_000,), year=2000),
    ]
    paper = describe(record, 1, odd, texts)
    corpus.put([paper])
    folder = CorpusFolder(tmp_path)
    with folder.current().session() as session:
        assert {found for found, _ in read_links(session, paper.paper_id)} == {None}
        assert load_graph(session).graph.edge_count == 0
    folder.close()
    assert hash_key("title:\ud800") != hash_key("title:\udfff")
