"""Questions that several admin operations share."""

from __future__ import annotations

from pydantic import Field

from carrel.core.operation import Question


class EmptyQuestion(Question):
    """A question without arguments."""


class NamedAccount(Question):
    name: str = Field(min_length=1, max_length=200)
