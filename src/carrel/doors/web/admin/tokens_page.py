"""/admin/tokens: tokens for scripts, made and revoked."""

from __future__ import annotations

from carrel.core.errors import CarrelError
from carrel.core.pages import PageRequest, PageView
from carrel.doors.errors import error_mapping
from carrel.doors.web.admin.frame import view_admin_page
from carrel.doors.web.admin.models import TokenList
from carrel.doors.web.admin.scope_choice import READER, SCOPE_GROUPS, name_kind, read_scopes

DAYS = ("30", "90", "365", "never")
_USUAL_DAYS = "90"


async def draw_tokens(request: PageRequest) -> PageView:
    return await _draw(request)


async def create_token(request: PageRequest) -> PageView:
    """Shows the new secret on this answer alone."""
    form = request.form
    days = form.text("days", _USUAL_DAYS)
    try:
        made = await request.ask(
            "create_token",
            name=form.text("name"),
            scopes=read_scopes(request),
            days=int(days) if days in DAYS and days != "never" else None,
            user=form.text("user") or None,
        )
    except CarrelError as error:
        return await _draw(request, error)
    facts = {
        "secret": made.secret,
        "told": request.translate("admin.tokens.made", name=made.name),
        "tokens": [],
        "are_tokens_revoked": False,
        "back": "/admin/tokens",
        "kind": "token",
        "made": made,
    }
    title = request.translate("admin.secret.token")
    return view_admin_page(request, "tokens", "secret", facts, title=title, is_secret=True)


async def _draw(request: PageRequest, error: CarrelError | None = None) -> PageView:
    found: TokenList = await request.ask("list_tokens")
    form = request.form
    facts: dict[str, object] = {
        "found": found,
        "active": [token for token in found.tokens if token.state == "active"],
        "ended": [token for token in found.tokens if token.state != "active"],
        "kinds": {token.name: name_kind(token.scopes) for token in found.tokens},
        "groups": SCOPE_GROUPS,
        "kind": form.text("kind", READER),
        "chosen": form.texts("scope"),
        "name": form.text("name"),
        "user": form.text("user"),
        "days": form.text("days", _USUAL_DAYS),
        "all_days": DAYS,
        "error": error,
    }
    status = 200 if error is None else error_mapping(error).http_status
    return view_admin_page(request, "tokens", "tokens", facts, status=status)
