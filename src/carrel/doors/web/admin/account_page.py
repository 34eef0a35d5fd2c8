"""/account: a person's own access."""

from __future__ import annotations

from carrel.core.errors import CarrelError
from carrel.core.pages import PageRedirect, PageRequest, PageView
from carrel.doors.errors import error_mapping
from carrel.doors.web.admin.frame import STYLES
from carrel.doors.web.admin.models import NewToken, OwnAccess, QuotaReport
from carrel.doors.web.admin.scope_choice import (
    CHOSEN,
    SCOPE_GROUPS,
    ScopeGroup,
    name_kind,
    read_scopes,
)

OWN_DAYS = ("30", "90", "365")
_USUAL_DAYS = "90"


async def draw_account(request: PageRequest) -> PageView:
    return await _draw(request)


async def act_on_account(request: PageRequest) -> PageView | PageRedirect:
    """One of the forms of the page; the button names what to do."""
    form = request.form
    try:
        if form.text("action") == "password":
            await request.ask(
                "change_own_password",
                password=form.text("password"),
                new_password=form.text("new_password"),
            )
            return PageRedirect("/login", request.translate("admin.account.password_changed"))
        days = form.text("days", _USUAL_DAYS)
        made: NewToken = await request.ask(
            "create_own_token",
            name=form.text("name"),
            scopes=read_scopes(request),
            days=int(days) if days in OWN_DAYS else int(_USUAL_DAYS),
        )
    except CarrelError as error:
        return await _draw(request, error)
    facts = {
        "secret": made.secret,
        "told": request.translate("admin.tokens.made", name=made.name),
        "tokens": [],
        "are_tokens_revoked": False,
        "back": "/account",
        "kind": "token",
        "made": made,
        "tabs": [],
    }
    title = request.translate("admin.secret.token")
    return PageView("admin/secret.html", title, facts, styles=STYLES, is_secret=True)


async def _draw(request: PageRequest, error: CarrelError | None = None) -> PageView:
    own: OwnAccess = await request.ask("get_own_access")
    quota: QuotaReport = await request.ask("get_own_quota")
    facts = {
        "own": own,
        "quota": quota,
        "kind": name_kind(own.scopes),
        "groups": SCOPE_GROUPS,
        "own_groups": _groups_within(own.scopes),
        "grant_kinds": {grant.grant_id: name_kind(grant.scopes) for grant in own.grants},
        "token_kinds": {token.name: name_kind(token.scopes) for token in own.tokens},
        "chosen": request.form.texts("scope"),
        "chosen_kind": CHOSEN,
        "name": request.form.text("name"),
        "days": request.form.text("days", _USUAL_DAYS),
        "all_days": OWN_DAYS,
        "error": error,
        "wrong_form": "password" if request.form.text("action") == "password" else "token",
    }
    title = request.translate("admin.account.title")
    status = 200 if error is None else error_mapping(error).http_status
    return PageView("admin/account.html", title, facts, styles=STYLES, status=status)


def _groups_within(scopes: list[str]) -> list[ScopeGroup]:
    """What the person may give to a token: never more than they have."""
    held = frozenset(scopes)
    groups = [
        ScopeGroup(group.name, tuple(scope for scope in group.scopes if scope.name in held))
        for group in SCOPE_GROUPS
    ]
    return [group for group in groups if group.scopes]
