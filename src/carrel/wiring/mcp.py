"""What MCP addresses serve: all rooms at the common one, each alone at its own, and the same as a
FastMCP server.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from carrel.core.catalogue import Room
from carrel.core.operation import Operation, Prompt, Resource
from carrel.doors.mcp.dispatcher import Dispatcher
from carrel.doors.mcp.endpoint import Endpoint
from carrel.doors.mcp.operation_tools import OperationTools
from carrel.rooms import declared_rooms
from carrel.settings import Settings, SettingsError
from carrel.wiring.desk import Desk, open_desk
from carrel.wiring.instructions import desk_instructions

if TYPE_CHECKING:
    from fastmcp import FastMCP


def common_endpoint(desk: Desk, *, has_everything: bool) -> Endpoint:
    """All open rooms at one address: tools and resources alone, or with everything, prompts and
    tasks included.
    """
    catalogue = desk.catalogue
    server = desk.settings.server
    tools = OperationTools(catalogue, desk.gate)
    if server.compact:
        operations: list[Operation[Any]] = [tools.one_tool()]
    else:
        operations = [*catalogue.operations.values(), *tools.find_and_run()]
    listed, unlisted = frozenset(server.listed_tools), frozenset(server.unlisted_tools)
    return Endpoint(
        "desk",
        operations=operations,
        resources=catalogue.resources.values(),
        prompts=catalogue.prompts.values() if has_everything and catalogue.prompts else None,
        server_name=server.name,
        server_version=server.version,
        instructions=desk_instructions(
            [room.declaration for room in catalogue.rooms],
            has_jobs=catalogue.jobs is not None,
            is_compact=server.compact,
        ),
        json_rpc_error_schemes=_json_rpc_error_schemes(),
        jobs=catalogue.jobs if has_everything and not server.compact else None,
        offers_completions=has_everything
        and _can_complete(catalogue.resources.values(), catalogue.prompts.values()),
        is_listed=lambda operation: (
            (operation.is_listed or operation.name in listed) and operation.name not in unlisted
        ),
    )


def room_endpoint(desk: Desk, room: Room) -> Endpoint:
    """One room alone, under the names of its own specification, with the tools for its jobs where
    it has any.
    """
    jobs = desk.catalogue.jobs if room.jobs is not None else None
    return Endpoint(
        room.name,
        operations=(*room.operations, *(jobs.tools if jobs is not None else ())),
        resources=room.resources,
        prompts=room.prompts or None,
        server_name=desk.settings.server.name,
        server_version=desk.settings.server.version,
        instructions=room.purpose,
        is_alone=True,
        json_rpc_error_schemes=_json_rpc_error_schemes(),
        speaks_json_rpc_errors=room.declaration.error_dialect == "json_rpc",
        jobs=jobs,
        offers_completions=_can_complete(room.resources, room.prompts),
    )


def _json_rpc_error_schemes() -> tuple[str, ...]:
    """How addresses begin whose room wants a missing one told as an application error."""
    return tuple(
        f"{scheme}://"
        for room in declared_rooms().values()
        if room.error_dialect == "json_rpc"
        for scheme in room.schemes
    )


def _can_complete(resources: Iterable[Resource], prompts: Iterable[Prompt]) -> bool:
    return any(each.complete is not None for each in resources) or any(
        each.complete is not None for each in prompts
    )


def stdio_dispatcher(desk: Desk) -> Dispatcher:
    """The dispatcher of `carrel mcp`: one room alone under its own names, or all of them with their
    prompts.
    """
    if len(desk.catalogue.rooms) == 1 and not desk.settings.server.compact:
        return Dispatcher(room_endpoint(desk, desk.catalogue.rooms[0]), desk.gate)
    return Dispatcher(common_endpoint(desk, has_everything=True), desk.gate)


def fastmcp_app(settings: Settings) -> FastMCP[Any]:
    """All rooms as a FastMCP server, for `fastmcp run` and for mounting into others."""
    try:
        from carrel.doors.mcp.fastmcp_server import fastmcp_server
    except ModuleNotFoundError:
        raise SettingsError(
            "FastMCP is not installed; pip install 'carrel[fastmcp]' brings it"
        ) from None

    desk = open_desk(settings)

    @asynccontextmanager
    async def lifespan(server: FastMCP[Any]) -> AsyncIterator[dict[str, object]]:
        async with desk.opened(takes_up_work=True):
            yield {}

    return fastmcp_server(common_endpoint(desk, has_everything=True), desk.gate, lifespan)
