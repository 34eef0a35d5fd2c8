"""Progress of a long piece of work, reported phase by phase."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives how far work is. A phase whose end nobody knows yet has no total."""

    def begin(self, phase: str, total: int | None, unit: str) -> None: ...

    def advance(self, amount: int = 1) -> None: ...

    def end(self) -> None: ...


class NoProgress:
    """Progress that nobody listens to."""

    def begin(self, phase: str, total: int | None, unit: str) -> None:
        return None

    def advance(self, amount: int = 1) -> None:
        return None

    def end(self) -> None:
        return None
