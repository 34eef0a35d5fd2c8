"""Papers of a corpus as documents: for the search bodies and for a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from carrel.libraries.query.papers import FacetCategory
from carrel.libraries.text.plain_text import plain_text
from carrel.rooms.knowledge.documents import (
    Checkpoint,
    Document,
    DocumentChange,
    Drop,
    Put,
    Reset,
)
from carrel.stores.corpus.assets import read_asset
from carrel.stores.corpus.facets import record_facets
from carrel.stores.corpus.folder import CorpusFolder, CorpusSession
from carrel.stores.corpus.papers import papers_of_rows, shown_paper, stored_papers
from carrel.stores.corpus.records import StoredPaper
from carrel.stores.paper_documents import (
    PAPER_FIELDS,
    RANKED_FACETS,
    IndexedTexts,
    paper_document,
)

_PAGE = 100


class CorpusDocuments:
    """The index `papers`: all papers, then those that changed since this process last looked."""

    index = "papers"
    fields = PAPER_FIELDS

    def __init__(self, folder: CorpusFolder) -> None:
        self._folder = folder
        self._last: tuple[str, dict[str, int]] | None = None

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        version = await asyncio.to_thread(self._folder.current)
        if version.build_id == since:
            return
        last, known = self._last, dict[str, int]()
        if last is not None and last[0] == since:
            known = last[1]
        else:
            yield Reset()
        with version.session() as session:
            present = await asyncio.to_thread(_rows_by_id, session)
            changed = [row for paper_id, row in present.items() if known.get(paper_id) != row]
            changed.sort()
            for first in range(0, len(changed), _PAGE):
                page = changed[first : first + _PAGE]
                for document in await asyncio.to_thread(_documents, session, page):
                    yield Put(document)
        for gone in known.keys() - present.keys():
            yield Drop(gone)
        self._last = (version.build_id, present)
        yield Checkpoint(version.build_id)


def _rows_by_id(session: CorpusSession) -> dict[str, int]:
    """The present row of every paper, from the indexes of ids alone."""
    return {
        paper_id: row
        for segment, reader in session.readers()
        for paper_id, row in reader.each("SELECT paper_id, row FROM paper ORDER BY paper_id")
        if row not in segment.deleted
    }


def _documents(session: CorpusSession, rows: Sequence[int]) -> list[Document]:
    return [_document(found.paper) for found in papers_of_rows(session, rows)]


def _document(stored: StoredPaper) -> Document:
    summary = stored.published_paper.summaries.searchable or stored.preview
    return paper_document(shown_paper(stored).metadata, summary)


class CorpusRankedVersion:
    """One version of a corpus with the texts that a search ranks by."""

    def __init__(self, session: CorpusSession) -> None:
        self.build_id = session.version.build_id
        self._session = session

    def page(self, after: int) -> list[tuple[int, Document, IndexedTexts]]:
        found = islice(stored_papers(self._session, after), _PAGE)
        return [
            (row, _document(stored), indexed_texts(self._session, stored)) for row, stored in found
        ]


@contextmanager
def ranked_corpus(folder: CorpusFolder) -> Iterator[CorpusRankedVersion]:
    """The present version of a corpus, for an index that ranks."""
    with folder.current().session() as session:
        yield CorpusRankedVersion(session)


def indexed_texts(session: CorpusSession, stored: StoredPaper) -> IndexedTexts:
    """Everything of a paper that a search ranks by, as a snapshot would have it."""
    record, published = stored.record, stored.published_paper
    about = (
        record.title,
        *record.authors,
        published.venue,
        *record.keywords,
        *record.institutions,
        published.year,
        record.doi or "",
    )
    facets: dict[FacetCategory, list[str]] = {name: [] for name in RANKED_FACETS}
    for category, value in record_facets(record):
        facets[category].append(value)

    def text(name: str) -> str:
        return plain_text((read_asset(session, name) or b"").decode("utf-8", "replace"))

    return IndexedTexts(
        record.title,
        published.year,
        stored.paper_index,
        published.summaries.searchable,
        text(f"md/{record.markdown_sha256}.md") if record.markdown_sha256 else "",
        " ".join(text(f"md_translate/{lang}/{sha256}.md") for lang, sha256 in record.translations),
        " ".join(part for part in about if part),
        facets,
    )
