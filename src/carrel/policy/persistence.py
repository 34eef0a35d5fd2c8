"""Refuses writes to a home folder that is not durable or not shared."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Protocol

from carrel.core.caller import Call
from carrel.core.catalogue import Room
from carrel.core.errors import CarrelError
from carrel.core.health import Check, Health
from carrel.core.operation import Operation, Resource

NOT_SERVED = "not_served_home_is_not_persistent"


class HomeNotPersistentError(CarrelError):
    """What is written would rest on files that another replica or the next start does not have.

    `what` begins the sentence ("Notes are"), `because` says why the folder is doubted, `instead`
    what an operator may set so that the data are kept elsewhere.
    """

    code = "home_not_persistent"

    def __init__(self, room: str, what: str, *, because: str, instead: str = "") -> None:
        self.room = room
        self._facts = (room, what, because, instead)
        remedy = f"{instead}, or " if instead else ""
        super().__init__(
            f"{what} kept in files of the server's home folder, and {because} nothing says that "
            "this folder lasts and is the same for every replica: they would be lost or seen by "
            "one replica alone",
            next_step=f"The operator can {remedy}mount one persistent folder for all replicas and "
            "set server.home_is_persistent = true.",
            details={"room": room, "setting": "server.home_is_persistent"},
        )

    def again(self) -> HomeNotPersistentError:
        """A new one: an exception that is raised twice carries both tracebacks."""
        room, what, because, instead = self._facts
        return HomeNotPersistentError(room, what, because=because, instead=instead)


class RepeatedRefusal(Protocol):
    """An error that is raised anew by every operation that it refuses."""

    def again(self) -> CarrelError: ...


@dataclass(frozen=True, slots=True)
class _RefusedSearch:
    """A room's part in the search over the desk where its files do not last."""

    scopes: frozenset[str]
    error: RepeatedRefusal

    async def search(self, query: str, call: Call, count: int) -> NoReturn:
        raise self.error.again()


def without_home(
    room: Room,
    error: RepeatedRefusal,
    *,
    still_served: Collection[str] = (),
    is_searched: bool = False,
) -> Room:
    """The room with every operation raising `error`, except those that need no files here.

    `is_searched`: the search over the desk needs none.
    """

    async def refuse(*_: object) -> NoReturn:
        raise error.again()

    def refuse_operation(operation: Operation[Any]) -> Operation[Any]:
        return operation if operation.name in still_served else replace(operation, run=refuse)

    def refuse_resource(resource: Resource) -> Resource:
        return resource if resource.name in still_served else replace(resource, read=refuse)

    return replace(
        room,
        operations=tuple(refuse_operation(operation) for operation in room.operations),
        resources=tuple(refuse_resource(resource) for resource in room.resources),
        search=room.search
        if room.search is None or is_searched
        else _RefusedSearch(room.search.scopes, error),
    )


def not_served(error: HomeNotPersistentError) -> Check:
    """A check that is always well and reports that nothing is served."""

    async def check() -> Health:
        return Health(True, f"not served: {error.message}", error.next_step, note=NOT_SERVED)

    return check
