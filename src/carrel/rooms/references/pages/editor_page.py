"""The editor of a reference: a form by its type, a view of the whole record, and new references."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from carrel.core.errors import CarrelError
from carrel.core.pages import PageAnswer, PageRedirect, PageRequest, PageView, local_address
from carrel.libraries.csl.schema import DATE_VARIABLES, NAME_VARIABLES
from carrel.rooms.references.browsing_models import CitationPreview
from carrel.rooms.references.item_versions import item_version
from carrel.rooms.references.items import text_of
from carrel.rooms.references.models import AddedReferences
from carrel.rooms.references.pages.citation_styles import USUAL_STYLES
from carrel.rooms.references.pages.csl_fields import FORM_FIELDS, LONG_FIELDS, TYPES
from carrel.rooms.references.pages.editor_form import (
    DateRow,
    EditorState,
    NameRow,
    first_part,
    list_new_fields,
    make_changes,
    make_item,
    merge_states,
    open_state,
    read_base,
    read_form,
)
from carrel.rooms.references.pages.item_page import item_address
from carrel.rooms.references.pages.json_editor import (
    CONFLICT,
    EDIT_PATH,
    draw_json_editor,
    dump_line,
    find_item,
    save_json,
)
from carrel.rooms.references.pages.labels import field_label, type_label
from carrel.rooms.references.pages.list_page import STYLES
from carrel.rooms.references.pages.record_view import describe_value
from carrel.rooms.references.pages.writers import require_writer

NEW_PATH = "/references/new"


async def draw_editor(request: PageRequest) -> PageAnswer:
    require_writer(request)
    reference_id = request.variables["id"]
    item = await find_item(request, reference_id)
    if request.query.text("view") == "json":
        return draw_json_editor(request, reference_id, item)
    return await _draw_form(request, reference_id, open_state(item))


async def draw_new(request: PageRequest) -> PageAnswer:
    require_writer(request)
    kind = request.query.text("type")
    state = EditorState({}, kind if kind in TYPES else "article-journal", {})
    return await _draw_form(request, "", state)


async def act_in_editor(request: PageRequest) -> PageAnswer:
    reference_id = request.variables["id"]
    base = read_base(request.form)
    if request.form.text("view") == "json":
        return await save_json(request, reference_id, base)
    state = read_form(request.form, base)
    if request.form.text("do") != "save":
        return await _change_form(request, reference_id, state)
    changes = make_changes(state)
    _tell_date_errors(request, state)
    if state.errors:
        return await _draw_form(request, reference_id, state, _errors_notice(request))
    if not changes:
        return PageRedirect(
            item_address(reference_id), request.translate("references.editor.unchanged")
        )
    try:
        await request.ask(
            "save_reference", id=reference_id, version=item_version(base), changes=changes
        )
    except CarrelError as error:
        if error.code == CONFLICT:
            return await _draw_conflict(request, reference_id, state)
        return await _draw_form(
            request, reference_id, state, _put_errors(request, state.errors, error)
        )
    return PageRedirect(item_address(reference_id), request.translate("references.editor.saved"))


async def act_on_new(request: PageRequest) -> PageAnswer:
    state = read_form(request.form, {})
    if request.form.text("do") != "save":
        return await _change_form(request, "", state)
    item = make_item(state)
    _tell_date_errors(request, state)
    if set(item) <= {"type"} and not state.errors:
        state.errors["title"] = request.translate("references.editor.empty")
    if state.errors:
        return await _draw_form(request, "", state, _errors_notice(request))
    if state.key:
        item = {"id": state.key, **item}
    answer: AddedReferences = await request.ask(
        "add_references", input=json.dumps([item], ensure_ascii=False)
    )
    if answer.added:
        return PageRedirect(
            item_address(answer.added[0].id), request.translate("references.editor.added")
        )
    if answer.skipped:
        known = answer.skipped[0].duplicate_of
        notice = request.translate("references.editor.known", id=known)
        return await _draw_form(request, "", state, notice, known_path=item_address(known))
    reason = answer.failed[0].reason if answer.failed else ""
    return await _draw_form(request, "", state, reason or _errors_notice(request))


async def _change_form(request: PageRequest, reference_id: str, state: EditorState) -> PageAnswer:
    """The form with another row, field, type or style; nothing is saved."""
    what, _, name = request.form.text("do").partition(":")
    if what == "add-name" and name in NAME_VARIABLES:
        rows = state.text(name)
        state.texts[name] = (*(rows if isinstance(rows, tuple) else ()), NameRow())
    elif what == "add-field" and (chosen := request.form.text("new-field")) in FORM_FIELDS:
        state.texts.setdefault(chosen, state.text(chosen))
    return await _draw_form(request, reference_id, state)


async def _draw_conflict(request: PageRequest, reference_id: str, state: EditorState) -> PageAnswer:
    present = await find_item(request, reference_id)
    merged, both = merge_states(state, present)
    for name in both:
        merged.errors[name] = request.translate(
            "references.editor.theirs", text=describe_value(name, present.get(name)) or "–"
        )
    notice = request.translate("references.editor.conflict" if both else "references.editor.merged")
    return await _draw_form(request, reference_id, merged, notice, status=409)


async def _draw_form(
    request: PageRequest,
    reference_id: str,
    state: EditorState,
    notice: str = "",
    *,
    known_path: str = "",
    status: int = 200,
) -> PageView:
    style = (request.form.text("style") or request.query.text("style"))[:200]
    title = "references.editor.title" if reference_id else "references.editor.new_title"
    has_content = set(make_item(state, is_lenient=True)) > {"type"}
    return PageView(
        "references/editor.html",
        request.translate(title),
        {
            "id": reference_id,
            "state": state,
            "base": dump_line(state.base),
            "title": text_of(state.base, "title"),
            "types": [(name, type_label(request, name)) for name in TYPES],
            "fields": [_describe_field(request, state, name) for name in state.visible_fields],
            "new_fields": [
                (name, field_label(request, name)) for name in list_new_fields(state.visible_fields)
            ],
            "trouble": notice,
            "known_path": known_path,
            "style": style,
            "usual_styles": USUAL_STYLES,
            "preview": await _preview(request, state, style) if has_content else None,
            "action": local_address(EDIT_PATH, reference_id) if reference_id else NEW_PATH,
        },
        modules=("references/editor.js",),
        styles=STYLES,
        status=422 if state.errors and status == 200 else status,
    )


def _describe_field(request: PageRequest, state: EditorState, name: str) -> dict[str, Any]:
    text = state.text(name)
    kind = "text"
    if name in NAME_VARIABLES:
        kind = "names"
        rows = text if isinstance(text, tuple) else ()
        text = rows or (NameRow(),)
    elif name in DATE_VARIABLES:
        kind = "date"
        text = text if isinstance(text, DateRow) else DateRow()
    elif name in LONG_FIELDS:
        kind = "long"
    return {
        "name": name,
        "kind": kind,
        "label": field_label(request, name),
        "text": text,
        "error": state.errors.get(name, ""),
    }


async def _preview(request: PageRequest, state: EditorState, style: str) -> CitationPreview | None:
    item = make_item(state, is_lenient=True)
    # A style whose name is half typed is none: the usual one then shows the record.
    for chosen in ({"style": style} if style else {}, {}):
        try:
            found: CitationPreview = await request.ask("preview_citation", item=item, **chosen)
        except CarrelError as error:
            if error.code != "style_not_found":
                return None
        else:
            return found
    return None


def _tell_date_errors(request: PageRequest, state: EditorState) -> None:
    for name in state.errors:
        state.errors[name] = request.translate("references.editor.date_error")


def _errors_notice(request: PageRequest) -> str:
    return request.translate("references.editor.errors")


def _put_errors(request: PageRequest, errors: dict[str, str], error: CarrelError) -> str:
    """Puts each problem at its field; returns the notice above the form."""
    told = error.details.get("fields")
    for problem in told if isinstance(told, Sequence) and not isinstance(told, str) else ():
        if isinstance(problem, Mapping):
            errors[first_part(str(problem["field"]))] = request.translate(
                "references.editor.expected",
                place=problem["field"],
                expected=problem["expected"],
                found=problem["found"],
            )
    return _errors_notice(request) if errors else error.message
