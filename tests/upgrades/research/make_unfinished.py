"""Makes a home with research runs that were killed in the middle, and packs it.

Run it with the code of the version whose home is to be kept, in a folder that tells nothing:

    python -m tests.upgrades.research.make_unfinished /tmp/carrel

writes `unfinished.tar.xz` there: the folder `home` with its corpus, and `told.json`, what that
version made of each run when it went on with it.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

from carrel.core.caller import Caller, Visit
from carrel.policy.scopes import ALL_SCOPES
from carrel.settings import Settings
from carrel.stores.sql.research import SqlResearch
from carrel.wiring.desk import open_desk

GOAL = "Find novel therapeutic targets for cold finger disease"
STOPS = ("generate:2", "match:1:4", "meta-review:1", "evolve:1", "match:2:1", "")
_VISIT = Visit("test", "request-1")
_ENDED = {"completed", "failed", "cancelled", "paused"}


def settings_of(home: Path, database_url: str | None = None) -> Settings:
    snapshot = home / "papers" / "paper_snapshot.db"
    return Settings.model_validate(
        {
            "home": home,
            "rooms": ("papers", "research"),
            "papers": {"snapshot": snapshot},
            "database": {"url": database_url},
        }
    )


async def go_on(home: Path, database_url: str | None = None) -> dict[str, Any]:
    """Lets every run of the home come to its end; what is stored of each, by its id."""
    async with open_desk(settings_of(home, database_url)).session(resumes_jobs=True) as desk:
        caller = Caller("ada", ALL_SCOPES)

        async def ask(tool: str, **arguments: Any) -> Any:
            return await desk.gate.call(desk.catalogue.operations[tool], arguments, caller, _VISIT)

        told: dict[str, Any] = {}
        for project in await ask("list_research_projects"):
            while (await ask("get_research_status", research_id=project.id)).status not in _ENDED:
                await asyncio.sleep(0.05)
            exported = await ask("export_research", research_id=project.id)
            results = await ask("get_results", research_id=project.id, format="detailed")
            told[project.id] = {"export": json.loads(exported.body), "markdown": results.markdown}
        return told


async def _start_and_die(home: Path, stop: str) -> None:
    """Starts a project; the process ends at once when the step is finished."""
    finish = SqlResearch.finish_step

    async def finish_or_die(self: Any, step: Any, worker: str, changes: Any) -> None:
        await finish(self, step, worker, changes)
        if step.key.label == stop:
            os._exit(9)

    SqlResearch.finish_step = finish_or_die  # type: ignore[method-assign]
    async with open_desk(settings_of(home)).session(resumes_jobs=False) as desk:
        caller = Caller("ada", ALL_SCOPES)
        operations = desk.catalogue.operations
        question = {"goal": GOAL, "hypothesis_count": 6}
        started = await desk.gate.call(operations["start_research"], question, caller, _VISIT)
        about = {"research_id": started.research_id}
        while (
            await desk.gate.call(operations["get_research_status"], about, caller, _VISIT)
        ).status not in _ENDED:
            await asyncio.sleep(0.05)


def _forget_this_machine(home: Path) -> None:
    """The lease of a worker elsewhere, which has run out."""
    with closing(sqlite3.connect(home / "research" / "research.db")) as connection, connection:
        connection.execute(
            "UPDATE research_jobs SET worker = 'carrel/-/1/1/gone', lease_clock = 'elsewhere', "
            "lease_until = 0, lease_ticks = 0 WHERE worker IS NOT NULL"
        )
    shutil.rmtree(home / "research" / "workers")


def main() -> None:
    if len(sys.argv) > 2:
        asyncio.run(_start_and_die(Path(sys.argv[1]) / "home", sys.argv[2]))
        return
    from tests.rooms.research.house import build_snapshot

    work = Path(sys.argv[1])
    home = work / "home"
    home.mkdir(parents=True)
    shutil.copytree(build_snapshot(work / "built").parent, home / "papers")
    for stop in STOPS:
        words = [sys.executable, "-m", __spec__.name, str(work), stop or "never"]
        subprocess.run(words, check=False)
    _forget_this_machine(home)
    shutil.copytree(home, work / "second" / "home")
    told = asyncio.run(go_on(work / "second" / "home"))
    (work / "told.json").write_text(json.dumps(told, ensure_ascii=False, sort_keys=True))
    with tarfile.open(work / "unfinished.tar.xz", "w:xz") as packed:
        for part in ("home/papers/paper_snapshot.db", "home/research/research.db", "told.json"):
            packed.add(work / part, part, filter=_of_nobody)


def _of_nobody(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    main()
