"""What each MCP address of a desk serves: all rooms at the common ones, each alone at its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from carrel.core.catalogue import Catalogue, Room
from carrel.core.jobs import JobOperations
from carrel.core.operation import Operation, Prompt, Resource
from carrel.doors.mcp.answer_budget import AnswerBudget, KeptAnswers
from carrel.doors.mcp.desk_prompts import desk_prompts
from carrel.doors.mcp.endpoint import Endpoint
from carrel.doors.mcp.handshake import ServerOptions, desk_instructions, server_title
from carrel.doors.mcp.operation_tools import OperationTools
from carrel.doors.mcp.views.declarations import offers_views
from carrel.policy.gate import Gate
from carrel.rooms import declared_rooms


class DeskEndpoints:
    """Draws endpoints from one catalogue."""

    def __init__(
        self,
        catalogue: Catalogue,
        gate: Gate,
        server: ServerOptions,
        kept: KeptAnswers | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._gate = gate
        self._server = server
        self._budget = AnswerBudget(kept)

    def common(self, *, has_everything: bool) -> Endpoint:
        """All open rooms: tools and resources alone, or with prompts, tasks and views as well."""
        catalogue, server = self._catalogue, self._server
        resources = catalogue.resources.values()
        tools = OperationTools(
            catalogue,
            self._gate,
            self._budget,
            lambda each: not server.compact and self._is_listed(each),
        )
        operations: list[Operation[Any]] = (
            [tools.one_tool()]
            if server.compact
            else [*_for_assistants(catalogue.operations.values()), *tools.find_and_run()]
        )
        prompts = self._prompts() if has_everything else ()
        return Endpoint(
            "desk",
            operations=operations,
            resources=(*resources, self._whole_answers(catalogue.operations.values())),
            budget=self._budget,
            prompts=prompts or None,
            server_name=server.name,
            server_version=server.version,
            server_title=server_title(server),
            instructions=desk_instructions(
                [room.declaration for room in catalogue.rooms],
                has_jobs=catalogue.jobs is not None,
                is_compact=server.compact,
            ),
            json_rpc_error_schemes=_json_rpc_error_schemes(),
            jobs=catalogue.jobs if has_everything and not server.compact else None,
            offers_completions=has_everything and _can_complete(resources, prompts),
            offers_views=has_everything
            and offers_views({room.name for room in catalogue.rooms}, is_compact=server.compact),
            is_listed=self._is_listed,
        )

    def _is_listed(self, operation: Operation[Any]) -> bool:
        is_wanted = operation.is_listed or operation.name in self._server.listed_tools
        return is_wanted and operation.name not in self._server.unlisted_tools

    def _prompts(self) -> tuple[Prompt, ...]:
        """The prompts of the rooms, then those for whole jobs across rooms."""
        catalogue = self._catalogue
        listed = [each.name for each in catalogue.operations.values() if self._is_listed(each)]
        jobs = desk_prompts(catalogue, listed, is_compact=self._server.compact)
        return (*catalogue.prompts.values(), *jobs)

    def room(self, room: Room) -> Endpoint:
        """One room alone, under the names of its own specification, with tools for its jobs."""
        jobs = self._catalogue.jobs if room.jobs is not None else None
        operations = (*_for_assistants(room.operations), *_listed_tools(jobs))
        return Endpoint(
            room.name,
            operations=operations,
            resources=(*room.resources, self._whole_answers(operations)),
            budget=self._budget,
            prompts=room.prompts or None,
            server_name=self._server.name,
            server_version=self._server.version,
            server_title=server_title(self._server, room.declaration),
            instructions=room.purpose,
            is_alone=True,
            json_rpc_error_schemes=_json_rpc_error_schemes(),
            speaks_json_rpc_errors=room.declaration.error_dialect == "json_rpc",
            jobs=jobs,
            offers_completions=_can_complete(room.resources, room.prompts),
            offers_views=offers_views({room.name}),
        )

    def _whole_answers(self, operations: Iterable[Operation[Any]]) -> Resource:
        return self._budget.whole_answers(operations, self._gate)

    def stdio(self) -> Endpoint:
        """A single room under its own tool names, or all rooms together."""
        rooms = self._catalogue.rooms
        if len(rooms) == 1 and not self._server.compact:
            return self.room(rooms[0])
        return self.common(has_everything=True)


def _for_assistants(operations: Iterable[Operation[Any]]) -> Iterable[Operation[Any]]:
    return [each for each in operations if not each.is_for_people]


def _listed_tools(jobs: JobOperations | None) -> Iterable[Operation[Any]]:
    return [tool for tool in jobs.tools if tool.is_listed] if jobs is not None else ()


def _json_rpc_error_schemes() -> tuple[str, ...]:
    """URI schemes of rooms that report a missing resource as an application error."""
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
