"""Pages of the literature room's answers at the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from carrel.cli.alert_pages import ALERT_PAGES
from carrel.cli.command_names import in_commands
from carrel.cli.completion_pages import COMPLETION_PAGES
from carrel.cli.coverage_table import draw_coverage
from carrel.cli.fulltext_page import FULLTEXT_PAGES
from carrel.cli.page import (
    Fields,
    Heading,
    Inline,
    Item,
    Line,
    MakePage,
    Note,
    Page,
    PageOfQuestion,
    Paragraph,
    Part,
    Span,
    Style,
    Table,
    dim,
    join_inline,
    mark_matches,
)
from carrel.cli.paper_names import name_people, notice_lines, title_line
from carrel.cli.retraction_pages import RETRACTION_PAGES
from carrel.rooms.literature.addition_models import AddedWork, WorksAdded
from carrel.rooms.literature.models import FoundLiterature, FoundWork, WholeWork, WorkVersion

_RELATIONS = {
    "preprint": "preprint:",
    "published_version": "published as",
    "other_version": "another version:",
}
_OUTCOMES: Mapping[str, Style] = {
    "added": "good",
    "known": "dim",
    "failed": "bad",
    "waiting": "doubt",
}
_SHOWN_PLACES = 6


def _found(answer: FoundLiterature, asked: Mapping[str, Any]) -> Page:
    first = (answer.page - 1) * answer.limit + 1
    parts: list[Part] = [
        Item(f"{first + at}.", _work(work)) for at, work in enumerate(answer.works)
    ]
    style: Style = "good" if answer.outcome == "found" else "doubt"
    parts.append(Line((Span(answer.message, style),)))
    parts += [Note(notice) for notice in answer.notices]
    parts += draw_coverage(answer.coverage)
    last = first + len(answer.works) - 1
    if answer.works and last < answer.total:
        shown = f"These are {first} to {last} of {answer.total}"
        parts.append(Note(f"{shown}, --page {answer.page + 1} shows more"))
    if not answer.works:
        return Page(parts, next_step="")
    name = shlex.quote(answer.works[0].id)
    return Page(parts, next_step=f"carrel literature add {name} --into library keeps one")


def _work(work: FoundWork) -> Sequence[Part]:
    people = f"{work.authors[0]} et al." if work.author_count > 2 else name_people(work.authors)
    line = join_inline([people, str(work.year or ""), work.venue, work.kind or ""])
    parts: list[Part] = [title_line(work.title), Line(line), *notice_lines(work.notices)]
    if work.copy_of is not None:
        parts.append(Line((Span(f"Looks like a false copy of {work.copy_of}", "bad"),)))
    if work.snippet_markdown:
        parts.append(Paragraph(mark_matches(work.snippet_markdown)))
    parts += [_version(each) for each in work.versions]
    here = _here(work.in_corpus, work.in_library)
    if here:
        parts.append(Line((Span(here, "good"),)))
    facts = [
        work.id,
        _open_access(work.open_access, work.licence),
        _citations(work.citations),
        "found by " + ", ".join(_place(name, rank) for name, rank in work.found_by.items()),
    ]
    parts.append(Line((dim(" · ".join(fact for fact in facts if fact)),)))
    if work.unchecked:
        parts.append(Line((Span(f"not checked: {', '.join(work.unchecked)}", "doubt"),)))
    parts += [Line((Span(each, "doubt"),)) for each in work.conflicts]
    return parts


def _version(version: WorkVersion) -> Line:
    here = _here(version.in_corpus, version.in_library)
    said = f"{_RELATIONS[version.relation]} {version.id}"
    return Line(join_inline([said, here]))


def _here(paper_id: str | None, reference_id: str | None) -> str:
    places = [
        f"in the corpus as {paper_id}" if paper_id else "",
        f"in the library as {reference_id}" if reference_id else "",
    ]
    return ", ".join(place for place in places if place)


def _open_access(status: str | None, licence: str | None) -> str:
    if status is None and licence is None:
        return ""
    said = "" if status is None else ("closed" if status == "closed" else f"open access ({status})")
    return " ".join(part for part in (said, licence or "") if part)


def _citations(counts: Mapping[str, int]) -> str:
    if not counts:
        return ""
    return "cited " + ", ".join(f"{count:,} ({name})" for name, count in counts.items())


def _place(service: str, rank: int | None) -> str:
    return service if rank is None else f"{service} #{rank}"


def _whole(work: WholeWork) -> Page:
    names = [author.name for author in work.authors]
    people = "; ".join(names) + (" …" if work.is_authors_cut else "")
    place = ", ".join(
        part
        for part in (
            work.venue,
            work.volume + (f"({work.issue})" if work.issue else ""),
            work.pages,
        )
        if part
    )
    rows: list[tuple[str, Inline]] = [
        ("authors", people),
        ("published", work.issued or ""),
        ("in", place),
        ("publisher", work.publisher),
        ("kind", work.kind or ""),
        ("identifiers", ", ".join(f"{kind}:{value}" for kind, value in work.ids.items())),
        ("language", work.language or ""),
        ("keywords", ", ".join(work.keywords)),
        ("subjects", ", ".join(work.subjects)),
        ("access", _open_access(work.open_access, work.licence)),
        ("citations", _citations(work.citations)),
        ("references", "" if work.reference_count is None else f"{work.reference_count:,}"),
        ("here", _here(work.in_corpus, work.in_library)),
    ]
    parts: list[Part] = [title_line(work.title), *notice_lines(work.notices), Fields(rows)]
    if work.copy_of is not None:
        parts.append(Line((Span(f"Looks like a false copy of {work.copy_of}", "bad"),)))
    if work.abstract:
        parts.append(Paragraph(work.abstract))
    if work.versions:
        parts += [Heading("Versions"), *(_version(each) for each in work.versions)]
    if work.conflicts:
        parts += [Heading("What services say differently"), *map(Line, work.conflicts)]
    if work.locations:
        places = [
            (each.format, each.version or "", each.licence or "", each.url, each.service)
            for each in work.locations[:_SHOWN_PLACES]
        ]
        columns = ("format", "version", "licence", "place", "by")
        parts += [Heading("Texts"), Table(columns, places)]
    if work.origins:
        origins = [(name, service) for name, service in work.origins.items()]
        parts += [Heading("Where each field comes from"), Fields(origins)]
    parts += [Heading("Services"), Line(work.message), *draw_coverage(work.coverage)]
    return Page(parts, next_step=f"carrel literature add {shlex.quote(work.id)} --into library")


def _added(answer: WorksAdded) -> Page:
    parts: list[Part] = []
    for work in answer.works:
        parts += _added_work(work)
    parts.append(Note(answer.message))
    failed = [tally for tally in answer.coverage if tally.failed]
    parts += [
        Note(f"{tally.service} failed {tally.failed} times: {tally.reason}") for tally in failed
    ]
    is_done = any(work.outcome != "failed" for work in answer.works)
    return Page(parts, next_step=None if is_done else "")


def _added_work(work: AddedWork) -> list[Part]:
    head: Inline = (Span(work.outcome, _OUTCOMES[work.outcome]), " ", work.title or work.identifier)
    ids = " · ".join(
        text
        for text in (
            work.identifier if work.title else "",
            f"paper {work.paper_id}" if work.paper_id else "",
            f"reference {work.reference_id}" if work.reference_id else "",
        )
        if text
    )
    parts: list[Part] = [Line(head)]
    if ids:
        parts.append(Line((dim(ids),), indent=2))
    said = (work.text, work.reason, *work.notes)
    parts += [Line(in_commands(each), indent=2) for each in said if each]
    return parts


PAGES: Mapping[str, MakePage] = {
    "search_literature": PageOfQuestion(_found),
    "get_work": _whole,
    "add_works": _added,
    **FULLTEXT_PAGES,
    **RETRACTION_PAGES,
    **ALERT_PAGES,
    **COMPLETION_PAGES,
}
