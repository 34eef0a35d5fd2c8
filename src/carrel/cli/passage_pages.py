"""Pages of passages and quotations: where each stands, and its words as they are."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from carrel.cli.command_names import in_commands
from carrel.cli.page import (
    Heading,
    Inline,
    Line,
    MakePage,
    Note,
    Page,
    Part,
    Span,
    Verbatim,
    dim,
    join_inline,
)
from carrel.cli.paper_names import GUESS_NOTE, notice_lines, people_line, title_line
from carrel.cli.value_formats import count_things
from carrel.rooms.papers.models import (
    LocatedQuote,
    PassageHit,
    PassageInContext,
    QuotePlace,
)

_EXACTNESS = {
    "exact": "word for word",
    "same words": "the same words, written a little otherwise",
    "near": "near, with other words",
}
_INDENT = 3
_SHOWN_NEAR = 3


def _passages(hits: Sequence[PassageHit]) -> Page:
    if not hits:
        return Page((), next_step="")
    parts: list[Part] = []
    for number, hit in enumerate(hits, start=1):
        title = title_line(hit.title, hit.inferred)
        parts.append(Line((dim(f"{number}. "), *title.text)))
        parts.append(_where(hit))
        parts += [Line(each.text, indent=_INDENT) for each in notice_lines(hit.notices)]
        parts += [_passage_id(hit.passage_id), Verbatim(hit.text)]
    if any(hit.inferred for hit in hits):
        parts.append(GUESS_NOTE)
    first = shlex.quote(hits[0].passage_id)
    return Page(
        parts,
        next_step=f"carrel papers passage {first} --before 1 --after 1 reads on around it",
    )


def _where(place: PassageHit | QuotePlace) -> Line:
    line = people_line(
        place.authors, place.year, place.section, _page(place.page), guesses=place.inferred
    )
    return Line(line.text, indent=_INDENT)


def _page(page: int | None) -> str:
    return "" if page is None else f"p. {page}"


def _passage_id(passage_id: str | None) -> Line:
    return Line((dim(passage_id or ""),), indent=_INDENT)


def _in_context(answer: PassageInContext) -> Page:
    heading = Heading(title_line(answer.title, answer.inferred).text)
    parts: list[Part] = [
        heading,
        people_line(
            answer.authors, answer.year, f"doi:{answer.doi}" if answer.doi else "",
            guesses=answer.inferred,
        ),
    ]  # fmt: skip
    for passage in answer.passages:
        place: Inline = join_inline(
            [passage.section, _page(passage.page), (dim(passage.passage_id),)]
        )
        parts += [Line(place), Verbatim(passage.text)]
    if answer.inferred:
        parts.append(GUESS_NOTE)
    return Page(parts)


def _quote(answer: LocatedQuote) -> Page:
    parts: list[Part] = [
        Line((Span(in_commands(answer.message), "good" if answer.is_found else "doubt"),))
    ]
    places = [*answer.places, *answer.nearest]
    near = [place for place in places if place.exactness == "near"]
    hidden = near[_SHOWN_NEAR:]
    for place in (each for each in places if each not in hidden):
        if isinstance(parts[-1], Line):
            parts.append(Line(""))
        if answer.is_found and answer.nearest and place is answer.nearest[0]:
            parts.append(Heading("Less like it"))
        parts += [title_line(place.title, place.inferred), _where(place)]
        exactness = f"{_EXACTNESS[place.exactness]}, {place.similarity:.0%} alike"
        if place.exactness == "exact":
            exactness = _EXACTNESS["exact"]
        parts.append(Line(exactness, indent=_INDENT))
        if place.passage_id:
            parts.append(_passage_id(place.passage_id))
        parts.append(Verbatim(place.text))
        parts += [
            Line(
                ("it was quoted ", Span(each.quoted or "(nothing)", "bad"), ", the paper has ",
                 Span(each.stored or "(nothing)", "good")),
                indent=_INDENT,
            )
            for each in place.differences
        ]  # fmt: skip
    if hidden:
        parts += [Line(""), Note(f"{count_things(len(hidden), 'place')} more, less near: --json")]
    return Page(parts)


PASSAGE_PAGES: Mapping[str, MakePage] = {
    "find_passages": _passages,
    "read_passage": _in_context,
    "locate_quote": _quote,
}
