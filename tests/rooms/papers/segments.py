"""The sample papers as segments of a corpus folder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from carrel.rooms.papers.building.paper_keys import paper_keys
from carrel.rooms.papers.building.paper_records import (
    BibtexEntry,
    FiledSummary,
    Heading,
    PaperRecord,
)
from carrel.rooms.papers.building.papers import PublishedPaper, collect_summaries
from tests.rooms.papers.snapshots import SamplePaper
from tests.stores.corpora import CorpusOnDisk, Texts

_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)


def write_segments(folder: Path, papers: Iterable[SamplePaper]) -> Path:
    """Writes the papers into the folder, each as a segment of its own."""
    texts = Texts()
    corpus = CorpusOnDisk(folder / "corpus", texts)
    for number, paper in enumerate(papers, start=1):
        corpus.put([published(paper, number, texts)])
    return corpus.folder


def published(sample: SamplePaper, number: int, texts: Texts) -> PublishedPaper:
    """A sample as a build would publish it."""
    known = sample.bibtex
    record = PaperRecord(
        title=sample.title,
        authors=sample.authors,
        institutions=sample.institutions,
        venue=sample.venue,
        publication_date=sample.year,
        abstract=sample.summaries.get("simple"),
        # As the sample snapshots list them.
        keywords=tuple(sorted(sample.keywords, key=str.lower)),
        tags=sample.tags,
        doi=sample.doi,
        arxiv_id=sample.arxiv,
        bibtex=BibtexEntry(known, "key", "misc") if known else None,
        headings=tuple(
            Heading(len(signs), title) for signs, title in _HEADING.findall(sample.source or "")
        ),
        summaries=tuple(FiledSummary(tag, text) for tag, text in sample.summaries.items()),
        markdown_sha256=texts.keep("md", sample.source) if sample.source is not None else None,
        translations=tuple(
            (lang, texts.keep(f"md_translate/{lang}", text))
            for lang, text in sample.translations.items()
        ),
    )
    return PublishedPaper(
        sample.paper_id, number, paper_keys(record), record, collect_summaries(record)
    )
