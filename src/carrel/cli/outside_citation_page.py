"""Citations that services outside know, as parts of the page of a paper's citations."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.cli.page import (
    Column,
    Heading,
    Inline,
    Item,
    Line,
    Note,
    Part,
    Span,
    Table,
    dim,
    join_inline,
)
from carrel.cli.paper_names import name_people
from carrel.rooms.papers.outside_citations import (
    OutsideCitationAnswer,
    OutsideList,
    OutsideService,
    OutsideWork,
)


def draw_outside_citations(answer: OutsideCitationAnswer) -> Sequence[Part]:
    parts: list[Part] = [Heading("Outside the corpus"), Line(answer.message)]
    if len(answer.versions) > 1:
        parts.append(Line(f"Asked for {' and '.join(answer.versions)}."))
    parts += _draw_list("It cites, as services say", answer.references)
    parts += _draw_list("Cited by, as services say", answer.cited_by)
    parts += [Note(remark) for remark in answer.remarks]
    columns = (Column("service", whole=True), Column(""), Column("listed", "right"), Column("why"))
    parts.append(Table(columns, [_row(each) for each in answer.coverage]))
    return parts


def _draw_list(title: str, found: OutsideList | None) -> Sequence[Part]:
    if found is None or not found.works:
        return ()
    shown = f"{title} ({len(found.works):,} of {found.count:,})"
    return (Heading(shown), *(Item("•", _work(each)) for each in found.works))


def _work(work: OutsideWork) -> Sequence[Part]:
    people = name_people(work.authors)
    name = next((f"{kind}:{value}" for kind, value in work.ids.items()), "")
    here = [
        f"in the corpus as {work.in_corpus}" if work.in_corpus else "",
        f"in the library as {work.in_library}" if work.in_library else "",
    ]
    said = f"said by {', '.join(work.said_by)}"
    parts: list[Part] = [Line(work.title or work.text or name)]
    if people or work.year or work.venue:
        parts.append(Line(join_inline([people, str(work.year or ""), work.venue])))
    parts.append(Line((dim(" · ".join(part for part in (name, said) if part)),)))
    if known := ", ".join(place for place in here if place):
        parts.append(Line((Span(known, "good"),)))
    return parts


def _row(line: OutsideService) -> tuple[Inline, ...]:
    state = Span(line.state.replace("_", " "), "bad" if line.state == "failed" else "dim")
    why = "; ".join(part for part in (line.reason, *line.remarks) if part)
    return (line.service, (state,), "" if line.listed is None else f"{line.listed:,}", why)
