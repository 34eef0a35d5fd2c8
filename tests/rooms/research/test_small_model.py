"""A whole project with a small real model: it knows nothing, so what counts is that the path holds
and nothing made up gets through.

Not part of `make test`; `make small-model` prepares the model and runs this.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import lzma
import os
import re
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from carrel.rooms.papers.building.models import BuildOptions
from carrel.wiring.papers_build import build_demo, build_papers
from tests.rooms.research.served import ROOT, Server, serving
from tests.rooms.research.small_model import Counted, counted, small_model

ENVIRONMENT = os.environ.get("CARREL_SMALL_MODEL")
PAPERS = ROOT.parent / "shared" / "data" / "papers" / "elife_metadata.jsonl.xz"
WINDOW = 2048
KEPT_BEFORE_THE_KILL = 6
PRICES = (1.0, 2.0)
NAME = "smollm2-135m"

pytestmark = [
    pytest.mark.skipif(ENVIRONMENT is None, reason="make small-model runs it, with a real model"),
    pytest.mark.timeout(3600),
]


@pytest.fixture(scope="module")
def model() -> Iterator[Counted]:
    with small_model(Path(str(ENVIRONMENT)), window=WINDOW) as port, counted(port) as seen:
        yield seen


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Six hundred eLife papers where they are beside the checkout, else the demonstration's essays;
    and a goal for them.
    """
    folder = tmp_path_factory.mktemp("papers")
    if not PAPERS.is_file():
        build_demo(folder / "corpus")
        return (
            folder / "corpus" / "paper_snapshot.db",
            "Find out how searching and citing papers could be made more reproducible",
        )
    (folder / "source").mkdir()
    with lzma.open(PAPERS, "rt", encoding="utf-8") as lines:
        (folder / "source" / "papers.jsonl").write_text(
            "".join(islice(lines, 600)), encoding="utf-8"
        )
    build_papers([folder / "source"], folder / "corpus", BuildOptions(workers=1))
    return (
        folder / "corpus" / "paper_snapshot.db",
        "Find out how innate immunity defends cells against bacteria",
    )


class McpServer(Server):
    """The same server, asked as an MCP client asks."""

    def ask(self, tool: str, **arguments: Any) -> Any:
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        }
        with contextlib.closing(
            http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        ) as connection:
            connection.request(
                "POST", "/mcp", json.dumps(body), {**headers, "mcp-protocol-version": "2025-06-18"}
            )
            answer = json.loads(connection.getresponse().read())
        result = answer["result"]
        assert not result.get("isError"), result
        structured = result.get("structuredContent")
        if structured is None:
            return result["content"][0]["text"]
        return structured["result"] if set(structured) == {"result"} else structured


@contextlib.contextmanager
def at_work(corpus: Path, home: Path, model: Counted, **more: str) -> Iterator[McpServer]:
    chosen = {
        "PROVIDER": "openai",
        "NAME": NAME,
        "URL": model.url,
        "CONTEXT_TOKENS": str(WINDOW),
        "MAX_OUTPUT_TOKENS": "700",
        "TEMPERATURE": "0.4",
        "TIMEOUT_SECONDS": "600",
        "INPUT_PRICE": str(PRICES[0]),
        "OUTPUT_PRICE": str(PRICES[1]),
        **more,
    }
    with serving(
        corpus, home, **{f"CARREL_MODEL_{name}": value for name, value in chosen.items()}
    ) as server:
        yield McpServer(server.process, server.port)


def ended(server: McpServer, research_id: str) -> dict[str, Any]:
    while (status := server.ask("get_research_status", research_id=research_id))["status"] in {
        "initializing",
        "active",
    }:
        time.sleep(1)
    return dict(status)


@pytest.mark.promise("S2")
@pytest.mark.promise("S7")
def test_a_whole_project_with_a_small_real_model_and_a_kill_in_the_middle(
    corpus: tuple[Path, str], tmp_path: Path, model: Counted
) -> None:
    snapshot, goal = corpus
    began = time.monotonic()
    # What so small a model thinks of safety is noise: the rules alone decide here, the next test
    # asks it.
    with at_work(snapshot, tmp_path, model, SAFETY_CHECK="false") as server:
        research_id = server.ask("start_research", goal=goal, hypothesis_count=2)["research_id"]
        # Whatever the model manages to write has somebody to play against.
        own = {
            "title": "Cold slows the first defence",
            "summary": "Cells that are cooled answer later.",
        }
        server.ask("submit_hypothesis", research_id=research_id, **own)
        # It is killed once some answers are kept; so small a model may never write a review that
        # can be read.
        while True:
            time.sleep(1)
            before = _exported(server, research_id)
            if (
                sum(output["is_model_call"] for output in before["agent_outputs"])
                >= KEPT_BEFORE_THE_KILL
            ):
                break
            assert before["project"]["status"] != "completed"
            if before["project"]["status"] == "failed":
                assert NAME in before["project"]["problem"]
                server.ask("resume_research", research_id=research_id)
        model.is_busy.wait(timeout=120)
        before = _exported(server, research_id)
        server.process.kill()
    with at_work(snapshot, tmp_path, model, SAFETY_CHECK="false") as server:
        status = ended(server, research_id)
        assert status["status"] == "completed", status["problem"]
        whole = _exported(server, research_id)
        shown = {
            form: server.ask("get_results", research_id=research_id, format=form)
            for form in ("summary", "detailed", "nih_aims")
        }
        page = server.ask("export_research", research_id=research_id, format="html")

    calls = [output for output in whole["agent_outputs"] if output["is_model_call"]]
    _say(
        f"{time.monotonic() - began:.0f} s, {len(model.asked)} requests, {len(calls)} answers kept",
        calls,
        whole,
    )

    # Nothing that was finished is done again, and only what was in flight when the server died is
    # asked for twice.
    assert whole["agent_outputs"][: len(before["agent_outputs"])] == before["agent_outputs"]
    assert whole["reviews"][: len(before["reviews"])] == before["reviews"]
    assert len(calls) == status["model_calls"] <= len(model.answered) <= len(calls) + 1
    # Each of the two servers found out once that the model's server knows no strict shapes; nothing
    # was ever too long for it.
    assert all("response_format" in refusal for refusal in model.refused)
    assert len(model.refused) == 2

    for call in calls:
        assert call["mind"] == NAME
        assert call["input_tokens"] > 0 and call["output_tokens"] > 0
        assert call["cost"] == pytest.approx(
            (call["input_tokens"] * PRICES[0] + call["output_tokens"] * PRICES[1]) / 1_000_000
        )
        assert call["given"] and call["answered"]
    _nothing_made_up(whole, calls)

    assert whole["matches"]
    assert {match["verdict"] for match in whole["matches"]} <= {
        "first",
        "second",
        "draw",
        "unreadable",
    }
    for form, results in shown.items():
        assert results["total_hypotheses"] == len(whole["hypotheses"])
        assert results["markdown"].startswith(f"# {goal}")
        assert (results["nih_aims"] is not None) == (form == "nih_aims")
        cited = {name for made in whole["hypotheses"] for name in made["draft"]["citations"]}
        named = {item["id"] for item in results["bibliography"]}
        assert named == cited if form == "detailed" else named <= cited
    assert page.startswith("<!") and "<svg" in page


@pytest.mark.promise("S6")
def test_its_opinion_on_safety_is_kept_whichever_way_it_goes(
    corpus: tuple[Path, str], tmp_path: Path, model: Counted
) -> None:
    snapshot, goal = corpus
    with at_work(snapshot, tmp_path, model) as server:
        research_id = server.ask("start_research", goal=goal, hypothesis_count=1)["research_id"]
        while True:
            whole = _exported(server, research_id)
            opinions = [one for one in whole["safety"] if one["checked_by"] == NAME]
            if opinions:
                break
            time.sleep(0.5)
        if not opinions[0]["is_allowed"]:
            status = ended(server, research_id)
            assert status["status"] == "failed"
            assert f"{NAME} refused it, saying: {opinions[0]['reason']}" in status["problem"]
        else:
            server.ask("cancel_research", research_id=research_id)


def _nothing_made_up(whole: dict[str, Any], calls: list[dict[str, Any]]) -> None:
    """Every citation is a paper that stood in the material of a call, and no text names another."""
    there = set(re.findall(r"\[id: (\w+)\] ", " ".join(call["given"] for call in calls)))
    assert there
    drafts = [
        made["draft"]
        for made in whole["hypotheses"]
        if made["draft"]["origin"] == f"language model {NAME}"
    ]
    assert len(drafts) == len(whole["hypotheses"]) - 1 > 0
    for draft in drafts:
        assert draft["title"].strip()
        assert 50 <= len(draft["summary"].split()) <= 100
        assert set(draft["citations"]) <= there
        named = re.findall(r"\[id: ([^\]]*)\]", json.dumps(draft, ensure_ascii=False))
        assert {name for names in named for name in names.split(", ")} <= there
        assert not re.search(r"\b10\.\d{4,9}/|PMID", json.dumps(draft))
    for review in whole["reviews"]:
        assert set(review["citations"]) <= there
        assert all(0 <= value <= 1 for value in review["scores"].values() if value is not None)
        material = " ".join(" ".join(call["given"] for call in calls).split())
        assert all(" ".join(said.split()).strip('“”"') in material for said in review["quotations"])


def _exported(server: McpServer, research_id: str) -> dict[str, Any]:
    whole = server.ask("export_research", research_id=research_id)
    return dict(json.loads(whole) if isinstance(whole, str) else whole)


def _say(first: str, calls: list[dict[str, Any]], whole: dict[str, Any]) -> None:
    unused = sum("_unreadable_" in call["id"] for call in calls)
    tokens = (
        sum(call["input_tokens"] for call in calls),
        sum(call["output_tokens"] for call in calls),
    )
    removed = sum(made["draft"]["removed_citations"] for made in whole["hypotheses"])
    kept = sum(len(made["draft"]["citations"]) for made in whole["hypotheses"])
    left_out = sum(event["says"].startswith("Left out") for event in whole["events"])
    print(
        f"\n{first} ({unused} of no use); {tokens[0]} tokens in, {tokens[1]} out; "
        f"{len(whole['hypotheses'])} hypotheses, "
        f"{len(whole['reviews'])} reviews, {len(whole['matches'])} matches, {left_out} pieces of "
        f"work left out; "
        f"{kept} citations kept, {removed} removed"
    )
