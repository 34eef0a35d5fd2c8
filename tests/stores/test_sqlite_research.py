"""The research room's memory in SQLite."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.core.errors import UnavailableError
from carrel.stores.sqlite.research import sqlite_research
from tests.stores.contracts.research import ResearchMemoryContract, Story


class TestSqliteResearch(ResearchMemoryContract):
    @pytest.fixture
    def told(self, tmp_path: Path) -> Callable[[Story], None]:
        def tell(story: Story) -> None:
            async def run() -> None:
                memory = sqlite_research(tmp_path / "research" / "research.db")
                try:
                    await story(memory)
                finally:
                    await memory.close()

            asyncio.run(run())

        return tell


def test_a_home_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")

    async def run() -> None:
        memory = sqlite_research(tmp_path / "file" / "research.db")
        with pytest.raises(UnavailableError, match="cannot be made"):
            await memory.open_jobs()
        await memory.close()

    asyncio.run(run())
