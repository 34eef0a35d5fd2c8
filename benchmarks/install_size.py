"""What an install costs: packages, megabytes, seconds, and the time until something answers.

`python -m benchmarks.install_size` builds the wheel and measures it in fresh environments;
`--peers` measures other servers of papers from the package index beside it, in alternating order on
the same machine; `--cold` also fetches every package again, past the cache. A package source must
be within reach.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
MEGABYTE = 1_000_000
# The bounds of issue 3, which tests/install hold.
MOST_PACKAGES = 45
MOST_MEGABYTES = 128
_ANSWER_SECONDS = 180
_UV = [sys.executable, "-m", "uv"]
_GREETING = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "install-size", "version": "1"},
}


@dataclass(frozen=True, slots=True)
class Product:
    """Something to install, how its program says what it is, and how it speaks MCP, if it does."""

    name: str
    requirement: str
    help_words: tuple[str, ...]
    mcp_words: tuple[str, ...] | None = None
    variables: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InstallSize:
    """What lies in an environment that held nothing before."""

    packages: int
    size_bytes: int
    compiled_bytes: int


@dataclass(frozen=True, slots=True)
class InstallRun:
    """One install and the first two starts after it, in seconds; None where nothing answers."""

    size: InstallSize
    install_seconds: float
    help_seconds: tuple[float, float]
    answer_seconds: tuple[float, float] | None


PEERS = (
    Product(
        "zotero-mcp-server",
        "zotero-mcp-server",
        ("zotero-mcp", "version"),
        ("zotero-mcp", "serve"),
        {"ZOTERO_LOCAL": "true"},
    ),
    # Without the key of a language model it answers no question, so its help is all there is.
    Product("paper-qa", "paper-qa", ("pqa", "--help")),
)


def carrel_product(wheel: Path) -> Product:
    """Carrel as a wheel."""
    return Product("carrel", str(wheel), ("carrel", "--version"), ("carrel", "mcp"))


class PackageSourceError(RuntimeError):
    """Something could not be installed; mostly because no package source is within reach."""


def install(
    requirement: str, environment: Path, cache: Path | None = None, constraints: Path | None = None
) -> float:
    """Install into a new environment, without byte code, and give the seconds it took."""
    _run([*_UV, "venv", "--quiet", "--python", sys.executable, str(environment)])
    words = [*_UV, "pip", "install", "--quiet", "--link-mode", "copy"]
    words += ["--cache-dir", str(cache)] if cache is not None else []
    words += ["--constraint", str(constraints)] if constraints is not None else []
    began = time.perf_counter()
    _run([*words, "--python", str(environment_program(environment, "python")), requirement])
    return time.perf_counter() - began


def environment_program(environment: Path, name: str) -> Path:
    """Where an environment keeps a program."""
    return environment / ("Scripts" if os.name == "nt" else "bin") / name


def measure_size(environment: Path) -> InstallSize:
    """Packages and bytes of an environment, as installed and with byte code."""
    packages = len(list(environment.rglob("*.dist-info/METADATA")))
    size = _size_of(environment)
    python = str(environment_program(environment, "python"))
    subprocess.run(
        [python, "-m", "compileall", "-q", "-j", "0", str(environment)],
        check=False,
        capture_output=True,
    )
    return InstallSize(packages, size, _size_of(environment))


def measure_run(product: Product, folder: Path, cache: Path | None = None) -> InstallRun:
    """Install a product into a new folder and start it twice."""
    environment = folder / "environment"
    seconds = install(product.requirement, environment, cache)
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "CARREL_HOME": str(folder / "desk"),
        **product.variables,
    }
    answers = None
    if product.mcp_words is not None:
        server = _program(environment, product.mcp_words)
        answers = (_time_answer(server, variables), _time_answer(server, variables))
        # Byte code of the first start stands now, so help is timed in an environment of its own.
        environment = folder / "second"
        install(product.requirement, environment, cache)
    shown = _program(environment, product.help_words)
    helped = (_time_help(shown, variables), _time_help(shown, variables))
    fresh = folder / "third"
    install(product.requirement, fresh, cache)
    return InstallRun(measure_size(fresh), seconds, helped, answers)


def _program(environment: Path, words: Sequence[str]) -> list[str]:
    return [str(environment_program(environment, words[0])), *words[1:]]


def _time_help(words: list[str], variables: dict[str, str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(
        words, env=variables, capture_output=True, text=True, timeout=_ANSWER_SECONDS, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{words}: {done.stderr[-500:]}")
    return time.perf_counter() - began


def _time_answer(words: list[str], variables: dict[str, str]) -> float:
    """Seconds from the start of a server until it has listed its tools."""
    asked: list[dict[str, object]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _GREETING},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    began = time.perf_counter()
    server = subprocess.Popen(
        words,
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in asked:
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            if "id" in message:
                _read_answer(server.stdout.readline(), words)
        return time.perf_counter() - began
    finally:
        server.kill()
        server.wait()


def _read_answer(line: str, words: list[str]) -> None:
    if not line or "result" not in json.loads(line):
        raise RuntimeError(f"{words} did not answer: {line[:500]}")


def _size_of(folder: Path) -> int:
    return sum(
        path.lstat().st_size for path in folder.rglob("*") if path.is_file() or path.is_symlink()
    )


def _run(words: list[str]) -> None:
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PackageSourceError(f"{' '.join(words[:5])} …: {done.stderr[-2000:]}")


def _row(name: str, runs: list[InstallRun], cold: list[float]) -> str:
    size = runs[-1].size
    answers = [run.answer_seconds for run in runs if run.answer_seconds is not None]
    cells = [
        name,
        str(size.packages),
        f"{size.size_bytes / MEGABYTE:.0f}",
        f"{size.compiled_bytes / MEGABYTE:.0f}",
        f"{median(cold):.1f}" if cold else "",
        f"{median(run.install_seconds for run in runs):.1f}",
        *(f"{median(run.help_seconds[turn] for run in runs):.2f}" for turn in (0, 1)),
        *(
            f"{median(each[turn] for each in answers):.2f}" if answers else "none"
            for turn in (0, 1)
        ),
    ]
    return f"| {' | '.join(cells)} |"


def _measure_cold(product: Product) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return install(product.requirement, Path(folder) / "environment", Path(folder) / "cache")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", action="store_true", help="measure peers beside Carrel")
    parser.add_argument("--rounds", type=int, default=3, help="how often (default: 3)")
    parser.add_argument("--cold", action="store_true", help="also without the cache of packages")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder])
        (wheel,) = Path(folder).glob("carrel-*.whl")
        products = [carrel_product(wheel), *(PEERS if options.peers else ())]
        runs: dict[str, list[InstallRun]] = {each.name: [] for each in products}
        cold: dict[str, list[float]] = {each.name: [] for each in products}
        for turn in range(options.rounds + 1):
            for product in products if turn % 2 else reversed(products):
                if options.cold and turn:
                    cold[product.name].append(_measure_cold(product))
                with tempfile.TemporaryDirectory() as place:
                    run = measure_run(product, Path(place))
                # The first turn fills the cache of packages and does not count.
                if turn:
                    runs[product.name].append(run)
    print(
        "| | packages | MB | MB with byte code | s to install, nothing cached | s, cached | s to "
        "its name, first | again | s to the list of tools, first | again |"
    )
    print("|---" * 10 + "|")
    for name, measured in runs.items():
        print(_row(name, measured, cold[name]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
