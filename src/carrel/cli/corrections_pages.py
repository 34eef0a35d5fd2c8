"""Pages of corrections of papers, and of their history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from carrel.cli.page import (
    Heading,
    Item,
    Line,
    MakePage,
    Note,
    Page,
    Part,
    dim,
    join_inline,
)
from carrel.cli.paper_names import id_line, title_line
from carrel.rooms.papers.correction_models import (
    CorrectedPaper,
    HistoryRecord,
    PaperCorrected,
    PaperHistory,
    ShownChange,
    ShownDecision,
)

_LONGEST_VALUE = 120
_INDENT = 2


def _corrected(answer: PaperCorrected) -> Page:
    parts: list[Part] = [Line(answer.message), *_changes(answer.changes)]
    parts += [Item("•", _corrected_paper(paper)) for paper in answer.papers]
    if answer.decision is None:
        parts.append(Note("Nothing was changed: say it again without --dry-run to do it."))
        return Page(parts, next_step="")
    return Page(parts, next_step=f"carrel papers undo {answer.decision} undoes it")


def _corrected_paper(paper: CorrectedPaper) -> Sequence[Part]:
    return (
        Line((*title_line(paper.title).text, f" ({paper.year})")),
        id_line(paper.paper_id, f"version {paper.version}"),
        Line((dim(f"from {', '.join(paper.sources)}"),)),
    )


def _history(answer: PaperHistory) -> Page:
    parts: list[Part] = []
    if answer.paper_id is not None:
        state = "removed" if answer.is_removed else f"version {answer.version}"
        parts += [Heading(answer.title or answer.paper_id), id_line(answer.paper_id, state)]
        parts += [Line((dim(f"also known as {former}"),)) for former in answer.former_ids]
        if answer.records:
            parts += [Heading("Made of"), *map(_record, answer.records)]
    parts += [
        Line(f"{each.source} and {each.other_source} are one paper: {each.reason}")
        for each in answer.joins
    ]
    if not answer.decisions:
        about = "it" if answer.paper_id is not None else "papers here"
        return Page((*parts, Note(f"Nothing was decided about {about}.")), next_step="")
    count = f"{len(answer.decisions):,} of {answer.total:,}"
    parts.append(Heading(f"Decisions, newest first ({count})"))
    parts += [Item(f"{each.number}.", tuple(_decision(each))) for each in answer.decisions]
    return Page(parts, next_step=_undo_step(answer.decisions))


def _undo_step(decisions: Sequence[ShownDecision]) -> str:
    """How to undo the newest decision that counts."""
    counting = [each.number for each in decisions if each.undone_by is None]
    return f"carrel papers undo {counting[0]} undoes it" if counting else ""


def _record(record: HistoryRecord) -> Part:
    facts = [fact for fact in (record.year, record.doi) if fact]
    shares = f"joined by {', '.join(record.shares)}" if record.shares else ""
    about = join_inline([(dim(text),) for text in (record.source, *facts, shares)])
    return Item(f"{record.number}.", (Line(record.title), Line(about)))


def _decision(decision: ShownDecision) -> Iterable[Part]:
    undone = "" if decision.undone_by is None else f"undone by {decision.undone_by}"
    yield Line(decision.message)
    yield from _changes(decision.changes)
    when = decision.at[:19].replace("T", " ")
    words = (decision.action, when, decision.who, undone)
    yield Line(join_inline([(dim(text),) for text in words]))


def _changes(changes: Iterable[ShownChange]) -> Iterable[Line]:
    for change in changes:
        name = change.field.replace("_", " ")
        yield Line(f"{name}: {_value(change.before)} → {_value(change.after)}", indent=_INDENT)


def _value(value: str | list[str] | None) -> str:
    if value is None:
        return "unknown"
    text = "; ".join(value) if isinstance(value, list) else value
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


CORRECTION_PAGES: Mapping[str, MakePage] = {
    "edit_paper": _corrected,
    "paper_history": _history,
}
