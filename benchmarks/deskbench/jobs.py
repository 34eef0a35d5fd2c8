"""The jobs, read from jobs.toml, and what a server must be able to do for them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import Any

from benchmarks.deskbench.desk import DATA

# What every assistant is told, on every server, before the text of a job.
PREAMBLE = (
    "You are a researcher's assistant. The researcher's desk (papers, references, notes and "
    "research) is reachable only through the tools. Do the job below with them; use only what "
    "the desk says, and say so when the desk does not have it. Nobody can answer questions. When "
    "you are done, end with a line that begins with ANSWER: and has what was asked for and nothing "
    "else, at most 1,500 characters; a text that was asked for may follow it on further lines."
)


@dataclass(frozen=True)
class Job:
    """A job: its text, what it needs, and the checks that decide whether it is done."""

    id: str
    kind: str
    split: str
    needs: list[str]
    text: str
    check: list[dict[str, Any]]
    right: str
    wrong: list[str]
    writes: bool = False
    long: bool = False
    setup: str = ""
    before: list[dict[str, Any]] = field(default_factory=list)
    becomes: list[dict[str, Any]] = field(default_factory=list)
    becomes_wrong: list[list[dict[str, Any]]] = field(default_factory=list)

    @property
    def reads_state(self) -> bool:
        """Whether a check looks at the desk afterwards."""
        return any("of" in check for check in self.check)


def read_jobs() -> list[Job]:
    """The jobs in their order."""
    listed = tomllib.loads((DATA / "jobs.toml").read_text("utf-8"))["job"]
    return [Job(**row) for row in listed]


def choose_jobs(names: str) -> list[Job]:
    """Jobs by `all`, a split, a kind or ids, separated by commas."""
    wanted = {name.strip() for name in names.split(",") if name.strip()}
    jobs = read_jobs()
    known = {"all"} | {name for job in jobs for name in (job.id, job.kind, job.split)}
    if wanted - known:
        raise SystemExit(f"deskbench: there is no job, kind or split {', '.join(wanted - known)}")
    return [job for job in jobs if wanted & {"all", job.id, job.kind, job.split}]


def read_capabilities(server: str) -> set[str]:
    """What a server of capabilities.toml can do."""
    listed = tomllib.loads((DATA / "capabilities.toml").read_text("utf-8"))
    if server not in listed:
        raise SystemExit(f"deskbench: capabilities.toml names no server {server}")
    return set(listed[server]["has"])
