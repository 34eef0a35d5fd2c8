"""What can go wrong with shared libraries."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.core.errors import CarrelError, ConflictError, InvalidInputError, NotFoundError
from carrel.rooms.references.shared.members import Role

_MOST_NAMED = 20


class SharedLibraryNotFoundError(NotFoundError):
    """There is none of that name among the caller's; whether others have one is not said."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "Shared library",
            name[:200],
            next_step="list_libraries names those of which you are a member.",
        )


class LibraryNameAmbiguousError(InvalidInputError):
    """Several of the caller's libraries have that name."""

    def __init__(self, name: str, ids: Sequence[str]) -> None:
        super().__init__(
            f"{len(ids)} shared libraries of yours are called {name[:200]}",
            next_step=f"Name one by its id: {', '.join(ids[:_MOST_NAMED])}.",
            details={"name": name[:200], "ids": list(ids[:_MOST_NAMED])},
        )


class RoleTooLowError(CarrelError):
    """The caller is a member whose role does not allow the call."""

    code = "insufficient_permissions"

    def __init__(self, name: str, role: Role, needed: Role) -> None:
        super().__init__(
            f"This needs the role {needed} in the shared library {name}; you are a {role}",
            next_step="Ask an owner of it for that role; list_library_members names them.",
            details={"library": name, "role": role, "required_role": needed},
        )


class LastOwnerError(ConflictError):
    """A library would be left without an owner."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} would have no owner",
            next_step="Make another member owner first (hand_over_library), or delete the library.",
            details={"library": name},
        )


class NoSuchMemberError(NotFoundError):
    """That person is no member of the library."""

    def __init__(self, user: str) -> None:
        super().__init__("Member", user, next_step="list_library_members names the members.")


class TooManyError(ConflictError):
    """A bound on libraries or members is reached."""

    def __init__(self, what: str, most: int) -> None:
        super().__init__(
            f"There are {most} {what} already",
            next_step="Remove some first.",
            details={"most": most},
        )
