"""The store over segments answers as the store over a snapshot of the same papers does."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.libraries.query.papers import FacetCategory, parse_paper_query
from carrel.rooms.papers.models import Paper, PaperHit
from carrel.rooms.papers.ports import PaperStore
from carrel.stores.corpus import facets
from carrel.stores.corpus.folder import CorpusFolder, CorpusSession
from carrel.stores.corpus.ranking import SegmentRanking, open_corpus_ranking
from carrel.stores.corpus.store import CorpusPaperStore
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot
from carrel.stores.sqlite.papers.store import SqlitePaperStore
from tests.stores.corpora import CorpusOnDisk, Texts, random_paper, random_papers, write_snapshot

pytestmark = pytest.mark.promise("P16")

FACETS: tuple[FacetCategory, ...] = ("author", "keyword", "institution", "tag", "venue")
ALL = 10_000


def ask_segments(folder: Path, ask: Callable[[PaperStore], Awaitable[Any]]) -> Any:
    """The answer of a store that was opened only for this question."""
    corpus = CorpusFolder(folder)

    def open_ranking(session: CorpusSession) -> SegmentRanking:
        return open_corpus_ranking(session, folder / "views")

    async def asked() -> Any:
        store = CorpusPaperStore(corpus, open_ranking, threads=2)
        try:
            return await ask(store)
        finally:
            await store.close()

    try:
        return asyncio.run(asked())
    finally:
        corpus.close()


def ask_snapshot(file: Path, ask: Callable[[PaperStore], Awaitable[Any]]) -> Any:
    snapshot = PaperSnapshot(file)

    async def asked() -> Any:
        store = SqlitePaperStore(snapshot, threads=2)
        try:
            return await ask(store)
        finally:
            await store.close()

    try:
        return asyncio.run(asked())
    finally:
        snapshot.close()


# Snapshots of the form that other tools share have no place for these but the BibTeX entry.
NOT_IN_SNAPSHOTS = {"language", "origin", "origins"}


def without_order(paper: Paper | None) -> object:
    """What a snapshot gives in the order of its own numbers is compared as a set."""
    assert paper is not None
    facts = paper.metadata.model_dump(exclude=NOT_IN_SNAPSHOTS)
    for name in ("keywords", "tags", "institutions"):
        facts[name] = sorted(facts[name])
    return facts, paper.source_hash, paper.translation_hashes


def values_sorted(snippet: str) -> tuple[list[str], str]:
    """The values of a keyword hit, which a snapshot has in the order of its own numbers."""
    values, _, rest = snippet.partition(" — ")
    return sorted(values.replace("**", "").split(", ")), rest


async def read_everything(store: PaperStore) -> dict[str, object]:
    """Every answer that needs no ranking."""
    ids = await store.list_ids(first=0, count=ALL)
    keys = [f"doi:10.1000/x{number}" for number in range(60)]
    keys += [f"arxiv:2101.{number:05}" for number in range(60)]
    statistics = await store.statistics()
    return {
        "ids": ids,
        "page": await store.list_ids(first=7, count=5),
        "papers": {paper_id: without_order(await store.find(paper_id)) for paper_id in ids},
        "bibtex": {paper_id: await store.bibtex(paper_id) for paper_id in ids},
        "keys": await store.find_by_keys(keys),
        "facets": {
            (category, count): [
                each.model_copy(update={"value": each.value.lower()})
                for each in await store.top_facets(category, count)
            ]
            for category in FACETS
            for count in (1, 3, 100)
        },
        "statistics": statistics.model_copy(update={"build_id": "", "built_at": None, "index": ""}),
        "keywords": {
            word: [
                (hit.paper_id, values_sorted(hit.snippet_markdown))
                for hit in await store.search_by_keyword(word, first=first, count=6)
            ]
            for word in ("deep learning", "Learning", "graph", "深度学习", "sea", "nothing", "deep")
            for first in (0, 4)
        },
        "beginnings": {
            text: await store.ids_like(text, 5) for text in (ids[0][:5], ids[-1][:2], "zzz")
        },
    }


@pytest.mark.parametrize("seed", range(4))
def test_segments_and_a_snapshot_of_the_same_papers_answer_alike(tmp_path: Path, seed: int) -> None:
    texts = Texts()
    papers = random_papers(seed, 60, texts)
    snapshot = write_snapshot(tmp_path / "snapshot", papers, texts)
    corpus = CorpusOnDisk(tmp_path / "corpus", texts)
    for first in range(0, 60, 25):
        corpus.put(papers[first : first + 25])
    told = ask_snapshot(snapshot, read_everything)
    asked = ask_segments(corpus.folder, read_everything)
    for name in told:
        assert asked[name] == told[name], name


@pytest.mark.parametrize("seed", range(6))
def test_after_any_changes_segments_equal_those_built_at_once(tmp_path: Path, seed: int) -> None:
    chance, texts = random.Random(seed), Texts()
    corpus = CorpusOnDisk(tmp_path / "changed", texts)
    corpus.put(random_papers(seed, 30, texts))
    number = 30
    for _ in range(25):
        present = corpus.papers
        match chance.choice(("add", "add", "change", "remove", "compact")):
            case "add":
                number += 1
                corpus.put([random_paper(chance, texts, number)])
            case "change":
                old = chance.choice(present)
                corpus.put([random_paper(chance, texts, old.paper_index, edition=number)])
            case "remove":
                gone = chance.sample(present, chance.randint(1, 4))
                corpus.remove([paper.paper_id for paper in gone])
            case _:
                corpus.compact()
    at_once = CorpusOnDisk(tmp_path / "at-once", texts)
    at_once.put(corpus.papers)
    told = ask_segments(at_once.folder, read_everything)
    asked = ask_segments(corpus.folder, read_everything)
    for name in told:
        assert asked[name] == told[name], name


def test_an_open_store_sees_a_new_manifest_at_its_next_call(tmp_path: Path) -> None:
    texts = Texts()
    papers = random_papers(1, 3, texts)
    corpus = CorpusOnDisk(tmp_path, texts)
    corpus.put(papers[:2])

    async def ask(store: PaperStore) -> list[list[str]]:
        before = await store.list_ids(first=0, count=9)
        corpus.put(papers[2:])
        after = await store.list_ids(first=0, count=9)
        corpus.remove([papers[0].paper_id])
        return [before, after, await store.list_ids(first=0, count=9)]

    before, after, last = ask_segments(corpus.folder, ask)
    ids = [paper.paper_id for paper in papers]
    assert sorted(before) == sorted(ids[:2])
    assert sorted(after) == sorted(ids)
    assert sorted(last) == sorted(ids[1:])


@pytest.mark.parametrize("limits", [(0, 0, 10**9), (0, 0, 0), (4, 0, 10**9), (4, 0, 3)])
def test_facets_are_the_same_by_whichever_way_they_are_added_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int, int]
) -> None:
    chance, texts = random.Random(5), Texts()
    corpus = CorpusOnDisk(tmp_path / "corpus", texts)
    papers = random_papers(5, 40, texts)
    for first in range(0, 40, 8):
        corpus.put(papers[first : first + 8])
    corpus.remove([paper.paper_id for paper in chance.sample(papers, 11)])

    async def ask(store: PaperStore) -> dict[object, object]:
        return {
            (category, count): [
                each.model_copy(update={"value": each.value.lower()})
                for each in await store.top_facets(category, count)
            ]
            for category in FACETS
            for count in (1, 2, 5, 100, 150)
        }

    whole = ask_segments(corpus.folder, ask)
    names = ("_FEW_VALUES", "_FEW_ALTOGETHER", "_MAX_LOOKUPS")
    for name, limit in zip(names, limits, strict=True):
        monkeypatch.setattr(facets, name, limit)
    monkeypatch.setattr(facets, "_PAGE", 1)
    monkeypatch.setattr(facets, "MAX_LISTED", 1)
    assert ask_segments(corpus.folder, ask) == whole


def test_a_changed_or_removed_paper_is_found_and_counted_once(tmp_path: Path) -> None:
    chance, texts = random.Random(2), Texts()
    corpus = CorpusOnDisk(tmp_path, texts)
    papers = random_papers(2, 6, texts)
    corpus.put(papers)
    corpus.put([random_paper(chance, texts, 3, edition=2)])
    corpus.remove([papers[0].paper_id])
    query = parse_paper_query("author:müller OR author:lee OR author:sample OR author:example")

    async def ask(store: PaperStore) -> tuple[int, set[int | None], set[str]]:
        hits = await store.search(query, first=0, count=50)
        return len(hits), {hit.total for hit in hits}, {hit.paper_id for hit in hits}

    count, totals, ids = ask_segments(corpus.folder, ask)
    assert totals == {count} == {len(ids)}
    assert papers[0].paper_id not in ids


def test_a_search_by_a_filter_shows_the_text_of_papers_and_counts_what_pages_give(
    tmp_path: Path,
) -> None:
    texts = Texts()
    papers = random_papers(3, 40, texts)
    corpus = CorpusOnDisk(tmp_path, texts)
    corpus.put(papers)
    corpus.remove([paper.paper_id for paper in papers[:5]])

    async def ask(store: PaperStore) -> dict[str, list[PaperHit]]:
        found: dict[str, list[PaperHit]] = {}
        for typed in (
            "year:1000..",
            "deep-learning",
            "pre-trained",
            "network year:1000..",
            "深度学习",
        ):
            hits = found[typed] = []
            while page := await store.search(parse_paper_query(typed), first=len(hits), count=7):
                hits += page
        return found

    found = ask_segments(corpus.folder, ask)
    for typed, hits in found.items():
        assert hits, typed
        assert {hit.total for hit in hits} == {len(hits)}, typed
    records = {paper.paper_id: paper.record for paper in papers}
    filtered = [hit for hit in found["year:1000.."] if records[hit.paper_id].headings]
    assert filtered
    assert not any("Methods" in hit.snippet_markdown for hit in filtered)
