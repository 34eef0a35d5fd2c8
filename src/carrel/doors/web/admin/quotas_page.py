"""/admin/quotas: what was used today, and what may be."""

from __future__ import annotations

from carrel.core.errors import CarrelError, InvalidInputError
from carrel.core.pages import PageRedirect, PageRequest, PageView
from carrel.doors.errors import error_mapping
from carrel.doors.web.admin.frame import view_admin_page
from carrel.doors.web.admin.models import QuotaReport

_PATH = "/admin/quotas"


async def draw_quotas(request: PageRequest) -> PageView:
    return await _draw(request)


async def change_quota(request: PageRequest) -> PageView | PageRedirect:
    """Sets or clears what one person, or a group, may use."""
    form = request.form
    subject = {"name": form.text("name"), "is_group": form.text("whose") == "group"}
    try:
        if form.text("action") == "clear":
            await request.ask("clear_quota", **subject)
            return PageRedirect(_PATH, request.translate("admin.quotas.cleared", **subject))
        calls, cost = _read_amount(request, "calls"), _read_amount(request, "cost")
        await request.ask("set_quota", **subject, calls=calls, cost=cost)
    except CarrelError as error:
        return await _draw(request, error)
    return PageRedirect(_PATH, request.translate("admin.quotas.was_set", **subject))


async def _draw(request: PageRequest, error: CarrelError | None = None) -> PageView:
    report: QuotaReport = await request.ask("list_quotas")
    facts: dict[str, object] = {"report": report, "error": error}
    facts |= {name: request.form.text(name) for name in ("name", "whose", "calls", "cost")}
    status = 200 if error is None else error_mapping(error).http_status
    return view_admin_page(request, "quotas", "quotas", facts, status=status)


def _read_amount(request: PageRequest, name: str) -> float | None:
    """A number of a form; None where nothing was typed, which is no limit."""
    text = request.form.text(name)
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        raise InvalidInputError(request.translate("admin.quotas.no_number")) from None
