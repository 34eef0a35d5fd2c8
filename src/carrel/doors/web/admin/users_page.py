"""/admin/users: who can log in, and what each may do."""

from __future__ import annotations

from typing import Any

from carrel.core.errors import CarrelError, NotFoundError
from carrel.core.pages import PageRedirect, PageRequest, PageView, local_address
from carrel.doors.errors import error_mapping
from carrel.doors.web.admin.frame import view_admin_page
from carrel.doors.web.admin.models import NewPassword, UserList, UserRow
from carrel.doors.web.admin.scope_choice import MEMBER, SCOPE_GROUPS, name_kind, read_scopes

_PATH = "/admin/users"


async def draw_users(request: PageRequest) -> PageView:
    return await _draw_users(request)


async def add_user(request: PageRequest) -> PageView:
    """Shows the new password on this answer alone."""
    name = request.form.text("name")
    try:
        made = await request.ask("add_user", name=name, scopes=read_scopes(request))
    except CarrelError as error:
        return await _draw_users(request, error)
    return _show_password(request, made, "admin.users.added")


async def draw_user(request: PageRequest) -> PageView:
    return await _draw_user(request)


async def change_user(request: PageRequest) -> PageView | PageRedirect:
    """One of the forms of a user's page; the button names what to do."""
    name, action = request.variables["name"], request.form.text("action")
    try:
        if action == "reset":
            revokes = request.form.flag("revokes_tokens")
            made = await request.ask("reset_password", name=name, revokes_tokens=revokes)
            return _show_password(request, made, "admin.users.was_reset")
        notice = await _change(request, name, action)
    except NotFoundError:
        raise
    except CarrelError as error:
        return await _draw_user(request, error)
    return PageRedirect(local_address(_PATH, name), notice)


async def _change(request: PageRequest, name: str, action: str) -> str:
    match action:
        case "scopes":
            await request.ask("set_user_scopes", name=name, scopes=read_scopes(request))
            return request.translate("admin.users.scopes_set", name=name)
        case "disable":
            await request.ask("disable_user", name=name)
            return request.translate("admin.users.was_disabled", name=name)
        case "enable":
            await request.ask("enable_user", name=name)
            return request.translate("admin.users.was_enabled", name=name)
        case "sessions":
            ended = await request.ask("end_user_sessions", name=name)
            return request.translate("admin.users.sessions_ended", count=ended.ended_sessions)
        case "revoke_all":
            ended = await request.ask("revoke_all_access", name=name)
            return request.translate(
                "admin.users.all_revoked",
                tokens=ended.ended_tokens,
                grants=ended.ended_grants,
                sessions=ended.ended_sessions,
            )
        case _:
            return ""


async def _draw_users(request: PageRequest, error: CarrelError | None = None) -> PageView:
    found: UserList = await request.ask("list_users")
    form = request.form
    facts: dict[str, object] = {
        "found": found,
        "kinds": {user.name: name_kind(user.scopes) for user in found.users},
        "groups": SCOPE_GROUPS,
        "kind": form.text("kind", MEMBER),
        "chosen": form.texts("scope"),
        "name": form.text("name"),
        "error": error,
    }
    return view_admin_page(request, "users", "users", facts, status=_status(error))


async def _draw_user(request: PageRequest, error: CarrelError | None = None) -> PageView:
    found: UserList = await request.ask("list_users")
    user = _find_user(found, request.variables["name"])
    tokens = await request.ask("list_tokens")
    clients = await request.ask("list_clients")
    facts: dict[str, Any] = {
        "user": user,
        "can_log_in": found.can_log_in,
        "groups": SCOPE_GROUPS,
        "kind": name_kind(user.scopes),
        "chosen": user.scopes,
        "tokens": [token for token in tokens.tokens if token.user_name == user.name],
        "grants": [grant for grant in clients.grants if grant.user_name == user.name],
        "error": error,
    }
    return view_admin_page(request, "users", "user", facts, title=user.name, status=_status(error))


def _find_user(found: UserList, name: str) -> UserRow:
    for user in found.users:
        if user.name == name:
            return user
    raise NotFoundError("User", name[:100], next_step="The list of users shows who there is.")


def _show_password(request: PageRequest, made: NewPassword, message: str) -> PageView:
    facts = {
        "secret": made.password,
        "told": request.translate(message, name=made.name),
        "tokens": made.tokens,
        "are_tokens_revoked": made.are_tokens_revoked,
        "back": _PATH,
        "kind": "password",
        "made": made,
    }
    title = request.translate("admin.secret.password")
    return view_admin_page(request, "users", "secret", facts, title=title, is_secret=True)


def _status(error: CarrelError | None) -> int:
    return 200 if error is None else error_mapping(error).http_status
