"""Which page an address means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

_VARIABLE = re.compile(r"\{(\w+)\}")
TargetT = TypeVar("TargetT")


@dataclass(frozen=True, slots=True)
class FoundPage(Generic[TargetT]):
    """The target of an address and the variables in it."""

    target: TargetT
    variables: dict[str, str]


class PathRouter(Generic[TargetT]):
    """Finds targets by path: exact ones first, then patterns in the order they were given.

    A variable takes one segment, and at the end of a pattern all that is left.
    """

    def __init__(self, targets: Iterable[tuple[str, TargetT]]) -> None:
        self._exact: dict[str, TargetT] = {}
        self._patterns: list[tuple[re.Pattern[str], TargetT]] = []
        for path, target in targets:
            if "{" not in path:
                if path in self._exact:
                    raise ValueError(f"two pages are at {path}")
                self._exact[path] = target
            else:
                self._patterns.append((_compile(path), target))

    def find(self, path: str) -> FoundPage[TargetT] | None:
        trimmed = path.rstrip("/") or "/"
        exact = self._exact.get(trimmed)
        if exact is not None:
            return FoundPage(exact, {})
        for pattern, target in self._patterns:
            matched = pattern.fullmatch(path)
            if matched is not None:
                return FoundPage(target, matched.groupdict())
        return None


def _compile(path: str) -> re.Pattern[str]:
    pieces = _VARIABLE.split(path)
    last = len(pieces) - 2 if not pieces[-1] else -1
    return re.compile(
        "".join(
            f"(?P<{piece}>{'.+' if at == last else '[^/]+'})" if at % 2 else re.escape(piece)
            for at, piece in enumerate(pieces)
        ),
        re.DOTALL,
    )
