"""Judges of matches are checked: a pair repeated the other way round, a pair with broken reasons;
whoever fails weighs less.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.rooms.research.assistant import Assistant, answer
from tests.rooms.research.house import Asker, build_snapshot, finished_project, settings_for, visit
from tests.rooms.research.test_assistant import asking

pytestmark = pytest.mark.promise("S11")


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_snapshot(tmp_path_factory.mktemp("corpus"))


class FirstShown(Assistant):
    """A judge that always takes what is shown first, and clearly so."""

    async def submit(self, brief: dict[str, Any], given: Any = None) -> dict[str, Any]:
        if brief["role"] == "compare" and given is None:
            given = answer(brief)
            for verdict in given["verdicts"]:
                verdict["better"] = "A"
        return await super().submit(brief, given)


@pytest.mark.parametrize("is_biased", [False, True])
def test_a_judge_that_takes_what_is_shown_first_is_found_out_and_weighs_less(
    snapshot: Path, tmp_path: Path, is_biased: bool
) -> None:
    async def story(asker: Asker) -> None:
        client = (FirstShown if is_biased else Assistant)(asking(asker))
        research_id = await finished_project(asker, 10)
        assert (await client.work(research_id))["done"]
        packs = [brief["pairs"] for brief in client.briefs if brief["role"] == "compare"]
        exported = json.loads((await asker.ask("export_research", research_id=research_id)).body)
        ids = {one["id"] for one in exported["hypotheses"] if not one.get("superseded_by")}
        played = [one for one in exported["matches"] if {one["first"], one["second"]} <= ids]
        # Checks are among the pairs, look like them, and are no matches.
        assert sum(map(len, packs)) > len(played)
        assert all(set(pair) == {"pair", "A", "B"} for pack in packs for pair in pack)
        doubted = [one for one in played if "failed checks" in one["method"]]
        assert bool(doubted) == is_biased
        assert {one["margin"] for one in doubted} <= {"slight"}
        clear = [one for one in played if one["margin"] == "clear"]
        assert len(clear) + len(doubted) == len(played)

    visit(settings_for(snapshot, tmp_path), story)
