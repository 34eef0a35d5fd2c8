"""What somebody leaves, for administrators; nothing of it is shown but how much there is."""

from __future__ import annotations

from pydantic import Field

from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.errors import ConflictError
from carrel.core.operation import Effect
from carrel.doors.web.admin.callers import ADMIN_SCOPES, refuse_programs
from carrel.doors.web.admin.models import LeftBehind
from carrel.doors.web.admin.ports import Leavers
from carrel.doors.web.admin.questions import NamedAccount

# Somebody may leave a library of many files.
_SLOW_SECONDS = 600.0


class EndOfAccount(NamedAccount):
    hand_over_to: str | None = Field(
        default=None, min_length=1, max_length=200, description="Without it, all is erased"
    )
    confirmed_name: str = Field(max_length=200, description="The name once more")


class LeavingOperations:
    """Counts what somebody leaves, hands it over or erases it."""

    def __init__(self, leavers: Leavers) -> None:
        self._leavers = leavers

    @operation(
        title="Count what somebody leaves",
        description="How much of each kind a person has; changes nothing.",
        scopes=ADMIN_SCOPES,
        timeout_seconds=_SLOW_SECONDS,
    )
    async def count_left_behind(self, question: NamedAccount, call: Call) -> LeftBehind:
        counts, audit = await self._leavers.count(question.name)
        return LeftBehind(name=question.name, counts=counts, audit=audit)

    @operation(
        title="End an account",
        description="Hand over what somebody leaves, or erase it; then the account is gone.",
        scopes=ADMIN_SCOPES,
        effect=Effect.DESTROYS,
        timeout_seconds=_SLOW_SECONDS,
    )
    async def end_account(self, question: EndOfAccount, call: Call) -> LeftBehind:
        refuse_programs(call)
        if question.name == call.caller.user_id:
            raise ConflictError(
                "You cannot end your own account",
                next_step="Let another administrator do it, or use carrel users leave.",
            )
        if question.confirmed_name != question.name:
            raise ConflictError(
                "The name was not typed as it is",
                next_step="Type the name of the account to end it; nothing was changed.",
            )
        counts, audit = await self._leavers.count(question.name)
        if question.hand_over_to:
            await self._leavers.hand_over(question.name, question.hand_over_to)
        else:
            await self._leavers.erase(question.name)
        return LeftBehind(name=question.name, counts=counts, audit=audit, is_ended=True)
