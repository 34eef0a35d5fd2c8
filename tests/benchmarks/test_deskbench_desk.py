"""The desk of DeskBench is the same bytes each time, and says what its manifest says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pypdfium2

from benchmarks.deskbench.desk import SECTIONS, read_papers, write_desk
from benchmarks.deskbench.normalisation import find_numbers, fold_words, tidy_text


def digest_folder(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def test_the_desk_is_written_twice_with_the_same_bytes(tmp_path: Path) -> None:
    write_desk(tmp_path / "one")
    write_desk(tmp_path / "two")
    assert digest_folder(tmp_path / "one") == digest_folder(tmp_path / "two")
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text("utf-8"))
    assert len(manifest["papers"]) == 65
    assert len(manifest["references"]) == 25
    assert len(manifest["notes"]) == 20
    assert len(list((tmp_path / "one").rglob("*.pdf"))) == 20


def test_sections_of_pdfs_are_on_the_pages_that_the_manifest_names(tmp_path: Path) -> None:
    write_desk(tmp_path)
    for paper in read_papers():
        if paper.kind != "pdf":
            continue
        document = pypdfium2.PdfDocument(tmp_path / paper.path)
        pages = [tidy_text(page.get_textpage().get_text_bounded()) for page in document]
        for number, name in enumerate(SECTIONS):
            assert tidy_text(paper.sections[name]) in pages[number], (paper.key, name)
        document.close()


def test_papers_cite_only_older_papers_of_the_desk() -> None:
    papers = {paper.key: paper for paper in read_papers()}
    for paper in papers.values():
        for key in paper.cites:
            assert papers[key].year <= paper.year, (paper.key, key)


def test_numbers_and_words_are_compared_in_one_spelling() -> None:
    assert find_numbers("1,850 euros, 31.0 and 0,52; forty-eight, Eleven") == [
        "1850",
        "31",
        "0.52",
        "48",
        "11",
    ]
    assert fold_words("Ece Yılmaz’s “Straße”—№1") == fold_words("ece yilmaz's strasse №1")
