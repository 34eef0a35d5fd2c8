"""What a small or careless model does wrong, and what becomes of it: seen with a real one, told
again by a script.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import CarrelError
from carrel.rooms.research.reasoners.prompt_material import (
    Citations,
    MaterialPart,
    MaterialRow,
    count_tokens,
    fit_material,
    papers_part,
)
from carrel.services.language_models import (
    LanguageModelError,
    ModelAnswer,
    ModelClient,
    UnusableAnswer,
)
from tests.libraries.discovery.small_corpus import GOAL, small_papers
from tests.rooms.research.house import Asker, visit
from tests.rooms.research.model_server import Asked, Cut, Script, hypothesis, model_server
from tests.rooms.research.test_models import PROVIDERS, with_model

SCHEMA = {
    "title": "WrittenVerdict",
    "type": "object",
    "additionalProperties": False,
    "properties": {},
}


@pytest.fixture
def script() -> Iterator[Script]:
    with model_server() as running:
        yield running


async def run_and_export(asker: Asker, count: int = 2) -> tuple[Any, dict[str, Any]]:
    research_id = (await asker.ask("start_research", goal=GOAL, hypothesis_count=count)).research_id
    status = await asker.finished(research_id)
    return status, json.loads((await asker.ask("export_research", research_id=research_id)).body)


@pytest.mark.promise("S7")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_small_window_is_never_filled_beyond_its_size(
    snapshot: Path, tmp_path: Path, script: Script, provider: str
) -> None:
    async def story(asker: Asker) -> None:
        status, whole = await run_and_export(asker)
        assert status.status == "completed", status.problem
        for made in whole["hypotheses"]:
            assert made["draft"]["citations"]

    visit(with_model(snapshot, tmp_path, script, provider, {"context_tokens": 2560}), story)
    assert {asked.most_tokens for asked in script.asked} == {1280}
    assert all(
        count_tokens(asked.instructions) + count_tokens(asked.material) <= 1280
        for asked in script.asked
    )
    writing = [asked for asked in script.asked if asked.shape == "WrittenHypotheses"]
    assert all(asked.paper_ids and "Propose 1 new" in asked.instructions for asked in writing)


def test_a_window_that_leaves_no_room_for_papers_is_refused_in_words(
    snapshot: Path, tmp_path: Path, script: Script
) -> None:
    async def story(asker: Asker) -> None:
        status, _ = await run_and_export(asker)
        assert status.status == "failed"
        assert "raise model.context_tokens" in str(status.problem)

    visit(with_model(snapshot, tmp_path, script, model={"context_tokens": 1024}), story)
    assert not script.asked


@pytest.mark.parametrize("room", [60, 150, 400, 2000])
def test_material_keeps_to_its_room_and_names_the_papers_that_are_in_it(room: int) -> None:
    parts = [
        papers_part(small_papers()),
        MaterialPart("First", (MaterialRow("word " * 500),), is_needed=True),
        MaterialPart("None", ()),
    ]
    material = fit_material(parts, room)
    assert (
        count_tokens(material.text)
        <= room + count_tokens(f"<material {'0' * 16}>\n\n</material {'0' * 16}>") + 4
    )
    assert {
        paper.id for paper in small_papers() if f"[id: {paper.id}]" in material.text
    } == material.paper_ids
    assert "First\nword" in material.text
    assert "None" not in material.text
    assert (room < 400) or material.paper_ids


def test_a_text_that_is_too_long_is_answered_with_what_to_set(script: Script) -> None:
    said = {
        "error": {
            "message": "This model's maximum context length is 2048 tokens.",
            "code": "context_length_exceeded",
        }
    }

    async def run() -> None:
        client = ModelClient("openai", "scripted-1", url=script.url)
        script.first = [(400, {}, json.dumps(said).encode())]
        with pytest.raises(LanguageModelError, match=r"2048 tokens.*set model\.context_tokens"):
            await client.ask("Judge", "<material></material>", SCHEMA, "WrittenVerdict")
        await client.close()

    asyncio.run(run())


def test_a_server_that_knows_no_strict_shapes_is_asked_in_the_simpler_way(
    snapshot: Path, tmp_path: Path, script: Script
) -> None:
    script.first = [
        (
            500,
            {},
            b"{\"error\": {\"message\": \"('body', 'response_format', 'type'): Input should be "
            b"'text'\"}}",
        )
    ]

    async def story(asker: Asker) -> None:
        status, _ = await run_and_export(asker, 2)
        assert status.status == "completed", status.problem
        assert status.model_calls == len(script.asked) - 1

    visit(with_model(snapshot, tmp_path, script), story)
    assert [asked.way for asked in script.asked] == [
        "json_schema",
        *["json_object"] * (len(script.asked) - 1),
    ]
    assert "JSON" not in script.asked[0].instructions
    judging = [asked.instructions for asked in script.asked[1:] if asked.shape == "WrittenVerdict"]
    assert judging and all(
        told.endswith(
            "an object with reason (text), winner (first or second or draw), "
            "margin (clear or slight)."
        )
        for told in judging
    )


def test_a_model_that_is_too_slow_is_said_to_be(script: Script) -> None:
    async def run(url: str) -> None:
        async def pause(seconds: float) -> None:
            return None

        client = ModelClient("openai", "scripted-1", url=url, timeout_seconds=0.05, pause=pause)
        with pytest.raises(
            LanguageModelError, match=r"within 0\.05 seconds.*set model\.timeout_seconds"
        ):
            await client.ask("Judge", "<material></material>", SCHEMA, "WrittenVerdict")
        await client.close()

    with socket.create_server(("127.0.0.1", 0)) as silent:
        asyncio.run(run(f"http://127.0.0.1:{silent.getsockname()[1]}"))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("said", "reason"),
    [(Cut('{"winner": "fir'), "cut off"), ("I think so.", "not a JSON object"), ("", "empty")],
)
def test_an_answer_of_no_use_comes_with_its_reason_and_its_price(
    script: Script, provider: str, said: Any, reason: str
) -> None:
    script.answers["WrittenVerdict"] = lambda asked: said

    async def run() -> None:
        client = ModelClient(provider, "scripted-1", url=script.url, api_key="k")
        answer = await client.ask("Judge", "<material></material>", SCHEMA, "WrittenVerdict")
        assert isinstance(answer, UnusableAnswer)
        assert reason in answer.reason
        assert (answer.input_tokens, answer.output_tokens) == (100, 10)
        await client.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    "written",
    [
        '```json\n{"winner": "first"}\n```',
        '{"reason": "two\nlines", "winner": "first"}',
        '<think>{ hm }</think> {"winner": "first"}',
    ],
)
def test_what_stands_around_an_answer_does_no_harm(script: Script, written: str) -> None:
    script.answers["WrittenVerdict"] = lambda asked: written

    async def run() -> None:
        client = ModelClient("openai", "scripted-1", url=script.url)
        answer = await client.ask("Judge", "<material></material>", SCHEMA, "WrittenVerdict")
        assert isinstance(answer, ModelAnswer)
        assert answer.answer["winner"] == "first"
        await client.close()

    asyncio.run(run())


def test_answers_that_are_cut_off_are_paid_for_and_cost_their_piece_of_work_not_the_run(
    snapshot: Path, tmp_path: Path, script: Script
) -> None:
    for shape in ("WrittenReview", "WrittenVerdict", "WrittenHypothesis", "WrittenMetaReview"):
        script.answers[shape] = lambda asked: Cut('{"text": "again and again and again')

    async def story(asker: Asker) -> None:
        status, whole = await run_and_export(asker)
        assert status.status == "completed", status.problem
        assert (status.hypotheses_generated, status.hypotheses_reviewed) == (2, 0)
        assert status.model_calls == len(script.asked)
        assert status.cost == pytest.approx(
            len(script.asked) * (100 * 10.0 + 10 * 50.0) / 1_000_000
        )
        assert {match["verdict"] for match in whole["matches"]} == {"unreadable"}
        assert (
            sum(
                "Left out: scripted-1 was asked 3 times" in event["says"]
                for event in whole["events"]
            )
            == 2 + 2
        )
        assert all(
            "was cut off" in one["answered"]
            for one in whole["agent_outputs"]
            if "_unreadable_" in one["id"]
        )

    visit(with_model(snapshot, tmp_path, script), story)


def test_a_model_that_writes_no_hypothesis_stops_the_run_in_words_and_a_better_one_goes_on(
    snapshot: Path, tmp_path: Path, script: Script
) -> None:
    usual = script.answers["WrittenHypotheses"]
    script.answers["WrittenHypotheses"] = lambda asked: {"hypotheses": []}

    async def story(asker: Asker) -> None:
        status, whole = await run_and_export(asker)
        assert (status.status, status.hypotheses_generated) == ("failed", 0)
        assert "has no hypothesis in it" in str(status.problem)
        script.answers["WrittenHypotheses"] = usual
        await asker.ask("resume_research", research_id=whole["project"]["id"])
        assert (await asker.finished(whole["project"]["id"])).status == "completed"

    visit(with_model(snapshot, tmp_path, script), story)


def test_empty_and_repeated_hypotheses_are_left_out(
    snapshot: Path, tmp_path: Path, script: Script
) -> None:
    def same(asked: Asked) -> dict[str, Any]:
        titles = ("Vessels cool.", "  ", "1.2", "vessels  COOL", "Warm hands")
        return {"hypotheses": [hypothesis(asked, title=title) for title in titles]}

    script.answers["WrittenHypotheses"] = same
    script.answers["WrittenHypothesis"] = lambda asked: hypothesis(asked, title="Warm hands!")

    async def story(asker: Asker) -> None:
        status, whole = await run_and_export(asker, 4)
        assert status.status == "completed", status.problem
        assert sorted(made["draft"]["title"] for made in whole["hypotheses"]) == [
            "Vessels cool.",
            "Warm hands",
        ]

    visit(with_model(snapshot, tmp_path, script), story)


def test_a_hypothesis_that_says_next_to_nothing_is_left_out(
    snapshot: Path, tmp_path: Path, script: Script
) -> None:
    script.answers["WrittenHypotheses"] = lambda asked: {
        "hypotheses": [hypothesis(asked, summary="It is so.")]
    }

    async def story(asker: Asker) -> None:
        status, _ = await run_and_export(asker)
        assert (status.status, status.hypotheses_generated) == ("failed", 0)
        assert "in fewer than 50 words" in str(status.problem)

    visit(with_model(snapshot, tmp_path, script), story)


def test_a_paper_that_was_shown_is_no_new_hypothesis(
    snapshot: Path, tmp_path: Path, script: Script
) -> None:
    known = {paper.title for paper in small_papers()}
    script.answers["WrittenHypotheses"] = lambda asked: {
        "hypotheses": [hypothesis(asked, title=title_of(asked))]
    }

    def title_of(asked: Asked) -> str:
        return next(title for title in sorted(known) if f"] {title} (" in asked.material).upper()

    async def story(asker: Asker) -> None:
        status, _ = await run_and_export(asker)
        assert (status.status, status.hypotheses_generated) == ("failed", 0)
        assert "repeats a hypothesis or a paper" in str(status.problem)

    visit(with_model(snapshot, tmp_path, script), story)


def test_a_model_too_small_to_judge_safety_is_not_asked_and_the_rules_still_decide(
    snapshot: Path, tmp_path: Path, script: Script
) -> None:
    async def story(asker: Asker) -> None:
        status, whole = await run_and_export(asker)
        assert status.status == "completed", status.problem
        assert {one["checked_by"] for one in whole["safety"]} == {"rules"}
        assert len(whole["safety"]) == 1 + len(whole["hypotheses"])

    visit(with_model(snapshot, tmp_path, script, model={"safety_check": False}), story)
    assert "WrittenSafety" not in {asked.shape for asked in script.asked}


def test_what_no_safety_opinion_can_be_read_on_stays_out(
    snapshot: Path, tmp_path: Path, script: Script
) -> None:
    usual = script.answers["WrittenSafety"]
    script.answers["WrittenSafety"] = lambda asked: (
        usual(asked) if GOAL in asked.material else {"text_1": "fine"}
    )

    async def story(asker: Asker) -> None:
        status, whole = await run_and_export(asker)
        assert (status.status, status.hypotheses_generated) == ("failed", 0)
        assert "Not one hypothesis came through" in str(status.problem)
        assert any(
            "could not be read" in one["reason"] and not one["is_allowed"]
            for one in whole["safety"]
        )

    visit(with_model(snapshot, tmp_path, script), story)


def test_what_no_database_keeps_is_taken_out_of_answers(
    snapshot: Path, tmp_path: Path, script: Script
) -> None:
    def odd(asked: Asked) -> str:
        told = json.dumps({"hypotheses": [hypothesis(asked, title="Half TITLE and nothing")]})
        return told.replace("TITLE", r"\ud83d \u0000 \u0007")

    script.answers["WrittenHypotheses"] = odd

    async def story(asker: Asker) -> None:
        status, whole = await run_and_export(asker, 1)
        assert status.status == "completed", status.problem
        assert whole["hypotheses"][0]["draft"]["title"].split() == ["Half", "and", "nothing"]

    visit(with_model(snapshot, tmp_path, script), story)


@pytest.mark.promise("S7")
def test_papers_that_are_only_named_in_the_text_are_taken_out_and_counted() -> None:
    citations = Citations({"p1", "p2"})
    said = (
        "Cold hurts [id: p1; id: made-up], see [id: other] and doi:10.1234/abc.5 (PMID: "
        "12345), or [id: p2]."
    )
    assert citations.clean(said) == "Cold hurts [id: p1], see and, or [id: p2]."
    assert citations.keep_shown(["[id: p1]", "p2", "p1", "nowhere", ""]) == ("p1", "p2")
    assert citations.removed == 5
    assert citations.clean_all(["Again", "Again", " ", "https://doi.org/10.1/x is no DOI"]) == (
        "Again",
        "https://doi.org/10.1/x is no DOI",
    )


def test_more_hypotheses_than_an_answer_holds_are_asked_for_in_portions(
    snapshot: Path, tmp_path: Path, script: Script
) -> None:
    async def story(asker: Asker) -> None:
        status, _ = await run_and_export(asker, 1)
        made = await asker.ask("generate_hypotheses", research_id=status.research_id, count=5)
        assert len({row.id for row in made}) == len({row.title for row in made}) == 5

    visit(with_model(snapshot, tmp_path, script, model={"max_output_tokens": 2000}), story)
    wanted = [asked.instructions for asked in script.asked if asked.shape == "WrittenHypotheses"][
        1:
    ]
    assert [text.split("Propose ")[1][:1] for text in wanted] == ["2", "2", "1"]


def test_a_single_review_that_cannot_be_read_says_so(
    snapshot: Path, tmp_path: Path, script: Script
) -> None:
    async def story(asker: Asker) -> None:
        _, whole = await run_and_export(asker, 1)
        script.answers["WrittenReview"] = lambda asked: "It is good."
        with pytest.raises(CarrelError, match="not a JSON object") as refused:
            await asker.ask("review_hypothesis", hypothesis_id=whole["hypotheses"][0]["id"])
        assert refused.value.code == "model_unavailable"

    visit(with_model(snapshot, tmp_path, script), story)
