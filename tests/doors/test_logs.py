"""Log lines for people and for machines: their fields, their tracebacks, and no secrets."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator

import pytest

from carrel.doors.logs import configure_logs

SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ0123456789"


@pytest.fixture(autouse=True)
def root_logger() -> Iterator[None]:
    """Puts the root logger back as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def logged(form: str, error: BaseException | None = None, level: int = logging.WARNING) -> str:
    configure_logs("info", form)
    (handler,) = logging.getLogger().handlers
    cause = None if error is None else (type(error), error, error.__traceback__)
    record = logging.getLogger("carrel.test").makeRecord(
        "carrel.test", level, "file", 1, "went %s", ("wrong",), cause, extra={"user": "ada"}
    )
    return handler.format(record)


def raised(kind: str) -> BaseException:
    """An error that came after another: because of it, beside it, or in its place."""
    try:
        try:
            raise KeyError("first")
        except KeyError as first:
            if kind == "because":
                raise ValueError("second") from first
            if kind == "instead":
                raise ValueError("second") from None
            raise ValueError("second")  # noqa: B904  beside the first, not because of it
    except ValueError as error:
        return error


def test_a_line_for_machines_has_its_fields() -> None:
    facts = json.loads(logged("json"))
    assert (facts["severity"], facts["logger"], facts["message"], facts["user"]) == (
        "WARNING", "carrel.test", "went wrong", "ada",
    )  # fmt: skip
    assert facts["time"].endswith("+00:00")
    assert not {"exception", "args", "levelno", "msg"} & set(facts)
    assert "ValueError" in json.loads(logged("json", raised("instead")))["exception"]


def test_a_line_for_people_is_one_line() -> None:
    line = logged("text")
    assert line.endswith("warning carrel.test: went wrong user=ada")
    assert "\n" not in line
    assert logged("text", raised("instead")).startswith(line[:8])


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(("kind", "shown"), [("because", 1), ("beside", 1), ("instead", 0)])
def test_a_traceback_tells_what_led_to_it(form: str, kind: str, shown: int) -> None:
    text = logged(form, raised(kind))
    assert text.count("which led to") == shown
    assert text.count("KeyError") >= shown
    assert text.index("ValueError") > (text.index("KeyError") if shown else 0)


def test_a_chain_that_runs_in_a_circle_ends() -> None:
    first, second = ValueError("one"), KeyError("two")
    first.__cause__, second.__cause__ = second, first
    assert logged("text", first).count("which led to") == 1


@pytest.mark.parametrize("form", ["text", "json"])
def test_secrets_are_masked_in_warnings_and_failures(form: str) -> None:
    configure_logs("info", form)
    (handler,) = logging.getLogger().handlers
    error = raised("instead")
    failed = (type(error), error, error.__traceback__)
    for level, cause in ((logging.WARNING, None), (logging.ERROR, None), (logging.INFO, failed)):
        record = logging.getLogger("x").makeRecord(
            "x", level, "file", 1, f"token={SECRET}", (), cause
        )
        assert SECRET not in handler.format(record), level


def test_logs_go_to_standard_error_from_the_level_that_was_set() -> None:
    configure_logs("warning", "text")
    (handler,) = logging.getLogger().handlers
    assert isinstance(handler, logging.StreamHandler)
    assert handler.stream is sys.stderr
    assert logging.getLogger().level == logging.WARNING
    assert logging.getLogger("httpx").level == logging.WARNING
