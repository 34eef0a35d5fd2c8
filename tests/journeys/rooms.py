"""The home that a room's journey is made in: one server for all doors of a module, and steps that
must succeed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.journeys.doors import Door, Failed, Said


def said(answer: Said | Failed) -> Any:
    """The value of an answer that must not be a failure."""
    assert isinstance(answer, Said), answer
    return answer.value


def failed(answer: Said | Failed, code: str) -> None:
    """The answer must be a failure of this code."""
    assert isinstance(answer, Failed), answer
    assert answer.means(code), (answer, code)


def until(door: Door, tool: str, is_done: Callable[[Any], bool], **arguments: Any) -> Any:
    """Asks again until the answer is as wanted. The tools asked wait by themselves, or answer what
    is not done yet.
    """
    for _ in range(3000):
        value = said(door.ask(tool, **arguments))
        if is_done(value):
            return value
    raise AssertionError(f"{tool} never answered as wanted")
