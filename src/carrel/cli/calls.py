"""Calls operations for the person at this terminal, through the gate."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from carrel.core.caller import COMMAND_LINE, LOCAL_USER, Call, Caller, Visit
from carrel.core.decorators import collect_operations
from carrel.core.errors import InsufficientPermissionsError
from carrel.core.operation import Operation, Question
from carrel.core.process_name import process_name
from carrel.core.progress import NoProgress, Progress
from carrel.core.room import load
from carrel.policy.acting import UserMayNotError
from carrel.policy.command_audit import operator_name
from carrel.rooms import declared_rooms
from carrel.settings import Settings
from carrel.wiring.desk import Desk, open_desk


@dataclass(frozen=True, slots=True)
class Terminal:
    """The person at this terminal, recognised by the gate."""

    desk: Desk
    caller: Caller
    visit: Visit

    async def ask(self, operation: str, **arguments: object) -> Any:
        """Calls an operation by name; arguments that are None are left out."""
        given = {name: value for name, value in arguments.items() if value is not None}
        return await self.call(self.desk.catalogue.operations[operation], given)

    async def call(self, operation: Operation[Any], arguments: Mapping[str, object]) -> Any:
        return await self._pass_gate(operation, arguments, self.visit)

    async def call_local(
        self,
        operation: Operation[Any],
        arguments: Mapping[str, object],
        progress: Progress,
        context: AbstractContextManager[object],
    ) -> Any:
        """Run a local operation, which may block; an interrupt ends it anywhere."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        # Who acts for a user is recorded as the client of the call.
        is_acting = self.caller.user_id != LOCAL_USER
        visit = self.visit if is_acting else replace(self.visit, operator=operator_name())
        local = replace(operation, run=_LocalRun(operation, progress, context))
        return await self._pass_gate(local, arguments, visit)

    async def _pass_gate(
        self, operation: Operation[Any], arguments: Mapping[str, object], visit: Visit
    ) -> Any:
        try:
            return await self.desk.gate.call(operation, arguments, self.caller, visit)
        except InsufficientPermissionsError as refusal:
            if self.caller.user_id == LOCAL_USER:
                raise
            raise UserMayNotError(self.caller.user_id, refusal) from None


@dataclass(frozen=True, slots=True)
class _LocalRun:
    """Runs an operation with a bar, and within a context that does not reach the audit log."""

    operation: Operation[Any]
    progress: Progress
    context: AbstractContextManager[object]

    async def __call__(self, question: Question, call: Call) -> Any:
        call.progress = self.progress
        with self.context:
            return await self.operation.run(question, call)


async def at_terminal(desk: Desk, user: Caller | None = None) -> Terminal:
    """The person at this terminal, or the user for whom they act."""
    visit = Visit(COMMAND_LINE, f"cli-{process_name()}", "local", f"carrel on {sys.platform}")
    person = await desk.gate.identify(visit)
    return Terminal(desk, person if user is None else user, visit)


def local_operations(settings: Settings, room: str) -> dict[str, Operation[Any]]:
    """The operator's own operations of a room, by name."""
    declared = declared_rooms().get(room)
    if declared is None or not declared.local_operations:
        return {}
    holder = load(declared.local_operations)(settings)
    return {operation.name: operation for operation in collect_operations(room, holder)}


def call_local(
    settings: Settings,
    room: str,
    name: str,
    arguments: Mapping[str, object],
    *,
    progress: Progress | None = None,
    context: AbstractContextManager[object] | None = None,
    user: Caller | None = None,
) -> Any:
    """Runs one of the operator's own operations through the gate; no room is opened for it."""
    operation = local_operations(settings, room)[name]

    async def session() -> Any:
        async with open_desk(settings.model_copy(update={"rooms": ()})).session() as desk:
            terminal = await at_terminal(desk, user)
            return await terminal.call_local(
                operation, arguments, progress or NoProgress(), context or nullcontext()
            )

    return asyncio.run(session())
