"""A desk with papers, references and literature, asked through the real gate."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from carrel.core.caller import Caller, Visit
from carrel.policy.scopes import ALL_SCOPES
from carrel.settings import Settings
from carrel.wiring.desk import Desk, open_desk
from tests.rooms.references.desk import Reader

ResultT = TypeVar("ResultT")

HEADER = (
    "Record ID,Title,RetractionDate,RetractionDOI,RetractionPubMedID,OriginalPaperDOI,"
    "OriginalPaperPubMedID,RetractionNature,Reason"
)
TABLE = (
    HEADER,
    "1,Bad sleep,7/12/2023 0:00,10.5555/notice.1,0,10.5555/bad.1,111,Retraction,+Paper Mill;",
    "2,Old sleep,1/2/2020 0:00,Unavailable,0,Unavailable,222,Expression of concern,",
    "3,Fixed sleep,3/4/2021 0:00,10.5555/notice.3,0,10.5555/fixed.3,0,Correction,+Error in Text;",
)


def write_table(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines or TABLE) + "\n", encoding="utf-8")
    return path


@dataclass
class Stage:
    """Where a scene is played: the home folder and further settings."""

    home: Path
    literature: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    rooms: tuple[str, ...] = ("papers", "references", "research", "literature")

    def read_settings(self) -> Settings:
        return Settings.model_validate(
            {
                "home": self.home,
                "rooms": self.rooms,
                "literature": self.literature,
                "audit": {"enabled": False},
                **self.settings,
            }
        )

    def play(self, scene: Callable[[Reader], Awaitable[ResultT]], **reader: str) -> ResultT:
        async def playing() -> ResultT:
            async with open_desk(self.read_settings()).session() as desk:
                return await scene(Reader(desk, **reader))

        return asyncio.run(playing())


async def ask_without(desk: Desk, missing: str, name: str, **arguments: Any) -> Any:
    """Asks as somebody who lacks one scope."""
    caller = Caller("local", ALL_SCOPES - {missing}, is_limited=False)
    operation = desk.catalogue.operations[name]
    return await desk.gate.call(operation, arguments, caller, Visit("stdio", "test"))
