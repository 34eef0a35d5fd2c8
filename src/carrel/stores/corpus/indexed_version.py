"""One version of a corpus of segments for an index elsewhere, with all that it ranks and reads."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from carrel.rooms.papers.building.papers import asset_paths
from carrel.stores.corpus.assets import read_asset
from carrel.stores.corpus.documents import stored_document
from carrel.stores.corpus.facets import record_facets
from carrel.stores.corpus.folder import CorpusFolder, CorpusSession, LiveSegment, SegmentReader
from carrel.stores.corpus.index_parts import paper_document, passage_document
from carrel.stores.corpus.papers import FoundPaper, decode_record, other_texts, packed_papers
from carrel.stores.corpus.passages import ID_JOINT, PaperPassage, paper_passages
from carrel.stores.corpus.records import StoredPaper
from carrel.stores.corpus.statistics import corpus_statistics
from carrel.stores.indexed_papers import IndexedPaper, IndexedPassage

# Files of a paper that are no texts: they stay where the corpus is.
_NO_TEXTS = ("pdf/", "images/")


class IndexedCorpus:
    """A version of a corpus; the session stays open as long as it is read."""

    def __init__(self, session: CorpusSession) -> None:
        self.build_id = session.version.build_id
        self._session = session

    def rows(self) -> Iterator[tuple[int, str]]:
        """Records name their texts by hash, so the digest of a record is that of its paper."""
        for row, _, record in packed_papers(self._session):
            yield row, _digest(record)

    def row_numbers(self) -> Iterator[int]:
        for segment, reader in self._session.readers():
            for (row,) in reader.each("SELECT row FROM paper"):
                if row not in segment.deleted:
                    yield row

    def digests(self, rows: Sequence[int]) -> dict[int, str]:
        return {row: _digest(record) for row, _, _, record in self._records(rows)}

    def papers(self, rows: Sequence[int]) -> list[IndexedPaper]:
        found = {
            row: self._indexed(FoundPaper(row, segment, decode_record(reader, record)), record)
            for row, segment, reader, record in self._records(rows)
        }
        return [found[row] for row in sorted(found)]

    def abbreviations(self) -> list[tuple[str, str, int]]:
        counted: Counter[tuple[str, str]] = Counter()
        for _, reader in self._session.readers():
            for short, long, papers in reader.each("SELECT short, long, papers FROM abbreviation"):
                counted[short, long] += papers
        return [(short, long, papers) for (short, long), papers in sorted(counted.items())]

    def statistics(self) -> Mapping[str, Any]:
        return corpus_statistics(self._session, "").model_dump(mode="json")

    def _records(
        self, rows: Sequence[int]
    ) -> Iterator[tuple[int, LiveSegment, SegmentReader, bytes]]:
        for segment in self._session.version.segments:
            here = [row for row in rows if segment.may_have(row)]
            if here:
                reader = self._session.reader(segment)
                for row, record in reader.all(
                    "SELECT row, record FROM paper WHERE row IN (SELECT value FROM json_each(?))",
                    (json.dumps(here),),
                ):
                    yield row, segment, reader, record

    def _indexed(self, paper: FoundPaper, record: bytes) -> IndexedPaper:
        stored, published = paper.paper, paper.paper.published_paper
        facets = list(record_facets(stored.record))
        passages = list(paper_passages(stored.record, self._text))
        listed: dict[str, list[str]] = {}
        for category, value in facets:
            listed.setdefault(category, []).append(value)
        others = other_texts(self._session, paper)
        ranked = paper_document(paper.row, published, passages, facets)
        keys = dict.fromkeys([stored.paper_id, *(key.value for key in stored.keys)])
        return IndexedPaper(
            paper.row,
            stored_document(stored),
            replace(ranked, keys=list(keys)),
            [
                IndexedPassage(
                    passage_document(paper.row, published, each), _facts(stored.paper_id, each)
                )
                for each in passages
            ],
            listed,
            record,
            others,
            partial(self._texts, stored, others),
        )

    def _text(self, name: str) -> str:
        return (read_asset(self._session, name) or b"").decode("utf-8", "replace")

    def _texts(self, stored: StoredPaper, others: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        names = [*asset_paths(stored.record), *(f"md/{sha256}.md" for sha256 in others)]
        for name in dict.fromkeys(names):
            if not name.startswith(_NO_TEXTS):
                body = read_asset(self._session, name)
                if body is not None:
                    yield name, body


@contextmanager
def indexed_corpus(folder: CorpusFolder) -> Iterator[IndexedCorpus]:
    """The present version of a corpus."""
    with folder.current().session() as session:
        yield IndexedCorpus(session)


def _digest(record: bytes) -> str:
    return hashlib.blake2b(record, digest_size=12).hexdigest()


def _facts(paper_id: str, each: PaperPassage) -> dict[str, object]:
    """What a reader is shown of a passage."""
    return {
        "id": f"{paper_id}{ID_JOINT}{each.mark}",
        "paper_id": paper_id,
        "section": each.passage.section,
        "kind": each.passage.kind,
        "page": each.passage.page,
        "start": each.passage.start,
        "end": each.passage.end,
        "asset": each.asset,
        "text": each.text,
    }
