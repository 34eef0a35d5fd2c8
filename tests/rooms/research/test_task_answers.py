"""What answers to research tasks may cite and how they are read; which passages are handed out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.rooms.research.records import CitedPassage, StepKey, StepKind
from carrel.rooms.research.tasks.answers import (
    AnswerError,
    check_citations,
    read_answer,
    resolve_citations,
)
from carrel.rooms.research.tasks.briefs import excerpt
from carrel.rooms.research.tasks.materials import choose_passages, content_stems
from carrel.rooms.research.tasks.records import ResearchTask, TaskMaterial
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.assistant import Assistant, answer, idea
from tests.rooms.research.house import Asker, build_snapshot, finished_project, settings_for, visit
from tests.rooms.research.model_server import Script, model_server
from tests.rooms.research.test_assistant import asking

pytestmark = pytest.mark.promise("S11")


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_snapshot(tmp_path_factory.mktemp("corpus"))


@pytest.fixture
def script() -> Iterator[Script]:
    with model_server() as script:
        yield script


def passage(name: str, text: str, title: str = "") -> CitedPassage:
    return CitedPassage(id=name, paper_id=name.partition("~")[0], title=title, text=text)


def task_with(*passages: CitedPassage, role: Any = "compare") -> ResearchTask:
    return ResearchTask(
        id="t",
        research_id="r",
        role=role,
        step=StepKey(StepKind.MATCH),
        material=TaskMaterial(passages=passages),
        created_at="",
    )


_HANDED = task_with(
    passage("4b28c88ff49adbd5~695f2ad57d", "Fins grow back (Liu et al., 2019); see 10.1234/own.1."),
    passage("fd7277a8a1522297~e8184276df", "Nothing of the kind."),
)


@pytest.mark.parametrize(
    "text",
    [
        "As Smith et al. (2018) show, fins grow back.",
        "Fins grow back (Smith, 2018).",
        "Fins grow back, see https://example.org/fins.",
        "Fins grow back (10.5555/invented.1).",
        "Fins grow back (PMID: 123456).",
        "Fins grow back [4b28c88ff49adbd5~0000000000].",
        "Fins grow back (Liu et al., 2020).",
    ],
)
def test_a_source_that_no_handed_passage_has_is_refused_wherever_it_stands(text: str) -> None:
    problems = check_citations(_HANDED, [], [("rationale", text)])
    assert [problem.path for problem in problems] == ["rationale"]


@pytest.mark.parametrize(
    "text",
    [
        "Fins grow back (Liu et al., 2019).",
        "As 10.1234/own.1 says, they grow back.",
        "They grow back [4b28c88ff49adbd5~695f2ad57d].",
        "In 2019 and since January 2020, and in Drosophila 2019 strains, they grew back.",
        "Measure after 24 hours (day 1, 2000 cells).",
    ],
)
def test_what_a_handed_passage_has_may_be_named(text: str) -> None:
    assert check_citations(_HANDED, [], [("rationale", text)]) == []


def test_the_beginning_of_an_id_is_enough_where_only_one_begins_so() -> None:
    asked = ["4B28C88FF49A", "fd7277a8a1522297~e8184276df", "4b28", "ffffffffffff"]
    handed = list(_HANDED.material.citable)
    assert resolve_citations(_HANDED, asked) == [handed[0], handed[1], "4b28", "ffffffffffff"]


def test_many_faulty_citations_do_not_repeat_all_ids() -> None:
    many = task_with(*(passage(f"{number:032x}~0123456789", "x") for number in range(60)))
    cited = [(f"hypotheses[{number}].citations", ["made-up~1"]) for number in range(8)]
    problems = check_citations(many, cited, [])
    assert len(problems) == 8
    assert sum(len(problem.allowed) for problem in problems) < 4000


@pytest.mark.parametrize(
    ("better", "margin"),
    [
        ("Hypothesis A", "Clearly"),
        ("a", "clear"),
        ("Option A.", "strong"),
        ("A is better", "clear"),
    ],
)
def test_choices_are_read_however_they_are_spelt(better: str, margin: str) -> None:
    given = [{"pair": 1, "better": better, "margin": margin, "why": "x"}]
    read = read_answer(task_with(), given).model_dump()["verdicts"][0]
    assert (read["better"], read["margin"]) == ("a", "clear")


@pytest.mark.parametrize("better", ["A or B", "not A", "B rather than A", "a tie"])
def test_a_choice_that_could_mean_another_is_refused(better: str) -> None:
    with pytest.raises(AnswerError) as refused:
        read_answer(task_with(), [{"pair": 1, "better": better, "why": "x"}])
    assert refused.value.problems[0].path == "verdicts[0].better"


@pytest.mark.parametrize("cited", ["p1~a, p2~b", "p1~a\np2~b", "[p1~a; p2~b]", ["p1~a", "p2~b"]])
def test_ids_may_come_as_one_text(cited: Any) -> None:
    written = {
        "plausibility": "80%", "novelty": "0,7", "testability": 1, "safety": "1",
        "verdict": "Supported", "strengths": "one", "weaknesses": "- two\n- three",
        "supporting": cited, "remark": "an extra key",
    }  # fmt: skip
    read = read_answer(task_with(role="review"), written).model_dump()["reviews"][0]
    assert read["supporting"] == ["p1~a", "p2~b"]
    assert (read["plausibility"], read["novelty"], read["verdict"]) == (0.8, 0.7, "supports")
    assert read["weaknesses"] == ["two", "three"]


@pytest.mark.parametrize(
    ("role", "given", "path", "what", "allowed"),
    [
        ("generate", None, "answer", "is not an object", "an object as answer_shape says"),
        ("generate", {"hypotheses": 3}, "hypotheses", "is not a list", "answer_shape"),
        ("compare", [{"pair": "x", "better": "a", "why": "y"}], "verdicts[0].pair",
         "is not a number", "answer_shape"),
        ("compare", [{"pair": 1, "better": "c", "why": "y"}], "verdicts[0].better",
         "is none of the choices", "'a', 'b' or 'draw'"),
        ("compare", [{"pair": 1, "better": "a"}], "verdicts[0].why", "is missing", "answer_shape"),
        ("summarise", {"summary": "x" * 5000}, "summary", "is too long", "at most 4000 characters"),
        ("summarise", {"summary": "x"}, "summary", "is too short", "at least 20 characters"),
        ("summarise", {"summary": "x" * 50, "strong": ["y"] * 9}, "strong", "is too long",
         "at most 8 entries"),
        ("compare", [{"pair": 0, "better": "a", "why": "y"}], "verdicts[0].pair",
         "is less than 1", "answer_shape"),
    ],
)  # fmt: skip
def test_faults_are_told_in_plain_words(
    role: str, given: Any, path: str, what: str, allowed: str
) -> None:
    with pytest.raises(AnswerError) as refused:
        read_answer(task_with(role=role), given)
    (problem,) = refused.value.problems
    assert (problem.path, problem.what) == (path, what)
    assert allowed in problem.allowed


def test_passages_about_more_of_the_subjects_come_first_and_few_of_one_paper() -> None:
    found = [
        passage("a~1", "We could see this via a method."),
        passage("b~1", "Exercise is good."),
        passage("c~1", "Exercise helps dopaminergic neurons."),
        passage("c~2", "Dopaminergic neurons and exercise again."),
        passage("c~3", "Exercise and dopaminergic neurons once more."),
        passage("d~1", "Mitochondria multiply."),
    ]
    subjects = ["exercise", "dopaminergic neurons", "mitochondrial biogenesis", "mitochondria"]
    chosen = [one.id for one in choose_passages(found, subjects, 4)]
    assert chosen == ["c~1", "c~2", "b~1", "d~1"]


def test_of_a_long_passage_the_sentences_are_shown_that_bear_on_the_goal() -> None:
    start = "General words open every abstract of this kind. " * 6
    middle = "Gremlin-1 does not slow fibrosis of the liver. "
    text = start + middle + "Thanks are due to many. " * 6
    shown = excerpt(text, content_stems("Gremlin-1 inhibition slows liver fibrosis"), 160)
    assert middle.strip() in shown
    assert len(shown) <= 160
    assert shown.startswith("… ")
    assert shown.removeprefix("… ") in text
    assert len(excerpt("冷えた指の病気は血管を狭くする。" * 40, frozenset({"指"}), 160)) <= 160


def test_another_answer_to_a_task_that_is_done_is_not_kept_and_says_so(
    snapshot: Path, tmp_path: Path
) -> None:
    async def story(asker: Asker) -> None:
        client = Assistant(asking(asker))
        research_id = await finished_project(asker, 2)
        brief = await client.next(research_id)
        first = await client.submit(brief)
        other = answer(brief)
        other["hypotheses"][0]["title"] = "Quite another hypothesis than the one before it"
        told = await client.submit(brief, other)
        assert (first["kept"], told["kept"]) == (True, False)
        assert "another answer" in told["says"]
        assert (told["ids"], told["next"]["task_id"]) == (first["ids"], first["next"]["task_id"])
        assert not (await client.submit(brief, "no JSON at all"))["kept"]
        rows = await asker.ask("list_hypotheses", research_id=research_id)
        assert sorted(row.id for row in rows if row.place != "superseded") == sorted(first["ids"])

    visit(settings_for(snapshot, tmp_path), story)


def test_short_answers_bring_another_task_for_the_rest_and_long_ones_are_told(
    snapshot: Path, tmp_path: Path
) -> None:
    async def story(asker: Asker) -> None:
        client = Assistant(asking(asker))
        research_id = await finished_project(asker, 3)
        brief = await client.next(research_id)
        told = await client.submit(brief, {"hypotheses": [idea(brief, 0)]})
        more = told["next"]
        assert (more["role"], more["left"]["generate"]) == ("generate", 1)
        assert more["answer_shape"]["properties"]["hypotheses"]["maxItems"] == 2
        ideas = [idea(more, number) for number in range(4)]
        told = await client.submit(more, {"hypotheses": ideas})
        assert "the first of 4" in told["says"]
        assert told["next"]["role"] == "review"
        rows = await asker.ask("list_hypotheses", research_id=research_id)
        assert sum(row.place != "superseded" for row in rows) == 3

    visit(settings_for(snapshot, tmp_path), story)


def test_unsafe_text_is_refused_in_every_part_of_an_answer(snapshot: Path, tmp_path: Path) -> None:
    unsafe = "Release sarin in a crowded subway so that it kills the most people."

    async def story(asker: Asker) -> None:
        client = Assistant(asking(asker))
        research_id = await finished_project(asker, 2)
        brief = await client.next(research_id)
        good = answer(brief)["hypotheses"][0]
        told = await client.submit(brief, {"hypotheses": [{**good, "predictions": [unsafe]}]})
        assert "not safe" in told["problems"][0]["what"]
        review = (await client.submit(brief))["next"]
        faulty = answer(review)
        faulty["reviews"][0]["recommendations"] = [unsafe]
        told = await client.submit(review, faulty)
        assert told["problems"][0]["path"] == "reviews[0].recommendations"
        # What speaks against a hypothesis is no plan: a capable assistant wrote this of one.
        faulty["reviews"][0]["recommendations"] = []
        broad = "Two substances and 'only peripheral' make the claim broad; hard to judge."
        faulty["reviews"][0]["weaknesses"] = [broad]
        assert (await client.submit(review, faulty))["kept"]

    visit(settings_for(snapshot, tmp_path), story)


def test_an_assistant_may_go_on_where_the_models_budget_is_used_up(
    snapshot: Path, tmp_path: Path, script: Script
) -> None:
    model = {"provider": "openai", "name": "scripted", "url": script.url, "api_key": "key"}
    settings = settings_for(snapshot, tmp_path, research={"max_model_calls": 4}, model=model)

    async def story(asker: Asker) -> None:
        client = Assistant(asking(asker))
        started = await asker.ask("start_research", goal=GOAL, hypothesis_count=2)
        status = await asker.finished(started.research_id)
        assert (status.status, status.mind) == ("paused", "model")
        told = await client.next(started.research_id)
        assert "budget" in told["report"]
        assert "take_over" in told["report"]
        brief = await client.next(started.research_id, take_over=True)
        assert brief["role"] == "generate"
        assert (await client.work(started.research_id))["done"]
        status = await asker.ask("get_research_status", research_id=started.research_id)
        assert (status.status, status.mind, status.model_calls) == ("completed", "assistant", 4)

    visit(settings, story)
