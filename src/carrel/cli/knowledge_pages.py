"""Pages of the knowledge room."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from carrel.cli.matched_text import mark_words
from carrel.cli.page import (
    Column,
    Fields,
    Heading,
    Inline,
    Item,
    Line,
    MakePage,
    Markdown,
    Note,
    Page,
    PageOfQuestion,
    Paragraph,
    Part,
    Span,
    Table,
    Verbatim,
    dim,
    join_inline,
    strong,
)
from carrel.cli.value_formats import count_things, format_count, format_time, is_for_people
from carrel.core.answer_encoding import encode_answer
from carrel.rooms.knowledge.folder_import import ImportReport
from carrel.rooms.knowledge.list_models import KnowledgeGraph, KnowledgeList
from carrel.rooms.knowledge.models import (
    DeclinedNote,
    DeletedNote,
    FoundNote,
    FullNote,
    NodeAnswer,
    NoteVersion,
    PromotedNote,
    ProposedNote,
    RetrievedNodes,
    SavedNote,
    SearchAnswer,
)

_EMPHASIS = re.compile(r"(\*\*|__|`)(?=\S)([^\n]+?)(?<=\S)\1")


def _found(notes: Sequence[FoundNote], arguments: Mapping[str, Any]) -> Page:
    """Nothing is shown where nothing was found: the answer's explanation says so."""
    if not notes:
        return Page((), next_step="")
    query = str(arguments.get("query", ""))
    parts: list[Part] = [
        Item(f"{number}.", _note_lines(note, query)) for number, note in enumerate(notes, start=1)
    ]
    total = notes[0].total or len(notes)
    if total > len(notes):
        more = f"{len(notes):,} of {total:,} notes; --limit {min(total, 100)} shows more"
        parts.append(Note(more))
    which = "it" if len(notes) == 1 else "the first"
    step = f"carrel knowledge show {notes[0].id} reads {which} whole."
    return Page(tuple(parts), next_step=step)


def _note_lines(note: FoundNote, query: str) -> tuple[Line | Paragraph, ...]:
    about = join_inline(
        ((dim(note.id),), note.section or "", " ".join(f"#{tag}" for tag in note.tags))
    )
    body = _EMPHASIS.sub(r"\2", _without_title(note.title, note.content))
    passage = [Paragraph(mark_words(body, query))] if body.strip() else []
    return (Line((strong(note.title),)), Line(about), *passage)


def _without_title(title: str, content: str) -> str:
    """A note's text without a first line that only repeats its title."""
    first, _, rest = content.lstrip().partition("\n")
    return rest if first.lstrip("# ").strip() == title.strip() else content


def _note(note: FullNote) -> Page:
    rows: list[tuple[str, Inline]] = [
        ("id", note.id),
        ("tags", " ".join(f"#{tag}" for tag in note.tags)),
        ("whose", f"{note.source}, by {note.user_id}"),
        ("status", note.status),
        ("changed", format_time(note.updated_at)),
        # As it must be given back to change the note.
        ("updated_at", note.updated_at if is_for_people() else ""),
        ("made", format_time(note.created_at)),
        ("promoted from", note.promoted_from_id or ""),
        ("promoted to", note.promoted_to_id or ""),
    ]
    body = _without_title(note.title, note.content).strip("\n")
    text = [Markdown(body)] if body.strip() else []
    parts: list[Part] = [Heading(note.title), *text, Fields(rows)]
    if note.links:
        links = [
            (link.target, link.title or "", _target(link.kind, link.id)) for link in note.links
        ]
        parts += [Heading("Links"), Table(("link", "title", Column("leads to", whole=True)), links)]
    if note.links_left_out:
        parts.append(Note(f"… and {count_things(note.links_left_out, 'more link')}"))
    if note.linked_from:
        rows_from = [(link.title, link.id) for link in note.linked_from]
        parts += [Heading("Linked from"), Table(("note", Column("id", whole=True)), rows_from)]
    return Page(tuple(parts))


def _target(kind: str, found: str | None) -> Inline:
    if found is None:
        return (Span("nothing of that name", "doubt"),)
    return found if kind == "note" else f"{kind} {found}"


def _saved(note: SavedNote, arguments: Mapping[str, Any]) -> Page:
    verb = "Changed" if arguments.get("id") else "Saved"
    step = (
        f"carrel knowledge show {note.id} reads it, carrel knowledge propose {note.id} offers it "
        "to the team."
    )
    parts: list[Part] = [Line((f"{verb} note ", strong(note.id), f": {note.title}"))]
    if note.tags:
        parts.append(Fields([("tags", " ".join(f"#{tag}" for tag in note.tags))]))
    lost = [link.target for link in note.links if link.id is None]
    if lost:
        parts.append(Note(f"Nothing on this desk goes by the links {', '.join(lost)}"))
    return Page(tuple(parts), next_step=step)


def _deleted(note: DeletedNote) -> Page:
    return Page((Line(("Deleted note ", strong(note.id), " and its history.")),))


def _proposed(note: ProposedNote) -> Page:
    line = Line(("Proposed note ", strong(note.id), f" to the team: {note.title}"))
    step = f"carrel knowledge promote {note.id} shares it with the team."
    return Page((line,), next_step=step)


def _promoted(note: PromotedNote) -> Page:
    line = Line((f"{note.title} is the team's note ", strong(note.id), " now."))
    return Page((line,), next_step=f"carrel knowledge show {note.id} reads it.")


def _declined(note: DeclinedNote) -> Page:
    return Page((Line(("Declined note ", strong(note.id), f": {note.title} is a draft again.")),))


def _listed(answer: KnowledgeList, arguments: Mapping[str, Any]) -> Page:
    """Nothing is shown where nothing was found: the answer's explanation says so."""
    if not answer.notes:
        return Page((), next_step="")
    rows = [
        (
            note.title,
            " ".join(f"#{tag}" for tag in note.tags),
            f"{note.source}, {note.status}",
            format_time(note.updated_at),
            note.id,
        )
        for note in answer.notes
    ]
    head = ("note", "tags", "whose", "changed", Column("id", whole=True))
    parts: list[Part] = [Table(head, rows)]
    last = answer.offset + len(answer.notes)
    if answer.reachable > last:
        more = f"{last:,} of {answer.total:,} notes; --offset {last} shows more"
        parts.append(Note(more))
    return Page(tuple(parts), next_step=f"carrel knowledge show {answer.notes[0].id} reads it.")


def _graph(answer: KnowledgeGraph) -> Page:
    titles = {thing.key: thing.title for thing in answer.things}
    rows = [(titles[link.source], "→", titles[link.target]) for link in answer.links]
    parts: list[Part] = [Heading(answer.things[0].title)]
    parts.append(Table(("from", "", "to"), rows) if rows else Line("It has no links."))
    return Page(tuple(parts))


def _history(versions: Sequence[NoteVersion]) -> Page:
    """Every change with what it changed, newest first; the oldest with its whole text."""
    parts: list[Part] = []
    for version, before in zip(versions, [*versions[1:], None], strict=True):
        about = f"{format_time(version.changed_at)} · {version.change} by {version.changed_by}"
        parts.append(Heading(join_inline((about, version.status, version.title))))
        parts += _difference(version, before)
    return Page(tuple(parts))


def _difference(version: NoteVersion, before: NoteVersion | None) -> list[Part]:
    if before is None:
        return [Verbatim(version.content.strip("\n"))]
    lines = difflib.unified_diff(
        before.content.splitlines(), version.content.splitlines(), lineterm="", n=1
    )
    parts: list[Part] = [_changed_line(line) for line in lines if not _is_frame(line)]
    if version.tags != before.tags:
        parts.append(Line(f"tags: {', '.join(version.tags) or 'none'}"))
    return parts or [Line((dim("the text is the same"),))]


def _is_frame(line: str) -> bool:
    return line.startswith(("---", "+++", "@@"))


def _changed_line(line: str) -> Line:
    match line[:1]:
        case "+":
            return Line((Span(line, "good"),))
        case "-":
            return Line((Span(line, "bad"),))
        case _:
            return Line((dim(line),))


def _nodes(answer: RetrievedNodes) -> Page:
    parts: list[Part] = []
    for node in answer.results:
        parts += _node(node)
    return Page(tuple(parts))


def _node(node: NodeAnswer) -> list[Part]:
    if not node.similarity_score:
        meant = f"; perhaps {', '.join(node.suggestions)}" if node.suggestions else ""
        return [Heading(node.node_name), Line((Span(f"not known{meant}", "doubt"),))]
    near = [] if node.similarity_score >= 1 else [f"similarity {node.similarity_score:.2f}"]
    parts: list[Part] = [
        Heading(join_inline((node.node_name, *near))),
        Markdown(_without_title(node.node_name, node.knowledge).strip("\n") or node.knowledge),
    ]
    if node.metadata:
        parts.append(Fields([(name, _plain(value)) for name, value in node.metadata.items()]))
    return parts


def _plain(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _search_answer(answer: SearchAnswer) -> Page:
    value = orjson.loads(encode_answer(SearchAnswer, answer))
    return Page((Verbatim(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()),))


def _count(count: int) -> Page:
    """The number alone in a pipe, as scripts read it."""
    return Page((Line(format_count(count)),))


def report_page(report: ImportReport) -> Page:
    """What became of the files of a folder: counts, and what a person should look at."""
    counted = [f"{format_count(report.counts[name])} {name}" for name in sorted(report.counts)]
    problems = [Note((Span(f"  {path}", "doubt"), f": {why}")) for path, why in report.problems]
    return Page((Line(", ".join(counted) or "nothing to do"), *problems))


PAGES: Mapping[str, MakePage] = {
    "search_knowledge": PageOfQuestion(_found),
    "get_knowledge": _note,
    "get_knowledge_history": _history,
    "save_knowledge": PageOfQuestion(_saved),
    "delete_knowledge": _deleted,
    "propose_knowledge": _proposed,
    "promote_knowledge": _promoted,
    "decline_knowledge": _declined,
    "list_knowledge": PageOfQuestion(_listed),
    "get_knowledge_graph": _graph,
    "node_knowledge_retriever": _nodes,
    "elasticsearch": _search_answer,
    "count_notes": _count,
}
