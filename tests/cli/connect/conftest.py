"""A machine of one's own for every test: home folder, working directory, desk and environment."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from carrel.cli import main


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Connect = Callable[..., Said]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder in which no client is."""
    for name in list(os.environ):
        if name.startswith(("CARREL_", "XDG_", "CODEX_", "CLAUDE_", "CLINE_")):
            monkeypatch.delenv(name)
    for name in ("DATABASE_URL", "APPDATA", "FLATPAK_XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    project = home / "project"
    project.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CARREL_HOME", str(home / "desk"))
    monkeypatch.chdir(project)
    return home


@pytest.fixture
def connect(home: Path, capfd: pytest.CaptureFixture[str]) -> Connect:
    """Run `carrel connect` with words, in this process."""

    def run(*words: str) -> Said:
        try:
            code = main(["connect", *words])
        except SystemExit as error:
            code = int(error.code or 0)
        printed = capfd.readouterr()
        return Said(code, printed.out, printed.err)

    return run
