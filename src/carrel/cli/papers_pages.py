"""Formats answers of the papers room for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from carrel.cli.citation_pages import CITATION_PAGES
from carrel.cli.corrections_pages import CORRECTION_PAGES
from carrel.rooms.papers.review import DoubtfulField, DoubtfulPaper

_KINDS = {
    "twin": "may be the same work",
    "guess": "no source states it",
    "differs": "sources disagree",
    "unsure": "read from the page, with doubt",
    "identifier": "another paper has it too",
    "missing": "unknown",
}


def _review(papers: Sequence[DoubtfulPaper]) -> str:
    if not papers:
        return ""
    total = papers[0].total
    shown = f"the first {len(papers):,} of {total:,}" if total > len(papers) else f"{total:,}"
    head = f"Papers with doubtful fields, most useful to correct first ({shown}):"
    return "\n\n".join([head, *(_paper(paper) for paper in papers)])


def _paper(paper: DoubtfulPaper) -> str:
    named = f"  [{', '.join(paper.sources)}]" if paper.sources else ""
    return "\n".join([f"{paper.title}{named}", *(_field(field) for field in paper.fields)])


def _field(field: DoubtfulField) -> str:
    origin = f" ({field.origin})" if field.origin else ""
    value = "unknown" if field.value is None else f"{field.value}{origin}"
    lines = [f"  {field.field}: {value} — {_KINDS[field.kind]}"]
    lines += [f"      or: {other.value} ({other.origin})" for other in field.alternatives]
    if field.note:
        lines.append(f"      {field.note}")
    return "\n".join([*lines, f"    {field.command}"])


PAGES: Mapping[str, Callable[[Any], str]] = {
    "review_papers": _review,
    **CITATION_PAGES,
    **CORRECTION_PAGES,
}
