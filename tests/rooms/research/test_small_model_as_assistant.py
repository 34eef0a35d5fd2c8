"""A small real model as the assistant: it is handed tasks and what it writes is handed in. It
knows nothing, so what counts is that faults are named, tasks are given back and drafts remain.

Not part of `make test`; `make small-model` prepares the model and runs this.
"""

from __future__ import annotations

import http.client
import json
import os
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import build_snapshot
from tests.rooms.research.served import Server, serving
from tests.rooms.research.small_model import small_model
from tests.rooms.research.test_small_model import ended

ENVIRONMENT = os.environ.get("CARREL_SMALL_MODEL")
# Briefs have up to 10,000 characters, and some room is needed for an answer.
WINDOW, MOST_ANSWER_TOKENS = 6144, 350
MOST_CALLS = 40

pytestmark = [
    pytest.mark.skipif(ENVIRONMENT is None, reason="make small-model runs it, with a real model"),
    pytest.mark.timeout(3600),
]


def think(port: int, brief: dict[str, Any]) -> str:
    """What the model writes when it is shown a brief."""
    asked = f"Do this task. Answer with JSON only, as answer_shape says.\n{json.dumps(brief)}"
    body = {
        "messages": [{"role": "user", "content": asked}],
        "max_tokens": MOST_ANSWER_TOKENS,
        "temperature": 0.4,
        "seed": 7,
    }
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=900)) as line:
        headers = {"content-type": "application/json"}
        line.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        told = json.loads(line.getresponse().read())
    return str(told["choices"][0]["message"]["content"])


def work(server: Server, port: int, research_id: str) -> Counter[str]:
    """Does tasks until there are none; counts what became of the answers, by role."""
    became: Counter[str] = Counter()
    brief = server.ask("next_research_task", research_id=research_id)
    for _ in range(MOST_CALLS):
        if "task_id" not in brief:
            break
        answer = think(port, brief)
        told = server.ask("submit_research_task", task_id=brief["task_id"], answer=answer)
        is_back = "given back" in told["says"]
        kind = "kept" if told["kept"] else "given back" if is_back else "refused"
        became[f"{brief['role']} {kind}"] += 1
        print(f"{brief['role']}: {kind}: {told.get('problems', told['says'])!s:.300}")
        assert told["kept"] or told["problems"]
        # While the task is still theirs no other comes with the answer.
        brief = told.get("next", brief)
    assert brief.get("done"), brief
    return became


@pytest.mark.promise("S11")
def test_a_small_real_model_as_the_assistant_breaks_nothing(tmp_path: Path) -> None:
    snapshot = build_snapshot(tmp_path / "corpus")
    with (
        small_model(Path(str(ENVIRONMENT)), window=WINDOW) as port,
        serving(snapshot, tmp_path / "home") as server,
    ):
        started = server.ask("start_research", goal=GOAL, hypothesis_count=2)
        research_id = started["research_id"]
        assert ended(server, research_id)["status"] == "completed"  # type: ignore[arg-type]
        drafts = {row["id"] for row in server.ask("list_hypotheses", research_id=research_id)}
        became = work(server, port, research_id)
        rows = server.ask("list_hypotheses", research_id=research_id)
        status = server.ask("get_research_status", research_id=research_id)
    print(f"\nthe small model as assistant: {dict(became)}")
    for role in {name.split()[0] for name in became}:
        # Two refusals before each task that is given back; nothing is asked for a fourth time.
        assert became[f"{role} refused"] >= 2 * became[f"{role} given back"]
    assert (status["mind"], status["status"]) == ("assistant", "completed")
    live = {row["id"] for row in rows if row["place"] != "superseded"}
    if not became["generate kept"]:
        assert live == drafts
