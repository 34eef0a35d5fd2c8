"""Correcting a paper: its fields, what it is made of, and what was decided about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from carrel.core.errors import CarrelError, ConflictError, InvalidInputError
from carrel.core.pages import PageAnswer, PageRedirect, PageRequest, PageView, local_address

# Fields with several values, and the order in which a form shows all, by the names of edit_paper.
LIST_FIELDS = ("authors", "editors", "keywords", "tags", "institutions")
_ORDER = (
    "title", "authors", "date", "venue", "volume", "issue", "pages", "doi", "arxiv_id", "keywords",
    "tags", "type", "publisher", "editors", "institutions", "pmid", "pmcid", "isbn", "issn", "url",
    "language", "license",
)  # fmt: skip
_YEAR = re.compile(r"\d{4}")
_STYLES = ("papers/papers.css",)


async def draw_correction(request: PageRequest) -> PageAnswer:
    """All fields of a paper to correct, with its sources and its history."""
    return await _draw(request, {}, None)


async def correct_field(request: PageRequest) -> PageAnswer:
    """Sets or clears fields; where that is refused, the form is shown again as it was typed."""
    paper_id = request.variables["paper_id"]
    try:
        arguments = read_changes(request)
        await request.ask("edit_paper", action="edit", paper_id=paper_id, **arguments)
    except (InvalidInputError, ConflictError) as error:
        typed = {
            name: request.form.whole_text(name) for name in request.form.names() if name in _ORDER
        }
        if field := request.form.text("field"):
            typed[field] = request.form.whole_text("value")
        return await _draw(request, typed, error)
    after = request.form.text("next") or local_address("/papers/paper", paper_id, tab="details")
    return PageRedirect(after, request.translate("papers.corrected"))


def read_changes(request: PageRequest) -> dict[str, Any]:
    """The arguments of edit_paper that a form gives: one field, or each that differs."""
    form = request.form
    version = {"expected_version": form.text("version")} if form.text("version") else {}
    if field := form.text("field"):
        return {**_change(field, form.whole_text("value")), **version}
    found: dict[str, Any] = {}
    cleared: list[str] = []
    for name in form.names():
        if name not in _ORDER or _lines(form.whole_text(name)) == _lines(
            form.whole_text(f"{name}_before")
        ):
            continue
        change = _change(name, form.whole_text(name))
        cleared += change.pop("clear", [])
        found |= change
    return {**found, **({"clear": cleared} if cleared else {}), **version}


def _change(field: str, value: str) -> dict[str, Any]:
    """One field as edit_paper takes it."""
    name = "date" if field in {"publication_date", "year", "date"} else field
    lines = _lines(value)
    if not lines:
        return {"clear": [name]}
    if name in LIST_FIELDS:
        return {name: lines}
    text = " ".join(lines)
    if name == "date" and _YEAR.fullmatch(text):
        return {"year": int(text)}
    return {name: text}


def _lines(value: str) -> list[str]:
    return [line for each in value.splitlines() if (line := " ".join(each.split()))]


async def _draw(
    request: PageRequest, typed: Mapping[str, str], error: CarrelError | None
) -> PageView:
    paper_id = request.variables["paper_id"]
    paper = await request.ask("get_paper_metadata", paper_id=paper_id)
    history, trouble = None, ""
    try:
        history = await request.ask("paper_history", paper_id=paper.paper_id, limit=50)
    except ConflictError as conflict:
        trouble = f"{conflict.message} {conflict.next_step or ''}"
    doubts = await find_doubts(request, paper.paper_id)
    wrong = "" if error is None else _wrong_field(error, request.form.text("field"))
    fields = [
        {
            "name": name,
            "is_list": name in LIST_FIELDS,
            "value": typed.get(name, (before := shown_value(paper, name))),
            "before": before,
            "doubt": doubts.get(name),
            "error": error.message if error is not None and name == wrong else "",
        }
        for name in _ORDER
    ]
    facts = {
        "paper": paper,
        "fields": fields,
        "history": history,
        "trouble": trouble,
        "error": error if error is not None and not wrong else None,
        "next": request.form.text("next") or request.query.text("next"),
        "may_correct": request.offers("edit_paper") and history is not None,
    }
    title = request.translate("papers.correct.title", title=paper.title)
    return PageView(
        "papers/correct.html", title, facts, styles=_STYLES, status=200 if error is None else 400
    )


def _wrong_field(error: CarrelError, asked: str) -> str:
    """The field that an error is about, where it names one."""
    named = " ".join(str(value) for value in (error.details or {}).values())
    for name in _ORDER:
        if re.search(rf"\b{name}\b", f"{error.message} {named}"):
            return name
    return asked if asked in _ORDER else ""


def shown_value(paper: Any, name: str) -> str:
    """A field as a form shows it; lists have a line for each."""
    if name == "date":
        found = paper.publication_date if paper.publication_date != "unknown" else paper.year
        return "" if found == "unknown" else str(found)
    value = getattr(paper, name, None)
    if isinstance(value, tuple | list):
        return "\n".join(value)
    return str(value) if value else ""


async def find_doubts(request: PageRequest, paper_id: str) -> dict[str, Any]:
    """The doubtful fields of a paper by the names of its form."""
    if not request.offers("review_papers"):
        return {}
    try:
        found = await request.ask("review_papers", paper_id=paper_id, limit=1)
    except CarrelError:
        return {}
    return {
        "date" if each.field == "publication_date" else each.field: each
        for paper in found
        for each in paper.fields
    }
