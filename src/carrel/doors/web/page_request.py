"""What a page is given: its address, the person, and the catalogue behind the gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from carrel.core.answer import Explanation, split_explanation
from carrel.core.caller import Caller, Visit
from carrel.core.errors import UnknownOperationError
from carrel.core.operation import Operation
from carrel.core.pages import FieldValues
from carrel.doors.web.messages import Messages
from carrel.policy.gate import Gate


@dataclass(frozen=True, slots=True)
class ConsoleRequest:
    """A request for a page by a caller whom the door has recognised (PageRequest)."""

    path: str
    variables: Mapping[str, str]
    query: FieldValues
    form: FieldValues
    caller: Caller
    is_local: bool
    visit: Visit
    gate: Gate
    operations: Mapping[str, Operation[Any]]
    messages: Messages

    @property
    def language(self) -> str:
        return self.messages.language

    def offers(self, operation: str) -> bool:
        found = self.operations.get(operation)
        return found is not None and found.scopes <= self.caller.scopes

    async def ask(self, operation: str, **arguments: Any) -> Any:
        answer, _ = await self.ask_explained(operation, **arguments)
        return answer

    async def ask_explained(
        self, operation: str, **arguments: Any
    ) -> tuple[Any, Explanation | None]:
        found = self.operations.get(operation)
        if found is None:
            raise UnknownOperationError(
                operation[:100], next_step="The room that offers it may be closed here."
            )
        answer = await self.gate.call(found, arguments, self.caller, self.visit)
        return split_explanation(answer)

    def translate(self, key: str, **values: object) -> str:
        return self.messages.text(key, **values)
