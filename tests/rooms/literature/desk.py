"""A desk whose literature services are a local server, asked through the real gate."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import TypeAdapter

from carrel.core.caller import Caller, Visit
from carrel.policy.scopes import ALL_SCOPES, expand_scopes
from carrel.settings import Settings
from carrel.wiring.desk import Desk, open_desk

ResultT = TypeVar("ResultT")


@dataclass
class Reader:
    """Asks the operations of one desk, as whoever the test says."""

    desk: Desk
    user: str = "local"
    scopes: Iterable[str] = ALL_SCOPES
    shown: list[Any] = field(default_factory=list)

    async def ask(self, name: str, **arguments: Any) -> Any:
        operation = self.desk.catalogue.operations[name]
        caller = Caller(self.user, expand_scopes(self.scopes), is_limited=False)
        answer = await self.desk.gate.call(operation, arguments, caller, Visit("stdio", "test"))
        return TypeAdapter(operation.answer).dump_python(answer, mode="json")


def play(settings: Settings, scene: Callable[[Reader], Awaitable[ResultT]]) -> ResultT:
    """One scene at a desk of these settings."""

    async def playing() -> ResultT:
        async with open_desk(settings).session() as desk:
            return await scene(Reader(desk))

    return asyncio.run(playing())


def ask(settings: Settings, name: str, **arguments: Any) -> Any:
    """One question at a desk of these settings."""
    return play(settings, lambda reader: reader.ask(name, **arguments))


def coverage_of(answer: dict[str, Any], service: str) -> dict[str, Any]:
    (line,) = (line for line in answer["coverage"] if line["service"] == service)
    return dict(line)
