"""The library that a call is about: the caller's own, or a shared one."""

from __future__ import annotations

from collections.abc import Callable

from carrel.core.caller import Caller
from carrel.rooms.references.ports import Libraries, Library
from carrel.rooms.references.shared.members import MemberCaller


class OwnAndSharedLibraries:
    """`open_shared` opens the shared library of an id; who may was decided before."""

    def __init__(self, own: Libraries, open_shared: Callable[[str], Library]) -> None:
        self._own = own
        self._open_shared = open_shared

    def of(self, caller: Caller) -> Library:
        if isinstance(caller, MemberCaller):
            return self._open_shared(caller.library_id)
        return self._own.of(caller)
