"""Reads systemd units as systemd does, as far as ours go, and starts what they start."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.processes import warm

ROOT = Path(__file__).resolve().parents[2]
SYSTEMD = ROOT / "deployments" / "systemd"
PROGRAM = "/opt/carrel/bin/carrel"
_START_SECONDS = 90.0
_PLACES = (
    "/var/lib/carrel", "/var/cache/carrel", "/var/backups/carrel", "/srv/papers", "/etc/carrel",
)  # fmt: skip


def read_unit(name: str) -> dict[str, list[str]]:
    """The directives of a unit, each with all its values."""
    found: dict[str, list[str]] = {}
    for line in (SYSTEMD / name).read_text(encoding="utf-8").splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith(("#", "[")):
            found.setdefault(key, []).append(value)
    return found


def commands_of(name: str, places: Mapping[str, str]) -> list[list[str]]:
    """What the unit starts, with its places moved elsewhere."""
    lines = [_moved(line, places).replace("%%", "%") for line in read_unit(name)["ExecStart"]]
    return [shlex.split(line) for line in lines]


def environment_of(name: str, places: Mapping[str, str]) -> dict[str, str]:
    """What the unit sets, with its places moved; nothing of this terminal but the path."""
    unit = read_unit(name)
    lines = [_moved(pair, places) for pair in unit["Environment"]]
    for file in unit.get("EnvironmentFile", ()):
        path = Path(_moved(file.removeprefix("-"), places))
        if path.is_file():
            lines += path.read_text(encoding="utf-8").splitlines()
    return {"PATH": os.environ["PATH"], **dict(line.split("=", 1) for line in lines)}


def places_in(folder: Path) -> dict[str, str]:
    """The places that units name, below a folder; the program is that of this checkout."""
    program = folder / "carrel"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m carrel "$@"\n')
    program.chmod(0o755)
    moved = {PROGRAM: str(program)}
    for place in _PLACES:
        target = folder / place.strip("/").replace("/", "-")
        target.mkdir(mode=0o700, exist_ok=True)
        moved[place] = str(target)
    return moved


def run(
    words: Sequence[str], places: Mapping[str, str], **options: Any
) -> subprocess.CompletedProcess[str]:
    """Runs a command of a unit or a page; its program is this checkout."""
    if words[0] != places[PROGRAM]:
        return subprocess.run(words, text=True, **options)  # noqa: PLW1510
    return warm.run([sys.executable, "-m", "carrel", *words[1:]], text=True, **options)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def service_running(folder: Path, public_url: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The port of the server that `carrel.service` starts, and the places it uses."""
    port, places = free_port(), places_in(folder)
    (command,) = commands_of("carrel.service", {**places, "--port 8080": f"--port {port}"})
    given = {**places, "https://desk.example.org": public_url}
    environment = environment_of("carrel.service", given)
    with (folder / "serve.log").open("wb") as log:
        process = subprocess.Popen(
            command, env=environment, cwd=places["/var/lib/carrel"], stdout=log, stderr=log
        )
    try:
        await_answer(f"http://127.0.0.1:{port}/health", {"Host": public_url.split("/")[2]})
        yield port, places
    finally:
        process.terminate()
        process.wait(timeout=60)


def await_answer(url: str, headers: Mapping[str, str]) -> None:
    """Return when the address answers; raises AssertionError when it never does."""
    end = time.monotonic() + _START_SECONDS
    pause = 0.05
    while time.monotonic() < end:
        request = urllib.request.Request(url, headers=dict(headers))
        try:
            with urllib.request.urlopen(request, timeout=10):
                return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(pause)
    raise AssertionError(f"{url} never answered")


def _moved(text: str, places: Mapping[str, str]) -> str:
    for place, target in places.items():
        text = text.replace(place, target)
    return text
