"""Formats answers about citations for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from carrel.rooms.papers.citation_models import (
    BriefPaper,
    CitationAnswer,
    CitationPath,
    RankedCitedPaper,
    RelatedPaper,
    Snowball,
)

_LONGEST_TITLE = 72
_SHORT_ID = 12


def _citations(answer: CitationAnswer) -> str:
    lines = [answer.title, answer.message]
    if answer.references:
        rows = [
            (
                f"{each.number}",
                _mark(each.paper_id, each.linked_by, each.may_be),
                _shorten(each.text),
            )
            for each in answer.references
        ]
        lines += ["", "It cites", *_align(rows)]
    if answer.cited_by:
        lines += ["", "Cited by"]
        lines += _align((each.paper_id, each.year, _name(each)) for each in answer.cited_by)
    if answer.versions:
        lines += ["", "Other versions, whose citations count too"]
        lines += _align((each.paper_id, each.year, _name(each)) for each in answer.versions)
    return "\n".join(lines)


def _related(papers: Sequence[RelatedPaper]) -> str:
    rows = [("shared", "paper_id", "year", "paper")]
    rows += [(f"{each.shared}", each.paper_id, each.year, _name(each)) for each in papers]
    return "\n".join(_align(rows)) if papers else ""


def _path(path: CitationPath) -> str:
    lines = [path.message]
    for step in path.steps or ():
        lines.append(f"{step.paper_id}  {step.year}  {_name(step)}")
        if step.cites_next is not None:
            lines.append("  cites" if step.cites_next else "  is cited by")
    return "\n".join(lines)


def _ranked(papers: Sequence[RankedCitedPaper]) -> str:
    rows = [("rank", "cited by", "pagerank", "paper_id", "year", "paper")]
    rows += [
        (
            f"{each.rank}",
            f"{each.cited_by_count}",
            f"{each.pagerank:.1f}",
            each.paper_id,
            each.year,
            _name(each),
        )
        for each in papers
    ]
    return "\n".join(_align(rows)) if papers else ""


def _snowball(answer: Snowball) -> str:
    rounds = [("round", "followed", "links", "duplicates", "other years", "no match", "new")]
    rounds += [
        (
            f"{each.round}",
            f"{each.followed}",
            f"{each.links}",
            f"{each.duplicates}",
            f"{each.excluded_by_year}",
            f"{each.excluded_by_query}",
            f"{each.new}",
        )
        for each in answer.rounds
    ]
    lines = [answer.message, "", *_align(rounds)]
    if answer.papers:
        lines += ["", f"Found ({len(answer.papers)} of {answer.paper_count})"]
        lines += _align(
            (f"{each.round}", each.paper_id, each.year, _name(each)) for each in answer.papers
        )
    if answer.not_in_corpus:
        lines += ["", f"Cited, not in the corpus ({answer.not_in_corpus_count}), most cited first"]
        lines += _align(
            (f"{each.cited_by}", each.doi or "-", _shorten(each.text))
            for each in answer.not_in_corpus
        )
    lines += ["", "PRISMA 2020 (only what is known here)"]
    counts = answer.prisma.model_dump()
    lines += _align(
        (name.replace("_", " "), f"{count}") for name, count in counts.items() if count is not None
    )
    return "\n".join(lines)


def _mark(paper_id: str | None, linked_by: str | None, may_be: Sequence[str]) -> str:
    if paper_id is not None:
        return f"{paper_id} ({linked_by})"
    return f"one of {', '.join(each[:_SHORT_ID] for each in may_be)}" if may_be else "-"


def _name(paper: BriefPaper) -> str:
    first = f"{paper.authors[0]}: " if paper.authors else ""
    return f"{first}{_shorten(paper.title)}"


def _shorten(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST_TITLE else f"{plain[: _LONGEST_TITLE - 1].rstrip()}…"


def _align(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows as lines whose columns stand below each other."""
    table = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]


CITATION_PAGES: Mapping[str, Callable[[Any], str]] = {
    "get_citations": _citations,
    "find_related_papers": _related,
    "find_citation_path": _path,
    "rank_papers": _ranked,
    "snowball_papers": _snowball,
}
