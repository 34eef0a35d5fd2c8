"""Questions and answers about shared libraries."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from carrel.core.operation import Answer, Question
from carrel.rooms.references.shared.members import Role

MAX_NAME = 100
MAX_USER = 200


def read_name(name: str) -> str:
    """A name in one line, without spaces around it."""
    cleaned = " ".join(name.split())
    if not cleaned or not cleaned.isprintable():
        raise ValueError("must be a line of text")
    return cleaned


def _read_user(user: str) -> str:
    cleaned = user.strip()
    if not cleaned or not cleaned.isprintable():
        raise ValueError("must be the name of a user")
    return cleaned


LibraryId = Annotated[
    str, Field(min_length=1, max_length=MAX_NAME, description="Shared library: its id or name")
]
LibraryTitle = Annotated[
    str, Field(min_length=1, max_length=MAX_NAME, description="Name"), AfterValidator(read_name)
]
UserName = Annotated[
    str,
    Field(min_length=1, max_length=MAX_USER, description="User name, as log-ins and keys have it"),
    AfterValidator(_read_user),
]
RoleField = Annotated[
    Role,
    Field(description="reader: reads; writer: also changes; owner: also members, name, deletion"),
]


class ListLibraries(Question):
    """Nothing is asked."""


class CreateLibrary(Question):
    name: LibraryTitle


class OneLibrary(Question):
    library: LibraryId


class SetLibraryMember(Question):
    library: LibraryId
    member: UserName
    role: RoleField = "reader"


class LibraryMemberName(Question):
    library: LibraryId
    member: UserName


class RenameLibrary(Question):
    library: LibraryId
    name: LibraryTitle


class DeleteLibrary(Question):
    library: LibraryId
    force: bool = Field(default=False, description="Must be true")


class AssignLibraryOwner(Question):
    library: str = Field(min_length=1, max_length=MAX_NAME, description="Id of a shared library")
    member: UserName


class SharedLibrary(Answer):
    """A shared library; `role` is the caller's own in it."""

    id: str
    name: str
    role: Role
    members: int
    created_at: str


class Libraries(Answer):
    """The shared libraries of which the caller is a member, beside the caller's own."""

    libraries: list[SharedLibrary]


class LibraryMember(Answer):
    user: str
    role: Role
    since: str
    added_by: str


class LibraryMembers(Answer):
    """A shared library with all of its members, owners first."""

    library: SharedLibrary
    members: list[LibraryMember]


class LeftLibrary(Answer):
    """The library that the caller is no longer a member of, or that was deleted."""

    id: str
    name: str


class ServerLibrary(Answer):
    id: str
    name: str
    created_at: str
    owners: list[str]
    members: int


class ServerLibraries(Answer):
    """Every shared library of the server."""

    libraries: list[ServerLibrary]
