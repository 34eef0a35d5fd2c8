"""What is not served because it would only be kept in a home folder that does not last, or that
each replica has for itself.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, NoReturn

from carrel.core.catalogue import Room
from carrel.core.errors import CarrelError
from carrel.core.operation import Operation, Resource
from carrel.settings import Settings
from carrel.wiring.desk import Check, Health

NOT_SERVED = "not_served_home_is_not_persistent"


class HomeNotPersistentError(CarrelError):
    """The answer would rest on files that another replica does not have, or that are gone after the
    next start.
    """

    code = "home_not_persistent"


def home_not_persistent(settings: Settings, what: str) -> HomeNotPersistentError:
    """The error for something that is only kept in the home folder."""
    reason = (
        "beside a shared database"
        if settings.database.url
        else "on a platform whose instances keep no files"
    )
    return HomeNotPersistentError(
        f"{what} kept in files of the server's home folder, and {reason} nothing says that this "
        f"folder lasts and is the same for "
        "every replica",
        next_step="The operator can mount one persistent folder for all replicas and set "
        "server.home_is_persistent = true "
        "(CARREL_SERVER_HOME_IS_PERSISTENT).",
        details={"setting": "server.home_is_persistent"},
    )


def without_home(
    room: Room, error: HomeNotPersistentError, *, still_served: Collection[str] = ()
) -> Room:
    """The room with everything answering `error`, except the operations that need no files."""

    async def refuse(*_: object) -> NoReturn:
        # A new one each time: an exception that is raised twice carries both tracebacks.
        raise HomeNotPersistentError(
            error.message, next_step=error.next_step, details=error.details
        )

    def refusing(operation: Operation[Any]) -> Operation[Any]:
        return operation if operation.name in still_served else replace(operation, run=refuse)

    def refusing_resource(resource: Resource) -> Resource:
        return resource if resource.name in still_served else replace(resource, read=refuse)

    return replace(
        room,
        operations=tuple(refusing(operation) for operation in room.operations),
        resources=tuple(refusing_resource(resource) for resource in room.resources),
    )


def not_served(error: HomeNotPersistentError) -> Check:
    """A check that is well, and says that there is nothing served to check."""

    async def check() -> Health:
        return Health(True, f"not served: {error.message}", error.next_step, note=NOT_SERVED)

    return check
