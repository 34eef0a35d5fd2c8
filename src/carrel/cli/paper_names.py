"""How papers are named on pages: title, people, year, and what is only guessed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from carrel.cli.page import Inline, Line, Note, Span, dim, join_inline, strong
from carrel.core.work_notices import GONE, WorkNotice, describe_notice

_UNKNOWN = "unknown"
_FEW_AUTHORS = 2
GUESS_NOTE = Note("? marks what no source states: carrel papers review says more.")


def name_people(authors: Sequence[str]) -> str:
    """One or two by name, more as `Ada Moor et al.`: answers list only the first few."""
    if len(authors) > _FEW_AUTHORS:
        return f"{authors[0]} et al."
    return " and ".join(authors)


def mark_guess(text: str, field: str, guesses: Collection[str]) -> Inline:
    """The text with a question mark behind it where it is a guess; empty where unknown."""
    if not text or text == _UNKNOWN:
        return ""
    return (text, " ", Span("?", "doubt")) if field in guesses else text


def title_line(title: str, guesses: Collection[str] = ()) -> Line:
    mark = (" ", Span("?", "doubt")) if "title" in guesses else ()
    return Line((strong(title or "(no title)"), *mark))


def people_line(
    authors: Sequence[str], year: str, *more: Inline, guesses: Collection[str] = ()
) -> Line:
    """People, year, and more about a paper, as far as it is known."""
    return Line(
        join_inline(
            [
                mark_guess(name_people(authors), "authors", guesses),
                mark_guess(year, "year", guesses),
                *more,
            ]
        )
    )


def notice_lines(notices: Sequence[WorkNotice]) -> list[Line]:
    """What a reader must know before citing a work: that it was retracted or corrected."""
    return [
        Line((Span(_begin_sentence(describe_notice(one)), "bad" if one.kind in GONE else "doubt"),))
        for one in notices
    ]


def notice_notes(notices: Mapping[str, Sequence[WorkNotice]]) -> list[Note]:
    """The gravest notice about each paper, as a remark below an answer that quotes it."""
    return [
        Note(f"{paper_id} was {describe_notice(several[0])}")
        for paper_id, several in notices.items()
        if several
    ]


def _begin_sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def id_line(paper_id: str, *more: str) -> Line:
    return Line((dim(" · ".join(text for text in (paper_id, *more) if text)),))


def count_papers(count: int) -> str:
    return "1 paper" if count == 1 else f"{count:,} papers"
