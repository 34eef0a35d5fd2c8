"""The small thing that SQL shared by two databases needs from a driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

Parameters = Mapping[str, object]
Step = tuple[str, Parameters]
Rows = list[tuple[Any, ...]]


class Driver(Protocol):
    """Runs steps in one transaction and answers each one's rows. Parameters are written `:name`.

    Raises UnavailableError when the database cannot be reached, or is busy for too long.
    """

    async def run(self, *steps: Step) -> list[Rows]: ...

    async def close(self) -> None: ...
