"""A disk that is full while papers are built or added: nothing is lost, and it is said plainly."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.core.errors import StorageFullError
from carrel.wiring.papers_build import add_paper_file, build_papers, remove_paper
from tests.rooms.papers.building.conftest import Corpus
from tests.stores.small_disk import small_disk

pytestmark = pytest.mark.promise("P16")


def test_a_full_disk_leaves_the_old_manifest_and_the_next_try_goes_on(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "12M") as disk:
        corpus = Corpus(disk.folder)
        corpus.write_lines(
            "base.jsonl", *({"title": f"Paper {at}", "abstract": "x " * 99} for at in range(40))
        )
        corpus.build()
        before = corpus.manifest
        file = corpus.into / "added" / "new.md"
        file.parent.mkdir()
        file.write_text("# New\n\nWhales sing.\n")
        disk.fill()
        with pytest.raises(StorageFullError):
            add_paper_file(corpus.into, file)
        with pytest.raises(StorageFullError):
            remove_paper(corpus.into, make_first_id(corpus))
        assert corpus.manifest == before
        disk.empty()
        added = add_paper_file(corpus.into, file)
        assert (added.is_new, corpus.manifest.papers) == (True, 41)
        assert not list((corpus.into / "segments").glob(".*"))


def make_first_id(corpus: Corpus) -> str:
    from contextlib import closing

    from carrel.stores.corpus.segments import open_segment

    with closing(open_segment(corpus.into / "segments" / corpus.manifest.segments[0].name)) as file:
        return str(file.execute("SELECT paper_id FROM paper").fetchone()[0])


@pytest.mark.parametrize("free_kilobytes", [20, 80, 200, 500, 900])
def test_a_disk_that_fills_up_on_the_way_is_told_as_full(
    tmp_path: Path, free_kilobytes: int
) -> None:
    with small_disk(tmp_path / "disk", "12M") as disk:
        corpus = Corpus(disk.folder)
        corpus.write("first.md", "# The first paper\n")
        corpus.build()
        before = corpus.manifest
        corpus.write_lines(
            "more.jsonl",
            *(
                {"title": f"Paper {at}", "abstract": " ".join(f"w{at}x{n}" for n in range(300))}
                for at in range(400)
            ),
        )
        disk.fill()
        ballast = disk.folder / "ballast"
        with ballast.open("r+b") as file:
            file.truncate(ballast.stat().st_size - free_kilobytes * 1024)
        with pytest.raises(StorageFullError):
            build_papers([corpus.sources], corpus.into)
        assert corpus.manifest == before
        disk.empty()
        assert corpus.build(size_limit_bytes=10_000_000).papers == 401
