"""Papers as documents of the index `papers`, from whichever kind of corpus holds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from carrel.libraries.query.papers import FacetCategory
from carrel.libraries.text.words import join_cjk
from carrel.rooms.knowledge.documents import PAPERS, Document, FieldKind
from carrel.rooms.papers.models import PaperMetadata

PAPER_FIELDS: Mapping[str, FieldKind] = {
    "paper_id": "keyword",
    "title": "text",
    "summary": "text",
    "authors": "text",
    "venue": "text",
    "year": "number",
    "publication_date": "keyword",
    "keywords": "keyword",
    "tags": "keyword",
    "institutions": "keyword",
    "doi": "keyword",
    "arxiv_id": "keyword",
}


RANKED_FACETS: tuple[FacetCategory, ...] = ("author", "venue", "keyword", "institution", "tag")


class IndexedTexts(NamedTuple):
    """Everything of a paper that a search ranks by; `place` is its place in the corpus."""

    title: str
    year: str
    place: int
    summary: str
    source: str
    translated: str
    metadata: str
    facets: Mapping[FacetCategory, Sequence[str]]


class RankedVersion(Protocol):
    """One version of a corpus while it is read; its papers have ascending numbers."""

    @property
    def build_id(self) -> str: ...

    def page(self, after: int) -> list[tuple[int, Document, IndexedTexts]]:
        """Papers with numbers above `after`, in order; none at the end."""
        ...


OpenRankedVersion = Callable[[], AbstractContextManager[RankedVersion]]
"""The present version of the corpus; SnapshotUnavailableError where there is none."""


def paper_document(facts: PaperMetadata, summary: str) -> Document:
    """A paper as a document that shows itself."""
    fields: dict[str, object] = {
        "paper_id": facts.paper_id,
        "title": facts.title,
        "summary": join_cjk(summary),
        "authors": list(facts.authors),
        "venue": facts.venue,
        "year": int(facts.year) if facts.year.isdecimal() else None,
        "publication_date": facts.publication_date,
        "keywords": list(facts.keywords),
        "tags": list(facts.tags),
        "institutions": list(facts.institutions),
        "doi": facts.doi,
        "arxiv_id": facts.arxiv_id,
    }
    return Document(
        facts.paper_id,
        {name: value for name, value in fields.items() if value not in (None, "", [])},
        (PAPERS,),
    )
