"""Commands that change something are recorded: how they began and how they ended."""

from __future__ import annotations

import asyncio
import getpass
import logging
import os

import pytest

from carrel.core.errors import AuditUnavailableError, NotFoundError
from carrel.policy.audit import AuditRecord
from carrel.policy.command_audit import operator_name, record_command, refuse_unrecorded
from tests.policy.desk import HandClock


class Log:
    """An audit log in a list, which may be broken at its start or at its end."""

    def __init__(self, *, breaks: bool = False, flushes: bool = True) -> None:
        self.kept: list[AuditRecord] = []
        self.is_closed = False
        self._breaks = breaks
        self._flushes = flushes

    def write_durably_blocking(self, record: AuditRecord) -> None:
        if self._breaks:
            raise AuditUnavailableError("no space left on device")
        self.kept.append(record)

    def write(self, record: AuditRecord) -> None:
        self.kept.append(record)

    def flush(self) -> bool:
        return self._flushes

    def close(self) -> None:
        self.is_closed = True


def run(log: Log, error: BaseException | None = None) -> None:
    clock = HandClock()
    with record_command(
        log, clock, "backup", "file://" + "x" * 400, {"password": "p"}, refuse_unrecorded
    ):
        clock.seconds += 1.5
        if error is not None:
            raise error


@pytest.mark.promise("A5")
def test_a_command_leaves_its_start_and_its_end() -> None:
    log = Log()
    run(log)
    started, ended = log.kept
    assert (started.phase, started.result, started.parameters) == (
        "started", "started", {"password": "***"},
    )  # fmt: skip
    assert (ended.phase, ended.result, ended.error_code, ended.duration_ms) == (
        "ended", "success", None, 1500.0,
    )  # fmt: skip
    assert started.user_id == ended.user_id == f"local:{operator_name()}"
    assert (started.door, started.action, len(started.resource)) == ("cli", "backup", 300)
    assert log.is_closed


@pytest.mark.promise("A5")
@pytest.mark.parametrize(
    ("error", "result", "code"),
    [
        (NotFoundError("note", "n1"), "failure", "resource_not_found"),
        (KeyboardInterrupt(), "error", "cancelled"),
        (asyncio.CancelledError(), "error", "cancelled"),
        (OSError("disk"), "error", "os_error"),
        (ZeroDivisionError(), "error", "internal_error"),
    ],
)
def test_a_command_that_fails_says_how(error: BaseException, result: str, code: str) -> None:
    log = Log()
    with pytest.raises(type(error)):
        run(log, error)
    assert (log.kept[-1].phase, log.kept[-1].result, log.kept[-1].error_code) == (
        "ended", result, code,
    )  # fmt: skip
    assert log.is_closed


@pytest.mark.promise("A5")
def test_a_command_whose_start_cannot_be_recorded_changes_nothing() -> None:
    log, clock = Log(breaks=True), HandClock()
    with pytest.raises(AuditUnavailableError, match="so nothing was changed"):
        run(log, AssertionError("it ran"))
    assert log.is_closed
    told: list[AuditUnavailableError] = []
    going_on = Log(breaks=True)
    with record_command(going_on, clock, "doctor", "x", None, told.append):
        pass
    assert (len(told), going_on.kept, going_on.is_closed) == (1, [], True)


@pytest.mark.promise("A5")
@pytest.mark.parametrize("flushes", [True, False])
def test_an_end_that_could_not_be_recorded_is_logged(
    flushes: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        run(Log(flushes=flushes))
    assert [record.message for record in caplog.records] == (
        [] if flushes else ["the end of a command could not be recorded"]
    )


def test_an_account_without_a_name_is_named_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("uid not found")

    assert operator_name() == getpass.getuser()
    monkeypatch.setattr(getpass, "getuser", nameless)
    assert operator_name() == f"uid-{os.getuid()}"
    monkeypatch.delattr(os, "getuid")
    assert operator_name() == "unknown"
