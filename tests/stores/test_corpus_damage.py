"""A corpus with a missing or damaged segment says so; readers keep what they have opened."""

from __future__ import annotations

import asyncio
import shutil
import threading
from pathlib import Path

import pytest

from carrel.core.errors import CarrelError
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.errors import ForeignSnapshotError, SnapshotUnavailableError
from carrel.rooms.papers.ports import PaperStore
from carrel.settings import Settings
from carrel.stores.corpus.folder import CorpusFolder
from carrel.stores.corpus.papers import list_ids, stored_papers
from carrel.wiring.papers import open_corpus, open_papers
from carrel.wiring.papers_build import build_papers
from tests.stores.corpora import CorpusOnDisk, Texts, random_papers
from tests.stores.test_corpus_store import ask_segments, read_everything

pytestmark = pytest.mark.promise("P16")


@pytest.fixture
def corpus(tmp_path: Path) -> CorpusOnDisk:
    texts = Texts()
    papers = random_papers(3, 40, texts)
    made = CorpusOnDisk(tmp_path / "papers", texts)
    made.put(papers[:20])
    made.put(papers[20:])
    return made


def segments(corpus: CorpusOnDisk) -> list[Path]:
    return sorted((corpus.folder / "segments").iterdir())


def refused(corpus: CorpusOnDisk) -> SnapshotUnavailableError:
    with pytest.raises(SnapshotUnavailableError) as caught:
        ask_segments(corpus.folder, read_everything)
    assert "carrel restore" in caught.value.next_step
    return caught.value


def test_a_missing_segment_is_named_with_what_to_do_next(corpus: CorpusOnDisk) -> None:
    gone = segments(corpus)[0]
    shutil.rmtree(gone)
    assert f"segment {gone.name[:16]} is missing" in refused(corpus).message


@pytest.mark.parametrize("size", [0, 100, 5_000])
def test_a_truncated_segment_is_named_and_never_answers_wrong(
    corpus: CorpusOnDisk, size: int
) -> None:
    records = segments(corpus)[0] / "records.db"
    records.chmod(0o600)
    with records.open("r+b") as file:
        file.truncate(size)
    assert "is damaged" in refused(corpus).message


def test_scribbled_records_are_refused(corpus: CorpusOnDisk) -> None:
    records = segments(corpus)[0] / "records.db"
    records.chmod(0o600)
    body = bytearray(records.read_bytes())
    for at in range(8192, len(body), 64):
        body[at] ^= 0xFF
    records.write_bytes(body)
    refused(corpus)


@pytest.mark.parametrize("content", [b"", b"{}", b"not json", b'{"format": 99, "segments": []}'])
def test_a_damaged_or_newer_manifest_is_refused(corpus: CorpusOnDisk, content: bytes) -> None:
    (corpus.folder / "manifest.json").write_bytes(content)
    with pytest.raises(SnapshotUnavailableError):
        ask_segments(corpus.folder, read_everything)


def test_a_missing_index_part_is_refused_in_search_and_metadata_goes_on(
    corpus: CorpusOnDisk,
) -> None:
    shutil.rmtree(segments(corpus)[0] / "papers")

    async def ask(store: PaperStore) -> int:
        with pytest.raises(SnapshotUnavailableError):
            await store.statistics()
        return len(await store.list_ids(first=0, count=100))

    assert ask_segments(corpus.folder, ask) == 40


def test_the_doctor_names_a_damaged_corpus_and_what_to_do(corpus: CorpusOnDisk) -> None:
    shutil.rmtree(segments(corpus)[1])
    settings = Settings(home=corpus.folder.parent, rooms=("papers",))

    async def check() -> tuple[bool, str, str]:
        opened = open_corpus(settings)
        room = open_papers(settings, opened)
        health = await room.checks["papers"]()
        await opened.close()
        return health.is_well, health.says, health.next_step

    is_well, says, next_step = asyncio.run(check())
    assert not is_well
    assert "is missing" in says
    assert "carrel restore" in next_step


def test_a_reader_keeps_the_version_it_opened_while_segments_are_replaced_and_swept(
    corpus: CorpusOnDisk,
) -> None:
    folder = CorpusFolder(corpus.folder)
    before = corpus.papers
    with folder.current().session() as session:
        papers = stored_papers(session)
        first = next(papers)[1].paper_id
        corpus.remove([paper.paper_id for paper in before[:30]])
        corpus.compact()
        keep = {path.name for path in segments(corpus)}
        for path in segments(corpus):
            if path.name not in {entry.name for entry in folder.current().manifest.segments}:
                shutil.rmtree(path)
        assert keep
        rest = [stored.paper_id for _, stored in papers]
    assert sorted([first, *rest]) == sorted(paper.paper_id for paper in before)
    with folder.current().session() as session:
        assert len(list_ids(session, 0, 100)) == 10
    folder.close()


def test_readers_on_many_threads_see_whole_versions_while_papers_come_and_go(
    corpus: CorpusOnDisk,
) -> None:
    texts = Texts()
    more = random_papers(9, 60, texts)[40:]
    folder, seen, failures = CorpusFolder(corpus.folder), set[int](), list[BaseException]()
    stop = threading.Event()

    def read() -> None:
        try:
            while not stop.is_set():
                with folder.current().session() as session:
                    ids = list_ids(session, 0, 1000)
                    assert len(ids) == len(set(ids)) == session.version.papers
                    seen.add(len(ids))
        except (CarrelError, AssertionError) as error:
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    corpus.texts.known.update(texts.known)
    for paper in more:
        corpus.put([paper])
    corpus.remove([paper.paper_id for paper in more[:10]])
    corpus.compact()
    stop.set()
    for thread in threads:
        thread.join()
    folder.close()
    assert not failures
    assert seen <= set(range(40, 61))


def test_without_its_build_state_a_corpus_is_read_and_never_built_over(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.md").write_text(f"# Title {name}\n\nText {name}.\n")
    into = tmp_path / "corpus"
    build_papers([tmp_path / "one.md"], into, BuildOptions(workers=1))
    before = ask_segments(into, read_everything)
    shutil.rmtree(into / ".carrel-build")
    with pytest.raises(ForeignSnapshotError, match=r"manifest\.json"):
        build_papers([tmp_path / "two.md"], into, BuildOptions(workers=1))
    assert ask_segments(into, read_everything) == before
