"""What a search shows of a stored paper: its facts, and the words by which it was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from carrel.libraries.text.plain_text import plain_text
from carrel.libraries.text.snippets import Marker
from carrel.rooms.papers.building.papers import template_tag
from carrel.rooms.papers.models import SHOWN_AUTHORS, PaperHit
from carrel.stores.corpus.papers import distinct_names, shown_inferred
from carrel.stores.corpus.records import StoredPaper


def make_hit(stored: StoredPaper, snippet: str, total: int | None = None) -> PaperHit:
    """A paper as a search lists it."""
    return PaperHit(
        paper_id=stored.paper_id,
        title=stored.record.title,
        year=stored.year,
        venue=stored.record.venue or "",
        snippet_markdown=snippet,
        authors=distinct_names(stored.record.authors)[:SHOWN_AUTHORS],
        doi=stored.record.doi,
        total=total,
        inferred=shown_inferred(stored.record),
    )


def make_keyword_hit(stored: StoredPaper, values: Sequence[str], marker: Marker) -> PaperHit:
    """A paper with the keywords by which it was found."""
    shown = (marker.mark(", ".join(values)), marker.snippet([stored.preview]))
    return make_hit(stored, " — ".join(filter(None, shown)))


def telling_texts(
    stored: StoredPaper, best_passage: str, all_passages: Callable[[], Iterable[str]]
) -> Iterator[str]:
    """What may show why a paper was found, read only as far as somebody asks."""
    record = stored.record
    if best_passage:
        yield best_passage
    opening = _opening(stored)
    yield opening
    if not opening:
        yield from all_passages()
    yield stored.published_paper.summaries.searchable
    yield from all_passages()
    yield " ".join((record.title, *record.authors, record.venue or "", *record.keywords))
    yield stored.preview
    yield record.title


def _opening(stored: StoredPaper) -> str:
    """What a paper says first: the summary that somebody wrote of it, else its abstract alone."""
    filed = {template_tag(summary.template) for summary in stored.record.summaries}
    if stored.preferred in filed:
        return plain_text(stored.published_paper.summaries.preferred.markdown)
    return plain_text(stored.record.abstract or "")
