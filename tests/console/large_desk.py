"""More papers for the tour: abstracts of SciFact, articles with figures, and PDFs."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.processes import warm

_ABSTRACTS = "retrieval/scifact/corpus.jsonl.gz"
_ARTICLES = "papers/elife_jats_sample.tar.xz"
_PDFS = "services/pdfs"


def add_real_papers(home: Path, data: Path, folder: Path) -> None:
    """Adds them to the home and draws the map of the corpus."""
    folder.mkdir(parents=True)
    _write_abstracts(data / _ABSTRACTS, folder / "abstracts.jsonl")
    with tarfile.open(data / _ARTICLES) as archive:
        archive.extractall(folder, filter="data")
    shutil.copytree(data / _PDFS, folder / "pdfs")
    for words in (["add", str(folder)], ["papers", "map"]):
        # Some of the PDFs are broken on purpose, for which `add` has an exit code of its own.
        warm.run(
            [sys.executable, "-m", "carrel", *words, "--home", str(home)],
            check=words[0] != "add",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def _write_abstracts(packed: Path, into: Path) -> None:
    with gzip.open(packed, "rt", encoding="utf-8") as lines, into.open("w") as written:
        for line in lines:
            paper = json.loads(line)
            text = paper.get("abstract") or paper.get("text") or ""
            abstract = " ".join(text) if isinstance(text, list) else text
            written.write(json.dumps({"title": paper["title"], "abstract": abstract}) + "\n")
