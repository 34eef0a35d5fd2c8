"""Refuses writes to a home folder that is not durable or not shared."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from carrel.core.caller import Call
from carrel.core.catalogue import Room
from carrel.core.errors import CarrelError
from carrel.core.health import Check, Health
from carrel.core.operation import Operation, Resource

NOT_SERVED = "not_served_home_is_not_persistent"


class HomeNotPersistentError(CarrelError):
    """The answer would rest on files that another replica or the next start does not have."""

    code = "home_not_persistent"

    def __init__(self, what: str, *, has_database: bool) -> None:
        self.what = what
        self.has_database = has_database
        reason = (
            "beside a shared database"
            if has_database
            else "on a platform whose instances keep no files"
        )
        super().__init__(
            f"{what} kept in files of the server's home folder, and {reason} nothing says that "
            "this folder lasts and is the same for every replica",
            next_step="The operator can mount one persistent folder for all replicas and set "
            "server.home_is_persistent = true (CARREL_SERVER_HOME_IS_PERSISTENT).",
            details={"setting": "server.home_is_persistent"},
        )


@dataclass(frozen=True, slots=True)
class _RefusedSearch:
    """A room's part in the search over the desk where its files do not last."""

    scopes: frozenset[str]
    error: HomeNotPersistentError

    async def search(self, query: str, call: Call, count: int) -> NoReturn:
        raise HomeNotPersistentError(self.error.what, has_database=self.error.has_database)


def without_home(
    room: Room,
    error: HomeNotPersistentError,
    *,
    still_served: Collection[str] = (),
    is_searched: bool = False,
) -> Room:
    """The room with every operation raising `error`, except those that need no files.

    `is_searched`: the search over the desk needs none.
    """

    async def refuse(*_: object) -> NoReturn:
        # A new one each time: an exception that is raised twice carries both tracebacks.
        raise HomeNotPersistentError(error.what, has_database=error.has_database)

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
