"""/account: a person's own access."""

from __future__ import annotations

from carrel.core.pages import PageRequest, PageView
from carrel.doors.web.admin.frame import STYLES
from carrel.doors.web.admin.models import OwnAccess
from carrel.doors.web.admin.scope_choice import SCOPE_GROUPS, name_kind


async def draw_account(request: PageRequest) -> PageView:
    own: OwnAccess = await request.ask("get_own_access")
    facts = {
        "own": own,
        "kind": name_kind(own.scopes),
        "groups": SCOPE_GROUPS,
        "grant_kinds": {grant.grant_id: name_kind(grant.scopes) for grant in own.grants},
        "token_kinds": {token.name: name_kind(token.scopes) for token in own.tokens},
    }
    title = request.translate("admin.account.title")
    return PageView("admin/account.html", title, facts, styles=STYLES)
