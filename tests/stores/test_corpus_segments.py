"""Segments of a corpus: written once, whole or not there, named by their content."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import pytest

from carrel.rooms.papers.building.paper_keys import make_paper_id, paper_keys
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.rooms.papers.building.papers import PaperVersion, PublishedPaper, collect_summaries
from carrel.stores.corpus.index_parts import INDEX_FORMAT, SegmentParts
from carrel.stores.corpus.records import read_stored
from carrel.stores.corpus.segment_writer import SegmentWriter
from carrel.stores.corpus.segments import open_segment, read_asset, read_segment_meta
from carrel.stores.search.views import open_view

pytestmark = pytest.mark.promise("P16")

# Too random to be packed, so a file of its own.
LARGE = random.Random(1).randbytes(1_200_000)
TEXT = "# Whales\n\n## Song\n\nWhales sing in the deep sea.\n\n## Diet\n\nThey eat krill.\n"


class Texts:
    """Assets by name, as the workshop has them."""

    def __init__(self) -> None:
        self._known = {"md/whales.md": TEXT.encode(), "pdf/large.pdf": LARGE}

    def read(self, name: str) -> bytes:
        if name not in self._known:
            raise FileNotFoundError(name)
        return self._known[name]


def make_paper(number: int, **facts: object) -> PublishedPaper:
    record = PaperRecord(
        title=f"Paper {number}",
        authors=("Ann Lee",),
        abstract=f"About thing {number}.",
        doi=f"10.1000/{number}",
        publication_date="2017",
        **facts,  # type: ignore[arg-type]
    )
    return PublishedPaper(
        make_paper_id(f"doi:10.1000/{number}"),
        number,
        paper_keys(record),
        record,
        collect_summaries(record),
    )


def writer(folder: Path) -> SegmentWriter:
    return SegmentWriter(folder, Texts(), SegmentParts, INDEX_FORMAT)


def papers() -> list[PaperVersion]:
    whole = make_paper(3, markdown_sha256="whales", pdf_sha256="large")
    return [
        PaperVersion(5, make_paper(1)),
        PaperVersion(6, make_paper(2)),
        PaperVersion(9, whole),
    ]


def test_a_segment_holds_records_keys_facets_texts_and_passages(tmp_path: Path) -> None:
    entry = writer(tmp_path).write(papers())
    assert (entry.papers, entry.first_row, entry.last_row) == (3, 5, 9)
    folder = tmp_path / "segments" / entry.name
    with closing(open_segment(folder)) as connection:
        rows = connection.execute("SELECT row, record FROM paper ORDER BY row").fetchall()
        assert [(row, read_stored(body).published_paper) for row, body in rows] == [
            (each.row, each.paper) for each in papers()
        ]
        by_key = "SELECT row FROM paper_key WHERE key = 'doi:10.1000/2'"
        assert connection.execute(by_key).fetchall() == [(6,)]
        author = "SELECT papers FROM facet WHERE category = 'author' AND value = 'ann lee'"
        assert connection.execute(author).fetchall() == [(3,)]
        assert read_asset(folder, connection, "md/whales.md") == TEXT.encode()
        assert read_asset(folder, connection, "pdf/large.pdf") == LARGE
        assert read_asset(folder, connection, "md/other.md") is None
        assert (folder / "files" / "pdf" / "large.pdf").is_file()
        found = connection.execute(
            'SELECT row, passage.number, section, start, "end", asset.name FROM passage '
            "LEFT JOIN asset ON asset.number = passage.asset ORDER BY row, passage.number"
        ).fetchall()
    assert found[:2] == [(5, 1, "", 0, 14, None), (6, 1, "", 0, 14, None)]
    assert [(section, TEXT[start:end]) for _, _, section, start, end, _ in found[2:]] == [
        ("Song", "Whales sing in the deep sea."),
        ("Diet", "They eat krill."),
    ]
    meta = read_segment_meta(folder)
    assert (meta["papers"], meta["passages"], meta["with_source"]) == ("3", "4", "1")
    assert meta["years"] == '{"2017":3}'


def test_both_parts_of_a_segment_are_searchable(tmp_path: Path) -> None:
    entry = writer(tmp_path).write(papers())
    folder = tmp_path / "segments" / entry.name
    assert open_view([folder / "papers"], tmp_path / "views").document_count == 3
    assert open_view([folder / "passages"], tmp_path / "views").document_count == 4


def test_the_same_papers_have_the_same_name_anywhere_and_are_written_once(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    entry = writer(one).write(papers())
    assert writer(other).write(papers()).name == entry.name
    assert writer(one).name(papers()) == entry.name
    before = (one / "segments" / entry.name).stat().st_mtime_ns
    assert writer(one).write(papers()) == entry
    assert (one / "segments" / entry.name).stat().st_mtime_ns == before
    assert [path.name for path in (one / "segments").iterdir()] == [entry.name]


@pytest.mark.parametrize(
    "others",
    [
        [PaperVersion(5, make_paper(1)), PaperVersion(6, make_paper(2))],
        [PaperVersion(5, make_paper(1)), PaperVersion(7, make_paper(2))],
        [PaperVersion(5, make_paper(1)), PaperVersion(6, make_paper(3))],
        [PaperVersion(5, make_paper(1)), PaperVersion(6, make_paper(2), ("md/whales.md",))],
    ],
)
def test_another_paper_row_or_asset_is_another_segment(
    tmp_path: Path, others: list[PaperVersion]
) -> None:
    first = [PaperVersion(5, make_paper(1)), PaperVersion(6, make_paper(2, keywords=("x",)))]
    assert writer(tmp_path).name(first) != writer(tmp_path).name(others)


def test_a_segment_that_fails_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        writer(tmp_path).write([PaperVersion(1, make_paper(1, markdown_sha256="gone"))])
    assert list((tmp_path / "segments").iterdir()) == []
