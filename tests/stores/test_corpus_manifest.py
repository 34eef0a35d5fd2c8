"""The manifest of a corpus and the records of its segments."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from carrel.rooms.papers.building.paper_groups import Conflict
from carrel.rooms.papers.building.paper_keys import paper_keys
from carrel.rooms.papers.building.paper_records import (
    BibtexEntry,
    FiledSummary,
    Heading,
    KeptImage,
    PaperRecord,
    mark_guesses,
)
from carrel.rooms.papers.building.papers import PublishedPaper, collect_summaries
from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.corpus.manifest import Manifest, SegmentEntry, read_manifest, write_manifest
from carrel.stores.corpus.records import (
    decode_paper,
    encode_paper,
    pack,
    pack_json,
    read_stored,
    unpack,
)

pytestmark = pytest.mark.promise("P16")

RECORD = PaperRecord(
    title="Die Größe von Zellen",
    authors=("Zoë Müller", "王 伟"),
    institutions=("Universität",),
    venue="eLife",
    publication_date="2017-06",
    abstract="Cells are large.",
    keywords=("size",),
    tags=("biology",),
    doi="10.7554/elife.1",
    arxiv_id="1706.03762",
    citation_key="mueller2017",
    bibtex=BibtexEntry("@article{mueller2017}", "mueller2017", "article"),
    language="en",
    headings=(Heading(1, "Results"),),
    summaries=(FiledSummary("deep_read", "## Question", model="m"),),
    source_hash="abc",
    markdown_sha256="m" * 64,
    pdf_sha256="p" * 64,
    translations=(("zh", "z" * 64),),
    images=(KeptImage("images/x.png", "png", None),),
    origins=mark_guesses("title"),
)


def paper(record: PaperRecord) -> PublishedPaper:
    conflict = Conflict("a.md", "b.md", "doi:10.1/x", "claims it")
    return PublishedPaper(
        "id1", 7, paper_keys(record), record, collect_summaries(record), (conflict,)
    )


@pytest.mark.parametrize("record", [RECORD, PaperRecord(title="Alone")])
def test_a_paper_comes_back_from_its_record_as_it_was(record: PaperRecord) -> None:
    whole = paper(record)
    assert read_stored(pack_json(encode_paper(whole))).published_paper == whole


def test_a_key_of_another_record_keeps_its_own_fingerprint() -> None:
    other = paper_keys(PaperRecord(title="Another title"))
    whole = PublishedPaper(
        "id1", 1, (*paper_keys(RECORD), *other), RECORD, collect_summaries(RECORD)
    )
    assert decode_paper(encode_paper(whole)).keys == whole.keys


@pytest.mark.parametrize("content", [b"", b"short", b"long " * 1000, bytes(range(256)) * 9])
def test_what_is_packed_comes_back(content: bytes) -> None:
    assert unpack(pack(content)) == content
    assert len(pack(content)) <= len(content) + 1


def test_damaged_packing_is_an_error() -> None:
    with pytest.raises(ValueError, match="damaged"):
        unpack(pack(b"long " * 1000)[:-9] + b"123456789")


def test_the_manifest_comes_back_and_counts_live_papers(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None
    entry = SegmentEntry("a" * 32, 10, 12, 100, 1, 10).without([4, 2]).without([2, 9])
    manifest = Manifest("build", "2026-01-01", 3, 11, 11, (entry,))
    write_manifest(tmp_path, manifest)
    assert read_manifest(tmp_path) == manifest
    assert (entry.deleted, manifest.papers) == ((2, 4, 9), 7)
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "damaged"),
        (b'{"format": 1}', "damaged"),
        (b'{"format": 99}', "newer version"),
        (b"[]", "damaged"),
    ],
)
def test_a_manifest_that_cannot_be_used_says_why(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "manifest.json").write_bytes(content)
    with pytest.raises(SnapshotUnavailableError, match=said):
        read_manifest(tmp_path)


@pytest.mark.parametrize("name", ["../../etc", "a" * 31, "", "A" * 32])
def test_a_segment_is_never_looked_for_outside_its_folder(tmp_path: Path, name: str) -> None:
    write_manifest(tmp_path, Manifest("b", "t", 1, 2, 2, (SegmentEntry("a" * 32, 1, 1, 1, 1, 1),)))
    facts = orjson.loads((tmp_path / "manifest.json").read_bytes())
    facts["segments"][0]["name"] = name
    (tmp_path / "manifest.json").write_bytes(orjson.dumps(facts))
    with pytest.raises(SnapshotUnavailableError):
        read_manifest(tmp_path)


def test_a_manifest_that_cannot_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Manifest("old", "t", 1)
    write_manifest(tmp_path, old)

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_manifest(tmp_path, Manifest("new", "t", 2))
    assert read_manifest(tmp_path) == old
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]
