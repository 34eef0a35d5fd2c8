"""While a chosen folder is first being read, the desk is empty and says how to wait."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from carrel.core.answer import Explained, Text
from carrel.core.caller import Caller, Visit
from carrel.policy.scopes import ALL_SCOPES, expand_scopes
from carrel.settings import Settings
from carrel.wiring.desk import Desk, open_desk

_ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search_papers", {"query": "shrews"}),
    ("search_papers_by_keyword", {"keyword": "shrews"}),
    ("find_passages", {"query": "shrews"}),
    ("locate_quote", {"text": "Shrews sleep in the winter and wake in spring."}),
    ("list_top_facets", {"category": "author"}),
    ("list_top_facets", {"category": "year"}),
    ("get_corpus_statistics", {}),
    ("export_papers", {}),
    ("search_desk", {"query": "shrews"}),
)


async def _ask(desk: Desk, name: str, **arguments: Any) -> Any:
    caller, visit = Caller("ada", expand_scopes(ALL_SCOPES)), Visit("test", "1")
    return await desk.gate.call(desk.catalogue.operations[name], arguments, caller, visit)


def _settings(tmp_path: Path) -> Settings:
    folder = tmp_path / "papers"
    folder.mkdir()
    text = "Shrews sleep in the winter and wake in spring. " * 40
    (folder / "shrews.md").write_text(
        f"---\ntitle: Sleep of shrews\nauthors: [Ann Roe]\nyear: 2020\n---\n\n## Text\n\n{text}\n"
    )
    return Settings.model_validate(
        {
            "home": tmp_path / "home",
            "papers": {"watch": [folder]},
            "audit": {"enabled": False},
            "limits": {"per_minute": 1_000_000, "burst": 1_000_000},
        }
    )


def test_before_the_folder_is_read_every_question_has_an_answer(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_desk(_settings(tmp_path)).session() as desk:
            for name, arguments in _ASKED:
                await _ask(desk, name, **arguments)
            found = await _ask(desk, "search_papers", query="shrews")
            assert isinstance(found, Explained) and found.result == []
            assert "is being read" in found.explanation.message
            assert (await _ask(desk, "export_papers")) == Text("")

    asyncio.run(story())


def test_no_question_fails_while_the_folder_is_being_read(tmp_path: Path) -> None:
    async def story() -> None:
        async with (
            asyncio.timeout(120),
            open_desk(_settings(tmp_path)).session(resumes_jobs=True) as desk,
        ):
            while True:
                for name, arguments in _ASKED:
                    await _ask(desk, name, **arguments)
                found = await _ask(desk, "search_papers", query="shrews")
                if not isinstance(found, Explained):
                    break
                assert "is being read" in found.explanation.message
            assert [hit.title for hit in found] == ["Sleep of shrews"]

    asyncio.run(story())
