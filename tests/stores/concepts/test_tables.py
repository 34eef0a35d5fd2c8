"""The concept index in mapped tables answers as the one in memory does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings

from carrel.libraries.discovery import ConceptIndex, Discovery, Paper, Vocabulary
from carrel.libraries.discovery.concepts.packed_index import PackedIndex
from carrel.stores.concepts import builder, file, runs
from carrel.stores.concepts.file import ConceptTables
from carrel.stores.concepts.sections import DamagedFileError, SectionFile
from tests.libraries.discovery.numbered_by_name import NumberedByName
from tests.libraries.discovery.small_corpus import GOAL, Shelf, small_papers
from tests.libraries.discovery.test_index import PAPERS as DRAWN_PAPERS
from tests.libraries.discovery.test_index import VOCABULARY, latest

GOALS = (GOAL, "How could marine oil act on cold finger disease?", "What acts on vessel tone?")


class Source:
    """Papers with fingerprints of their texts; counts how often all of them were read."""

    def __init__(self, papers: Iterable[Paper]) -> None:
        self.held = {paper.id: paper for paper in papers}
        self.readings = 0

    def fingerprints(self) -> Iterator[tuple[str, str]]:
        return ((paper.id, str(hash(paper))) for paper in self.held.values())

    def everything(self) -> Iterator[tuple[Paper, str]]:
        self.readings += 1
        return ((paper, str(hash(paper))) for paper in self.held.values())

    def papers(self, paper_ids: Sequence[str]) -> list[Paper]:
        self.readings += 1
        return [self.held[paper_id] for paper_id in paper_ids]


def tables(folder: Path, vocabulary_name: str = "") -> ConceptTables:
    return ConceptTables(folder, "test", vocabulary_name, map)


def make(
    folder: Path, papers: Iterable[Paper], state: str = "1", vocabulary: Vocabulary | None = None
) -> PackedIndex:
    return tables(folder).make(Source(papers), state, vocabulary, lambda done, total: None)


def only_file(folder: Path) -> Path:
    (found,) = folder.glob("*.tables")
    return found


def test_tables_of_other_papers_or_another_vocabulary_are_not_opened(tmp_path: Path) -> None:
    assert tables(tmp_path).open("1", None) is None
    make(tmp_path, small_papers())
    assert tables(tmp_path).open("2", None) is None
    assert tables(tmp_path, "mesh").open("1", None) is None
    assert tables(tmp_path).open("1", None) is not None


def test_tables_read_the_old_way_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, small_papers())
    monkeypatch.setattr(file, "READING", file.READING + 1)
    assert tables(tmp_path).open("1", None) is None


@pytest.mark.parametrize("place", ["end", "directory", "pointer", "empty"])
def test_damaged_tables_are_refused_and_made_again(tmp_path: Path, place: str) -> None:
    before = make(tmp_path, small_papers()).holdings()
    path, pointer = only_file(tmp_path), tmp_path / "concepts-test.json"
    whole = path.read_bytes()
    if place == "end":
        path.write_bytes(whole[:-9])
    elif place == "directory":
        path.write_bytes(whole[:-60] + bytes([whole[-60] ^ 1]) + whole[-59:])
    elif place == "empty":
        path.write_bytes(b"")
    else:
        pointer.write_bytes(b"not json")
    assert tables(tmp_path).open("1", None) is None
    assert make(tmp_path, small_papers()).holdings() == before
    assert tables(tmp_path).open("1", None) is not None


def test_a_bit_that_turned_in_a_section_is_found_by_its_checksum(tmp_path: Path) -> None:
    make(tmp_path, small_papers())
    path = only_file(tmp_path)
    SectionFile(path).verify()
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 3] ^= 1
    path.write_bytes(whole)
    with pytest.raises(DamagedFileError, match="not what was written"):
        SectionFile(path).verify()


@settings(max_examples=40, deadline=None)
@given(DRAWN_PAPERS)
def test_tables_hold_what_the_index_in_memory_holds(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[Paper]
) -> None:
    papers = latest(drawn)
    for vocabulary in (None, VOCABULARY):
        folder = tmp_path_factory.mktemp("tables")
        packed = make(folder, papers, vocabulary=vocabulary)
        index = ConceptIndex.build(papers, vocabulary)
        assert packed.holdings() == index.holdings()
        for number in range(index.size):
            own = packed.number(index.key(number))
            assert own is not None
            assert packed.concept(own) == index.concept(index.number(index.key(number)) or 0)


@settings(max_examples=40, deadline=None)
@given(DRAWN_PAPERS, DRAWN_PAPERS)
def test_tables_made_from_earlier_ones_equal_those_made_at_once(
    tmp_path_factory: pytest.TempPathFactory, before: list[Paper], after: list[Paper]
) -> None:
    folder = tmp_path_factory.mktemp("tables")
    make(folder, latest(before), "1")
    kept = latest(before)[::2]
    now = latest([*kept, *after])
    assert make(folder, now, "2").holdings() == ConceptIndex.build(now).holdings()
    assert len(list(folder.glob("*.tables"))) == 1


@pytest.fixture(params=["one run", "many runs"])
def run_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "many runs":
        monkeypatch.setattr(runs, "_KEYS_OF_A_RUN", 40)
        monkeypatch.setattr(builder, "_NAMES_AT_ONCE", 7)
        monkeypatch.setattr(file, "_PAPERS_PER_CHUNK", 3)


@pytest.mark.usefixtures("run_size")
@pytest.mark.promise("Q20")
def test_drafts_are_the_same_to_the_last_digit(tmp_path: Path) -> None:
    papers = small_papers()
    packed = Discovery(make(tmp_path, papers), Shelf(papers))
    in_memory = Discovery(NumberedByName(ConceptIndex.build(papers)), Shelf(papers))
    for goal in GOALS:
        drafts = packed.generate(goal, count=5)
        assert drafts
        assert drafts == in_memory.generate(goal, count=5)


def test_a_name_that_somebody_asks_for_is_adopted_in_this_process_alone(tmp_path: Path) -> None:
    papers = [Paper(str(n), "On vitamin D", "Vitamin D and bones of mice.") for n in range(4)]
    packed, index = make(tmp_path, papers), ConceptIndex.build(papers)
    assert packed.documents_with("vitamin d") == index.documents_with("vitamin d") == [0, 1, 2, 3]
    assert packed.adopt("vitamin d", "vitamin D", 5) is None
    number = packed.adopt("vitamin d", "vitamin D", 2)
    assert number is not None
    assert packed.adopt("vitamin d", "vitamin D", 2) == packed.number("vitamin d") == number
    assert packed.label(number) == "vitamin D"
    assert list(packed.documents(number)) == [0, 1, 2, 3]
    assert number in packed.mentions_of(2)
    assert packed.frequencies()[number] == packed.frequency(number) == 4
    opened = tables(tmp_path).open("1", None)
    assert opened is not None
    assert opened.number("vitamin d") is None


def test_unchanged_papers_are_not_read_again(tmp_path: Path) -> None:
    make(tmp_path, small_papers())
    path, source = only_file(tmp_path), Source(small_papers())
    tables(tmp_path).make(source, "touched", None, lambda done, total: None)
    assert (only_file(tmp_path), source.readings) == (path, 0)
    assert tables(tmp_path).open("touched", None) is not None


def test_of_many_that_ask_at_once_one_makes_the_tables(tmp_path: Path) -> None:
    source, found = Source(small_papers()), []

    def ask() -> None:
        made = tables(tmp_path).make(source, "1", None, lambda done, total: None)
        found.append(made.holdings())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert source.readings == 1
    assert found == [found[0]] * 4


def test_whoever_has_old_tables_mapped_goes_on_reading_them(tmp_path: Path) -> None:
    papers = small_papers()
    old = make(tmp_path, papers, "1")
    held = old.holdings()
    make(tmp_path, papers[:-1], "2")
    assert old.holdings() == held


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "concepts-test.work-1").mkdir()
    (tmp_path / "concepts-test.db").write_bytes(b"of an earlier version")
    make(tmp_path, small_papers())
    left = sorted(path.name.partition("-")[2][:9] for path in tmp_path.iterdir())
    assert left == sorted(["test.json", "test.lock", only_file(tmp_path).name[9:18]])


def test_where_nothing_can_be_kept_the_index_is_made_all_the_same(tmp_path: Path) -> None:
    no_folder = tmp_path / "file"
    no_folder.write_bytes(b"")
    assert (
        make(no_folder, small_papers()).holdings() == ConceptIndex.build(small_papers()).holdings()
    )


def test_progress_is_told_up_to_the_end(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    report: Callable[[int, int], None] = lambda done, total: told.append((done, total))  # noqa: E731
    papers = small_papers()
    tables(tmp_path).make(Source(papers), "1", None, report)
    assert told[-1] == (len(papers), len(papers))
    assert orjson.loads((tmp_path / "concepts-test.json").read_bytes())["state"] == "1"
