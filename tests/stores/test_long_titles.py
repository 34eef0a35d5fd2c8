"""A stranger's title of megabytes does not stop a corpus from being written."""

from __future__ import annotations

from pathlib import Path

from carrel.rooms.papers.building.paper_keys import make_paper_id, paper_keys
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.building.papers import PaperVersion, PublishedPaper, collect_summaries
from carrel.stores.corpus.index_parts import INDEX_FORMAT, SegmentParts, passage_document
from carrel.stores.corpus.passages import paper_passages
from carrel.stores.corpus.segment_writer import SegmentWriter


class NoTexts:
    def read(self, name: str) -> bytes:
        raise FileNotFoundError(name)


def paper_of(title: str) -> PublishedPaper:
    record = PaperRecord(title=title, doi="10.1000/1")
    return PublishedPaper(
        make_paper_id("doi:10.1000/1"), 1, paper_keys(record), record, collect_summaries(record)
    )


def indexed_title_characters(title: str) -> int:
    paper = paper_of(title)
    passages = paper_passages(paper.record, lambda name: "")
    return sum(len(passage_document(1, paper, each).title) for each in passages)


def test_what_passages_index_grows_with_the_title_and_not_with_its_square() -> None:
    once, twice = (indexed_title_characters("y" * size) for size in (200_000, 400_000))
    assert twice <= 2.5 * once


def test_a_title_of_common_length_stands_whole_in_each_passage() -> None:
    title = "Whales " * 60
    assert indexed_title_characters(title) == len(title)


def test_a_paper_with_an_endless_title_is_written(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, NoTexts(), SegmentParts, INDEX_FORMAT)
    assert writer.write([PaperVersion(1, paper_of("y" * 300_000))]).papers == 1
