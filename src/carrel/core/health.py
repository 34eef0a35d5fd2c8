"""Health of one part of the desk, as the doctor and `/ready` report it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from carrel.core.errors import CarrelError


@dataclass(frozen=True, slots=True)
class Health:
    """The health of a part; `problem` and `note` are codes that may be shown to anybody."""

    is_well: bool
    says: str
    next_step: str = ""
    problem: str = ""
    note: str = ""


Check = Callable[[], Awaitable[Health]]


def check_by(ask: Callable[[], Awaitable[str]], action: str = "") -> Check:
    """A check that reports what `ask` returns, or its error with `action` as the next step."""

    async def check() -> Health:
        try:
            return Health(True, await ask())
        except CarrelError as error:
            return Health(False, error.message, action or error.next_step)

    return check
