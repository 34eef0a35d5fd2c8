"""The map of a corpus on disk: old points never move, new ones join, what is gone leaves."""

from __future__ import annotations

import asyncio
import multiprocessing
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.core.clock import SystemClock
from carrel.core.errors import ConflictError, UnavailableError
from carrel.core.progress import NoProgress
from carrel.libraries.discovery.records import Paper
from carrel.rooms.papers.errors import EmptyMapError
from carrel.rooms.papers.map_drawing import MapMaker
from carrel.rooms.papers.map_models import MapReport
from carrel.stores.paper_map import MAP_NAME
from carrel.stores.paper_map.file import PaperMapFile
from carrel.stores.paper_map.reader import StoredMapReader
from tests.libraries.map_layout.topics import make_texts

_QUIET = NoProgress()


class ListedTexts:
    """Papers of a list, as a corpus gives them."""

    def __init__(self, papers: list[Paper]) -> None:
        self.papers = papers

    def state(self) -> str:
        return str(hash(tuple(self.papers)))

    def everything(self) -> Iterator[tuple[Paper, str]]:
        for paper in self.papers:
            yield paper, paper.title


@pytest.fixture
def papers() -> list[Paper]:
    return [
        Paper(text.id, text.title, text.abstract, text.keywords, year=text.year)
        for text in make_texts(40)
    ]


def draw(
    papers: list[Paper], corpus: Path, *, again: bool = False, landmarks: int = 10_000
) -> MapReport:
    maker = MapMaker(ListedTexts(papers), PaperMapFile(corpus), SystemClock(), landmarks)
    return maker.update(again=again, progress=_QUIET)


def places(corpus: Path) -> dict[str, tuple[int, float, float, int]]:
    stored = PaperMapFile(corpus).load()
    assert stored is not None
    return {each.paper_id: (each.number, each.x, each.y, each.region) for each in stored.papers}


def test_a_corpus_without_words_has_no_map(tmp_path: Path) -> None:
    with pytest.raises(EmptyMapError):
        draw([Paper("a", "12"), Paper("b", "")], tmp_path)
    with pytest.raises(EmptyMapError):
        draw([], tmp_path)
    assert not (tmp_path / MAP_NAME).exists()


def test_without_a_map_nothing_is_told(tmp_path: Path) -> None:
    reader = StoredMapReader(tmp_path)
    assert asyncio.run(reader.overview()) is None
    assert asyncio.run(reader.tile("0-0-0")) is None
    assert asyncio.run(reader.within([(0, 0), (1, 0), (1, 1)], 5)) == (0, [])


def test_what_is_on_the_map_never_moves_when_papers_are_added(
    papers: list[Paper], tmp_path: Path
) -> None:
    first, second = papers[::2] + papers[1::4], papers
    drawn = draw(first, tmp_path)
    before = places(tmp_path)
    assert drawn.is_drawn_anew
    assert drawn.papers == len(first)
    added = draw(second, tmp_path)
    after = places(tmp_path)
    assert not added.is_drawn_anew
    assert added.placed == len(second) - len(first)
    assert {name: after[name] for name in before} == before
    assert len({number for number, *_ in after.values()}) == len(second)


def test_papers_that_are_gone_leave_and_their_numbers_are_not_used_again(
    papers: list[Paper], tmp_path: Path
) -> None:
    draw(papers[:-20], tmp_path)
    before = places(tmp_path)
    report = draw(papers[5:-19], tmp_path)
    after = places(tmp_path)
    assert (report.left, report.placed) == (5, 1)
    assert papers[0].id not in after
    assert after[papers[-20].id][0] > max(number for number, *_ in before.values())


def test_too_many_new_papers_or_a_wish_draw_it_anew(papers: list[Paper], tmp_path: Path) -> None:
    draw(papers[::4], tmp_path)
    assert draw(papers, tmp_path).is_drawn_anew
    assert not draw(papers, tmp_path).is_drawn_anew
    assert draw(papers, tmp_path, again=True).is_drawn_anew


def test_papers_beyond_the_landmarks_are_placed_among_them(
    papers: list[Paper], tmp_path: Path
) -> None:
    report = draw(papers, tmp_path, landmarks=80)
    assert report.papers == len(papers)
    stored = PaperMapFile(tmp_path).load()
    assert stored is not None
    assert len(stored.model.landmark_ids) == 80


def test_a_stored_map_places_papers_as_the_fresh_one_did(
    papers: list[Paper], tmp_path: Path
) -> None:
    for corpus in ("one", "other"):
        (tmp_path / corpus).mkdir()
        draw(papers[:-3], tmp_path / corpus)
        draw(papers, tmp_path / corpus)
    assert places(tmp_path / "one") == places(tmp_path / "other")


def test_a_paper_without_known_words_is_counted_and_not_placed(
    papers: list[Paper], tmp_path: Path
) -> None:
    report = draw([*papers, Paper("odd", "Zzyzx")], tmp_path)
    assert report.not_placed == 1
    assert "odd" not in places(tmp_path)
    # It is not taken for new again and again.
    assert not draw([*papers, Paper("odd", "Zzyzx")], tmp_path).is_drawn_anew


def test_the_reader_tells_regions_tiles_and_what_lies_within(
    papers: list[Paper], tmp_path: Path
) -> None:
    draw(papers, tmp_path)
    reader = StoredMapReader(tmp_path)
    told = asyncio.run(reader.overview())
    assert told is not None
    assert told.papers == sum(region.papers for region in told.regions) == len(papers)
    assert (told.first_year, told.last_year) == (1990, 2019)
    body = asyncio.run(reader.tile("0-0-0"))
    assert body is not None
    assert len(body) == 10 * told.tiles["0-0-0"]
    everything = [(-1.0, -1.0), (2.0, -1.0), (2.0, 2.0), (-1.0, 2.0)]
    count, listed = asyncio.run(reader.within(everything, 7))
    assert (count, len(listed)) == (len(papers), 7)
    only = listed[0]
    near = [(only.x - 1e-6, only.y - 1e-6), (only.x + 1e-6, only.y - 1e-6)]
    near += [(only.x + 1e-6, only.y + 1e-6), (only.x - 1e-6, only.y + 1e-6)]
    assert [each.paper_id for each in (asyncio.run(reader.within(near, 5)))[1]] == [only.paper_id]
    assert [each.paper_id for each in asyncio.run(reader.points([only.point, 99_999]))] == [
        only.paper_id
    ]
    found = asyncio.run(reader.locate([papers[3].id, "nobody", papers[1].id]))
    assert [each.paper_id for each in found] == [papers[3].id, papers[1].id]


def test_a_damaged_map_is_told_of_and_drawn_anew(papers: list[Paper], tmp_path: Path) -> None:
    draw(papers, tmp_path)
    (tmp_path / MAP_NAME).write_bytes(b"not a database at all" * 50)
    with pytest.raises(UnavailableError):
        asyncio.run(StoredMapReader(tmp_path).overview())
    assert draw(papers, tmp_path).is_drawn_anew
    assert asyncio.run(StoredMapReader(tmp_path).overview()) is not None


def test_a_map_of_another_form_is_drawn_anew(papers: list[Paper], tmp_path: Path) -> None:
    draw(papers, tmp_path)
    with sqlite3.connect(tmp_path / MAP_NAME) as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE name = 'format'")
    assert PaperMapFile(tmp_path).load() is None
    assert draw(papers, tmp_path).is_drawn_anew


def test_two_processes_do_not_draw_at_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    asking, held = context.Pipe()
    process = context.Process(target=_hold, args=(tmp_path, held))
    process.start()
    assert asking.recv() == "held"
    with pytest.raises(ConflictError), PaperMapFile(tmp_path).hold():
        pytest.fail("both hold it")
    asking.send("enough")
    process.join(30)
    with PaperMapFile(tmp_path).hold():
        pass


def _hold(corpus: Path, pipe: multiprocessing.connection.Connection) -> None:
    with PaperMapFile(corpus).hold():
        pipe.send("held")
        pipe.recv()
