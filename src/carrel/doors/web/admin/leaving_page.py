"""/admin/users/{name}/leave: what somebody leaves, counted before anything is done."""

from __future__ import annotations

from carrel.core.errors import CarrelError, InvalidInputError, NotFoundError
from carrel.core.pages import PageRedirect, PageRequest, PageView
from carrel.doors.errors import error_mapping
from carrel.doors.web.admin.frame import view_admin_page
from carrel.doors.web.admin.models import LeftBehind, UserList


async def draw_leaving(request: PageRequest) -> PageView:
    return await _draw(request)


async def end_account(request: PageRequest) -> PageView | PageRedirect:
    """Hands over or erases, if the name was typed."""
    form, name = request.form, request.variables["name"]
    try:
        other = _read_heir(request)
        await request.ask(
            "end_account",
            name=name,
            hand_over_to=other or None,
            confirmed_name=form.text("confirmed_name"),
        )
    except NotFoundError:
        raise
    except CarrelError as error:
        return await _draw(request, error)
    key = "admin.leaving.handed_over" if other else "admin.leaving.erased"
    return PageRedirect("/admin/users", request.translate(key, name=name, other=other))


def _read_heir(request: PageRequest) -> str:
    """Who gets it; nobody, where the button that erases was used and no other."""
    action, other = request.form.text("action"), request.form.text("other")
    if action == "erase":
        return ""
    if action != "hand_over" or not other:
        raise InvalidInputError(request.translate("admin.leaving.nobody"))
    return other


async def _draw(request: PageRequest, error: CarrelError | None = None) -> PageView:
    left: LeftBehind = await request.ask("count_left_behind", name=request.variables["name"])
    users: UserList = await request.ask("list_users")
    facts: dict[str, object] = {
        "left": left,
        "others": [
            user.name for user in users.users if user.name != left.name and not user.is_disabled
        ],
        "other": request.form.text("other"),
        "error": error,
    }
    title = request.translate("admin.leaving.title", name=left.name)
    status = 200 if error is None else error_mapping(error).http_status
    return view_admin_page(request, "users", "leaving", facts, title=title, status=status)
