"""A server that is killed while it works, and started again: the run goes on, and nothing is lost
or doubled.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from carrel.rooms.papers.building.models import BuildOptions
from carrel.wiring.papers_build import build_papers
from tests.rooms.research.model_server import model_server
from tests.rooms.research.served import serving

GOAL = "Find novel treatments for cold finger disease"
BRIDGES = ("blood viscosity", "platelet aggregation", "vessel tone")


@pytest.fixture(scope="module")
def wide_snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A disease and thirty-two substances that share bridges with it and never meet it."""
    folder = tmp_path_factory.mktemp("wide")
    told = [
        (f"Raised {bridge} in cold finger disease", ("cold finger disease", bridge), n)
        for n, bridge in enumerate(BRIDGES * 4)
    ]
    for number in range(32):
        name = f"{'abcdefgh'[number // 8]}{'aeiou'[number % 5]}{'bdgklmnt'[number % 8]}olin"
        told.extend(
            (f"{name} lowers {bridge} {n}", (name, bridge), n)
            for n, bridge in enumerate(BRIDGES * 2)
        )
    told.extend(
        (f"On corn {n} and soil {n + 1}", (f"corn {n % 7}", f"soil {n % 5}"), n) for n in range(120)
    )
    lines = [
        json.dumps(
            {"title": t, "abstract": f"We saw that {t}.", "keywords": k, "year": 2000 + y % 20}
        )
        for t, k, y in told
    ]
    (folder / "source").mkdir()
    (folder / "source" / "papers.jsonl").write_text("\n".join(lines))
    build_papers([folder / "source"], folder / "corpus", BuildOptions(workers=1))
    return folder / "corpus" / "paper_snapshot.db"


@pytest.mark.promise("S2")
def test_a_run_that_is_killed_three_times_goes_on_with_nothing_lost_or_doubled(
    wide_snapshot: Path, tmp_path: Path
) -> None:
    with serving(wide_snapshot, tmp_path) as server:
        research_id = server.ask("start_research", goal=GOAL, hypothesis_count=30)["research_id"]
    seen: dict[str, list[Any]] = {"hypotheses": [], "reviews": [], "matches": []}
    for counted, reached in (("hypotheses_generated", 5), ("matches_played", 20)):
        with serving(wide_snapshot, tmp_path) as server:
            while (status := server.ask("get_research_status", research_id=research_id))[
                counted
            ] < reached:
                assert status["status"] in {"initializing", "active"}, status["problem"]
            whole = json.loads(server.ask("export_research", research_id=research_id))
        for kind, before in seen.items():
            now = [_frozen(kind, record) for record in whole[kind]]
            assert now[: len(before)] == before
            seen[kind] = now
    assert seen["matches"]
    with serving(wide_snapshot, tmp_path) as server:
        while (status := server.ask("get_research_status", research_id=research_id))[
            "status"
        ] != "completed":
            assert status["status"] == "active", status["problem"]
        whole = json.loads(server.ask("export_research", research_id=research_id))
        assert server.ask("get_results", research_id=research_id)["total_hypotheses"] == len(
            whole["hypotheses"]
        )
    for kind, before in seen.items():
        assert [_frozen(kind, record) for record in whole[kind]][: len(before)] == before
    first = [
        made
        for made in whole["hypotheses"]
        if not made["parents"] or made["draft"]["method"] == "expansion"
    ]
    assert len(first) == 25
    assert len(whole["hypotheses"]) == 30, "five of those that were asked for are evolved"
    titles = Counter(
        (made["draft"]["title"], made["draft"]["method"], tuple(made["draft"]["bridges"]))
        for made in first
    )
    assert max(titles.values()) == 1
    assert set(Counter(review["hypothesis_id"] for review in whole["reviews"]).values()) == {1}
    assert [match["number"] for match in whole["matches"]] == list(
        range(3 * len(whole["hypotheses"]))
    )
    steps = Counter((output["agent"], output["step"]) for output in whole["agent_outputs"])
    assert max(steps.values()) == 1


@pytest.mark.promise("S2")
def test_no_model_call_that_was_answered_is_made_again_after_a_kill(
    wide_snapshot: Path, tmp_path: Path
) -> None:
    with model_server() as script:
        model = {"PROVIDER": "openai", "NAME": "scripted-1", "URL": script.url, "API_KEY": "k"}
        environment = {f"CARREL_MODEL_{name}": value for name, value in model.items()}
        with serving(wide_snapshot, tmp_path, **environment) as server:
            research_id = server.ask("start_research", goal=GOAL, hypothesis_count=6)["research_id"]
        for reached in (0.2, 0.6):
            with serving(wide_snapshot, tmp_path, **environment) as server:
                while (
                    server.ask("get_research_status", research_id=research_id)["progress"] < reached
                ):
                    pass
        with serving(wide_snapshot, tmp_path, **environment) as server:
            while (status := server.ask("get_research_status", research_id=research_id))[
                "status"
            ] != "completed":
                assert status["status"] == "active", status["problem"]
            whole = json.loads(server.ask("export_research", research_id=research_id))
    kept = [output["id"] for output in whole["agent_outputs"] if output["is_model_call"]]
    assert len(set(kept)) == len(kept) == status["model_calls"]
    # Each of the three kills may have caught one call in flight, which then had no answer to keep.
    assert len(kept) <= len(script.asked) <= len(kept) + 3


@pytest.mark.promise("S2")
def test_a_server_that_was_there_before_the_first_project_takes_up_what_another_left(
    wide_snapshot: Path, tmp_path: Path
) -> None:
    """The second server is started on a home where nobody has researched yet, so it finds no
    database to look into.
    """
    with serving(wide_snapshot, tmp_path) as second:
        with serving(wide_snapshot, tmp_path) as first:
            research_id = first.ask("start_research", goal=GOAL, hypothesis_count=6)["research_id"]
        while (status := second.ask("get_research_status", research_id=research_id))[
            "status"
        ] != "completed":
            assert status["status"] in {"initializing", "active"}, status["problem"]
        assert status["matches_played"]


def _frozen(kind: str, record: dict[str, Any]) -> Any:
    """What of a record must never change: of a hypothesis, not its standing."""
    return (
        (record["id"], record["draft"]["title"])
        if kind == "hypotheses"
        else json.dumps(record, sort_keys=True)
    )
