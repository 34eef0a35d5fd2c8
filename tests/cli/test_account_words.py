"""What `carrel users` and `carrel quotas` say where something is missing."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from carrel.cli import main


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.mark.parametrize("typed", ["", "\n", "short\n"])
def test_without_a_terminal_the_way_to_a_password_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert main(["users", "add", "ada"]) != 0
    assert "--generate" in capsys.readouterr().err
    assert main(["users", "list"]) == 0
    assert "ada" not in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO("a password that is long\n"))
    assert main(["users", "add", "ada"]) == 0
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert main(["users", "reset-password", "ada"]) != 0
    assert "--generate" in capsys.readouterr().err


def test_a_quota_that_nobody_counts_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["quotas", "set", "ada", "--calls", "5"]) == 0
    told = capsys.readouterr()
    assert "not enabled" in told.out and "within seconds" not in told.out
    assert "quotas.enabled" in told.err
    monkeypatch.setenv("CARREL_QUOTAS_ENABLED", "true")
    assert main(["quotas", "set", "ada", "--calls", "5"]) == 0
    told = capsys.readouterr()
    assert "within seconds" in told.out and "not enabled" not in told.out
