"""Organizing references: of a selection, and the names of tags and collections over all."""

from __future__ import annotations

import json
from collections.abc import Iterable

from carrel.core.answer import Text
from carrel.core.pages import FieldValues, PageAnswer, PageRedirect, PageRequest, PageView
from carrel.rooms.references.items import Item, collections_of, read_state_of, tags, text_of
from carrel.rooms.references.organizing_models import OrganizedReferences, ReferenceGroups
from carrel.rooms.references.pages.item_page import item_address
from carrel.rooms.references.pages.library_filters import LIBRARY_PATH, READ_STATES
from carrel.rooms.references.pages.list_page import STYLES
from carrel.rooms.references.pages.selection_pages import read_ids
from carrel.rooms.references.pages.writers import require_writer

GROUPS_PATH = "/references/groups"
_NAMES_OFFERED = 500
_GROUPS_SHOWN = 2000


async def draw_organizing(request: PageRequest) -> PageAnswer:
    """What the chosen references have, and fields for what is added or taken off."""
    require_writer(request)
    ids = read_ids(request.query)
    if not ids:
        return PageRedirect(LIBRARY_PATH)
    told: Text = await request.ask("export_references", format="csl-json", ids=ids)
    items: list[Item] = json.loads(told.body)
    states = {read_state_of(item) for item in items}
    return PageView(
        "references/organize.html",
        request.translate("references.organize.title"),
        {
            "rows": [
                (str(item.get("id")), text_of(item, "title"), item_address(str(item.get("id"))))
                for item in items
            ],
            "tags": _union(tags(item) for item in items),
            "collections": _union(collections_of(item) for item in items),
            "known_tags": await _list_names(request, "tags"),
            "known_collections": await _list_names(request, "collections"),
            "state": states.pop() if len(states) == 1 else "",
            "states": _state_options(request),
            "back": item_address(ids[0]) if len(ids) == 1 else LIBRARY_PATH,
        },
        styles=STYLES,
    )


def _union(lists: Iterable[list[str]]) -> list[str]:
    return list(dict.fromkeys(name for each in lists for name in each))


async def _list_names(request: PageRequest, kind: str) -> list[str]:
    found: ReferenceGroups = await request.ask(
        "list_reference_groups", kind=kind, limit=_NAMES_OFFERED
    )
    return [row.name for row in found.groups]


def _state_options(request: PageRequest) -> list[tuple[str, str]]:
    unchanged = ("", request.translate("references.organize.unchanged"))
    return [
        unchanged, *((name, request.translate(f"references.read.{name}")) for name in READ_STATES)
    ]  # fmt: skip


async def organize_selected(request: PageRequest) -> PageAnswer:
    ids = read_ids(request.form)
    if not ids:
        return PageRedirect(LIBRARY_PATH)
    form = request.form
    wanted: dict[str, object] = {
        "add_tags": _split(form, "add_tags"),
        "remove_tags": form.texts("remove_tag"),
        "add_collections": _split(form, "add_collections"),
        "remove_collections": form.texts("remove_collection"),
        "read_state": form.text("read_state"),
    }
    chosen = {name: value for name, value in wanted.items() if value}
    back = item_address(ids[0]) if len(ids) == 1 else LIBRARY_PATH
    if not chosen:
        return PageRedirect(back)
    answer: OrganizedReferences = await request.ask("organize_references", ids=ids, **chosen)
    return PageRedirect(back, request.translate("references.organize.done", count=answer.changed))


def _split(form: FieldValues, name: str) -> list[str]:
    """Names that were typed one after the other, with commas or line breaks between them."""
    typed = form.text(name).replace("\r", "\n").replace(",", "\n")
    return [each.strip() for each in typed.split("\n") if each.strip()]


async def draw_groups(request: PageRequest) -> PageAnswer:
    """Every collection and tag, with what can be done with the name."""
    collections: ReferenceGroups = await request.ask(
        "list_reference_groups", kind="collections", limit=_GROUPS_SHOWN
    )
    tags_found: ReferenceGroups = await request.ask(
        "list_reference_groups", kind="tags", limit=_GROUPS_SHOWN
    )
    return PageView(
        "references/groups.html",
        request.translate("references.groups.title"),
        {
            "kinds": [("collection", collections), ("tag", tags_found)],
            "may_write": request.offers("rename_reference_group"),
        },
        styles=STYLES,
    )


async def change_group(request: PageRequest) -> PageAnswer:
    """Renames, moves, merges or takes off one name."""
    form = request.form
    removed = form.text("action") == "remove"
    wanted: dict[str, object] = (
        {"is_removed": True} if removed else {"new_name": form.text("new_name") or None}
    )
    answer: OrganizedReferences = await request.ask(
        "rename_reference_group", kind=form.text("kind"), group=form.text("group"), **wanted
    )
    return PageRedirect(
        GROUPS_PATH, request.translate("references.organize.done", count=answer.changed)
    )
