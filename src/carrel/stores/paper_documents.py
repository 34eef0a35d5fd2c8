"""Papers as documents of the index `papers`, from whichever kind of corpus holds them."""

from __future__ import annotations

from collections.abc import Mapping

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
