"""How many files of Carrel one call passes through: those in which a function ran, imports aside.

`python -m benchmarks.files_touched references-add` counts a command that adds a BibTeX file and a
DOI (from a local server), and the call `add_references` alone at an open desk; `research-run`
counts a project from its goal to its end, by command and at an open desk. `--list` prints the
files. Functions that run while a module is imported do not count, nor do processes that a call
starts.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import carrel
from carrel.cli import main as run_command
from carrel.core.caller import Caller, Visit
from carrel.policy.scopes import ALL_SCOPES
from carrel.settings import Settings
from carrel.wiring.desk import open_desk
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.references.works_server import WorksServer, doi, works_server
from tests.rooms.research.house import build_snapshot

PACKAGE = str(Path(carrel.__file__).parent) + "/"
BIBTEX = "@book{knuth84, title={The {\\TeX}book}, author={Knuth, Donald E.}, year=1984}\n"


RESEARCH = ("rooms/research/", "libraries/discovery/")
"""The folders that a run is about: the room, and the library that thinks without a model."""

_CALLS = {
    "add_references BIBTEX": [BIBTEX],
    "add_references DOI": [doi(1)],
    "add_references BIBTEX DOI": [BIBTEX, doi(1)],
}


class FilesTouched:
    """Collects the files whose functions run, in every thread that starts while it profiles."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self._imports = threading.local()

    @contextlib.contextmanager
    def profiling(self) -> Iterator[None]:
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        if event not in {"call", "return"}:
            return
        code = frame.f_code
        if code.co_name == "<module>":
            depth = getattr(self._imports, "depth", 0)
            self._imports.depth = depth + (1 if event == "call" else -1)
        elif code.co_filename.startswith(PACKAGE) and not getattr(self._imports, "depth", 0):
            self.files.add(code.co_filename.removeprefix(PACKAGE))


def add_by_command(home: Path, works: WorksServer) -> set[str]:
    """`carrel references add` of a file and a DOI."""
    source = home / "one.bib"
    source.write_text(BIBTEX, encoding="utf-8")
    config = home / "carrel.toml"
    lines = [f'{name} = "{address}"' for name, address in works.services.items()]
    config.write_text("\n".join(["[references.services]", *lines, ""]), encoding="utf-8")
    words = ["references", "add", "--home", str(home), "--config", str(config)]
    return _files_of(lambda: run_command([*words, str(source), doi(1)]))


def add_by_call(home: Path, works: WorksServer, given: list[str]) -> set[str]:
    """One call of add_references through the gate, at an open desk that has answered before."""
    settings = Settings.model_validate(
        {"home": home, "rooms": ("references",), "references": {"services": works.services}}
    )
    touched = FilesTouched()
    counted: set[str] = set()

    async def session() -> None:
        with touched.profiling():
            await calls()

    async def calls() -> None:
        async with open_desk(settings).session() as desk:
            operation = desk.catalogue.operations["add_references"]
            caller, visit = Caller("local", ALL_SCOPES, is_limited=False), Visit("stdio", "one")

            async def add(given: list[str]) -> None:
                answer = await desk.gate.call(operation, {"input": given}, caller, visit)
                assert len(answer.added) == len(given), answer

            await add([BIBTEX.replace("knuth84", "first").replace("book}", "}"), doi(2)])
            touched.files.clear()
            await add(given)
            counted.update(touched.files)

    asyncio.run(session())
    return counted


def research_run(home: Path) -> set[str]:
    """`carrel research start --watch` on a small corpus, until the project has ended."""
    snapshot = build_snapshot(home / "corpus")
    words = ["research", "start", GOAL, "--hypothesis-count", "3", "--watch"]
    return _files_of(
        lambda: run_command([*words, "--home", str(home), "--snapshot", str(snapshot)])
    )


def research_run_by_call(home: Path) -> set[str]:
    """From start_research to the results of its completed run, at an open desk."""
    snapshot = build_snapshot(home / "corpus")
    settings = Settings.model_validate(
        {"home": home, "rooms": ("papers", "research"), "papers": {"snapshot": snapshot}}
    )
    counted: set[str] = set()

    async def session() -> None:
        caller, visit = Caller("ada", ALL_SCOPES), Visit("stdio", "request-1")
        touched = FilesTouched()
        async with open_desk(settings).session() as desk:
            operations = desk.catalogue.operations

            async def ask(tool: str, **arguments: Any) -> Any:
                return await desk.gate.call(operations[tool], arguments, caller, visit)

            with touched.profiling():
                started = await ask("start_research", goal=GOAL, hypothesis_count=3)
                asked = {"research_id": started.research_id}
                while (await ask("get_research_status", **asked)).status != "completed":
                    await asyncio.sleep(0.05)
                await ask("get_results", **asked)
            counted.update(touched.files)

    asyncio.run(session())
    return counted


def _files_of(run: Callable[[], int]) -> set[str]:
    touched, printed = FilesTouched(), io.StringIO()
    with contextlib.redirect_stdout(printed), touched.profiling():
        code = run()
    if code != 0:
        raise SystemExit(f"the command ended with {code}:\n{printed.getvalue()}")
    return touched.files


def main() -> None:
    parser = argparse.ArgumentParser(description="Count the files of Carrel that one call uses.")
    parser.add_argument("what", choices=("references-add", "research-run"))
    parser.add_argument("--list", action="store_true", help="print the files as well")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        if options.what == "research-run":
            found = {"carrel research start --watch": research_run(home)}
            with tempfile.TemporaryDirectory() as other:
                found["start_research until completed"] = research_run_by_call(Path(other))
        else:
            with works_server() as works:
                found = {"carrel references add FILE DOI": add_by_command(home, works)}
            for name, given in _CALLS.items():
                with works_server() as works, tempfile.TemporaryDirectory() as other:
                    found[name] = add_by_call(Path(other), works, given)
    for name, files in found.items():
        print(f"{name}: {len(files)} files")
        if options.list:
            print("".join(f"  {file}\n" for file in sorted(files)), end="")
        if options.what == "research-run":
            own = [file for file in files if file.startswith(RESEARCH)]
            print(f"  of them in {' and '.join(RESEARCH)}: {len(own)}")


if __name__ == "__main__":
    main()
