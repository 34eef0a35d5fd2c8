"""Completions: values for an argument of a prompt or an address that a person is typing."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from carrel.core.caller import Call

# The protocol allows no more in one answer.
MAX_COMPLETION_VALUES = 100


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """The argument being typed, its text so far, and the arguments that have values already."""

    argument: str
    value: str
    given: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Completion:
    """At most MAX_COMPLETION_VALUES values, best first, and how many there are in all."""

    values: tuple[str, ...]
    total: int

    @property
    def has_more(self) -> bool:
        return self.total > len(self.values)


NO_COMPLETION = Completion((), 0)

Complete = Callable[[CompletionRequest, Call], Coroutine[Any, Any, Completion]]


def complete_from(candidates: Iterable[str], typed: str) -> Completion:
    """The candidates that start with `typed`, in their order, ignoring case."""
    start = typed.casefold()
    found = [candidate for candidate in candidates if candidate.casefold().startswith(start)]
    return Completion(tuple(found[:MAX_COMPLETION_VALUES]), len(found))


def complete_titled(candidates: Iterable[tuple[str, str]], typed: str) -> Completion:
    """Ids that start with `typed`, then those with such a word in the title, ignoring case."""
    start = typed.casefold()
    by_id: list[str] = []
    by_title: list[str] = []
    for identifier, title in candidates:
        if identifier.casefold().startswith(start):
            by_id.append(identifier)
        elif f" {start}" in f" {title.casefold()}":
            by_title.append(identifier)
    found = by_id + by_title
    return Completion(tuple(found[:MAX_COMPLETION_VALUES]), len(found))
