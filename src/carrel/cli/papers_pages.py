"""Pages of the papers room: found papers, one paper, facets, statistics, figures."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from carrel.cli.citation_pages import CITATION_PAGES
from carrel.cli.command_names import in_commands
from carrel.cli.corrections_pages import CORRECTION_PAGES
from carrel.cli.page import (
    Column,
    Fields,
    Item,
    Line,
    MakePage,
    Markdown,
    Note,
    Page,
    PageOfQuestion,
    Paragraph,
    Part,
    Table,
    Verbatim,
    mark_matches,
)
from carrel.cli.paper_names import (
    GUESS_NOTE,
    count_papers,
    id_line,
    mark_guess,
    notice_lines,
    people_line,
    title_line,
)
from carrel.cli.paper_page import draw_paper, draw_summary
from carrel.cli.passage_pages import PASSAGE_PAGES
from carrel.cli.reading_pages import READING_PAGES
from carrel.cli.review_page import draw_review
from carrel.core.answer import Text
from carrel.rooms.papers.figures import FigureEntry
from carrel.rooms.papers.models import (
    CorpusStatistics,
    FacetCount,
    PaperAdded,
    PaperHit,
    PaperRemoved,
)

_DEFAULT_LIMIT = 10
_BAR_CELLS = 24
_SHOWN_YEARS = 15
_SHOWN_ADDED = 20


def _source(answer: Text, asked: Mapping[str, Any]) -> Page:
    if not asked.get("outline"):
        is_markdown = answer.media_type == "text/markdown"
        return Page((Markdown(answer.body) if is_markdown else Verbatim(answer.body),))
    paper = shlex.quote(str(asked.get("paper_id", "PAPER_ID")))
    step = f"carrel papers source {paper} --section 1 reads one section."
    return Page((Markdown(in_commands(answer.body)),), next_step=step)


def _hits(hits: Sequence[PaperHit], asked: Mapping[str, Any]) -> Page:
    if not hits:
        return Page((), next_step="")
    first = _first_number(asked)
    parts: list[Part] = [Item(f"{first + n}.", _hit(hit)) for n, hit in enumerate(hits)]
    if any(hit.inferred for hit in hits):
        parts.append(GUESS_NOTE)
    last, total = first + len(hits) - 1, hits[0].total or 0
    more = f"; these are {first:,} to {last:,}, --page {_page(asked) + 1} shows more"
    parts.append(Note(count_papers(max(total, last)) + (more if last < total else "")))
    return Page(parts, next_step=f"carrel papers show {shlex.quote(hits[0].paper_id)}")


def _first_number(asked: Mapping[str, Any]) -> int:
    return (_page(asked) - 1) * _number(asked.get("limit"), _DEFAULT_LIMIT) + 1


def _page(asked: Mapping[str, Any]) -> int:
    return _number(asked.get("page"), 1)


def _number(value: object, default: int) -> int:
    text = str(value)
    return int(text) if text.isdecimal() else default


def _hit(hit: PaperHit) -> Sequence[Part]:
    guesses = hit.inferred
    venue = mark_guess(hit.venue, "venue", guesses)
    lines: list[Part] = [
        title_line(hit.title, guesses),
        people_line(hit.authors, hit.year, venue, guesses=guesses),
    ]
    lines += notice_lines(hit.notices)
    if hit.snippet_markdown.strip():
        lines.append(Paragraph(mark_matches(hit.snippet_markdown)))
    return [*lines, id_line(hit.paper_id, f"doi:{hit.doi}" if hit.doi else "")]


def _facets(facets: Sequence[FacetCount]) -> Page:
    most = max((each.paper_count for each in facets), default=0)
    columns = (Column("value"), Column("papers", "right"), Column("", drawn_only=True))
    rows = [(each.value, f"{each.paper_count:,}", _bar(each.paper_count, most)) for each in facets]
    return Page((Table(columns, rows),) if rows else ())


def _bar(count: int, most: int) -> str:
    return "■" * max(1, round(_BAR_CELLS * count / most)) if count and most else ""


def _statistics(statistics: CorpusStatistics) -> Page:
    counts = [
        ("papers", statistics.papers),
        ("with a DOI", statistics.with_doi),
        ("with full text", statistics.with_source),
        ("with BibTeX", statistics.with_bibtex),
        ("with a translation", statistics.with_translation),
        ("authors", statistics.authors),
        ("venues", statistics.venues),
        ("keywords", statistics.keywords),
    ]
    built = (statistics.built_at or "")[:16].replace("T", " ")
    fields = [(label, f"{count:,}") for label, count in counts]
    parts: list[Part] = [Fields([*fields, ("built", built), ("index", statistics.index)])]
    known = [each for each in statistics.years if each.year.isdecimal()]
    shown = sorted(known, key=lambda each: each.year, reverse=True)[:_SHOWN_YEARS]
    most = max((each.paper_count for each in shown), default=0)
    rows = [(each.year, f"{each.paper_count:,}", _bar(each.paper_count, most)) for each in shown]
    if rows:
        columns = (Column("year"), Column("papers", "right"), Column("", drawn_only=True))
        parts.append(Table(columns, rows))
    earlier = sum(each.paper_count for each in known) - sum(each.paper_count for each in shown)
    unknown = sum(each.paper_count for each in statistics.years if not each.year.isdecimal())
    for count, what in ((earlier, "of earlier years"), (unknown, "of an unknown year")):
        if count:
            parts.append(Note(f"{count_papers(count)} {what}"))
    return Page(parts)


def _figures(entries: Sequence[FigureEntry], asked: Mapping[str, Any]) -> Page:
    if not entries:
        return Page((), next_step="")
    paper, label = shlex.quote(str(asked["paper_id"])), shlex.quote(entries[0].label)
    items = [Item("•", _figure(entry)) for entry in entries]
    return Page(items, next_step=f"carrel papers figure {paper} {label}")


def _figure(entry: FigureEntry) -> Sequence[Part]:
    facts = [f"p. {entry.page}"] if entry.page is not None else []
    facts += [name for name, is_kept in _kept(entry) if is_kept]
    about = f" · {' · '.join(facts)}" if facts else ""
    title = title_line(entry.label)
    return [Line((*title.text, about)), Paragraph(mark_matches(entry.caption))]


def _kept(entry: FigureEntry) -> Sequence[tuple[str, bool]]:
    return (("image", entry.has_image), ("table", entry.has_table))


def _added(answer: PaperAdded) -> Page:
    if answer.count == 1 or not answer.papers:
        what = "Added" if answer.is_new else "Was there before"
        parts: list[Part] = [
            Line(f"{what}:"),
            Item("", (title_line(answer.title), id_line(answer.paper_id))),
        ]
    else:
        new = sum(paper.is_new for paper in answer.papers)
        parts = [Line(f"{count_papers(answer.count)}, {new:,} of them new:")]
        for paper in answer.papers[:_SHOWN_ADDED]:
            parts.append(Item("•", (title_line(paper.title), id_line(paper.paper_id))))
        if answer.count > _SHOWN_ADDED:
            parts.append(Note(f"and {answer.count - _SHOWN_ADDED:,} more"))
    if not answer.paper_id:
        parts = []
    parts += [Note(note) for note in answer.notes]
    return Page(parts, next_step=answer.next_step or _read_step(answer.paper_id))


def _read_step(paper_id: str) -> str:
    return f"carrel papers show {shlex.quote(paper_id)}" if paper_id else ""


def _removed(answer: PaperRemoved) -> Page:
    removed = Line(("Removed: ", *title_line(answer.title).text))
    return Page(
        (removed, id_line(answer.paper_id)),
        next_step=f"carrel papers undo {answer.decision} brings it back.",
    )


PAGES: Mapping[str, MakePage] = {
    "search_papers": PageOfQuestion(_hits),
    "search_papers_by_keyword": PageOfQuestion(_hits),
    "get_paper_metadata": draw_paper,
    "get_paper_summary": draw_summary,
    "get_paper_source": PageOfQuestion(_source),
    "list_top_facets": _facets,
    "get_corpus_statistics": _statistics,
    "list_paper_figures": PageOfQuestion(_figures),
    "add_paper": _added,
    "remove_paper": _removed,
    "review_papers": draw_review,
    **PASSAGE_PAGES,
    **CITATION_PAGES,
    **CORRECTION_PAGES,
    **READING_PAGES,
}
