"""The page of a full text: the text itself, where it came from, and every place tried."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from carrel.cli.coverage_table import draw_coverage
from carrel.cli.page import (
    Column,
    Fields,
    Heading,
    Inline,
    Line,
    MakePage,
    Markdown,
    Note,
    Page,
    Part,
    Span,
    Style,
    Table,
)
from carrel.cli.paper_names import title_line
from carrel.rooms.literature.fulltext_models import FullText, TextInCorpus, TriedPlace

_WORDS: Mapping[str, str] = {
    "had": "had",
    "absent": "nothing there",
    "blocked": "blocked",
    "refused": "refused",
    "failed": "no answer",
    "unreadable": "unreadable",
    "no_link": "names no file",
    "not_tried": "not needed",
}
_STYLES: Mapping[str, Style] = {"had": "good", "not_tried": "dim", "absent": "dim"}


def _full_text(answer: FullText) -> Page:
    parts: list[Part] = []
    if answer.text_markdown:
        parts += [Markdown(answer.text_markdown), Heading("Where it is from")]
    elif answer.title:
        parts.append(title_line(answer.title))
    style: Style = "good" if answer.outcome == "found" else "doubt"
    parts.append(Line((Span(answer.message, style),)))
    if answer.source is not None:
        source = answer.source
        rows: list[tuple[str, Inline]] = [
            ("address", source.url),
            ("format", source.format),
            ("version", source.version or "not named"),
            ("licence", source.licence or "not stated"),
            ("fetched", source.retrieved_at),
            ("SHA-256", source.sha256),
        ]
        parts.append(Fields(rows))
    parts += [Note(remark) for remark in answer.remarks]
    parts += _corpus(answer.in_corpus)
    parts += _places(answer.places)
    if answer.coverage:
        parts += [Heading("Services"), *draw_coverage(answer.coverage)]
    name = shlex.quote(answer.identifier)
    if answer.next_offset is not None:
        step = f"carrel literature fulltext {name} --offset {answer.next_offset} reads on"
    elif answer.outcome == "found" and answer.in_corpus is None:
        step = f"carrel literature fulltext {name} --add-to-corpus keeps it"
    else:
        step = ""
    return Page(parts, next_step=step)


def _corpus(added: TextInCorpus | None) -> list[Part]:
    if added is None:
        return []
    if added.job_id:
        return [Line((Span(f"being added, job {added.job_id}", "doubt"),))]
    said = "added to the corpus as" if added.is_new else "the corpus has it as"
    return [
        Line((Span(f"{said} {added.paper_id}", "good"),)),
        *(Note(note) for note in added.notes),
    ]


def _places(places: Sequence[TriedPlace]) -> list[Part]:
    if not places:
        return []
    columns = (Column("place"), Column("format"), Column("version"), Column(""), Column("why"))
    rows = [
        (
            each.url,
            each.format.replace("_", " "),
            each.version or "",
            (Span(_WORDS[each.outcome], _STYLES.get(each.outcome, "doubt")),),
            each.reason,
        )
        for each in places
    ]
    return [Heading("Places"), Table(columns, rows)]


FULLTEXT_PAGES: Mapping[str, MakePage] = {"find_fulltext": _full_text}
