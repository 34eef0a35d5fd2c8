"""Gaps of records: what services would fill in, decided record by record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from carrel.core.pages import PageAnswer, PageRequest, PageView, local_address
from carrel.rooms.literature.pages.sections import SHOWN_ERRORS, make_refusal, make_view

_OPERATIONS = {"paper": "complete_papers", "reference": "complete_references"}
_SHOWN = 100
_SHOWN_NAMES = 6
_PATHS = {"paper": "/papers/paper", "reference": "/references/item"}


async def draw_completion(request: PageRequest) -> PageAnswer:
    return await _draw(request, _target(request.query.text("target")))


async def change_records(request: PageRequest) -> PageAnswer:
    """Looks for gaps, fills in, or takes back: what the button that was pressed says."""
    form = request.form
    target = _target(form.text("target"))
    ids = [form.text("one")] if form.text("one") else form.texts("ids")
    asked: dict[str, Any] = {}
    match form.text("do"):
        case "apply":
            asked = {"apply": True, "ids": ids}
        case "undo":
            asked = {"undo": True, "ids": ids}
        case _:
            asked = {"guess": form.flag("guess")}
    if form.text("do") in {"apply", "undo"} and not ids:
        # Without ids the operation takes all, which nobody who ticked nothing means.
        return await _draw(request, target, nothing_chosen=True)
    try:
        done = await request.ask(_OPERATIONS[target], **asked)
    except SHOWN_ERRORS as error:
        return await _draw(request, target, refusal=make_refusal(error))
    return await _draw(request, target, done=done)


async def _draw(request: PageRequest, target: str, **more: Any) -> PageView:
    proposed = await request.ask("list_completions", target=target, limit=_SHOWN)
    applied = await request.ask("list_completions", target=target, state="applied", limit=_SHOWN)
    tabs = [
        {
            "label": request.translate(f"literature.completion.target.{each}"),
            "path": local_address("/literature/completion", target=each),
            "is_on": each == target,
            "count": None,
        }
        for each in _OPERATIONS
    ]
    return make_view(
        request,
        "completion",
        "completion",
        {
            "target": target,
            "target_tabs": tabs,
            "proposed": proposed,
            "applied": applied,
            "may_change": request.offers(_OPERATIONS[target]),
            "record_path": _PATHS[target],
            "describe_value": describe_value,
            "done": None,
            "nothing_chosen": False,
            **more,
        },
        modules=("literature/search.js",),
    )


def _target(text: str) -> str:
    return text if text in _OPERATIONS else "reference"


def describe_value(value: Any) -> str:
    """A value of CSL-JSON as people read it: names, dates and words."""
    if isinstance(value, Mapping):
        dates = value.get("date-parts")
        if isinstance(dates, Sequence) and dates and isinstance(dates[0], Sequence):
            return "-".join(f"{part:02d}" if isinstance(part, int) else "" for part in dates[0])
        whole = f"{value.get('given') or ''} {value.get('family') or ''}".strip()
        return str(value.get("literal") or value.get("raw") or whole)
    if isinstance(value, Sequence) and not isinstance(value, str):
        names = [describe_value(each) for each in value[:_SHOWN_NAMES]]
        return ", ".join(names) + (" …" if len(value) > _SHOWN_NAMES else "")
    return " ".join(str(value).split())
