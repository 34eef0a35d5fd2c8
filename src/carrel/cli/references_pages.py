"""Pages of the references room."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import Any

from carrel.cli.library_care_pages import CARE_PAGES
from carrel.cli.library_history_pages import HISTORY_PAGES
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
    make_page,
    strong,
)
from carrel.cli.paper_names import notice_lines
from carrel.cli.shared_library_pages import SHARED_LIBRARY_PAGES
from carrel.cli.upkeep_pages import UPKEEP_PAGES
from carrel.cli.value_formats import count_things, format_count, is_for_people
from carrel.core.answer import Text
from carrel.core.note_links import NoteLink
from carrel.libraries.csl.name_lists import et_al_variables
from carrel.rooms.references.fulltext import named_attachments
from carrel.rooms.references.items import (
    collections_of,
    family,
    keywords,
    people,
    read_state_of,
    tags,
    text_of,
    year_of,
)
from carrel.rooms.references.models import (
    AboutWorks,
    Added,
    AddedReferences,
    AttachedFile,
    Citations,
    DetachedFiles,
    FoundStyles,
    Fulltext,
    LibraryAnswer,
    OneReference,
    ReferencePassage,
    References,
    RemovedReference,
)

_NO_REFERENCES = "No references yet: carrel references add FILE|DOI"
_MOST_NAMED = 2
# On a terminal; a pipe gets every line.
_MOST_ROWS_OF_A_KIND = 12
_MARKUP = re.compile(
    r"</?(?:i|b|em|strong|sub|sup|sc|scp|span|italic|bold)\b[^<>]*>", re.IGNORECASE
)
# By what a duplicate was known, in words.
_KEYS = {"doi": "DOI", "pmid": "PMID", "pmcid": "PMCID", "isbn": "ISBN", "arxiv": "arXiv id"}
_IDENTIFIERS = ("DOI", "PMID", "PMCID", "ISBN", "ISSN", "URL")
_OTHER_FIELDS = (
    ("volume", "volume"),
    ("issue", "issue"),
    ("pages", "page"),
    ("edition", "edition"),
    ("publisher", "publisher"),
    ("place", "publisher-place"),
    ("language", "language"),
)


# What became of an element, the key that it has or is a duplicate of, and which it is.
_AddedRow = tuple[Inline, str, str]


def _list(answer: References, arguments: Mapping[str, Any]) -> Page:
    if not answer.total:
        return Page((*_notices(answer), Note(_NO_REFERENCES)), next_step="")
    return _found(answer, arguments)


def _found(answer: References, arguments: Mapping[str, Any]) -> Page:
    """Nothing is shown where nothing was found: the answer's explanation says so."""
    rows = answer.references or []
    parts: list[Part] = list(_notices(answer))
    if answer.text:
        parts.append(Verbatim(answer.text))
    elif rows:
        parts.append(_table(rows))
    parts += _work_notices(answer)
    if answer.passages:
        parts += [Heading("In their texts"), *map(_passage, answer.passages)]
    if answer.notes:
        parts += [Heading("Notes about them"), Table(_NOTE_COLUMNS, _note_rows(answer.notes))]
    parts += _rest_of_pages(answer, len(rows))
    key = quote(str(rows[0].get("id", ""))) if rows else ""
    step = f"carrel references cite {key} cites it." if len(rows) == 1 else ""
    if len(rows) > 1:
        step = f"carrel references cite {key} cites the first."
    return Page(tuple(parts), next_step=step if "query" in arguments else "")


def _rest_of_pages(answer: References, shown: int) -> list[Part]:
    if not answer.total:
        return []
    if not shown and answer.text is None:
        last = -(-answer.total // answer.limit)
        return [Note(f"There are only {count_things(last, 'page')}.")]
    first = (answer.page - 1) * answer.limit
    end = min(first + answer.limit, answer.total)
    if first == 0 and end >= answer.total:
        return [Note(count_things(answer.total, "reference"))] if is_for_people() else []
    more = f"; --page {answer.page + 1} shows the next" if end < answer.total else ""
    return [Note(f"{first + 1:,} to {end:,} of {answer.total:,} references{more}")]


def _table(items: Sequence[dict[str, Any]]) -> Table:
    """Title and venue share a column on a terminal, where five are too narrow to read."""
    if not is_for_people():
        return Table(("key", "authors", "year", "title", "venue"), [_cells(each) for each in items])
    columns = (Column("key", whole=True), "authors", Column("year", whole=True), "title")
    rows = []
    for item in items:
        key, authors, year, title, venue = _cells(item)
        rows.append((key, authors, year, join_inline((title, (dim(venue),)))))
    return Table(columns, rows)


def _cells(item: dict[str, Any]) -> tuple[str, str, str, str, str]:
    year = year_of(item)
    return (
        str(item.get("id", "")),
        shorten_authors(item),
        "" if year is None else str(year),
        plain_title(item),
        _venue(item),
    )


def shorten_authors(item: dict[str, Any]) -> str:
    """Family names of one or two people, "et al." for more; editors where nobody wrote it."""
    for field in ("author", "editor"):
        names = [name for person in people(item, field) if (name := _family_name(person))]
        if names and (len(names) > _MOST_NAMED or field in et_al_variables(item)):
            return f"{names[0]} et al."
        if names:
            return " & ".join(names)
    return ""


def _family_name(person: dict[str, Any]) -> str:
    """The name with the particle that always stands before it: `van der Berg`."""
    particle = str(person.get("non-dropping-particle") or "")
    return " ".join(part for part in (particle, family(person)) if part)


def plain_title(item: dict[str, Any]) -> str:
    """The title without the markup that CSL allows in it."""
    return _MARKUP.sub("", text_of(item, "title")) or "untitled"


def _venue(item: dict[str, Any]) -> str:
    return _MARKUP.sub("", text_of(item, "container-title")) or text_of(item, "publisher")


def _passage(passage: ReferencePassage) -> Item:
    place = f"page {passage.page}" if passage.page is not None else ""
    head = join_inline(((strong(passage.reference),), passage.section, place))
    return Item("", (Line(head), Paragraph(" ".join(passage.text.split()), indent=2)))


_NOTE_COLUMNS = (Column("key", whole=True), "note", Column("id", whole=True))


def _work_notices(answer: AboutWorks) -> list[Part]:
    """Retractions and corrections, each with the key of the reference."""
    return [
        Line((strong(key), ": ", *line.text))
        for key, notices in answer.work_notices.items()
        for line in notice_lines(notices)
    ]


def _note_rows(notes: Mapping[str, Iterable[NoteLink]]) -> list[tuple[str, str, str]]:
    return [(key, note.title, note.id) for key, found in notes.items() for note in found]


def _notices(answer: LibraryAnswer) -> list[Part]:
    return [Note((Span("Notice: ", "doubt"), notice)) for notice in answer.notices]


def _added(answer: AddedReferences) -> Page:
    counts = [
        (len(answer.added), "added"),
        (len(answer.skipped), "skipped as duplicates"),
        (len(answer.failed), "failed"),
        (answer.pending, "still looked up"),
    ]
    summary = ", ".join(f"{format_count(count)} {word}" for count, word in counts if count)
    failed, check = (Span("failed", "bad"),), (Span("check", "doubt"),)
    kinds: list[list[_AddedRow]] = [
        [("added", each.id, _added_name(each)) for each in answer.added],
        [
            (
                "skipped",
                each.duplicate_of,
                f"{_name(each)} is there already (same {_KEYS.get(each.by, each.by)})",
            )
            for each in answer.skipped
        ],
        [(failed, "", f"{_place(each)}: {each.reason}") for each in answer.failed],
        [(check, "", f"{_place(each)}: {each.message}") for each in answer.warnings],
        [("waiting", "", source) for source in answer.waiting],
    ]
    rows = [row for kind in kinds for row in _shorten_rows(kind)]
    parts: list[Part] = [*_notices(answer), Line(summary or "Nothing to add.")]
    if rows:
        parts.append(Table(("outcome", Column("key", whole=True), "reference"), rows))
    parts += _work_notices(answer)
    return Page(tuple(parts), next_step=_step_after_adding(answer))


def _step_after_adding(answer: AddedReferences) -> str:
    if answer.job_id:
        return f"carrel jobs get {answer.job_id} tells what was found."
    if not answer.added:
        return ""
    return (
        f"carrel references cite {quote(answer.added[0].id)} --style vancouver cites it, carrel "
        "references export writes a bibliography."
    )


def _shorten_rows(rows: Sequence[_AddedRow]) -> Sequence[_AddedRow]:
    if len(rows) <= _MOST_ROWS_OF_A_KIND or not is_for_people():
        return rows
    left = len(rows) - _MOST_ROWS_OF_A_KIND
    return [*rows[:_MOST_ROWS_OF_A_KIND], (rows[0][0], "", f"… and {left:,} more")]


def _added_name(each: Added) -> str:
    files = f" ({count_things(len(each.attached), 'file')} attached)" if each.attached else ""
    return f"{each.title or '(no title)'}{files}"


def _name(each: Any) -> str:
    return each.title or _place(each)


def _place(each: Any) -> str:
    return f"{each.source}, line {each.line}" if each.line is not None else str(each.source)


def _citations(answer: Citations) -> Page:
    return Page((Verbatim(answer.text), *_notices(answer)))


def _styles(answer: FoundStyles) -> Page:
    if not answer.styles:
        return Page((Note("No style has these words in its name or title."),), next_step="")
    rows = [
        (style.name, style.title, style.format, ", ".join(style.fields)) for style in answer.styles
    ]
    parts: list[Part] = [Table((Column("style", whole=True), "title", "format", "fields"), rows)]
    end = (answer.page - 1) * answer.limit + len(rows)
    if end < answer.total:
        more = f"; --page {answer.page + 1} shows the next"
        parts.append(Note(f"{len(rows):,} of {answer.total:,} styles{more}"))
    step = f"carrel references cite KEY --style {rows[0][0]} cites with the first."
    return Page(tuple(parts), next_step=step)


def _exported(text: Text, arguments: Mapping[str, Any]) -> Page:
    if text.body.strip():
        return Page((Verbatim(text.body),))
    return Page((Note("No reference fits." if arguments.get("query") else _NO_REFERENCES),))


def _one(answer: OneReference) -> Page:
    parts = [*_notices(answer), *_work_notices(answer), *reference_parts(answer.reference)]
    if answer.notes:
        rows = [(note.title, note.id) for note in answer.notes]
        parts += [Heading("Notes about it"), Table(("note", Column("id", whole=True)), rows)]
    return Page(tuple(parts))


def _files(item: dict[str, Any]) -> str:
    """The kinds of full text that are attached."""
    return ", ".join(role for role, _, _ in named_attachments(item))


def _removed(answer: RemovedReference) -> Page:
    item = answer.removed
    key = str(item.get("id", ""))
    line = Line(("Removed ", strong(key), f": {plain_title(item)}"))
    return Page(
        (*_notices(answer), line),
        next_step=f"carrel references restore {quote(key)} brings it back.",
    )


def reference_parts(item: dict[str, Any]) -> list[Part]:
    """One reference with everything that a reader looks for in it."""
    names = [_full_name(person) for person in people(item)]
    editors = [_full_name(person) for person in people(item, "editor")]
    year = year_of(item)
    rows: list[tuple[str, Inline]] = [
        ("key", str(item.get("id", ""))),
        ("type", text_of(item, "type")),
        ("authors", "; ".join(names)),
        ("editors", "; ".join(editors)),
        ("year", "" if year is None else str(year)),
        ("in", _MARKUP.sub("", text_of(item, "container-title"))),
        *((label, text_of(item, field)) for label, field in _OTHER_FIELDS),
        *((name, text_of(item, name)) for name in _IDENTIFIERS),
        ("keywords", "; ".join(keywords(item))),
        ("tags", "; ".join(tags(item))),
        ("collections", "; ".join(collections_of(item))),
        ("read", "" if (state := read_state_of(item)) == "unread" else state),
        ("note", text_of(item, "note")),
        ("full text", _files(item)),
    ]
    parts: list[Part] = [Heading(plain_title(item)), Fields(rows)]
    abstract = _MARKUP.sub("", text_of(item, "abstract"))
    return [*parts, Heading("Abstract"), Paragraph(abstract)] if abstract else parts


def _full_name(person: dict[str, Any]) -> str:
    literal = person.get("literal") or person.get("name")
    if literal:
        return str(literal)
    before = " ".join(
        str(person[part])
        for part in ("given", "dropping-particle", "non-dropping-particle")
        if person.get(part)
    )
    after = ", ".join(str(person[part]) for part in ("family", "suffix") if person.get(part))
    return " ".join(part for part in (before, after) if part)


def _attached(answer: AttachedFile) -> Page:
    line = Line(("Attached to ", strong(answer.id), f" as {answer.role}: {answer.path}"))
    step = f"carrel references fulltext {quote(answer.id)} reads it back."
    return Page((*_notices(answer), line), next_step=step)


def _fulltext(answer: Fulltext) -> Page:
    """The text alone, or the path of a PDF alone, so that both can be piped on."""
    parts: list[Part] = list(_notices(answer))
    if answer.notice:
        parts.append(Note(answer.notice))
    if answer.pdf is not None and answer.markdown is not None:
        parts.append(Note(f"The PDF is {answer.pdf.path}"))
    if answer.markdown is not None:
        parts.append(Markdown(answer.markdown))
    elif answer.pdf is not None:
        parts.append(Verbatim(answer.pdf.path))
    return Page(tuple(parts))


def _detached(answer: DetachedFiles) -> Page:
    if not answer.detached:
        return Page((*_notices(answer), Line(f"Nothing was attached to {answer.id}.")))
    line = Line(("Detached from ", strong(answer.id), f": {', '.join(answer.detached)}"))
    deleted = [Line(f"Deleted: {', '.join(answer.deleted_files)}")] if answer.deleted_files else []
    return Page((*_notices(answer), line, *deleted))


def _for_any_library(make: MakePage) -> MakePage:
    """Without a next command where a shared library is meant: ours would name one's own."""

    def draw(answer: Any, arguments: Mapping[str, Any]) -> Page | str:
        page = make_page(make, answer, arguments)
        if arguments.get("shared_library") is None or isinstance(page, str):
            return page
        return replace(page, next_step="")

    return PageOfQuestion(draw)


_LIBRARY_PAGES: Mapping[str, MakePage] = {
    "search_references": PageOfQuestion(_found),
    "list_references": PageOfQuestion(_list),
    "add_references": _added,
    "cite_references": _citations,
    "export_references": PageOfQuestion(_exported),
    "list_citation_styles": _styles,
    "get_reference": _one,
    "edit_reference": _one,
    "remove_reference": _removed,
    "attach_fulltext": _attached,
    "get_fulltext": _fulltext,
    "detach_fulltext": _detached,
    **HISTORY_PAGES,
    **CARE_PAGES,
    **UPKEEP_PAGES,
}
PAGES: Mapping[str, MakePage] = {
    **{name: _for_any_library(make) for name, make in _LIBRARY_PAGES.items()},
    **SHARED_LIBRARY_PAGES,
}
