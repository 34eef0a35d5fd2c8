"""The editor of the whole record as CSL-JSON, for those who know it."""

from __future__ import annotations

import json
from typing import Any

from carrel.core.errors import CarrelError, InvalidInputError
from carrel.core.pages import PageAnswer, PageRedirect, PageRequest, PageView, local_address
from carrel.rooms.references.item_versions import item_version
from carrel.rooms.references.items import Item, text_of
from carrel.rooms.references.models import OneReference
from carrel.rooms.references.pages.item_page import item_address
from carrel.rooms.references.pages.list_page import STYLES

EDIT_PATH = "/references/edit"
CONFLICT = "conflict"


async def find_item(request: PageRequest, reference_id: str) -> Item:
    found: OneReference = await request.ask("get_reference", id=reference_id)
    return found.reference


def draw_json_editor(request: PageRequest, reference_id: str, item: Item) -> PageView:
    return _draw_json(request, reference_id, item, _dump(item))


def _draw_json(
    request: PageRequest,
    reference_id: str,
    base: Item,
    text: str,
    *,
    error: str = "",
    notice: str = "",
    status: int = 200,
) -> PageView:
    return PageView(
        "references/editor_json.html",
        request.translate("references.editor.title"),
        {
            "id": reference_id,
            "base": dump_line(base),
            "title": text_of(base, "title"),
            "text": text,
            "error": error,
            "trouble": notice,
            "action": local_address(EDIT_PATH, reference_id),
        },
        styles=STYLES,
        status=status,
    )


async def save_json(request: PageRequest, reference_id: str, base: Item) -> PageAnswer:
    text = request.form.whole_text("json")
    try:
        changes = _read_json_changes(request, base, text)
        if changes:
            await request.ask(
                "save_reference", id=reference_id, version=item_version(base), changes=changes
            )
    except CarrelError as error:
        if error.code == CONFLICT:
            present = await find_item(request, reference_id)
            return _draw_json(
                request,
                reference_id,
                present,
                _dump(_merge_items(base, text, present)),
                notice=request.translate("references.editor.merged"),
                status=409,
            )
        return _draw_json(request, reference_id, base, text, error=error.message, status=422)
    return PageRedirect(item_address(reference_id), request.translate("references.editor.saved"))


def _read_json_changes(request: PageRequest, base: Item, text: str) -> dict[str, Any]:
    """The fields that differ from the record; raises InvalidInputError."""
    try:
        item = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(
            request.translate("references.editor.not_json", reason=str(error))
        ) from None
    if not isinstance(item, dict):
        raise InvalidInputError(request.translate("references.editor.not_object"))
    return _find_changes(base, item)


def _find_changes(base: Item, item: Item) -> dict[str, Any]:
    """The fields that differ; None for one that is gone."""
    names = {**base, **item}
    return {name: item.get(name) for name in names if base.get(name) != item.get(name)}


def _merge_items(base: Item, text: str, present: Item) -> Item:
    """The record as it is now, with what the person changed."""
    merged = {**present, **_find_changes(base, json.loads(text))}
    return {name: value for name, value in merged.items() if value is not None}


def _dump(item: Item) -> str:
    return json.dumps(item, ensure_ascii=False, indent=2)


def dump_line(item: Item) -> str:
    """The record in one line of ASCII, which a form sends back exactly as it is."""
    return json.dumps(item, separators=(",", ":"))
