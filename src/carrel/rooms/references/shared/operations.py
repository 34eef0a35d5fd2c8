"""Operations on shared libraries and their members."""

from __future__ import annotations

from carrel.core.caller import Call
from carrel.core.decorators import operation
from carrel.core.operation import Effect
from carrel.rooms.references.operations import WRITE
from carrel.rooms.references.resources import READ
from carrel.rooms.references.shared.models import (
    CreateLibrary,
    DeleteLibrary,
    LeftLibrary,
    Libraries,
    LibraryMemberName,
    LibraryMembers,
    ListLibraries,
    OneLibrary,
    RenameLibrary,
    SetLibraryMember,
    SharedLibrary,
)
from carrel.rooms.references.shared.service import SharedLibraries


class SharedLibraryOperations:
    """Shared libraries of the caller; what is in them is reached by `shared_library`."""

    def __init__(self, shared: SharedLibraries) -> None:
        self._shared = shared

    @operation(
        title="List libraries",
        description=(
            "The shared libraries of which you are a member, with your role. shared_library in "
            "any call about references names one; without it your own library is meant."
        ),
        scopes=READ,
        command="libraries",
        next_command="carrel references list --shared-library ID lists what is in one.",
        is_listed=False,
        phrases=(
            "which libraries can I use; list shared libraries; group libraries; libraries of my "
            "group; which libraries am I a member of"
        ),
    )
    async def list_libraries(self, question: ListLibraries, call: Call) -> Libraries:
        return await self._shared.list_libraries(call)

    @operation(
        title="Create a shared library",
        description="A new library of references that you own and can share with others.",
        scopes=WRITE,
        effect=Effect.WRITES,
        command="create-library",
        next_command="carrel references share ID MEMBER --role writer adds a member.",
        is_listed=False,
        phrases=(
            "create a shared library; make a group library; start a library for my group; share "
            "references with colleagues"
        ),
    )
    async def create_library(self, question: CreateLibrary, call: Call) -> SharedLibrary:
        return await self._shared.create(question, call)

    @operation(
        title="List members of a library",
        description="Who may use a shared library, and in which role.",
        scopes=READ,
        command="members",
        is_listed=False,
        phrases="who can see this library; members of a shared library; who owns the library",
    )
    async def list_library_members(self, question: OneLibrary, call: Call) -> LibraryMembers:
        return await self._shared.list_members(question, call)

    @operation(
        title="Add a member or change a role",
        description=(
            "Give a person a role in a shared library: reader, writer or owner. For owners."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        is_idempotent=True,
        command="share",
        is_listed=False,
        phrases=(
            "share a library with somebody; invite a member; add a person to a library; let a "
            "colleague edit the library; change the role of a member; make somebody read-only"
        ),
    )
    async def set_library_member(self, question: SetLibraryMember, call: Call) -> LibraryMembers:
        return await self._shared.set_member(question, call)

    @operation(
        title="Remove a member",
        description="Take a person's access to a shared library away. For owners.",
        scopes=WRITE,
        effect=Effect.DESTROYS,
        command="unshare",
        is_listed=False,
        phrases="remove a member from a library; stop sharing with somebody; revoke access",
    )
    async def remove_library_member(
        self, question: LibraryMemberName, call: Call
    ) -> LibraryMembers:
        return await self._shared.remove_member(question, call)

    @operation(
        title="Leave a library",
        description="Give up your own membership in a shared library.",
        scopes=WRITE,
        effect=Effect.DESTROYS,
        command="leave",
        is_listed=False,
        phrases="leave a shared library; quit a group library; give up my membership",
    )
    async def leave_library(self, question: OneLibrary, call: Call) -> LeftLibrary:
        return await self._shared.leave(question, call)

    @operation(
        title="Hand over a library",
        description="Make another member owner of a shared library, and yourself a writer.",
        scopes=WRITE,
        effect=Effect.WRITES,
        command="hand-over",
        is_listed=False,
        phrases="hand a library over to somebody; transfer ownership of a library; new owner",
    )
    async def hand_over_library(self, question: LibraryMemberName, call: Call) -> LibraryMembers:
        return await self._shared.hand_over(question, call)

    @operation(
        title="Rename a library",
        description="Give a shared library another name; its id stays. For owners.",
        scopes=WRITE,
        effect=Effect.WRITES,
        is_idempotent=True,
        command="rename-library",
        is_listed=False,
        phrases="rename a shared library; change the name of a library",
    )
    async def rename_library(self, question: RenameLibrary, call: Call) -> SharedLibrary:
        return await self._shared.rename(question, call)

    @operation(
        title="Delete a library",
        description=(
            "Delete a shared library with its references, files and history, for all members. "
            "For owners; needs force: true."
        ),
        scopes=WRITE,
        effect=Effect.DESTROYS,
        command="delete-library",
        is_listed=False,
        phrases="delete a shared library; remove a whole library for everybody",
    )
    async def delete_library(self, question: DeleteLibrary, call: Call) -> LeftLibrary:
        return await self._shared.delete(question, call)
