"""Members of shared libraries, their roles, and the caller of a call about such a library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from carrel.core.caller import Caller

Role = Literal["reader", "writer", "owner"]
# What each role may do: a role may all that those before it may.
ROLES: tuple[Role, ...] = ("reader", "writer", "owner")


@dataclass(frozen=True, slots=True)
class Member:
    """A person who may use a shared library."""

    user_id: str
    role: Role
    since: str
    added_by: str


@dataclass(frozen=True, slots=True)
class Membership:
    """A shared library as one of its members sees it."""

    library_id: str
    name: str
    role: Role
    created_at: str
    member_count: int


@dataclass(frozen=True, slots=True)
class SharedLibraryRecord:
    """A shared library as the operator of the server sees it."""

    library_id: str
    name: str
    created_at: str
    members: Sequence[Member]


@dataclass(frozen=True, slots=True)
class MemberCaller(Caller):
    """A caller whose call is about a shared library, with the role that was found for it."""

    library_id: str = ""
    role: Role = "reader"


def library_key(caller: Caller) -> str:
    """What tells the library of a call from all others, for what is kept in memory about it."""
    if isinstance(caller, MemberCaller):
        return f"shared:{caller.library_id}"
    return f"own:{caller.user_id}"


def may(role: Role, needed: Role) -> bool:
    return ROLES.index(role) >= ROLES.index(needed)


# The members as they shall be, from those that are there; raises CarrelError to refuse.
DecideMembers = Callable[[Sequence[Member]], Sequence[Member]]


class MemberStore(Protocol):
    """Shared libraries and their members; every method raises UnavailableError."""

    async def create(
        self, library_id: str, name: str, owner: str, now: datetime, most: int
    ) -> bool:
        """Whether it was made; not where the owner owns `most` libraries already."""
        ...

    async def list_memberships(self, user_id: str) -> Sequence[Membership]:
        """The libraries of which a person is a member, by name."""
        ...

    async def find_membership(self, library_id: str, user_id: str) -> Membership | None: ...

    async def list_members(self, library_id: str) -> Sequence[Member]:
        """Owners first, then by name."""
        ...

    async def change_members(self, library_id: str, decide: DecideMembers) -> Sequence[Member]:
        """The new members; `decide` runs while no other change of them can. None left: none."""
        ...

    async def rename(self, library_id: str, name: str) -> None: ...

    async def begin_removal(self, library_id: str) -> None:
        """From now on the library has no members and nobody finds it."""
        ...

    async def list_removals(self) -> Sequence[str]:
        """The libraries whose removal was begun and not finished."""
        ...

    async def finish_removal(self, library_id: str) -> None: ...

    async def list_all(self) -> Sequence[SharedLibraryRecord]:
        """Every shared library, by name."""
        ...

    async def close(self) -> None: ...


class LibraryContents(Protocol):
    """Where the references and files of shared libraries are."""

    async def remove_contents(self, library_id: str) -> None:
        """Removes all of it for good; nothing where there is nothing."""
        ...
