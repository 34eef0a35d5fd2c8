"""Servers under test, each job on a copy of the desk of its own."""

from __future__ import annotations

import contextlib
import hashlib
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.deskbench.checks import DeskState
from benchmarks.deskbench.desk import DATA, write_desk
from benchmarks.deskbench.desk_adapters import adapter_of
from benchmarks.deskbench.jobs import Job
from benchmarks.deskbench.load import carrel_command, load_carrel, run_carrel
from benchmarks.deskbench.mcp_client import McpClient, connect

CARREL = "carrel"


@dataclass(frozen=True)
class ServerUnderTest:
    """A server: its name in capabilities.toml, and a command or an address.

    In the command {desk} stands for the desk's folder. Before each job on an address `reset` is
    run, if given, since nobody else can put its desk back.
    """

    name: str
    command: str
    template: Path
    reset: str = ""

    @contextlib.contextmanager
    def open_desk(self, job: Job) -> Iterator[OpenDesk]:
        """A fresh copy of the desk, set up for the job."""
        with tempfile.TemporaryDirectory(
            prefix="deskbench-", ignore_cleanup_errors=True
        ) as scratch:
            place = Path(scratch)
            shutil.copytree(self.template, place, dirs_exist_ok=True)
            if self.reset:
                subprocess.run(shlex.split(self.reset), check=True)
            desk = OpenDesk(self, place)
            desk.set_up(job.setup)
            yield desk


@dataclass(frozen=True)
class OpenDesk:
    """A copy of the desk that a server works on."""

    server: ServerUnderTest
    place: Path

    def connect(self) -> McpClient:
        """A client of a server process on this copy."""
        command = self.server.command.replace("{desk}", str(self.place / "desk"))
        variables = {"CARREL_HOME": str(self.place / "home")}
        return connect(command, variables, self.place / "server.log")

    def read_state(self) -> DeskState:
        """The desk as a connection of its own sees it."""
        client = self.connect()
        try:
            return adapter_of(self.server.name)(client, self.place / "desk")
        finally:
            client.close()

    def set_up(self, setup: str) -> None:
        """What happened on the desk before the job."""
        home = self.place / "home"
        if setup == "merge_surveys":
            words = ["10.5555/deskbench.virtanen2018", "10.5555/deskbench.virtanen2020"]
            run_carrel(home, ["papers", "merge", *words])
        elif setup == "research":
            goal = "Find new treatments for chilblains"
            run_carrel(home, ["research", "start", goal, "--watch"])
        elif setup:
            raise ValueError(f"no set-up is called {setup}")


def make_server(
    name: str, command: str, cache: Path, reset: str = "", template: Path | None = None
) -> ServerUnderTest:
    """The server with its desk written, and for Carrel loaded, once for each state of the data."""
    template = template or cache / f"{name}-{_data_digest()}"
    if not template.exists():
        made = cache / f"{template.name}.making"
        shutil.rmtree(made, ignore_errors=True)
        if name == CARREL:
            load_carrel(made / "desk", made / "home")
        else:
            write_desk(made / "desk")
        # The truth is nothing that a server under test may read.
        (made / "desk" / "manifest.json").rename(made / "manifest.json")
        made.rename(template)
    if not command and name == CARREL:
        command = shlex.join([*carrel_command(), "mcp"])
    return ServerUnderTest(name, command, template, reset)


def _data_digest() -> str:
    digest = hashlib.sha256()
    for name in ("papers.toml", "library.toml", "notes.toml", "desk.py", "pdf_writer.py"):
        digest.update((DATA / name).read_bytes())
    return digest.hexdigest()[:12]
