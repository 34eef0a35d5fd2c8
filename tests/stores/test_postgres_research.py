"""The research room's memory in a real PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from tests.stores.contracts.research import ResearchMemoryContract, Story

pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")

from carrel.stores.postgres.research import postgres_research


class TestPostgresResearch(ResearchMemoryContract):
    @pytest.fixture
    def told(self, postgres_url: str) -> Callable[[Story], None]:
        def tell(story: Story) -> None:
            async def run() -> None:
                memory = postgres_research(postgres_url)
                try:
                    await story(memory)
                finally:
                    await memory.close()

            asyncio.run(run())

        return tell
