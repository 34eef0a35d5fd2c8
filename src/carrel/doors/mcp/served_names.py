"""The names of tools in texts, where a room that is served alone gives its tools shorter ones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from carrel.core.operation import Operation


class ServedNames:
    """What each operation is called here; texts name operations as the whole desk does."""

    def __init__(self, operations: Iterable[Operation[Any]], *, is_alone: bool) -> None:
        self._names = {
            operation.name: operation.name_alone
            for operation in operations
            if is_alone and operation.name_alone
        }
        words = "|".join(sorted(map(re.escape, self._names), key=len, reverse=True))
        self._pattern = re.compile(rf"\b(?:{words})\b") if words else None

    def name_of(self, operation: Operation[Any]) -> str:
        return self._names.get(operation.name, operation.name)

    def put_into(self, text: str) -> str:
        """The text with the names that tools have here."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._names[found.group()], text)
