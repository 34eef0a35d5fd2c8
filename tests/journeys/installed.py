"""Carrel installed from a wheel that is built here, for tests that type what a stranger types.

`install_wheel` makes what `uv tool install` makes: an environment of its own with the wheel and the
packages that it names, and nothing else. The packages are those of this environment, so no package
source is asked.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
# Every Python program of the installed environment runs this first: what is not on this machine
# cannot be reached.
_NO_NETWORK = """
import socket

_connect, _resolve = socket.socket.connect, socket.getaddrinfo
_HERE = {"127.0.0.1", "::1", "localhost", None, "", b"127.0.0.1"}


def connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in _HERE:
        raise OSError(101, "Network is unreachable")
    return _connect(self, address)


def resolve(host, *rest, **options):
    if host not in _HERE:
        raise socket.gaierror(-3, "Temporary failure in name resolution")
    return _resolve(host, *rest, **options)


socket.socket.connect, socket.getaddrinfo = connect, resolve
"""


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout into a folder."""
    run_checked(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    (wheel,) = folder.glob("carrel-*.whl")
    return wheel


def install_wheel(wheel: Path, folder: Path) -> Path:
    """Install a wheel and what it needs into a new environment; gives the path of `carrel`."""
    packages = create_environment(wheel, folder)
    for package in _needed_packages(packages):
        _link_package(package, packages)
    return folder / "bin" / "carrel"


def create_environment(wheel: Path, folder: Path) -> Path:
    """An environment without network that holds the wheel alone; gives its site-packages."""
    run_checked(sys.executable, "-m", "venv", "--without-pip", str(folder))
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--offline", "--no-deps"]
    run_checked(*uv, "--python", str(folder / "bin" / "python"), str(wheel))
    (packages,) = (folder / "lib").glob("python*/site-packages")
    (packages / "sitecustomize.py").write_text(_NO_NETWORK, encoding="utf-8")
    return packages


def run_checked(*words: str) -> str:
    """Run a command in the checkout and give what it printed; fail with all of it."""
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}{done.stderr}"
    return done.stdout


def _needed_packages(packages: Path) -> Iterator[Distribution]:
    """Every package that the installed wheel needs on this system, itself left out."""
    (carrel,) = Distribution.discover(name="carrel", path=[str(packages)])
    waiting, seen = [(carrel, frozenset[str]())], {"carrel"}
    while waiting:
        package, extras = waiting.pop()
        for text in package.requires or ():
            requirement = Requirement(text)
            name = canonicalize_name(requirement.name)
            wanted = requirement.marker is None or any(
                requirement.marker.evaluate({"extra": extra}) for extra in {"", *extras}
            )
            if not wanted or name in seen:
                continue
            seen.add(name)
            found = distribution(name)
            waiting.append((found, frozenset(requirement.extras)))
            yield found


def _link_package(package: Distribution, packages: Path) -> None:
    """Link every file and folder at the top of a package into another environment."""
    if package.files is None:
        raise PackageNotFoundError(f"{package.name} has no list of files")
    outside = re.compile(r"\.\.|__pycache__$")
    for top in {file.parts[0] for file in package.files}:
        place = packages / top
        if outside.match(top) is None and not place.exists():
            place.symlink_to(Path(str(package.locate_file(top))).resolve())
