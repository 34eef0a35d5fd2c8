"""The page of a conflict: what others changed, what was typed, and both merged where that goes."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from carrel.core.errors import NotFoundError
from carrel.core.pages import PageAnswer, PageRedirect, PageRequest, PageView
from carrel.libraries.text.merging import merge_tags, merge_texts
from carrel.rooms.knowledge.models import MAX_LIMIT, FullNote, NoteVersion
from carrel.rooms.knowledge.pages.addresses import EDIT, HISTORY, note_path
from carrel.rooms.knowledge.pages.editor_form import EditorForm, join_tags
from carrel.rooms.knowledge.pages.history_page import show_difference
from carrel.rooms.knowledge.pages.list_page import STYLES

_MODULES = ("knowledge/editor.js",)


async def draw_conflict(request: PageRequest, form: EditorForm) -> PageAnswer | None:
    """The conflict as it stands now; None where the note is gone."""
    try:
        newest: FullNote = await request.ask("get_knowledge", id=form.note_id)
        versions: list[NoteVersion] = await request.ask(
            "get_knowledge_history", id=form.note_id, limit=MAX_LIMIT
        )
    except NotFoundError:
        return None
    if _is_saved(form, newest):
        # The answer to an earlier sending of the same text was lost on its way.
        notice = request.translate("knowledge.saved")
        return PageRedirect(note_path(newest.id, saved=form.draft), notice=notice)
    base = next((each for each in versions if each.changed_at == form.version), None)
    by = versions[0].changed_by if versions else newest.user_id
    merged, conflicts = await _merge(request, form, newest, base, by)
    return PageView(
        "knowledge/conflict.html",
        request.translate("knowledge.conflict.title"),
        {
            "form": form,
            "note": newest,
            "changed_by": by,
            "is_own": by == request.caller.user_id,
            "note_path": note_path(newest.id),
            "history_path": f"{HISTORY}/{newest.id}",
            "action": f"{EDIT}/{newest.id}",
            "theirs": None if base is None else await show_difference(base.content, newest.content),
            "mine": await show_difference(newest.content, form.content),
            "base": base,
            # Saved anyway, what was typed follows the newest state and takes its place.
            "anyway": replace(form, version=newest.updated_at),
            "merged": merged,
            "conflicts": conflicts,
        },
        modules=_MODULES,
        styles=STYLES,
        status=409,
    )


def _is_saved(form: EditorForm, newest: FullNote) -> bool:
    has_title = not form.title or form.title == newest.title
    same_tags = {tag.casefold() for tag in form.tag_list} == {tag.casefold() for tag in newest.tags}
    return has_title and same_tags and form.content == newest.content


async def _merge(
    request: PageRequest,
    form: EditorForm,
    newest: FullNote,
    base: NoteVersion | None,
    by: str,
) -> tuple[EditorForm, int]:
    """What was typed and the newest state in one; without the state that was seen, all differs."""
    merged = await asyncio.to_thread(
        merge_texts,
        "" if base is None else base.content,
        form.content,
        newest.content,
        mine_name=request.translate("knowledge.conflict.mine_mark"),
        theirs_name=by,
    )
    old_tags = newest.tags if base is None else base.tags
    title = form.title or newest.title
    if base is not None and title == base.title:
        title = newest.title
    return (
        replace(
            form,
            version=newest.updated_at,
            title=title,
            tags=join_tags(merge_tags(old_tags, form.tag_list, newest.tags)),
            content=merged.text,
        ),
        merged.conflicts,
    )
