"""Running parsers of foreign input on a thread, and the error when one exceeds its budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from carrel.core.errors import CostlyInputError
from carrel.libraries.text.budget import InputTooCostlyError, cancellable

ResultT = TypeVar("ResultT")


@contextmanager
def translate_budget_errors() -> Iterator[None]:
    """Convert a parser's InputTooCostlyError to CostlyInputError, which every door can answer."""
    try:
        yield
    except InputTooCostlyError as error:
        raise CostlyInputError(error) from error


async def parse_in_thread(parse: Callable[..., ResultT], *arguments: Any) -> ResultT:
    """Run a parser on a thread; when the caller is cancelled, it ends at its next step.

    Raises what the parser raises, and CostlyInputError when it exceeds its budget.
    """
    with translate_budget_errors(), cancellable() as cancelled:
        try:
            return await asyncio.to_thread(parse, *arguments)
        except asyncio.CancelledError:
            cancelled.set()
            raise
