"""Papers of a corpus as documents of the search bodies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from carrel.rooms.knowledge.documents import (
    Checkpoint,
    Document,
    DocumentChange,
    Drop,
    Put,
    Reset,
)
from carrel.stores.corpus.folder import CorpusFolder, CorpusSession
from carrel.stores.corpus.papers import papers_of_rows, shown_paper
from carrel.stores.corpus.records import StoredPaper
from carrel.stores.paper_documents import PAPER_FIELDS, paper_document

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
    return [stored_document(found.paper) for found in papers_of_rows(session, rows)]


def stored_document(stored: StoredPaper) -> Document:
    """A paper as a document that shows itself."""
    summary = stored.published_paper.summaries.searchable or stored.preview
    return paper_document(shown_paper(stored).metadata, summary)
