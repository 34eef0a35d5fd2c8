"""Shared libraries: who may what, and the library that a call is about."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from carrel.core.caller import Call, Caller
from carrel.core.clock import Clock
from carrel.core.operation import Effect, Operation, Question
from carrel.libraries.text.folding import fold_text
from carrel.rooms.references.errors import ForceRequiredError
from carrel.rooms.references.shared.errors import (
    LastOwnerError,
    LibraryNameAmbiguousError,
    NoSuchMemberError,
    RoleTooLowError,
    SharedLibraryNotFoundError,
    TooManyError,
)
from carrel.rooms.references.shared.members import (
    LibraryContents,
    Member,
    MemberCaller,
    Membership,
    MemberStore,
    Role,
    may,
)
from carrel.rooms.references.shared.models import (
    CreateLibrary,
    DeleteLibrary,
    LeftLibrary,
    Libraries,
    LibraryMember,
    LibraryMemberName,
    LibraryMembers,
    OneLibrary,
    RenameLibrary,
    SetLibraryMember,
    SharedLibrary,
)

# Bounds on what one person or library can fill the tables with.
MAX_OWNED = 100
MAX_MEMBERS = 500
_NO_WORD = re.compile(r"[^a-z0-9]+")
_LONGEST_SLUG = 40
# The field of a question that names a shared library instead of the caller's own.
SHARED_LIBRARY = "shared_library"


class SharedLibraries:
    """Every refusal is decided on the members as they are when it takes effect."""

    def __init__(self, store: MemberStore, contents: LibraryContents, clock: Clock) -> None:
        self._store = store
        self._contents = contents
        self._clock = clock

    def admit_members(self, operation: Operation[Any]) -> Operation[Any]:
        """The operation, which runs on the shared library that its question names.

        What changes anything needs a writer; a stranger is told that there is no such library.
        """
        if SHARED_LIBRARY not in operation.question.model_fields:
            return operation
        needed: Role = "reader" if operation.effect is Effect.READS else "writer"

        async def run(question: Question, call: Call) -> Any:
            named: str | None = getattr(question, SHARED_LIBRARY)
            if named is not None:
                call = replace(call, caller=await self.enter(named, call.caller, needed))
            return await operation.run(question, call)

        return replace(operation, run=run)

    async def enter(self, named: str, caller: Caller, needed: Role) -> MemberCaller:
        """The caller in a shared library. SharedLibraryNotFoundError, RoleTooLowError."""
        found = await self._find(named, caller)
        if not may(found.role, needed):
            raise RoleTooLowError(found.name, found.role, needed)
        return MemberCaller(
            caller.user_id,
            caller.scopes,
            caller.client_id,
            caller.is_limited,
            found.library_id,
            found.role,
        )

    async def list_libraries(self, call: Call) -> Libraries:
        found = await self._store.list_memberships(call.caller.user_id)
        return Libraries(libraries=[_describe(each) for each in found])

    async def create(self, question: CreateLibrary, call: Call) -> SharedLibrary:
        await self._finish_removals()
        library_id = _make_id(question.name)
        owner, now = call.caller.user_id, self._clock.now()
        if not await self._store.create(library_id, question.name, owner, now, MAX_OWNED):
            raise TooManyError("shared libraries of yours", MAX_OWNED)
        return _describe(await self._find(library_id, call.caller))

    async def list_members(self, question: OneLibrary, call: Call) -> LibraryMembers:
        return await self._describe_members(await self._find(question.library, call.caller), call)

    async def set_member(self, question: SetLibraryMember, call: Call) -> LibraryMembers:
        """Adds a member or changes the role of one."""
        found = await self._find(question.library, call.caller)
        actor, now = call.caller.user_id, self._clock.now().isoformat(timespec="seconds")

        def decide(members: Sequence[Member]) -> Sequence[Member]:
            _require_owner(members, actor, found)
            present = _find_member(members, question.member)
            if present is None:
                if len(members) >= MAX_MEMBERS:
                    raise TooManyError(f"members of {found.name}", MAX_MEMBERS)
                return [*members, Member(question.member, question.role, now, actor)]
            changed = replace(present, role=question.role)
            return _keep_owner([changed if each is present else each for each in members], found)

        await self._store.change_members(found.library_id, decide)
        return await self._describe_members(found, call)

    async def remove_member(self, question: LibraryMemberName, call: Call) -> LibraryMembers:
        found = await self._find(question.library, call.caller)
        actor = call.caller.user_id

        def decide(members: Sequence[Member]) -> Sequence[Member]:
            _require_owner(members, actor, found)
            if _find_member(members, question.member) is None:
                raise NoSuchMemberError(question.member)
            return _keep_owner([each for each in members if each.user_id != question.member], found)

        await self._store.change_members(found.library_id, decide)
        if question.member == actor:
            return LibraryMembers(library=_describe(found), members=[])
        return await self._describe_members(found, call)

    async def leave(self, question: OneLibrary, call: Call) -> LeftLibrary:
        found = await self._find(question.library, call.caller)
        actor = call.caller.user_id

        def decide(members: Sequence[Member]) -> Sequence[Member]:
            return _keep_owner([each for each in members if each.user_id != actor], found)

        await self._store.change_members(found.library_id, decide)
        return LeftLibrary(id=found.library_id, name=found.name)

    async def hand_over(self, question: LibraryMemberName, call: Call) -> LibraryMembers:
        """Makes a member owner and the caller a writer, in one step."""
        found = await self._find(question.library, call.caller)
        actor = call.caller.user_id

        def decide(members: Sequence[Member]) -> Sequence[Member]:
            _require_owner(members, actor, found)
            if _find_member(members, question.member) is None:
                raise NoSuchMemberError(question.member)
            roles: dict[str, Role] = {actor: "writer"}
            roles[question.member] = "owner"
            return [replace(each, role=roles.get(each.user_id, each.role)) for each in members]

        await self._store.change_members(found.library_id, decide)
        return await self._describe_members(found, call)

    async def rename(self, question: RenameLibrary, call: Call) -> SharedLibrary:
        found = await self._find_owned(question.library, call)
        await self._store.rename(found.library_id, question.name)
        return _describe(replace(found, name=question.name))

    async def delete(self, question: DeleteLibrary, call: Call) -> LeftLibrary:
        """Deletes the references, their files and history for good."""
        found = await self._find_owned(question.library, call)
        if not question.force:
            raise ForceRequiredError(f"the shared library {found.name} for all of its members")
        await self._store.begin_removal(found.library_id)
        await self._finish_removals()
        return LeftLibrary(id=found.library_id, name=found.name)

    async def _finish_removals(self) -> None:
        """Also of libraries whose removal was interrupted."""
        for library_id in await self._store.list_removals():
            await self._contents.remove_contents(library_id)
            await self._store.finish_removal(library_id)

    async def _find(self, named: str, caller: Caller) -> Membership:
        """The caller's library of that id, or of that name where one alone has it."""
        found = await self._store.find_membership(named, caller.user_id)
        if found is not None:
            return found
        wanted = fold_text(named)
        same = [
            each
            for each in await self._store.list_memberships(caller.user_id)
            if fold_text(each.name) == wanted
        ]
        if len(same) == 1:
            return same[0]
        if same:
            raise LibraryNameAmbiguousError(named, [each.library_id for each in same])
        raise SharedLibraryNotFoundError(named)

    async def _find_owned(self, named: str, call: Call) -> Membership:
        found = await self._find(named, call.caller)
        if not may(found.role, "owner"):
            raise RoleTooLowError(found.name, found.role, "owner")
        return found

    async def _describe_members(self, library: Membership, call: Call) -> LibraryMembers:
        members = await self._store.list_members(library.library_id)
        own = _find_member(members, call.caller.user_id)
        if own is None:
            raise SharedLibraryNotFoundError(library.name)
        present = replace(library, role=own.role, member_count=len(members))
        return LibraryMembers(
            library=_describe(present),
            members=[
                LibraryMember(
                    user=each.user_id, role=each.role, since=each.since, added_by=each.added_by
                )
                for each in members
            ],
        )


def _make_id(name: str) -> str:
    """An id that nobody can guess from the name, so that creating one tells of no other."""
    slug = _NO_WORD.sub("-", fold_text(name)).strip("-")[:_LONGEST_SLUG].strip("-")
    return f"{slug or 'library'}-{secrets.token_hex(4)}"


def _find_member(members: Sequence[Member], user_id: str) -> Member | None:
    return next((each for each in members if each.user_id == user_id), None)


def _require_owner(members: Sequence[Member], user_id: str, library: Membership) -> None:
    own = _find_member(members, user_id)
    if own is None:
        raise SharedLibraryNotFoundError(library.name)
    if not may(own.role, "owner"):
        raise RoleTooLowError(library.name, own.role, "owner")


def _keep_owner(members: Sequence[Member], library: Membership) -> Sequence[Member]:
    if not any(each.role == "owner" for each in members):
        raise LastOwnerError(library.name)
    return members


def _describe(found: Membership) -> SharedLibrary:
    return SharedLibrary(
        id=found.library_id,
        name=found.name,
        role=found.role,
        members=found.member_count,
        created_at=found.created_at,
    )
