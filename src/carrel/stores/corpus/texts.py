"""Titles, abstracts and keywords of a corpus, as the research room reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from carrel.libraries.discovery.records import Paper
from carrel.stores.corpus.folder import CorpusFolder, Signature, retry_if_swept
from carrel.stores.corpus.papers import decode_record, facet_values, find_papers, packed_papers
from carrel.stores.corpus.records import StoredPaper


class CorpusTexts:
    """Titles, abstracts and keywords of a corpus; a newer manifest is noticed."""

    def __init__(self, folder: CorpusFolder) -> None:
        self._folder = folder

    @property
    def path(self) -> Path:
        return self._folder.path

    def signature(self) -> Signature:
        return self._folder.signature()

    def fingerprints(self) -> Iterator[tuple[str, str]]:
        """The id of every paper with a text that changes when the paper does."""
        with self._folder.current().session() as session:
            for segment, reader in session.readers():
                for row, paper_id, record in reader.each("SELECT row, paper_id, record FROM paper"):
                    if row not in segment.deleted:
                        yield paper_id, hashlib.blake2b(record, digest_size=12).hexdigest()

    def everything(self) -> Iterator[tuple[Paper, str]]:
        """Every paper with a fingerprint that changes when it does."""
        with self._folder.current().session() as session:
            for _, reader, record in packed_papers(session):
                fingerprint = hashlib.blake2b(record, digest_size=12).hexdigest()
                yield _paper(decode_record(reader, record)), fingerprint

    def paper(self, paper_id: str) -> Paper | None:
        found = self.papers([paper_id])
        return found[0] if found else None

    def papers(self, paper_ids: Sequence[str]) -> list[Paper]:
        """Those of the papers that exist, in the order asked for."""
        return retry_if_swept(
            self._folder,
            lambda session: [_paper(found.paper) for found in find_papers(session, paper_ids)],
        )


def _paper(stored: StoredPaper) -> Paper:
    record, year = stored.record, stored.year
    return Paper(
        stored.paper_id,
        record.title,
        stored.published_paper.summaries.searchable or stored.preview,
        facet_values(record.keywords),
        year=int(year) if year.isdigit() else None,
    )
