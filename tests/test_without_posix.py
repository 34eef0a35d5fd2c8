"""The product starts and works where Python has no POSIX-only modules, as on Windows.

No Windows is at hand here. What is proved is that nothing of Carrel needs what Windows lacks: the
modules are made unimportable and the functions are taken out of `os` before Carrel is imported, in
every process of the test. Files that a process has open can be neither removed, renamed nor
replaced by it, and a name that exists is not renamed onto.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# The standard library itself needs some of these on this system, so it is imported first.
_SITE = """
import asyncio, concurrent.futures.process, ctypes, http.client, importlib.metadata, logging, multiprocessing.spawn, os, random
import multiprocessing.popen_spawn_posix, multiprocessing.resource_tracker, multiprocessing.synchronize
import shutil, socket, sqlite3, ssl, subprocess, sys, tarfile, tempfile, urllib.request, uuid, zipfile, getpass
import click, anyio, platformdirs.unix, uvicorn, uvicorn.supervisors

for name in ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty", "syslog", "readline", "curses", "uvloop"):
    sys.modules[name] = None
for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_DIRECTORY", "fchmod", "fchown", "fork", "geteuid", "getuid", "getgid", "getegid",
             "sync", "chown", "mkfifo", "getpgid", "setsid", "killpg", "pread", "pwrite", "getloadavg"):
    if hasattr(os, name):
        delattr(os, name)
"""  # noqa: E501

# As Windows treats a file that is open or mapped into memory, for what this process has open.
_OPEN_FILES = """
import stat
_real = {name: getattr(os, name) for name in ("replace", "rename", "unlink")}
_space = os.statvfs


def _is_open(path):
    try:
        wanted = os.stat(path)
    except OSError:
        return False
    is_folder = stat.S_ISDIR(wanted.st_mode)
    place = os.path.realpath(path) + (os.sep if is_folder else "\\n")
    for number in os.listdir("/proc/self/fd"):
        try:
            found = os.stat("/proc/self/fd/" + number)
            inside = (os.readlink("/proc/self/fd/" + number) + "\\n").startswith(place)
        except OSError:
            continue
        if inside or os.path.samestat(found, wanted):
            return True
    with open("/proc/self/maps") as maps:
        return place in maps.read()


def _refuse_open(*paths):
    for path in paths:
        if _is_open(path):
            raise PermissionError(13, "The file is being used by another process", str(path))


def _replace(source, target, **options):
    _refuse_open(source, target)
    _real["replace"](source, target, **options)


def _rename(source, target, **options):
    _refuse_open(source)
    if os.path.lexists(target):
        raise FileExistsError(17, "Cannot create a file when that file already exists", str(target))
    _real["rename"](source, target, **options)


def _unlink(path, **options):
    if not options:
        _refuse_open(path)
    _real["unlink"](path, **options)


def _disk_usage(path):
    found = _space(path)
    sizes = (found.f_blocks, found.f_blocks - found.f_bfree, found.f_bavail)
    return shutil._ntuple_diskusage(*(size * found.f_frsize for size in sizes))


os.replace, os.rename, os.unlink, os.remove = _replace, _rename, _unlink, _unlink
shutil.disk_usage = _disk_usage
shutil._use_fd_functions = False
del os.statvfs
"""

_PAPER = (
    "---\ntitle: Liver fibrosis and Gremlin\nauthors: [Ada Example]\nyear: "
    "2020\n---\nGremlin changed fibrosis.\n"
)
_BIB = (
    "@book{ostrom1990, author = {Ostrom, Elinor}, title = {Governing the Commons}, year = 1990}\n"
)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(_SITE + _OPEN_FILES)
    home = tmp_path / "home"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CARREL_")}
    return {**kept, "PYTHONPATH": f"{site}{os.pathsep}{ROOT / 'src'}", "CARREL_HOME": str(home)}


def run(environment: dict[str, str], *words: str, text: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from carrel.cli import main; sys.exit(main())", *words],
        env=environment,
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"carrel {' '.join(words)}: {done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_modules_are_really_not_there(environment: dict[str, str]) -> None:
    for module in ("fcntl", "resource", "uvloop"):
        tried = subprocess.run(
            [sys.executable, "-c", f"import {module}"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "ModuleNotFoundError" in tried.stderr or "ImportError" in tried.stderr


@pytest.mark.parametrize("change", ["os.unlink(name)", "os.replace(name, name + '2')"])
def test_a_file_that_is_open_is_really_kept(
    environment: dict[str, str], tmp_path: Path, change: str
) -> None:
    code = f"import os; name = {str(tmp_path / 'held')!r}; held = open(name, 'w'); {change}"
    tried = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "PermissionError" in tried.stderr


def test_every_module_of_carrel_can_be_imported(environment: dict[str, str]) -> None:
    code = """
import importlib, pkgutil, carrel
drivers = ("elasticsearch", "google", "psycopg", "numpy", "onnxruntime")
for found in pkgutil.walk_packages(carrel.__path__, "carrel."):
    try:
        importlib.import_module(found.name)
    except ImportError as error:
        # FastMCP is an optional door, and imports on this system what another would not.
        assert "FastMCP" in str(error) or str(error.name).partition(".")[0] in drivers, (found.name, error)
print("all")
"""  # noqa: E501
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.strip() == "all", done.stderr


def test_a_desk_is_filled_asked_saved_and_restored(
    environment: dict[str, str], tmp_path: Path
) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "one.md").write_text(_PAPER)
    (tmp_path / "refs.bib").write_text(_BIB)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "first.md").write_text("# A first note\n\nAbout autophagy.\n")
    corpus = tmp_path / "corpus"
    run(environment, "papers", "build", str(papers), "--into", str(corpus), "--quiet")
    environment["CARREL_PAPERS_SNAPSHOT"] = str(corpus / "paper_snapshot.db")
    assert "Gremlin" in run(environment, "papers", "search", "fibrosis")
    (papers / "two.md").write_text(_PAPER.replace("2020", "2021").replace("Liver", "Lung"))
    (papers / "one.md").write_text(_PAPER.replace("Gremlin changed", "Noggin changed"))
    run(environment, "papers", "build", str(papers), "--into", str(corpus), "--quiet")
    assert "Lung" in run(environment, "papers", "search", "fibrosis")
    run(environment, "references", "add", str(tmp_path / "refs.bib"))
    run(environment, "add", str(tmp_path / "refs.bib"))
    run(environment, "knowledge", "import", str(tmp_path / "notes"))
    run(environment, "audit", "verify")
    run(environment, "doctor")
    for words in ((), ("--overwrite",)):
        run(environment, "backup", str(tmp_path / "desk.tar.gz"), *words)
    del environment["CARREL_PAPERS_SNAPSHOT"]
    second = {**environment, "CARREL_HOME": str(tmp_path / "second")}
    run(second, "restore", str(tmp_path / "desk.tar.gz"))
    assert "Governing the Commons" in run(second, "references", "cite", "ostrom1990")
    assert "A first note" in run(second, "knowledge", "search", "A first note")


def test_the_server_answers_over_http_and_stdio(environment: dict[str, str]) -> None:
    start = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}) + "\n"
    assert json.loads(run(environment, "mcp", text=hello).splitlines()[0])["result"]["serverInfo"]
    serving = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from carrel.cli import main; sys.exit(main())",
            "serve",
            "--port",
            "0",
        ],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert serving.stdout is not None
        address = next(
            word
            for line in serving.stdout
            for word in line.split()
            if word.startswith("http://127.0.0.1:")
        )
        with urllib.request.urlopen(
            f"{address.rstrip('/').removesuffix('/mcp')}/health", timeout=60
        ) as answer:
            assert json.load(answer) == {"status": "healthy"}
    finally:
        serving.terminate()
        serving.communicate(timeout=60)
