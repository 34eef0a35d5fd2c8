"""The size and content of a corpus, added up from what its segments say of themselves."""

from __future__ import annotations

import json
from collections import Counter

from carrel.rooms.papers.models import CorpusStatistics, YearCount
from carrel.stores.corpus.facets import count_values
from carrel.stores.corpus.folder import CorpusSession, LiveSegment, SegmentReader
from carrel.stores.corpus.papers import decode_record
from carrel.stores.corpus.schema import (
    META_WITH_BIBTEX,
    META_WITH_DOI,
    META_WITH_SOURCE,
    META_WITH_TRANSLATION,
    META_YEARS,
)

_COUNTED = (META_WITH_DOI, META_WITH_SOURCE, META_WITH_BIBTEX, META_WITH_TRANSLATION)


def corpus_statistics(session: CorpusSession, index: str) -> CorpusStatistics:
    """What the whole corpus holds."""
    version = session.version
    counts, years = _counts(session)
    manifest = version.manifest
    return CorpusStatistics(
        papers=version.papers,
        with_doi=counts[META_WITH_DOI],
        with_source=counts[META_WITH_SOURCE],
        with_bibtex=counts[META_WITH_BIBTEX],
        with_translation=counts[META_WITH_TRANSLATION],
        authors=count_values(session, "author"),
        venues=count_values(session, "venue"),
        keywords=count_values(session, "keyword"),
        years=[
            YearCount(year=year, paper_count=number)
            for year, number in sorted(years.items(), reverse=True)
            if number > 0
        ],
        build_id=manifest.build_id,
        built_at=manifest.built_at,
        index=index,
    )


def count_texts(session: CorpusSession) -> int:
    """How many papers have a full text."""
    return int(_counts(session)[0][META_WITH_SOURCE])


def _counts(session: CorpusSession) -> tuple[Counter[str], Counter[str]]:
    answers = session.version.answers
    if "counts" not in answers:
        answers["counts"] = _add_up(session)
    counts, years = answers["counts"]
    return counts, years


def _add_up(session: CorpusSession) -> tuple[Counter[str], Counter[str]]:
    counts: Counter[str] = Counter()
    years: Counter[str] = Counter()
    for segment, reader in session.readers():
        meta = segment.file.meta
        counts.update({name: int(meta[name]) for name in _COUNTED})
        years.update(json.loads(meta[META_YEARS]))
        if segment.deleted:
            gone_counts, gone_years = _deleted(segment, reader)
            counts.subtract(gone_counts)
            years.subtract(gone_years)
    return counts, years


def _deleted(segment: LiveSegment, reader: SegmentReader) -> tuple[Counter[str], Counter[str]]:
    """What the deleted rows of a segment still count for in it."""
    counts: Counter[str] = Counter()
    years: Counter[str] = Counter()
    for (record,) in reader.each(
        "SELECT record FROM paper WHERE row IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(segment.deleted)),),
    ):
        stored = decode_record(reader, record)
        paper = stored.record
        years[stored.year] += 1
        counts[META_WITH_DOI] += bool(paper.doi)
        counts[META_WITH_SOURCE] += bool(paper.markdown_sha256)
        counts[META_WITH_BIBTEX] += paper.bibtex is not None
        counts[META_WITH_TRANSLATION] += bool(paper.translations)
    return counts, years
