"""Saved searches: what each found, how far each service answered, and what is new."""

from __future__ import annotations

from typing import Any

from carrel.core.pages import PageAnswer, PageFile, PageRequest, PageView, local_address
from carrel.rooms.literature.pages.search_page import list_places
from carrel.rooms.literature.pages.sections import SHOWN_ERRORS, make_refusal, make_view
from carrel.rooms.literature.pages.services import SEARCHED_SERVICES, name_service

_SHOWN_WORKS = 60
_DAYS = (7, 30, 90, 365)
_USUAL_DAYS = 90


async def draw_alerts(request: PageRequest) -> PageAnswer:
    return await _draw(request)


async def run_alerts(request: PageRequest) -> PageAnswer:
    """Runs one alert, or all, and shows what each service answered."""
    name = request.form.text("name") or None
    try:
        ran = await request.ask("run_alerts", name=name)
    except SHOWN_ERRORS as error:
        return await _draw(request, refusal=make_refusal(error))
    return await _draw(request, ran=ran)


async def send_digest(request: PageRequest) -> PageAnswer:
    """The works of the last days as a file, Markdown to read or Atom for feed readers.

    With a number of days nothing counts as told.
    """
    is_feed = request.form.text("format") == "atom"
    digest = await request.ask(
        "get_alert_digest",
        name=request.form.text("name") or None,
        days=request.form.integer("days", _USUAL_DAYS, least=1, most=3660),
        format="atom" if is_feed else "markdown",
    )
    name = "alerts.atom" if is_feed else "alerts.md"
    return PageFile(digest.body.encode(), f"{digest.media_type}; charset=utf-8", file_name=name)


async def _draw(request: PageRequest, **more: Any) -> PageView:
    named = request.query.text("name")
    days = request.query.integer("days", _USUAL_DAYS, least=1, most=3660)
    alerts = (await request.ask("list_alerts")).alerts
    selected = next((each for each in alerts if named in (each.name, each.id)), None)
    listed = None
    if alerts:
        listed = await request.ask(
            "list_alert_works",
            name=selected.id if selected else None,
            days=days,
            limit=_SHOWN_WORKS,
        )
    own = selected.name if selected else None
    return make_view(
        request,
        "alerts",
        "alerts",
        {
            "alerts": alerts,
            "selected": selected,
            "listed": listed,
            "days": days,
            "day_options": [
                {
                    "label": request.translate("literature.alerts.days", count=each),
                    "path": local_address("/literature/alerts", name=own, days=each),
                    "is_on": each == days,
                    "count": None,
                }
                for each in _DAYS
            ],
            "services": [(each, name_service(each)) for each in SEARCHED_SERVICES],
            "query": request.query.text("q"),
            "may_write": request.offers("save_alert"),
            "into_options": list_places(request),
            "here": local_address("/literature/alerts", name=own),
            "ran": None,
            **more,
        },
        modules=("literature/search.js",),
    )
