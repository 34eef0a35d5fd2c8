"""The knowledge room behind its gate, for callers that a test names."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from carrel.core.answer import split_explanation
from carrel.core.caller import Caller, Visit
from carrel.policy.scopes import expand_scopes
from carrel.settings import Settings, read_settings
from carrel.wiring.desk import Desk, open_desk

ResultT = TypeVar("ResultT")
Ask = Callable[..., Awaitable[Any]]


def settings_at(home: Path, **environment: str) -> Settings:
    given = {
        "CARREL_HOME": str(home),
        "CARREL_ROOMS": "knowledge",
        "CARREL_AUDIT_ENABLED": "false",
        **environment,
    }
    return read_settings(environment=given)


def caller(user_id: str, *scopes: str) -> Caller:
    return Caller(user_id, expand_scopes(scopes or ("knowledge:write",)), is_limited=False)


ADA, BOB = caller("ada"), caller("bob")
CHIEF = caller("chief", "knowledge:write", "knowledge:promote")
READER = caller("reader", "knowledge:read")


def at_the_desk(
    home: Path, work: Callable[[Ask], Awaitable[ResultT]], **environment: str
) -> ResultT:
    """Opens the room in a fresh loop and hands over a way to ask it."""

    desk = open_desk(settings_at(home, **environment))

    async def whole() -> ResultT:
        async with desk.session():
            return await work(asking(desk))

    return asyncio.run(whole())


def asking(desk: Desk) -> Ask:
    """A way to ask for answers without what explains them."""
    explained = asking_why(desk)

    async def ask(who: Caller, name: str, **arguments: object) -> Any:
        return split_explanation(await explained(who, name, **arguments))[0]

    return ask


def asking_why(desk: Desk) -> Ask:
    """A way to ask for answers with what explains them."""

    async def ask(who: Caller, name: str, **arguments: object) -> Any:
        return await desk.gate.call(
            desk.catalogue.operations[name], arguments, who, Visit("test", "test-1")
        )

    return ask
