"""An assistant that has only the tools: from the handshake to a cited, quoted and kept answer."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp
import orjson
import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.journeys.installed import build_wheel, install_wheel
from tests.journeys.typed.sample_home import fill

pytestmark = [pytest.mark.promise("D13"), pytest.mark.timeout(600), pytest.mark.anyio]

_TOOL_NAME = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
# Words of the instructions with an underscore that are fields of answers, not tools.
_FIELDS = {"paper_id", "paper_ids", "passage_id", "job_id", "quoted_from", "research_id"}


@dataclass(frozen=True, slots=True)
class Assistant:
    """What an assistant knows: instructions, a list of tools, and what its calls answer."""

    session: mcp.ClientSession
    instructions: str
    tools: Mapping[str, Any]

    async def call(self, tool: str, **arguments: Any) -> Any:
        """The answer of a call that has to succeed, as the text says it."""
        result = await self.session.call_tool(tool, arguments)
        assert not result.is_error, result.content
        text = getattr(result.content[0], "text", "")
        return orjson.loads(text) if text[:1] in {"{", "["} else text

    async def fail(self, tool: str, **arguments: Any) -> str:
        """The text of a call that has to be refused."""
        result = await self.session.call_tool(tool, arguments)
        assert result.is_error, result.content
        return " ".join(getattr(block, "text", "") for block in result.content)


@pytest.fixture(scope="module")
def carrel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    return install_wheel(build_wheel(folder / "wheels"), folder / "environment")


@pytest.fixture(scope="module")
def home(carrel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of a person who has added papers and references and nothing else."""
    home = tmp_path_factory.mktemp("home")
    fill(home)
    for words in (["add", "papers"], ["references", "add", "refs.bib"]):
        done = subprocess.run(
            [carrel, *words],
            cwd=home,
            env=_environment(home),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return home


def _environment(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.defpath, "LANG": "C.UTF-8"}


@asynccontextmanager
async def _assistant(carrel: Path, home: Path) -> AsyncIterator[Assistant]:
    server = StdioServerParameters(command=str(carrel), args=["mcp"], env=_environment(home))
    async with stdio_client(server) as (read, write), mcp.ClientSession(read, write) as session:
        greeting = await session.initialize()
        listed = await session.list_tools()
        tools = {tool.name: tool for tool in listed.tools}
        yield Assistant(session, greeting.instructions or "", tools)


async def test_every_name_in_the_instructions_is_a_tool(carrel: Path, home: Path) -> None:
    async with _assistant(carrel, home) as assistant:
        named = set(_TOOL_NAME.findall(assistant.instructions)) - _FIELDS
        assert {"search_desk", "find_passages", "cite_references", "save_knowledge"} <= named
        for name in named - set(assistant.tools):
            found = await assistant.call("find_operation", what=name.replace("_", " "))
            assert name in str(found), f"{name} is neither listed nor found"


async def test_what_a_hit_names_next_can_be_called(carrel: Path, home: Path) -> None:
    async with _assistant(carrel, home) as assistant:
        answer = await assistant.call("search_desk", query="blood viscosity")
        assert {hit["kind"] for hit in answer["hits"]} >= {"paper", "reference"}
        for hit in answer["hits"]:
            following = hit["next"]
            reply = await assistant.call(following["operation"], **following["arguments"])
            assert reply


async def test_from_a_question_to_a_kept_answer(carrel: Path, home: Path) -> None:
    async with _assistant(carrel, home) as assistant:
        found = await assistant.call("find_passages", query="is blood viscosity raised in Raynaud?")
        passage = found[0]
        assert "blood viscosity" in passage["text"].lower()
        paper = passage["paper_id"]
        metadata = await assistant.call("get_paper_metadata", paper_id=paper)
        cited = await assistant.call("cite_references", ids=[paper], style="apa")
        assert str(metadata["title"]).split()[0] in str(cited)
        saved = await assistant.call(
            "save_knowledge",
            title="Viscosity in Raynaud disease",
            content=f"“{passage['text']}” ({passage['passage_id']})",
            tags=["raynaud"],
        )
        notes = await assistant.call("search_knowledge", query="#raynaud")
        assert saved["id"] in str(notes)


async def test_an_unlisted_wish_is_found_and_run(carrel: Path, home: Path) -> None:
    async with _assistant(carrel, home) as assistant:
        found = await assistant.call("find_operation", what="how large is my corpus of papers")
        assert "get_corpus_statistics" in str(found)
        numbers = await assistant.call("run_operation", name="get_corpus_statistics", arguments={})
        assert "68" in str(numbers)


async def test_a_mistake_says_what_to_do_instead(carrel: Path, home: Path) -> None:
    async with _assistant(carrel, home) as assistant:
        unknown = await assistant.fail("get_paper_metadata", paper_id="no such paper")
        assert "search_papers" in unknown
        misspelt = await assistant.fail("search_papers", query="viscosity", colour="red")
        assert "colour" in misspelt and "query" in misspelt
