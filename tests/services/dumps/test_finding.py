"""The files of a dump are found whatever else lies or is linked in its folder."""

from __future__ import annotations

import os
from pathlib import Path

from carrel.services.dumps.finding import find_dump


def names(folder: Path) -> list[str]:
    return [file.name for file in find_dump("pubmed", folder).files]


def test_links_that_lead_back_are_followed_once(tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    (dump / "a").mkdir(parents=True)
    (dump / "a" / "pubmed24n0001.xml.gz").write_bytes(b"")
    for number in range(20):
        (dump / "a" / f"up{number}").symlink_to("..")
        (dump / "a" / f"self{number}").symlink_to(".")
    (dump / "disk").symlink_to("/")
    (dump / "0-again").symlink_to("a")
    assert names(dump) == ["a/pubmed24n0001.xml.gz"]


def test_a_linked_folder_elsewhere_is_part_of_the_dump(tmp_path: Path) -> None:
    dump, other = tmp_path / "dump", tmp_path / "other-disk"
    dump.mkdir()
    other.mkdir()
    (other / "pubmed24n0002.xml").write_bytes(b"")
    (dump / "updates").symlink_to(other)
    assert names(dump) == ["updates/pubmed24n0002.xml"]


def test_devices_and_pipes_are_no_files_of_a_dump(tmp_path: Path) -> None:
    (tmp_path / "pubmed24n0003.xml").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pubmed24n0004.xml")
    assert names(tmp_path) == []


def test_an_endless_manifest_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "works").mkdir()
    (tmp_path / "works" / "manifest").symlink_to("/dev/zero")
    assert find_dump("openalex", tmp_path).remarks == (
        "works/manifest could not be read and was not compared",
    )
