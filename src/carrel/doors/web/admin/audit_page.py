"""/admin/audit: what was done, by whom, and whether the log is as it was written."""

from __future__ import annotations

from typing import Any

from carrel.core.errors import CarrelError, InvalidInputError
from carrel.core.pages import PageRequest, PageStream, PageView, local_address
from carrel.doors.web.admin.frame import view_admin_page
from carrel.doors.web.admin.models import AuditCalls

_PATH = "/admin/audit"
_PAGE = 50
_FIELDS = ("user", "action", "since", "until", "code")


async def draw_audit(request: PageRequest) -> PageView:
    chosen = _read_filter(request)
    cursor = request.query.text("from")
    problem: CarrelError | None = None
    page: AuditCalls | None = None
    try:
        page = await request.ask(
            "find_audit_calls", **_arguments(chosen), limit=_PAGE, cursor=cursor or None
        )
    except InvalidInputError:
        raise
    except CarrelError as error:
        # Where the platform keeps the log this page says so, instead of being an error itself.
        if error.code != "not_configured":
            raise
        problem = error
    facts = {
        "page": page,
        "problem": problem,
        "chosen": chosen,
        "chips": _chips(request, chosen),
        "is_first": not cursor,
        "first": local_address(_PATH, **chosen),
        "next": local_address(_PATH, **chosen, **{"from": page.cursor})
        if page is not None and page.cursor
        else "",
        "exports": {
            form: local_address(f"{_PATH}/export", **chosen, format=form)
            for form in ("csv", "jsonl")
        },
    }
    return view_admin_page(request, "audit", "audit", facts)


async def verify_audit(request: PageRequest) -> PageView:
    """Reads all of the log, so it is asked for by a form and not by a link."""
    check = await request.ask("verify_audit")
    title = request.translate("admin.audit.check_title")
    return view_admin_page(request, "audit", "audit_check", {"check": check}, title=title)


async def export_audit(request: PageRequest) -> PageStream:
    form = "csv" if request.query.text("format") == "csv" else "jsonl"
    found = await request.ask("export_audit", **_arguments(_read_filter(request)), format=form)
    return PageStream(found.pieces, found.media_type, found.name, found.size_bytes)


def _read_filter(request: PageRequest) -> dict[str, str]:
    """The fields of the filter that are set, as the address has them."""
    chosen = {name: request.query.text(name)[:200] for name in _FIELDS}
    chosen["refused"] = "1" if request.query.flag("refused") else ""
    return chosen


def _arguments(chosen: dict[str, str]) -> dict[str, Any]:
    return {
        "user": chosen["user"] or None,
        "action": chosen["action"] or None,
        "since": chosen["since"][:40] or None,
        # A day is meant with all of its hours.
        "until": f"{chosen['until'][:30]}T99" if chosen["until"] else None,
        "error_code": chosen["code"][:100] or None,
        "is_refused": bool(chosen["refused"]),
    }


def _chips(request: PageRequest, chosen: dict[str, str]) -> list[dict[str, str]]:
    chips = []
    for name, value in chosen.items():
        if value:
            rest = {key: each for key, each in chosen.items() if key != name}
            label = request.translate(f"admin.audit.chip_{name}", value=value)
            chips.append({"label": label, "remove_path": local_address(_PATH, **rest)})
    return chips
