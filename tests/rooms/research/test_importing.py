"""Hypotheses of the earlier system, from a file of our own and from the real one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.core.errors import InvalidInputError
from carrel.rooms.research.human_input import _LegacyEntry, read_legacy_hypotheses
from carrel.settings import Settings
from tests.rooms.research.house import Asker, visit

REAL = (
    Path(__file__).resolve().parents[4]
    / "shared"
    / "data"
    / "hypotheses"
    / "earlier-system-hypotheses.json"
)
GOAL = "Carry on with what the earlier system found"


@pytest.mark.promise("S10")
def test_fields_of_the_earlier_system_find_their_place(settings: Settings) -> None:
    stored = {
        "id": "abc", "summary": "Ginger calms vessels", "full_description": "Long text",
        "category": "mechanistic", "novelty_claim": "New",
        "assumptions": ["One"], "generation_method": "out_of_box", "confidence_score": 0.5,
        "elo_rating": 1234.5, "review_count": 2,
        "experimental_protocol": {"objective": "Test", "methodology": "Do it", "timeline": "6 months", "success_metrics": ["Less"]},  # noqa: E501
        "supporting_evidence": [{"authors": ["A. B."], "title": "T", "journal": "J", "year": 2020, "doi": "10.1/x", "url": "u"}],  # noqa: E501
        "created_at": "2025-07-23T19:19:27+00:00",
    }  # fmt: skip

    async def story(asker: Asker) -> None:
        entries = [stored, {"id": "broken"}, stored]
        report = await asker.ask("import_hypotheses", hypotheses=json.dumps(entries), goal=GOAL)
        assert (len(report.imported), report.already_here) == (1, ["abc"])
        assert report.failed == ["entry 2: summary: Field required"]
        (row,) = await asker.in_full(report.research_id)
        assert (row.elo_score, row.method, row.status, row.review_count) == (
            1234.5,
            "paradigm_shift",
            "evolved",
            2,
        )
        assert (row.rationale, row.novelty, row.created_at) == (
            "Long text",
            "New",
            stored["created_at"],
        )
        assert "Timeline: 6 months" in row.experimental_protocol
        assert "earlier system" in row.origin
        results = await asker.ask("get_results", research_id=report.research_id)
        assert [(item["DOI"], item["title"]) for item in results.bibliography] == [("10.1/x", "T")]
        again = await asker.ask("import_hypotheses", hypotheses=json.dumps([stored]), goal=GOAL)
        assert (again.research_id, again.imported, again.already_here) == (None, [], ["abc"])

    visit(settings, story)


@pytest.mark.promise("S10")
def test_the_real_file_comes_in_whole_and_can_be_ranked_on(settings: Settings) -> None:
    if not REAL.exists():
        pytest.skip(f"{REAL.name} is not beside this checkout")
    text = REAL.read_text(encoding="utf-8")

    async def story(asker: Asker) -> None:
        report = await asker.ask("import_hypotheses", hypotheses=text, goal=GOAL)
        assert (len(report.imported), report.failed, report.unsafe) == (
            len(json.loads(text)),
            [],
            [],
        )
        rows = await asker.ask("rank_hypotheses", research_id=report.research_id)
        assert sum(row.elo_score for row in rows) == pytest.approx(1200.0 * len(rows))

    visit(settings, story)


@pytest.mark.parametrize("text", ["nonsense", '"a string"', "[1, 2", "17"])
def test_a_file_that_is_something_else_is_said_to_be_so(settings: Settings, text: str) -> None:
    async def story(asker: Asker) -> None:
        with pytest.raises(InvalidInputError):
            await asker.ask("import_hypotheses", hypotheses=text, goal=GOAL)

    visit(settings, story)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(sorted(_LegacyEntry.model_fields)), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.promise("Q3")
@given(_VALUES)
def test_whatever_the_file_holds_is_read_or_said_to_be_wrong(whole: object) -> None:
    try:
        read, failed = read_legacy_hypotheses(json.dumps(whole))
    except InvalidInputError:
        return
    assert all(one.draft.title and one.earlier_id for one in read)
    assert all(each.reason for each in failed)
