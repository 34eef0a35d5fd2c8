"""Makes the environment in .venv for `make run` and `make install`, and mends it.

It needs Python alone. What was made for another folder or another Python, or was ended half way, is
made again; what is whole is left as it is. `python3 packaging/environment.py run` installs what
running needs, `… dev` what developing needs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where nobody else is waited for
    fcntl = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
LOCK = ROOT / ".run" / "install.lock"
OLDEST_PYTHON = (3, 11)
NEWER_PYTHONS = ("python3.14", "python3.13", "python3.12", "python3.11")
STAMPS = {"run": ".runnable", "dev": ".ready"}
# Stands while an install is going on: where it is found, one was ended half way.
UNFINISHED = VENV / ".installing"
_REQUIREMENT = re.compile(
    r"^(?:Collecting|Requirement already satisfied:|Ignoring) ([\w.-]+)"
    r"|^Processing \S*/([\w.]+)-\d\S*\.whl"
)
_QUIET_SECONDS = 4


class InstallError(Exception):
    """What went wrong, and what to do."""


class Progress:
    """Says what is being done: one changing line on a terminal, lines elsewhere, never silence."""

    def __init__(self) -> None:
        self._is_terminal = sys.stdout.isatty()
        self._text = ""
        self._last = self._began = time.monotonic()
        self._lock = threading.Lock()

    def say(self, text: str) -> None:
        """Print a line that stays."""
        with self._lock:
            self._write(text + "\n")
            self._text, self._last = "", time.monotonic()

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Announce a step, say that it goes on while it lasts, and how long it took."""
        self.say(text)
        self._began = time.monotonic()
        done = threading.Event()
        clock = threading.Thread(target=self._tick, args=(done,), daemon=True)
        clock.start()
        try:
            yield
        finally:
            done.set()
            clock.join()
            with self._lock:
                if self._is_terminal and self._text:
                    self._write("")
                self._text = ""
        self.say(f"    done in {time.monotonic() - self._began:.0f} s")

    def update(self, text: str) -> None:
        """Say what the step is at."""
        with self._lock:
            self._text, self._last = text, time.monotonic()
            self._write(f"    {text}" if self._is_terminal else f"    {text}\n")

    def _tick(self, done: threading.Event) -> None:
        while not done.wait(1 if self._is_terminal else _QUIET_SECONDS):
            with self._lock:
                if self._is_terminal or time.monotonic() - self._last >= _QUIET_SECONDS:
                    seconds = f"{time.monotonic() - self._began:.0f} s"
                    line = f"    {self._text or 'working'}, {seconds}"
                    self._write(line if self._is_terminal else line + "\n")
                    self._last = time.monotonic()

    def _write(self, text: str) -> None:
        sys.stdout.write(f"\r\x1b[K{text}" if self._is_terminal else text)
        sys.stdout.flush()


def make_environment(kind: str, *, python_was_chosen: bool) -> None:
    """Make .venv hold what this kind needs, unless it does already."""
    if _is_whole(kind, python_was_chosen):
        return
    progress = Progress()
    with _only_one(progress) as lock:
        if _is_whole(kind, python_was_chosen):
            return
        _remove_what_is_broken(progress, python_was_chosen)
        version = ".".join(map(str, sys.version_info[:3]))
        VENV.mkdir(exist_ok=True)
        UNFINISHED.touch()
        with progress.step(f"1/3 An environment in .venv with Python {version}"):
            _create(lock)
        requirements = ROOT / "requirements" / f"{kind}.txt"
        total = requirements.read_text("utf-8").count("==")
        with progress.step(f"2/3 {total} packages, as {requirements.relative_to(ROOT)} pins them"):
            _install_packages(requirements, total, progress, lock)
        with progress.step("3/3 Carrel from this checkout, with its citation styles"):
            progress.update("fetching the citation styles")
            _make_styles(lock)
            progress.update("installing Carrel")
            _install_checkout(lock)
        for each in ("run", kind):
            (VENV / STAMPS[each]).write_text(json.dumps(_expected(each)), "utf-8")
        UNFINISHED.unlink()


def _is_whole(kind: str, python_was_chosen: bool) -> bool:
    """Whether the environment has all that this kind needs and still works from this folder."""
    if UNFINISHED.exists() or not any(_has_stamp(each) for each in {kind, "dev"}):
        return False
    found = _ask_environment()
    return found is not None and not (python_was_chosen and found != _minor_version())


def _has_stamp(kind: str) -> bool:
    """Whether an install of this kind was finished with these requirements."""
    stamp = VENV / STAMPS[kind]
    try:
        text = stamp.read_text("utf-8")
        if not text:
            made = stamp.stat().st_mtime
            return all(made >= path.stat().st_mtime for path in _inputs(kind))
        return bool(json.loads(text) == _expected(kind))
    except (OSError, ValueError):
        return False


def _expected(kind: str) -> dict[str, str]:
    digest = hashlib.sha256()
    for path in _inputs(kind):
        digest.update(path.read_bytes())
    return {"folder": str(VENV), "inputs": digest.hexdigest()}


def _inputs(kind: str) -> list[Path]:
    names = ("pyproject.toml", "hatch_build.py", "requirements/styles.txt")
    return [ROOT / name for name in (*names, f"requirements/{kind}.txt")]


def _ask_environment() -> str | None:
    """The Python version of the environment, if it can import Carrel from this checkout."""
    asked = "import sys, carrel, pydantic_core; print(carrel.__file__); print(sys.version_info[:2])"
    try:
        done = subprocess.run(
            [str(_python()), "-c", asked],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=_variables(),
            check=False,
        )
    except OSError:
        return None
    lines = done.stdout.splitlines()
    if done.returncode or Path(lines[0]).resolve().parents[1] != ROOT / "src":
        return None
    return lines[1]


def _minor_version() -> str:
    return str(tuple(sys.version_info[:2]))


def _remove_what_is_broken(progress: Progress, python_was_chosen: bool) -> None:
    """Take away an environment that cannot be built upon, and say why."""
    if not VENV.exists():
        return
    why = None
    if UNFINISHED.exists():
        why = "an install into it was ended half way"
    elif not (VENV / "pyvenv.cfg").exists():
        why = "it is not a virtual environment"
    elif not _starts():
        why = "its Python no longer starts, or is another than it was made with"
    elif _was_moved():
        why = "it was made in another folder"
    elif python_was_chosen and not _starts(f"sys.version_info[:2] == {_minor_version()}"):
        why = "it was made with another Python"
    if why is None:
        return
    progress.say(f"Making .venv again: {why}.")
    if VENV.is_symlink() or not VENV.is_dir():
        VENV.unlink()
    else:
        shutil.rmtree(VENV)


def _starts(condition: str = "True") -> bool:
    """Whether the environment's Python starts, finds its folder, and is at least the oldest."""
    is_new = f"sys.version_info[:2] >= {OLDEST_PYTHON}"
    asked = (
        "import os, sys, sysconfig; "
        f"sys.exit(not (os.path.isdir(sysconfig.get_path('purelib')) and {is_new} and {condition}))"
    )
    try:
        done = subprocess.run(
            [str(_python()), "-c", asked], capture_output=True, env=_variables(), check=False
        )
    except OSError:
        return False
    return done.returncode == 0


def _was_moved() -> bool:
    """Whether the programs of the environment start the Python of another folder."""
    programs = list((VENV / "bin").glob("pip*"))
    return bool(programs) and os.fsencode(VENV) not in programs[0].read_bytes()[:500]


def _python() -> Path:
    return VENV / ("Scripts" if os.name == "nt" else "bin") / "python"


def _variables() -> dict[str, str]:
    """The environment for programs: nothing of another Python reaches them."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"}
    }


def _create(lock: int | None) -> None:
    if (VENV / "pyvenv.cfg").exists():
        # Made by hand or by another tool, and it works: pip may be all that it lacks.
        if _run([str(_python()), "-m", "pip", "--version"], lock):
            _run([str(_python()), "-m", "ensurepip"], lock)
        return
    # Inside an environment, perhaps this very one, its own Python is no ground to build on.
    inside = sys.prefix != sys.base_prefix
    base = getattr(sys, "_base_executable", None) if inside else None
    done = _run([base or sys.executable, "-m", "venv", str(VENV)], lock)
    if done:
        raise InstallError(
            f"{done[-1]}\nPython could not make an environment. On Debian and Ubuntu, install "
            f"python3-venv; elsewhere name another Python: make run PYTHON=python3.12"
        )


def _install_packages(requirements: Path, total: int, progress: Progress, lock: int | None) -> None:
    seen: set[str] = set()

    def follow(line: str) -> None:
        if match := _REQUIREMENT.match(line):
            name = match[1] or match[2]
            seen.add(name)
            progress.update(f"{min(len(seen), total)} of {total}: {name}")
        elif line.startswith("Installing collected packages"):
            progress.update(f"unpacking {line.count(',') + 1} packages")

    # Byte code is made by Python as modules are first used: compiling all of it takes longer.
    words = ["--no-compile", "--no-deps", "--require-hashes", "--progress-bar", "off"]
    failed = _run([*_pip(), *words, "-r", str(requirements)], lock, follow)
    if failed:
        raise InstallError(_explain(failed))


def _make_styles(lock: int | None) -> None:
    failed = _run([str(_python()), "hatch_build.py"], lock)
    if failed:
        raise InstallError("\n".join(failed[-25:]).removeprefix("carrel: "))


def _install_checkout(lock: int | None) -> None:
    words = ["--no-compile", "--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
    failed = _run([*_pip(), "--quiet", *words], lock)
    if failed:
        raise InstallError("\n".join([*failed[-25:], "Carrel itself could not be installed."]))


def _explain(lines: list[str]) -> str:
    return (
        "\n".join(lines[-12:]) + "\nThe packages could not be installed: the lines above are "
        "pip's. They come from the package index that pip knows: check the network, or name "
        "another with PIP_INDEX_URL. Then run the same make again."
    )


def _pip() -> list[str]:
    return [str(_python()), "-m", "pip", "--disable-pip-version-check", "install"]


def _run(words: list[str], lock: int | None, follow: object = None) -> list[str]:
    """Run a program and hand over its lines; gives them all where it failed, else nothing."""
    # Whoever is killed leaves pip behind: it keeps the lock until it is done.
    kept = () if lock is None else (lock,)
    lines: list[str] = []
    with subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        cwd=ROOT,
        env=_variables(),
        pass_fds=kept,
    ) as program:
        assert program.stdout is not None
        for line in program.stdout:
            lines.append(line.rstrip())
            if callable(follow):
                follow(line)
    return (lines or [f"{words[0]} failed"]) if program.returncode else []


@contextmanager
def _only_one(progress: Progress) -> Iterator[int | None]:
    """Wait until nobody else installs into the same folder."""
    if fcntl is None:
        yield None
        return
    LOCK.parent.mkdir(exist_ok=True)
    with LOCK.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with progress.step("Waiting for another make that installs into .venv"):
                fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def _use_newer_python(words: list[str]) -> None:
    """Go on with a Python that is new enough, where this one is not."""
    version = ".".join(map(str, sys.version_info[:3]))
    for name in NEWER_PYTHONS:
        found = shutil.which(name)
        if (
            found
            and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0
        ):
            print(f"Python {version} is too old for Carrel; {name} is used.", flush=True)
            os.execv(found, [found, __file__, *words])
    raise InstallError(
        f"Carrel needs Python 3.11 or newer, and {sys.executable} is {version}. Install one, or "
        f"name it: make run PYTHON=/path/to/python3.12"
    )


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Make or mend the environment in .venv.")
    parser.add_argument("kind", choices=sorted(STAMPS), help="what it is for")
    parser.add_argument(
        "--python-chosen", action="store_true", help="this Python was asked for: use no other"
    )
    options = parser.parse_args(words)
    try:
        if sys.version_info[:2] < OLDEST_PYTHON:
            _use_newer_python(words)
        make_environment(options.kind, python_was_chosen=options.python_chosen)
    except InstallError as error:
        print(f"\ncarrel: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"\ncarrel: {error}. The checkout must be writable to install into it.", file=sys.stderr
        )
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The next make begins the install again.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
