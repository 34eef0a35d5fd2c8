"""The editor of notes. What was typed comes back with every error, and no newer state is lost."""

from __future__ import annotations

from dataclasses import replace

from carrel.core.errors import (
    CarrelError,
    ConflictError,
    InsufficientPermissionsError,
    NotFoundError,
)
from carrel.core.pages import PageAnswer, PageRedirect, PageRequest, PageView
from carrel.rooms.knowledge.models import MAX_CONTENT_CHARACTERS, MAX_LIMIT, FullNote, NoteVersion
from carrel.rooms.knowledge.operations import WRITE
from carrel.rooms.knowledge.pages.addresses import EDIT, LIST, NEW, note_path
from carrel.rooms.knowledge.pages.conflict_page import draw_conflict
from carrel.rooms.knowledge.pages.editor_form import EditorForm, write_link
from carrel.rooms.knowledge.pages.list_page import STYLES
from carrel.rooms.knowledge.pages.note_text import (
    MAX_PREVIEW_CHARACTERS,
    heading_level,
    link_preview_text,
)

MODULES = ("knowledge/editor.js",)
_FOUND_LINKS = 8


def _require_writer(request: PageRequest) -> None:
    """Raises InsufficientPermissionsError before words are typed in vain."""
    if not request.caller.scopes >= WRITE:
        raise InsufficientPermissionsError(WRITE, request.caller.scopes)


async def draw_new(request: PageRequest) -> PageView:
    _require_writer(request)
    given = EditorForm(
        title=request.query.text("title")[:500],
        tags=request.query.text("tags")[:500],
        content=request.query.whole_text("content")[:20_000],
    )
    return await _draw(request, given)


async def draw_edit(request: PageRequest) -> PageView:
    """The newest state, or with `version` the text of an earlier one, to be saved again."""
    _require_writer(request)
    note: FullNote = await request.ask("get_knowledge", id=request.variables["note_id"])
    form = EditorForm.of(note)
    wanted = request.query.text("version")
    if not wanted:
        return await _draw(request, form)
    versions: list[NoteVersion] = await request.ask(
        "get_knowledge_history", id=note.id, limit=MAX_LIMIT
    )
    for version in versions:
        if version.changed_at == wanted:
            tags = ", ".join(version.tags)
            form = replace(form, title=version.title, tags=tags, content=version.content)
            return await _draw(request, form, restored=version.changed_at)
    return await _draw(request, form)


async def save_new(request: PageRequest) -> PageAnswer:
    return await _act(request, EditorForm.read(request.form))


async def save_edit(request: PageRequest) -> PageAnswer:
    return await _act(request, EditorForm.read(request.form, request.variables["note_id"]))


async def draw_preview(request: PageRequest) -> PageAnswer:
    """The part of the editor that shows the text as it will be read."""
    form = EditorForm.read(request.form)
    return PageView(
        "knowledge/preview.html", request.translate("knowledge.preview"), _preview(form.content)
    )


async def _act(request: PageRequest, form: EditorForm) -> PageAnswer:
    insert = request.form.text("insert")
    if insert:
        return await _draw(request, form.with_link(insert[:1_000]))
    match request.form.text("step"):
        case "preview":
            return await _draw(request, form, shows_preview=True)
        case "find":
            return await _draw(request, form, find=request.form.text("find"))
        case _:
            return await _save(request, form)


async def _save(request: PageRequest, form: EditorForm) -> PageAnswer:
    arguments: dict[str, object] = {"content": form.content, "tags": form.tag_list}
    if form.title:
        arguments["title"] = form.title
    if form.note_id:
        arguments |= {"id": form.note_id, "updated_at": form.version}
    elif form.source == "team":
        arguments["source"] = "team"
    try:
        saved = await request.ask("save_knowledge", **arguments)
    except ConflictError as error:
        conflict = await draw_conflict(request, form)
        return conflict or await _draw(request, form, error=error)
    except NotFoundError as error:
        # Deleted meanwhile, or no longer shown to this person: it can be saved as a new note.
        is_gone = bool(form.note_id)
        fresh = replace(form, note_id="", version="", source="personal")
        return await _draw(request, fresh, error=error, is_gone=is_gone)
    except CarrelError as error:
        return await _draw(request, form, error=error)
    return PageRedirect(
        note_path(saved.id, saved=form.draft), notice=request.translate("knowledge.saved")
    )


async def _draw(
    request: PageRequest,
    form: EditorForm,
    *,
    error: CarrelError | None = None,
    is_gone: bool = False,
    shows_preview: bool = False,
    find: str = "",
    restored: str = "",
) -> PageView:
    title = request.translate("knowledge.edit.title" if form.note_id else "knowledge.new.title")
    hits, problem = await _find_links(request, find)
    facts: dict[str, object] = {
        "form": form,
        "error": error,
        "is_gone": is_gone,
        "restored": restored,
        "shows_preview": shows_preview,
        "find": find,
        "found_links": hits,
        "find_problem": problem,
        "action": f"{EDIT}/{form.note_id}" if form.note_id else NEW,
        "back_path": note_path(form.note_id) if form.note_id else LIST,
        "may_save_team": request.offers("promote_knowledge"),
        "may_find": request.offers("search_desk"),
        "most_characters": MAX_CONTENT_CHARACTERS,
        **_preview(form.content if shows_preview or form.content else ""),
    }
    status = 200 if error is None else 422
    return PageView(
        "knowledge/editor.html", title, facts, modules=MODULES, styles=STYLES, status=status
    )


def _preview(content: str) -> dict[str, object]:
    return {
        "preview": link_preview_text(content),
        "preview_level": heading_level(content[:MAX_PREVIEW_CHARACTERS], 3),
        "preview_is_cut": len(content) > MAX_PREVIEW_CHARACTERS,
    }


async def _find_links(
    request: PageRequest, find: str
) -> tuple[list[tuple[object, str]], CarrelError | None]:
    if not find or not request.offers("search_desk"):
        return [], None
    try:
        answer = await request.ask("search_desk", query=find[:500], limit=_FOUND_LINKS)
    except CarrelError as error:
        return [], error
    return [(hit, write_link(hit)) for hit in answer.hits], None
