"""Every way to install the wheel that docs/installing.md names ends with a `carrel` that starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from carrel import __version__
from tests.journeys.installed import build_wheel

pytestmark = pytest.mark.timeout(600)
_NO_SOURCE = ("Failed to fetch", "error sending request", "No matching distribution", "Connection")
_UV = [sys.executable, "-m", "uv"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


def run(words: list[str], **variables: str) -> str:
    """What a command prints; skips where no package source is within reach."""
    done = subprocess.run(
        words,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    if done.returncode and any(sign in done.stderr for sign in _NO_SOURCE):
        pytest.skip(f"no package source: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("way", ["uv tool install", "uvx", "pipx", "pip"])
def test_the_wheel_is_installed_and_starts(wheel: Path, tmp_path: Path, way: str) -> None:
    programs = tmp_path / "bin"
    match way:
        case "uv tool install":
            places = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(programs)}
            run([*_UV, "tool", "install", "--python", sys.executable, str(wheel)], **places)
        case "uvx":
            words = [*_UV, "tool", "run", "--python", sys.executable, "--from", str(wheel)]
            shown = run([*words, "carrel", "--version"])
            assert shown == f"carrel {__version__}\n"
            return
        case "pipx":
            places = {"PIPX_HOME": str(tmp_path / "pipx"), "PIPX_BIN_DIR": str(programs)}
            words = [*_UV, "tool", "run", "pipx", "install", "--python", sys.executable]
            run([*words, str(wheel)], **places)
        case "pip":
            run([sys.executable, "-m", "venv", str(tmp_path)])
            run([str(programs / "python"), "-m", "pip", "install", "--quiet", str(wheel)])
    carrel = str(programs / "carrel")
    assert run([carrel, "--version"]) == f"carrel {__version__}\n"
    home = {"CARREL_HOME": str(tmp_path / "desk"), "HOME": str(tmp_path)}
    assert "papers" in run([carrel, "--help"], **home)
