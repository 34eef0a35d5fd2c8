"""Our statements in psycopg's notation, and their run on a connection that blocks."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from functools import cache
from typing import Any, TypeVar

import psycopg

from carrel.stores.sql.driver import Rows, Step

ResultT = TypeVar("ResultT")
BlockingConnection = psycopg.Connection[tuple[Any, ...]]
# A statement with its parameters, or a script of several, which has none.
ScriptStep = tuple[str, Mapping[str, object] | None]

_PARAMETER = re.compile(r"(?<!:):(\w+)")


def encode_statement(step: ScriptStep | Step) -> tuple[bytes, Mapping[str, object] | None]:
    """The arguments of psycopg's `execute`; a script goes as it is written."""
    statement, parameters = step
    if parameters is None:
        return statement.encode(), None
    return _with_psycopg_parameters(statement).encode(), parameters


def drive_blocking(
    connection: BlockingConnection, work: Generator[ScriptStep, Rows, ResultT]
) -> ResultT:
    """Runs the statements that `work` yields on a connection; each yield gets its rows."""
    try:
        step = next(work)
        while True:
            cursor = connection.execute(*encode_statement(step))
            has_rows = step[1] is not None and cursor.description is not None
            step = work.send(cursor.fetchall() if has_rows else [])
    except StopIteration as end:
        result: ResultT = end.value
        return result


@cache
def _with_psycopg_parameters(statement: str) -> str:
    """`:name` as psycopg writes it; `::type` is a cast and stays."""
    return _PARAMETER.sub(r"%(\1)s", statement.replace("%", "%%"))
