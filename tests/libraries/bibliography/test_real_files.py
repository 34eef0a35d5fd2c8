"""Files from the world beside the checkout, where they are there."""

import json
import lzma
from pathlib import Path

import pytest

from carrel.libraries.bibliography.bibtex.reader import read_bibtex
from carrel.libraries.bibliography.bibtex.writer import BibtexDialect, write_bibtex
from carrel.libraries.bibliography.formats import read_bibliography
from carrel.libraries.bibliography.ris import read_ris
from carrel.libraries.bibliography.ris_writer import write_ris

DATA = Path(__file__).resolve().parents[3] / ".." / "shared" / "data"
BIBLIOGRAPHY = DATA / "bibliography"
CITATIONS = DATA / "citations"

needs_bibliography = pytest.mark.skipif(
    not BIBLIOGRAPHY.is_dir(), reason="../shared/data/bibliography is not beside the checkout"
)
needs_citations = pytest.mark.skipif(
    not CITATIONS.is_dir(), reason="../shared/data/citations is not beside the checkout"
)


@needs_bibliography
def test_every_small_file_is_read_without_a_failure() -> None:
    paths = [
        path
        for path in sorted((BIBLIOGRAPHY / "mixed").rglob("*"))
        if path.suffix in {".bib", ".ris"}
    ]
    assert len(paths) > 40
    for path in paths:
        answer = read_bibliography(path.read_bytes())
        assert answer.items or not path.read_text(errors="replace").strip(), path.name
        assert not answer.failures, path.name


@needs_bibliography
def test_all_of_tugboat_is_read_and_only_its_own_macros_are_told() -> None:
    answer = read_bibtex(lzma.decompress((BIBLIOGRAPHY / "tugboat.bib.xz").read_bytes()))
    assert len(answer.items) == 3644
    assert not answer.failures
    told = {warning.message.partition(":")[0] for warning in answer.warnings}
    assert told <= {"Unknown TeX was kept as text"}
    # Macros that the journal defines for itself keep their names.
    assert sum("\\" in imported.item.get("title", "") for imported in answer.items) < 100


@needs_citations
@pytest.mark.parametrize("name", ["items.csl.json", "deep-review_library.csl.json"])
def test_real_libraries_survive_every_export(name: str) -> None:
    library = json.loads((CITATIONS / name).read_text(encoding="utf-8"))
    for dialect in BibtexDialect:
        assert [
            imported.item
            for imported in read_bibtex(write_bibtex(library, dialect, lossless=True)).items
        ] == library
    assert [
        imported.item for imported in read_ris(write_ris(library, lossless=True)).items
    ] == library
