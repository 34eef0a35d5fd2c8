"""The page of `carrel papers review`: doubtful fields, each with the command that corrects it."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.cli.page import Inline, Item, Line, Note, Page, Part, Span, Verbatim, dim
from carrel.cli.paper_names import count_papers, title_line
from carrel.rooms.papers.review import DoubtfulField, DoubtfulPaper

_KINDS = {
    "twin": "may be the same work",
    "guess": "no source states it",
    "differs": "sources disagree",
    "unsure": "read from the page, with doubt",
    "identifier": "another paper has it too",
    "missing": "unknown",
}
_INDENT = 2


def draw_review(papers: Sequence[DoubtfulPaper]) -> Page:
    if not papers:
        return Page((), next_step="")
    total = papers[0].total
    shown = f", the first {len(papers):,} of them here" if total > len(papers) else ""
    parts: list[Part] = [
        Item(f"{number}.", _paper(paper)) for number, paper in enumerate(papers, start=1)
    ]
    remark = Note(f"{count_papers(total)} with doubtful fields, most useful first{shown}")
    return Page((*parts, remark), next_step="")


def _paper(paper: DoubtfulPaper) -> Sequence[Part]:
    lines: list[Part] = [title_line(paper.title)]
    if paper.sources:
        lines.append(Line((dim(", ".join(paper.sources)),)))
    for field in paper.fields:
        lines += _field(field)
    return lines


def _field(field: DoubtfulField) -> Sequence[Part]:
    name = field.field.replace("_", " ")
    first: Inline = (f"{name}: ", Span("unknown", "doubt"))
    if field.value is not None:
        origin = f" ({field.origin})" if field.origin else ""
        first = (f"{name}: {field.value}{origin} — ", Span(_KINDS[field.kind], "doubt"))
    lines: list[Part] = [Line(first)]
    lines += [
        Line(f"or: {other.value} ({other.origin})", indent=_INDENT) for other in field.alternatives
    ]
    if field.note:
        lines.append(Line(field.note, indent=_INDENT))
    # As it is, to be pasted.
    return [*lines, Verbatim(f"{' ' * _INDENT}{field.command}")]
