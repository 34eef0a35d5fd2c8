"""Who is calling: turns what a visit carries into a caller, or refuses."""

from __future__ import annotations

from typing import Protocol

from carrel.core.caller import LOCAL_USER, Caller, Visit
from carrel.policy.scopes import ALL_SCOPES


class Identity(Protocol):
    """Recognises callers. Raises UnauthenticatedError for a stranger."""

    async def identify(self, visit: Visit) -> Caller: ...


class LocalIdentity:
    """The one person at this machine, who holds every scope and is never slowed down."""

    def __init__(self) -> None:
        self._caller = Caller(user_id=LOCAL_USER, scopes=ALL_SCOPES, is_limited=False)

    async def identify(self, visit: Visit) -> Caller:
        return self._caller
