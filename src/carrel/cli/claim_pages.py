"""Pages of claim checking: every statement with what speaks for and against it side by side."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from carrel.cli.command_names import in_commands
from carrel.cli.page import (
    Heading,
    Inline,
    Item,
    Line,
    MakePage,
    Note,
    Page,
    Paragraph,
    Part,
    Span,
    Style,
    Table,
    dim,
    join_inline,
)
from carrel.cli.paper_names import notice_notes
from carrel.cli.value_formats import is_for_people
from carrel.rooms.research.claim_models import (
    CheckedStatement,
    ClaimChecked,
    ContradictionsFound,
    QuotedSentence,
)

_VERDICTS: Mapping[str, tuple[str, Style]] = {
    "supports": ("supported", "good"),
    "contradicts": ("contradicted", "bad"),
    "mixed": ("mixed: for and against", "doubt"),
    "undecided": ("undecided", "doubt"),
    "silent": ("silent", "dim"),
}
_SIDES = (
    ("for", "supporting"),
    ("against", "contradicting"),
    ("bears on it", "bearing"),
    ("nearest", "nearest"),
)
_SHOWN_NEAREST = 2


def _checked(answer: ClaimChecked) -> Page:
    if not is_for_people():
        rows = [row for each in answer.statements for row in _piped(each)]
        table = Table(("verdict", "statement", "side", "paper", "place", "sentence"), rows)
        return Page((table, *notice_notes(answer.notices)))
    parts: list[Part] = [Note(answer.message)]
    for each in answer.statements:
        parts += statement_parts(each)
    parts += notice_notes(answer.notices)
    if answer.unchecked:
        parts += [
            Heading("Not checked"),
            *(Item("-", (Paragraph(one),)) for one in answer.unchecked),
        ]
    if answer.not_found:
        parts.append(Note(f"Cited, and not read: {', '.join(answer.not_found)}"))
    return Page(parts, next_step=_next_step(answer.statements))


def _next_step(statements: Sequence[CheckedStatement]) -> str:
    quoted = [
        one.passage_id
        for each in statements
        for one in (*each.contradicting, *each.supporting, *each.bearing)
        if one.passage_id
    ]
    if not quoted:
        return ""
    return f"carrel papers passage {shlex.quote(quoted[0])} --before 1 --after 1 reads on around it"


def statement_parts(checked: CheckedStatement) -> list[Part]:
    """A statement with its verdict, both sides beside each other, and the rest below."""
    word, style = _VERDICTS[checked.verdict]
    parts: list[Part] = [
        Heading(checked.statement),
        Line(join_inline(((Span(word, style),), (dim(in_commands(checked.message)),)))),
    ]
    if checked.supporting or checked.contradicting:
        pairs = zip_longest(checked.supporting, checked.contradicting)
        rows = [(_cell(one), _cell(other)) for one, other in pairs]
        parts.append(Table(("for", "against"), rows))
    if checked.bearing:
        parts.append(Line((dim("Bears on it:"),)))
        parts += [_bearing(one) for one in checked.bearing]
    elif checked.nearest:
        parts.append(Line((dim("Read, and says nothing of it; what comes nearest:"),)))
        parts += [_bearing(one) for one in checked.nearest[:_SHOWN_NEAREST]]
    parts += [
        Line(f"{one.name}: the cited work alone {_CITED[one.verdict]} ({one.title})")
        for one in checked.cited
    ]
    return parts


_CITED = {
    "supports": "says so",
    "contradicts": "denies it",
    "mixed": "says both",
    "undecided": "bears on it, undecided",
    "silent": "says nothing of it",
}


def _cell(quoted: QuotedSentence | None) -> Inline:
    return "" if quoted is None else (f"“{quoted.sentence}” ", dim(_place(quoted)))


def _bearing(quoted: QuotedSentence) -> Item:
    return Item("-", (Paragraph(f"“{quoted.sentence}”"), Line((dim(_place(quoted)),))))


def _place(quoted: QuotedSentence) -> str:
    page = "" if quoted.page is None else f"p. {quoted.page}"
    year = "" if quoted.year is None else str(quoted.year)
    named = (quoted.title, year, quoted.section, page, quoted.passage_id or quoted.paper_id)
    return ", ".join(filter(None, named))


def _piped(checked: CheckedStatement) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (
            checked.verdict,
            checked.statement,
            side,
            one.paper_id,
            one.passage_id or one.section,
            one.sentence,
        )
        for side, field in _SIDES
        for one in getattr(checked, field)
    ]
    if not rows:
        rows = [(checked.verdict, checked.statement, "", "", "", checked.message)]
    return rows


def _contradictions(answer: ContradictionsFound) -> Page:
    if not answer.contradictions:
        return Page((Note(in_commands(answer.message)),), next_step="")
    if not is_for_people():
        rows = [
            (f"{each.confidence:.2f}", each.one.paper_id, each.one.sentence,
             each.other.paper_id, each.other.sentence)
            for each in answer.contradictions
        ]  # fmt: skip
        return Page((Table(("confidence", "one", "says", "other", "says"), rows),))
    parts: list[Part] = [Note(in_commands(answer.message))]
    parts.append(
        Table(
            ("one", "the other"),
            [(_cell(each.one), _cell(each.other)) for each in answer.contradictions],
        )
    )
    parts += notice_notes(answer.notices)
    first = shlex.quote(answer.contradictions[0].one.paper_id)
    return Page(parts, next_step=f"carrel papers show {first} shows the first of these papers")


CLAIM_PAGES: Mapping[str, MakePage] = {
    "check_claim": _checked,
    "find_contradictions": _contradictions,
}
