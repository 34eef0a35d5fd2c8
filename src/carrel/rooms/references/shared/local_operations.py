"""Operations for the operator of the server on every shared library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.decorators import operation
from carrel.core.operation import Effect
from carrel.rooms.references.local_operations import LibraryPastOperations
from carrel.rooms.references.operations import WRITE
from carrel.rooms.references.ports import LibraryPast
from carrel.rooms.references.resources import READ
from carrel.rooms.references.shared.errors import SharedLibraryNotFoundError
from carrel.rooms.references.shared.members import Member, MemberStore
from carrel.rooms.references.shared.models import (
    AssignLibraryOwner,
    ListLibraries,
    ServerLibraries,
    ServerLibrary,
)


class LocalLibraryOperations(LibraryPastOperations):
    """All are local: they reach libraries of which the operator is no member."""

    def __init__(
        self,
        open_past: Callable[[str | None, str | None], LibraryPast],
        open_members: Callable[[], MemberStore],
        clock: Clock,
    ) -> None:
        super().__init__(open_past)
        self._open_members = open_members
        self._clock = clock

    @operation(
        title="List all shared libraries",
        description="Every shared library of this server, with its owners.",
        scopes=READ,
        is_local=True,
        command="all-libraries",
    )
    async def list_all_libraries(self, question: ListLibraries, call: Call) -> ServerLibraries:
        members = self._open_members()
        try:
            found = await members.list_all()
        finally:
            await members.close()
        return ServerLibraries(
            libraries=[
                ServerLibrary(
                    id=each.library_id,
                    name=each.name,
                    created_at=each.created_at,
                    owners=[one.user_id for one in each.members if one.role == "owner"],
                    members=len(each.members),
                )
                for each in found
            ]
        )

    @operation(
        title="Assign an owner",
        description=(
            "Make a person owner of a shared library beside those it has, such as when its only "
            "owner has left."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        is_local=True,
        command="assign-owner",
    )
    async def assign_library_owner(
        self, question: AssignLibraryOwner, call: Call
    ) -> ServerLibraries:
        now = self._clock.now().isoformat(timespec="seconds")
        added = Member(question.member, "owner", now, call.caller.user_id)

        def decide(present: Sequence[Member]) -> Sequence[Member]:
            if not present:
                raise SharedLibraryNotFoundError(question.library)
            if all(each.user_id != question.member for each in present):
                return [*present, added]
            return [
                replace(each, role="owner") if each.user_id == question.member else each
                for each in present
            ]

        members = self._open_members()
        try:
            await members.change_members(question.library, decide)
        finally:
            await members.close()
        return await self.list_all_libraries(ListLibraries(), call)
