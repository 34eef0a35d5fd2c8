"""`packaging/environment.py`, which `make run` calls: it makes .venv, shows it, and mends it.

It runs in a small checkout whose package is built by a few lines, so no package source is asked.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="make run is for systems with make")

_BACKEND = """
import zipfile
from pathlib import Path


def build_editable(folder, config_settings=None, metadata_directory=None):
    name, info = "carrel-1-py3-none-any.whl", "carrel-1.dist-info/"
    with zipfile.ZipFile(Path(folder) / name, "w") as wheel:
        wheel.writestr("carrel_here.pth", str(Path("src").resolve()))
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: carrel\\nVersion: 1\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "RECORD", "")
    return name
"""  # noqa: E501
_PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "carrel"
version = "1"
"""
_WAITING = "import time\ntime.sleep(90)"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout that installs in seconds."""
    folder = tmp_path / "check out"
    for name in ("packaging", "requirements", "src/carrel"):
        (folder / name).mkdir(parents=True)
    shutil.copy(ROOT / "packaging" / "environment.py", folder / "packaging")
    (folder / "src" / "carrel" / "__init__.py").touch()
    # The one package that the environment is asked for.
    (folder / "src" / "pydantic_core.py").touch()
    (folder / "backend.py").write_text(_BACKEND)
    (folder / "pyproject.toml").write_text(_PROJECT)
    (folder / "hatch_build.py").touch()
    for name in ("run", "dev", "styles"):
        (folder / "requirements" / f"{name}.txt").touch()
    return folder


def start(checkout: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "packaging/environment.py", *words],
        cwd=checkout,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def make(checkout: Path, *words: str, status: int = 0) -> str:
    program = start(checkout, *(words or ("run",)))
    shown, errors = program.communicate(timeout=150)
    assert program.returncode == status, shown + errors
    return shown + errors


def stop_half_way(checkout: Path, kind: signal.Signals) -> tuple[int, str]:
    """Begin an install, end it while the styles are being made, and give status and errors."""
    (checkout / "hatch_build.py").write_text(_WAITING)
    program = start(checkout, "run")
    assert program.stdout is not None
    for line in program.stdout:
        if "fetching the citation styles" in line:
            break
    os.killpg(program.pid, kind)
    _, errors = program.communicate(timeout=60)
    (checkout / "hatch_build.py").write_text("")
    return program.returncode, errors


def test_it_shows_every_step_and_a_second_time_says_nothing(checkout: Path) -> None:
    shown = make(checkout)
    steps = re.findall(r"(?m)^(\d/3) .+\n(?:    .+\n)*    done in \d+ s$", shown)
    assert steps == ["1/3", "2/3", "3/3"]
    python = checkout / ".venv" / "bin" / "python"
    subprocess.run([python, "-c", "import carrel"], check=True, cwd=checkout)
    assert make(checkout) == ""
    assert make(checkout, "dev").startswith("1/3")
    assert make(checkout) == ""


def test_an_install_that_was_killed_is_begun_again(checkout: Path) -> None:
    stop_half_way(checkout, signal.SIGKILL)
    assert "ended half way" in make(checkout)
    assert make(checkout) == ""


def test_ctrl_c_ends_it_in_one_sentence(checkout: Path) -> None:
    status, errors = stop_half_way(checkout, signal.SIGINT)
    assert (status, errors.strip()) == (130, "Stopped. The next make begins the install again.")


def test_a_checkout_that_was_moved_is_mended(checkout: Path) -> None:
    make(checkout)
    moved = checkout.rename(checkout.with_name("else where"))
    assert "it was made in another folder" in make(moved)
    assert make(moved) == ""


def test_a_python_that_is_gone_is_replaced(checkout: Path) -> None:
    make(checkout)
    for path in (checkout / ".venv" / "bin").glob("python*"):
        path.unlink()
        path.symlink_to("/nowhere/python3")
    assert "its Python no longer starts" in make(checkout)
    assert make(checkout) == ""


def test_an_environment_made_by_hand_is_built_upon(checkout: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", ".venv"], cwd=checkout, check=True)
    (checkout / ".venv" / "mine").touch()
    make(checkout)
    assert (checkout / ".venv" / "mine").exists()


def test_a_package_that_cannot_be_had_says_what_to_do(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / "requirements" / "run.txt").write_text(f"nothing==1 --hash=sha256:{'0' * 64}\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    shown = make(checkout, status=1)
    assert "check the network" in shown
    assert "PIP_INDEX_URL" in shown
    assert "Traceback" not in shown
