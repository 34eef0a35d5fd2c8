"""A desk with the references room open on a file of the test's own, asked through the real gate."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from carrel.core.answer import Explanation, Text, split_explanation
from carrel.core.caller import Caller, Visit
from carrel.policy.scopes import ALL_SCOPES
from carrel.settings import Settings
from carrel.wiring.desk import Desk, open_desk

ResultT = TypeVar("ResultT")


@dataclass
class Reader:
    """Asks the operations of one desk, as whoever and through whichever door the test says."""

    desk: Desk
    user: str = "local"
    door: str = "stdio"
    # What stood beside the last answer.
    explanation: Explanation | None = field(default=None, init=False)

    async def ask(self, name: str, /, **arguments: Any) -> Any:
        operation = self.desk.catalogue.operations[name]
        visit = Visit(self.door, "test")
        caller = Caller(self.user, ALL_SCOPES, is_limited=False)
        given = await self.desk.gate.call(operation, arguments, caller, visit)
        answer, self.explanation = split_explanation(given)
        return (
            answer.body
            if isinstance(answer, Text)
            else TypeAdapter(operation.answer).dump_python(answer, mode="json")
        )

    async def read(self, uri: str) -> str:
        for resource in self.desk.catalogue.resources.values():
            variables = resource.matcher()(uri)
            if variables is not None:
                visit = Visit(self.door, "test")
                content = await self.desk.gate.read(
                    resource, variables, Caller(self.user, ALL_SCOPES, is_limited=False), visit
                )
                return str(content.body)
        raise LookupError(uri)


@dataclass
class Stage:
    """Where a scene is played: the home folder, the library file, and further settings."""

    home: Path
    references: dict[str, Any] = field(default_factory=dict)
    papers: dict[str, Any] = field(default_factory=dict)

    @property
    def library(self) -> Path:
        return self.home / "lib.json"

    def play(self, scene: Callable[[Reader], Awaitable[ResultT]], **reader: str) -> ResultT:
        settings = Settings.model_validate(
            {
                "home": self.home,
                "rooms": ("references",),
                "references": {"library": self.library, **self.references},
                "papers": self.papers,
                "audit": {"enabled": False},
            }
        )

        async def playing() -> ResultT:
            async with open_desk(settings).session() as desk:
                return await scene(Reader(desk, **reader))

        return asyncio.run(playing())
