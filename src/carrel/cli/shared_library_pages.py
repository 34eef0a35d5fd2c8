"""Pages of shared libraries and their members."""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote

from carrel.cli.page import Column, Line, MakePage, Note, Page, Table
from carrel.cli.value_formats import count_things, format_count, format_time
from carrel.rooms.references.shared.models import (
    LeftLibrary,
    Libraries,
    LibraryMembers,
    ServerLibraries,
    SharedLibrary,
)

_ID = Column("id", whole=True)


def _libraries(answer: Libraries) -> Page:
    if not answer.libraries:
        step = "carrel references create-library NAME makes one."
        return Page((Note("You are a member of no shared library."),), next_step=step)
    rows = [
        (each.id, each.name, each.role, format_count(each.members)) for each in answer.libraries
    ]
    head = (_ID, Column("name"), Column("your role"), Column("members", align="right"))
    first = quote(answer.libraries[0].id)
    step = f"carrel references list --shared-library {first} lists what is in it."
    return Page((Table(head, rows),), next_step=step)


def _library(answer: SharedLibrary) -> Page:
    members = count_things(answer.members, "member")
    line = f"{answer.id}: {answer.name}, you are its {answer.role}, {members}"
    step = f"carrel references share {quote(answer.id)} NAME --role writer adds a member."
    return Page((Line((line,)),), next_step=step if answer.role == "owner" else "")


def _members(answer: LibraryMembers) -> Page:
    rows = [
        (each.user, each.role, format_time(each.since), each.added_by) for each in answer.members
    ]
    head = (Column("user", whole=True), Column("role"), Column("since"), Column("added by"))
    return Page((Table(head, rows), Note(f"{answer.library.name} ({answer.library.id})")))


def _left(answer: LeftLibrary) -> Page:
    return Page((Line((f"You have left {answer.name} ({answer.id}).",)),))


def _deleted(answer: LeftLibrary) -> Page:
    return Page((Line((f"{answer.name} ({answer.id}) is deleted.",)),))


def _all_libraries(answer: ServerLibraries) -> Page:
    if not answer.libraries:
        return Page((Note("There is no shared library."),), next_step="")
    rows = [
        (each.id, each.name, ", ".join(each.owners) or "nobody", format_count(each.members))
        for each in answer.libraries
    ]
    head = (_ID, Column("name"), Column("owners"), Column("members", align="right"))
    return Page((Table(head, rows),))


SHARED_LIBRARY_PAGES: Mapping[str, MakePage] = {
    "list_libraries": _libraries,
    "create_library": _library,
    "rename_library": _library,
    "list_library_members": _members,
    "set_library_member": _members,
    "remove_library_member": _members,
    "hand_over_library": _members,
    "leave_library": _left,
    "delete_library": _deleted,
    "list_all_libraries": _all_libraries,
    "assign_library_owner": _all_libraries,
}
