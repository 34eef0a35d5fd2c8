"""The catalogue of all operations, resources and prompts, by room."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from carrel.core.decorators import collect_operations, collect_prompts, collect_resources
from carrel.core.desk_search import RoomSearch, desk_search_operation
from carrel.core.jobs import JobOperations, JobSource, job_operations
from carrel.core.operation import Entry, Operation, Prompt, Resource
from carrel.core.room import RoomDeclaration

EntryT = TypeVar("EntryT")


@dataclass(frozen=True, slots=True)
class Room:
    """The operations, resources and prompts of one room."""

    declaration: RoomDeclaration
    operations: tuple[Operation[Any], ...] = ()
    resources: tuple[Resource, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    jobs: JobSource | None = None
    search: RoomSearch | None = None

    @classmethod
    def collect(
        cls,
        declaration: RoomDeclaration,
        *holders: object,
        jobs: JobSource | None = None,
        search: RoomSearch | None = None,
    ) -> Room:
        """The room that offers every described method of these objects, in their order."""
        name = declaration.name
        return cls(
            declaration,
            tuple(each for holder in holders for each in collect_operations(name, holder)),
            tuple(each for holder in holders for each in collect_resources(name, holder)),
            tuple(each for holder in holders for each in collect_prompts(name, holder)),
            jobs,
            search,
        )

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def title(self) -> str:
        return self.declaration.title

    @property
    def purpose(self) -> str:
        return self.declaration.purpose


class Catalogue:
    """All open rooms. Names are unique across rooms, and within a room under its own names."""

    def __init__(self, rooms: Iterable[Room]) -> None:
        self.rooms = tuple(rooms)
        self.operations: dict[str, Operation[Any]] = {}
        self.resources: dict[str, Resource] = {}
        self.prompts: dict[str, Prompt] = {}
        for room in self.rooms:
            alone: set[str] = set()
            for operation in room.operations:
                if operation.is_local:
                    raise ValueError(f"{operation.name} is local and must not reach a door")
                _claim(self.operations, operation.name, operation)
                name_alone = operation.name_alone or operation.name
                if name_alone in alone:
                    raise ValueError(
                        f"two operations of {room.name} are called {name_alone} when it is served "
                        f"alone"
                    )
                alone.add(name_alone)
            for resource in room.resources:
                _claim(self.resources, resource.uri, resource)
            for prompt in room.prompts:
                _claim(self.prompts, prompt.name, prompt)
        self.jobs = self._job_operations()
        self.desk_search = self._desk_search()

    def _desk_search(self) -> Operation[Any] | None:
        """The search over all rooms, where there are several that can be searched."""
        rooms = {room.name: room.search for room in self.rooms if room.search is not None}
        if len(rooms) < 2:
            return None
        search = desk_search_operation(rooms)
        _claim(self.operations, search.name, search)
        return search

    def _job_operations(self) -> JobOperations | None:
        """The operations over all rooms' jobs, if a room has any."""
        sources = [room.jobs for room in self.rooms if room.jobs is not None]
        if not sources:
            return None
        jobs = job_operations(sources, self.operations)
        for operation in jobs.tools:
            _claim(self.operations, operation.name, operation)
        return jobs

    def room(self, name: str) -> Room:
        return next(room for room in self.rooms if room.name == name)

    @property
    def scopes(self) -> frozenset[str]:
        """Every scope that an entry of the catalogue requires."""
        entries: tuple[Entry, ...] = (
            *self.operations.values(),
            *self.resources.values(),
            *self.prompts.values(),
        )
        return frozenset(scope for entry in entries for scope in entry.scopes)


def _claim(names: dict[str, EntryT], name: str, entry: EntryT) -> None:
    if name in names:
        raise ValueError(f"two entries of the catalogue are called {name}")
    names[name] = entry
