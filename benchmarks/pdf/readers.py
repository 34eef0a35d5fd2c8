"""Readers that are compared: ours, ours before layout rules, a plain dump, metadata alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pypdfium2

from benchmarks.pdf.gold import GoldPdf
from benchmarks.pdf.scoring import Prediction
from carrel.libraries.text.outline import outline
from carrel.libraries.works.cited_works import decode_cited_works
from carrel.rooms.papers.building.models import SourcePart
from carrel.rooms.papers.building.paper_records import PaperRecord
from carrel.services.paper_sources.pdf_source import PdfSource
from carrel.stores.static_folder import PaperAssets

# The last version that read PDFs without layout rules.
BEFORE = "4bb5d3a0"

Reader = Callable[[Path], Prediction]


@contextmanager
def open_present_reader() -> Iterator[Reader]:
    """The reader of a build: what it says of a paper, not what it marks as a guess."""
    with tempfile.TemporaryDirectory(prefix="carrel-bench-pdf-") as folder:
        assets = PaperAssets(Path(folder))
        source = PdfSource()

        def read(path: Path) -> Prediction:
            begun = time.process_time()
            reading = source.read(SourcePart(path), assets)
            used = time.process_time() - begun
            if not reading.records:
                return Prediction(cpu_seconds=used)
            made = _describe(reading.records[0], Path(folder))
            made.cpu_seconds = used
            return made

        yield read


def _describe(record: PaperRecord, folder: Path) -> Prediction:
    guesses = record.inferred
    text = ""
    if record.markdown_sha256:
        text = (folder / "md" / f"{record.markdown_sha256}.md").read_text("utf-8")
    references = None
    if record.references_sha256:
        content = (folder / "references" / f"{record.references_sha256}.json").read_bytes()
        references = len(decode_cited_works(content))
    names = ("title", "authors", "publication_date", "doi")
    return Prediction(
        title=None if "title" in guesses else record.title,
        authors=None if "authors" in guesses else list(record.authors) or None,
        year=None if "publication_date" in guesses else record.publication_date,
        doi=None if "doi" in guesses else record.doi,
        headings=list_headings(text, record.title),
        references=references,
        text=text,
        confidence={name: record.origin_of(name).confidence for name in names},
    )


def list_headings(text: str, title: str) -> list[str]:
    """The headings of a Markdown text but for its title."""
    headings = [section.title for section in outline(text) if section.title]
    return headings[1:] if headings and headings[0] == title else headings


def read_plain(path: Path) -> Prediction:
    """The text as PDFium gives it: the first line for a title, nothing else."""
    begun = time.process_time()
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError:
        return Prediction()
    pages = []
    with document:
        for page in document:
            text_page = page.get_textpage()
            pages.append(text_page.get_text_bounded().replace("\r\n", "\n"))
            text_page.close()
            page.close()
    text = "\n\n".join(pages)
    first = next((line.strip() for line in text.splitlines() if line.strip()), None)
    return Prediction(title=first, text=text, cpu_seconds=time.process_time() - begun)


def read_metadata(path: Path) -> Prediction:
    """The information dictionary and the outline."""
    begun = time.process_time()
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError:
        return Prediction()
    with document:
        about = document.get_metadata_dict(skip_empty=True)
        headings = [entry.get_title() for entry in document.get_toc() if entry.level < 2]
    names = re.split(r"\s*(?:,|;|\band\b|&)\s*", about.get("Author", ""))
    return Prediction(
        title=about.get("Title"),
        authors=[name for name in names if name] or None,
        headings=headings,
        cpu_seconds=time.process_time() - begun,
    )


_READ_BEFORE = """
import json, sys, tempfile, time
from pathlib import Path
from carrel.rooms.papers.building.models import SourcePart
from carrel.services.paper_sources.pdf_source import PdfSource
from carrel.stores.static_folder import PaperAssets
with tempfile.TemporaryDirectory() as folder:
    assets, source, said = PaperAssets(Path(folder)), PdfSource(), {}
    for name, path in json.load(sys.stdin):
        begun = time.process_time()
        records = source.read(SourcePart(Path(path)), assets).records
        used = time.process_time() - begun
        if records:
            record = records[0]
            text = (Path(folder) / "md" / f"{record.markdown_sha256}.md").read_text("utf-8")
            said[name] = {"title": record.title, "authors": list(record.authors) or None,
                          "year": record.publication_date, "doi": record.doi, "text": text,
                          "cpu_seconds": used}
        else:
            said[name] = {"cpu_seconds": used}
    json.dump(said, sys.stdout)
"""


def read_all_before(pdfs: Sequence[GoldPdf]) -> dict[str, Prediction] | None:
    """What the version before layout rules said; None where its source is not at hand."""
    with tempfile.TemporaryDirectory(prefix="carrel-before-") as folder:
        archive = subprocess.run(
            ["git", "archive", BEFORE, "src"], capture_output=True, check=False
        )
        if archive.returncode:
            return None
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        asked = json.dumps([[each.id, str(each.path.resolve())] for each in pdfs])
        answer = subprocess.run(
            [sys.executable, "-c", _READ_BEFORE],
            input=asked.encode(),
            capture_output=True,
            check=False,
            env={**os.environ, "PYTHONPATH": f"{folder}/src"},
        )
    if answer.returncode:
        print(answer.stderr.decode()[-2000:], file=sys.stderr)
        return None
    return {name: Prediction(**fields) for name, fields in json.loads(answer.stdout).items()}
