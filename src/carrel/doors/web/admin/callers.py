"""Who may use the admin operations, beside the scopes that the gate checks."""

from __future__ import annotations

from carrel.core.caller import Call
from carrel.core.errors import CarrelError, NotConfiguredError
from carrel.doors.web.sessions import WEB_CLIENT

ADMIN_SCOPES = frozenset({"admin"})
# Pages ask several at once, and a person looks at many pages.
READ_COST = 0.2


class NotAPersonError(CarrelError):
    """A program that a person allowed something asks for what only the person may do."""

    code = "insufficient_permissions"

    def __init__(self) -> None:
        super().__init__(
            "Programs may not change who has access",
            next_step="Do it yourself at the console, or with carrel users and carrel tokens.",
        )


class NoAccountsError(NotConfiguredError):
    """This mode of access keeps no accounts here."""

    def __init__(self, mode: str) -> None:
        super().__init__(
            f"There are no accounts here: auth.mode is {mode}",
            next_step="Set auth.mode = builtin to have users, or tokens to have tokens.",
            details={"setting": "auth.mode"},
        )


def refuse_programs(call: Call) -> None:
    """Refuse a client that acts by a person's consent: access it made would outlast the consent."""
    client = call.caller.client_id
    if client is not None and client != WEB_CLIENT and not client.startswith("token:"):
        raise NotAPersonError
