"""The research room over a small snapshot of our own making, asked through the gate."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carrel.core.caller import Call, Caller, Visit
from carrel.policy.scopes import ALL_SCOPES, expand_scopes
from carrel.rooms.papers.building.models import BuildOptions
from carrel.settings import Settings
from carrel.wiring.desk import Desk, open_desk
from carrel.wiring.papers_build import build_papers
from tests.libraries.discovery.small_corpus import GOAL, small_papers

OWN_DOI = "10.1234/own.1"
"""The DOI of one paper; the others have none."""
ENDED = {"completed", "failed", "cancelled", "paused"}


def build_snapshot(folder: Path) -> Path:
    """The small corpus as a real snapshot."""
    source = folder / "source"
    source.mkdir(parents=True)
    lines = [
        json.dumps(
            {
                "title": p.title,
                "abstract": p.abstract,
                "keywords": list(p.keywords),
                "year": p.year,
                "authors": [f"Ann {p.id}"],
                **({"doi": OWN_DOI} if p.id == "disease-0" else {}),
            }
        )
        for p in small_papers()
    ]
    (source / "papers.jsonl").write_text("\n".join(lines), encoding="utf-8")
    build_papers([source], folder / "corpus", BuildOptions(workers=1))
    return folder / "corpus" / "paper_snapshot.db"


def settings_for(snapshot: Path, home: Path, **more: Any) -> Settings:
    return Settings.model_validate(
        {
            "home": home,
            "rooms": ("papers", "research"),
            "papers": {"snapshot": snapshot},
            "limits": {"per_minute": 100_000, "burst": 100_000},
            **more,
        }
    )


@dataclass
class Asker:
    """Somebody at the desk."""

    desk: Desk
    caller: Caller

    async def ask(self, tool: str, **arguments: Any) -> Any:
        return await self.desk.gate.call(
            self.desk.catalogue.operations[tool], arguments, self.caller, _VISIT
        )

    async def in_full(self, research_id: str) -> list[Any]:
        """A project's hypotheses, best first, each with everything there is of it."""
        rows = await self.ask("list_hypotheses", research_id=research_id)
        return [await self.ask("get_hypothesis", hypothesis_id=row.id) for row in rows]

    async def read(self, uri: str) -> str:
        for resource in self.desk.catalogue.resources.values():
            variables = resource.matcher()(uri)
            if variables is not None:
                return str(
                    (await self.desk.gate.read(resource, variables, self.caller, _VISIT)).body
                )
        raise AssertionError(f"nothing is readable at {uri}")

    async def prompt(self, name: str, **arguments: str) -> str:
        expanded = await self.desk.gate.expand(
            self.desk.catalogue.prompts[name], arguments, self.caller, _VISIT
        )
        return str(expanded.messages[0].content.body)

    async def finished(self, research_id: str) -> Any:
        """The status once the run has ended."""
        while True:
            status = await self.ask("get_research_status", research_id=research_id)
            if status.status in ENDED:
                return status
            await asyncio.sleep(0.01)

    @property
    def call(self) -> Call:
        return Call(self.caller, _VISIT)


_VISIT = Visit("test", "request-1")


def visit(
    settings: Settings,
    story: Callable[[Asker], Awaitable[None]],
    scopes: frozenset[str] = ALL_SCOPES,
    *,
    resumes_jobs: bool = False,
) -> None:
    """One story at an open desk."""

    async def run() -> None:
        async with (
            asyncio.timeout(60),
            open_desk(settings).session(resumes_jobs=resumes_jobs) as desk,
        ):
            await story(Asker(desk, Caller("ada", expand_scopes(scopes))))

    asyncio.run(run())


def other(asker: Asker, name: str = "bob", scopes: frozenset[str] = ALL_SCOPES) -> Asker:
    return Asker(asker.desk, Caller(name, expand_scopes(scopes)))


async def finished_project(asker: Asker, count: int = 4) -> str:
    """A finished project."""
    answer = await asker.ask("start_research", goal=GOAL, hypothesis_count=count)
    status = await asker.finished(answer.research_id)
    assert status.status == "completed", status.problem
    return str(answer.research_id)
