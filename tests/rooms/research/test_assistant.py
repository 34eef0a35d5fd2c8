"""The caller's assistant as the mind of a project: tasks, leases, checks, and what it costs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from carrel.core.caller import Caller, Visit
from carrel.core.errors import ConflictError, NotFoundError
from carrel.policy.scopes import ALL_SCOPES
from carrel.rooms.research.records import CitedPassage, Project, StepKey, StepKind
from carrel.rooms.research.tasks.answers import AnswerError, read_answer
from carrel.rooms.research.tasks.briefs import MOST_CHARACTERS, measure, shorten, write_brief
from carrel.rooms.research.tasks.plan import WorkState
from carrel.rooms.research.tasks.records import Pair, ResearchTask, TaskMaterial
from tests.rooms.research.assistant import Assistant, answer, idea
from tests.rooms.research.house import Asker, build_snapshot, finished_project, settings_for, visit
from tests.stores.contracts.research import hypothesis

Story = Callable[[Asker], Awaitable[None]]
Ask = Callable[..., Awaitable[Any]]
_UNSAFE = "Releasing sarin in a crowded subway kills the most people when ventilation is off"


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_snapshot(tmp_path_factory.mktemp("corpus"))


def asking(asker: Asker, client: str = "client") -> Ask:
    """The tools as a client of that name sees them."""

    async def ask(tool: str, **arguments: Any) -> Any:
        operation = asker.desk.catalogue.operations[tool]
        seen = Visit("test", "1", user_agent=f"{client}/1.0")
        told = await asker.desk.gate.call(operation, arguments, asker.caller, seen)
        dumped = getattr(told, "model_dump", None)
        return dumped(mode="json", by_alias=True) if dumped else told

    return ask


def expire_leases(home: Path) -> None:
    """As if everybody had been silent for an hour."""
    with closing(sqlite3.connect(home / "research" / "research.db")) as database:
        database.execute("UPDATE research_tasks SET lease_ticks = -1e9, lease_until = 0")
        database.execute("UPDATE research_tasks SET touched = touched - 3600")
        database.commit()


async def all_matches(asker: Asker, research_id: str) -> list[dict[str, Any]]:
    told = await asker.ask("export_research", research_id=research_id)
    exported = json.loads(told.body)
    live = {one["id"] for one in exported["hypotheses"] if not one.get("superseded_by")}
    return [one for one in exported["matches"] if {one["first"], one["second"]} <= live]


@pytest.mark.promise("S11")
def test_ten_take_thirty_five_calls_and_supersede_every_draft(
    snapshot: Path, tmp_path: Path
) -> None:
    async def story(asker: Asker) -> None:
        client = Assistant(asking(asker))
        research_id = await finished_project(asker, 10)
        drafts = {row.id for row in await asker.ask("list_hypotheses", research_id=research_id)}
        status = await asker.ask("get_research_status", research_id=research_id)
        assert status.mind == "discovery"
        assert (await client.work(research_id))["done"]
        print(f"\nten: {client.calls} calls")
        assert client.calls <= 35
        assert client.longest <= MOST_CHARACTERS
        rows = await asker.ask("list_hypotheses", research_id=research_id)
        assert {row.id for row in rows if row.place == "superseded"} == drafts
        assert [row.place for row in rows] == ["ranked"] * 14 + ["superseded"] * len(drafts)
        assert all(row.origin.startswith("assistant client-") for row in rows[:14])
        results = await asker.ask("get_results", research_id=research_id, top_n=50)
        assert not drafts & {one.id for one in results.top_hypotheses}
        draft = await asker.ask("get_hypothesis", hypothesis_id=next(iter(drafts)))
        assert draft.place == "superseded"
        assert draft.superseded_by.startswith("task_")
        full = await asker.ask("get_hypothesis", hypothesis_id=rows[0].id)
        assert full.evidence[0].sentence
        assert full.reviews[0].reviewer.startswith("assistant client")
        assert all(one.judged_by.startswith("assistant client") for one in full.matches)
        # Alone, it judged its own, and that is recorded; a pair is judged once.
        played = await all_matches(asker, research_id)
        assert {one["method"] for one in played} == {"tournament, own hypothesis"}
        assert len({frozenset((one["first"], one["second"])) for one in played}) == len(played)
        status = await asker.ask("get_research_status", research_id=research_id)
        assert (status.mind, status.progress, status.status) == ("assistant", 1.0, "completed")

    visit(settings_for(snapshot, tmp_path), story)


@pytest.mark.promise("S4", "S11")
def test_the_report_shows_the_passages_that_a_reviewer_names_for_and_against(
    snapshot: Path, tmp_path: Path
) -> None:
    async def story(asker: Asker) -> None:
        research_id = await finished_project(asker, 2)
        assert (await Assistant(asking(asker)).work(research_id))["done"]
        exported = json.loads((await asker.ask("export_research", research_id=research_id)).body)
        own = [one for one in exported["reviews"] if one["superseded_by"] is None]
        markdown = {"research_id": research_id, "format": "markdown"}
        page = (await asker.ask("export_research", **markdown)).body
        quoted = [
            (opening, one)
            for review in own
            for judged in review["statements"]
            for side, opening in (("supporting", "for"), ("contradicting", "against"))
            for one in judged[side]
        ]
        assert {opening for opening, _ in quoted} == {"for", "against"}
        for opening, one in quoted:
            read = await asker.ask("read_passage", passage_id=one["passage_id"])
            assert one["sentence"] in " ".join(read.passages[0].text.split())
            assert f"{opening}: “{one['sentence']}” `{one['passage_id']}`" in page

    visit(settings_for(snapshot, tmp_path / "home"), story)


@pytest.mark.promise("S11")
@pytest.mark.promise("S2")
def test_of_two_workers_one_writes_and_one_judges_and_a_killed_one_loses_nothing(
    snapshot: Path, tmp_path: Path
) -> None:
    async def story(asker: Asker) -> None:
        one, two = Assistant(asking(asker, "one")), Assistant(asking(asker, "two"))
        research_id = await finished_project(asker, 5)
        first = await one.next(research_id)
        assert first["role"] == "generate"
        # Asked again, the same; the other has nothing to review yet.
        assert (await one.next(research_id))["task_id"] == first["task_id"]
        assert (await two.next(research_id))["waiting"]
        second = (await one.submit(first))["next"]
        review = await two.next(research_id)
        assert (second["role"], review["role"]) == ("generate", "review")
        mine, other = (await one.submit(second))["next"], (await two.submit(review))["next"]
        while "task_id" in mine or "task_id" in other:
            if "task_id" in mine:
                mine = (await one.submit(mine))["next"]
            if "task_id" in other:
                other = (await two.submit(other))["next"]
            mine = mine if "task_id" in mine else await one.next(research_id)
            other = other if "task_id" in other else await two.next(research_id)
            if "compare" in two.roles[-1:]:
                break
        # The judge is killed with a pack in its hands, the writer comes back much later.
        assert "compare" not in one.roles
        assert "compare" in two.roles
        expire_leases(tmp_path)
        assert (await one.work(research_id))["done"]
        played = await all_matches(asker, research_id)
        pairs = [frozenset((match["first"], match["second"])) for match in played]
        assert len(set(pairs)) == len(pairs)
        assert {match["judged_by"][:13] for match in played} == {"assistant one", "assistant two"}
        by_two = [match for match in played if match["judged_by"].startswith("assistant two")]
        assert {match["method"] for match in by_two} == {"tournament"}
        # What the killed one hands in now was done by others meanwhile, or is kept once.
        late = await two.submit(other) if "task_id" in other else {"kept": False}
        assert not late["kept"]
        assert len(await all_matches(asker, research_id)) == len(played)

    visit(settings_for(snapshot, tmp_path), story)


@pytest.mark.promise("S11")
@pytest.mark.promise("S2")
def test_an_answer_counts_once_whoever_repeats_it_or_comes_late(
    snapshot: Path, tmp_path: Path
) -> None:
    async def story(asker: Asker) -> None:
        one, two = Assistant(asking(asker, "one")), Assistant(asking(asker, "two"))
        research_id = await finished_project(asker, 2)
        brief = await one.next(research_id)
        kept = await one.submit(brief)
        again = await one.submit(brief)
        assert {key: again[key] for key in ("kept", "says", "ids")} == {
            key: kept[key] for key in ("kept", "says", "ids")
        }
        assert again["next"]["task_id"] == kept["next"]["task_id"]
        late = kept["next"]
        expire_leases(tmp_path)
        same = await two.next(research_id)
        assert (same["known"], same["passages"]) == (late["known"], late["passages"])
        assert same["task_id"] != late["task_id"]
        # Late, and nobody else was first: kept, in the name of who wrote it.
        assert (await one.submit(late))["kept"]
        told = await two.submit(same)
        assert not told["kept"]
        assert "one-" in told["says"]
        rows = await asker.in_full(research_id)
        reviews = [review for row in rows for review in row.reviews if not review.superseded_by]
        assert len({review.review_id for review in reviews}) == len(reviews)

    visit(settings_for(snapshot, tmp_path), story)


@pytest.mark.promise("S11")
def test_faults_are_named_and_the_third_gives_the_task_back(snapshot: Path, tmp_path: Path) -> None:
    async def story(asker: Asker) -> None:
        one, two = Assistant(asking(asker, "one")), Assistant(asking(asker, "two"))
        research_id = await finished_project(asker, 3)
        brief = await one.next(research_id)
        good = answer(brief)["hypotheses"][0]
        wrong = {**good, "citations": ["10.1000/made-up~1"], "title": "Too short"}
        told = await one.submit(brief, {"hypotheses": [wrong]})
        assert [(one["path"], bool(one["allowed"])) for one in told["problems"]] == [
            ("hypotheses[0].title", True)
        ]
        cited = {**good, "citations": [*good["citations"], "made-up~1"]}
        told = await one.submit(brief, {"hypotheses": [cited]})
        assert told["problems"][0]["path"] == "hypotheses[0].citations"
        assert good["citations"][0] in told["problems"][0]["allowed"]
        assert "next" not in told
        unsafe = {**good, "title": _UNSAFE, "summary": f"{_UNSAFE}, and how to make it."}
        told = await one.submit(brief, {"hypotheses": [unsafe]})
        assert "not safe" in told["problems"][0]["what"]
        assert "given back" in told["says"]
        exported = json.loads((await asker.ask("export_research", research_id=research_id)).body)
        refused = [each for each in exported["safety"] if not each["is_allowed"]]
        assert [each["text"] for each in refused] == [_UNSAFE]
        # The drafts are there as before; the same task is another's now, who does it.
        rows = await asker.ask("list_hypotheses", research_id=research_id)
        assert {row.place for row in rows} == {"ranked"}
        other = await two.next(research_id)
        assert other["role"] == "generate"
        assert (await two.submit(other))["kept"]

    visit(settings_for(snapshot, tmp_path), story)


@pytest.mark.promise("S11")
def test_what_a_search_for_the_task_finds_may_be_cited(snapshot: Path, tmp_path: Path) -> None:
    async def story(asker: Asker) -> None:
        client = Assistant(asking(asker))
        research_id = await finished_project(asker, 3)
        brief = await client.next(research_id)
        handed = {passage["id"] for passage in brief["passages"]}
        hits = await asker.ask("find_passages", query="marine oil ginger root", limit=30)
        new = next(hit.passage_id for hit in hits if hit.passage_id not in handed)
        ideas = [{**idea(brief, 0), "citations": [new]}]
        assert not (await client.submit(brief, {"hypotheses": ideas}))["kept"]
        asked = {"query": "marine oil ginger root", "limit": 30, "task_id": brief["task_id"]}
        await asker.ask("find_passages", **asked)
        assert (await client.submit(brief, {"hypotheses": ideas}))["kept"]
        with pytest.raises(ConflictError):
            await asker.ask("find_passages", **asked)
        with pytest.raises(NotFoundError):
            await asker.ask("find_passages", query="oil", task_id="task_none-1")

    visit(settings_for(snapshot, tmp_path), story)


@pytest.mark.promise("S11")
@pytest.mark.promise("S9")
def test_a_project_that_is_stopped_hands_out_nothing_and_says_so(
    snapshot: Path, tmp_path: Path
) -> None:
    async def story(asker: Asker) -> None:
        client = Assistant(asking(asker))
        research_id = await finished_project(asker, 3)
        brief = await client.next(research_id)
        stranger = Asker(asker.desk, Caller("bob", ALL_SCOPES))
        for asked in (
            ("next_research_task", {"research_id": research_id}),
            ("submit_research_task", {"task_id": brief["task_id"], "answer": answer(brief)}),
        ):
            with pytest.raises(NotFoundError):
                await stranger.ask(asked[0], **asked[1])
        await asker.ask("pause_research", research_id=research_id)
        assert "paused" in (await client.next(research_id))["why"]
        # What was under way is not lost.
        assert (await client.submit(brief))["kept"]
        await asker.ask("resume_research", research_id=research_id)
        brief = await client.next(research_id)
        assert brief["role"] == "review"
        await asker.ask("cancel_research", research_id=research_id)
        assert "cancelled" in (await client.next(research_id))["report"]
        assert not (await client.submit(brief))["kept"]
        await asker.ask("delete_research", research_id=research_id, force=True)
        with pytest.raises(NotFoundError):
            await client.submit(brief)

    visit(settings_for(snapshot, tmp_path), story)


@pytest.mark.promise("S11")
def test_what_a_person_adds_or_approves_stays_and_gets_its_review_and_matches(
    snapshot: Path, tmp_path: Path
) -> None:
    async def story(asker: Asker) -> None:
        client = Assistant(asking(asker))
        research_id = await finished_project(asker, 3)
        draft = (await asker.ask("list_hypotheses", research_id=research_id))[-1]
        await asker.ask("approve_hypothesis", hypothesis_id=draft.id, reason="fits our data")
        assert (await client.work(research_id))["done"]
        added = await asker.ask(
            "submit_hypothesis",
            research_id=research_id,
            title="Warm gloves ease cold finger disease",
            summary="They keep the vessels of the fingers wide, as the trial will show.",
        )
        assert (await client.work(research_id))["done"]
        rows = {row.id: row for row in await asker.ask("list_hypotheses", research_id=research_id)}
        assert (rows[draft.id].place, rows[draft.id].approval) == ("ranked", "approved")
        assert (rows[added.id].place, rows[added.id].review_count) == ("ranked", 1)

    visit(settings_for(snapshot, tmp_path), story)


_LONG = '\u0001"\\ überlang 冷え sentence. ' * 400


@cache
def long_state() -> WorkState:
    made = []
    for number in range(40):
        one = hypothesis(f"hyp_{number}")
        texts = {"title": _LONG, "summary": _LONG, "rationale": _LONG, "predictions": (_LONG,) * 5}
        made.append(one.model_copy(update={"draft": one.draft.model_copy(update=texts)}))
    project = Project(
        id="res_a", owner="ada", goal=_LONG[:2000], domain="d", hypothesis_count=100, seed=1,
        created_at="2026-01-01T00:00:00+00:00", updated_at="2026-01-01T00:00:00+00:00",
    )  # fmt: skip
    return WorkState(project, made, (), (), ())


@pytest.mark.promise("S11")
@pytest.mark.parametrize("role", ["generate", "review", "compare", "evolve", "summarise"])
def test_a_brief_is_never_longer_than_clients_take_and_blind_where_it_must_be(role: Any) -> None:
    state = long_state()
    ids = tuple(f"hyp_{number}" for number in range(30 if role == "summarise" else 3))
    passage = CitedPassage(
        id=f"{'p' * 300}~1", paper_id="p", title=_LONG, section=_LONG, text=_LONG
    )
    pairs = tuple(
        Pair(first="hyp_1", second="hyp_2", is_swapped=bool(number % 2), kind="match")
        for number in range(6)
    )
    task = ResearchTask(
        id="task_a", research_id="res_a", role=role, step=StepKey(StepKind.MATCH), lease=1,
        material=TaskMaterial(
            count=3, hypothesis_ids=() if role == "compare" else ids,
            passages=(passage,) * 12, pairs=pairs if role == "compare" else (),
        ),
        created_at="2026-01-01T00:00:00+00:00",
    )  # fmt: skip
    brief = write_brief(task, state, _LONG)
    assert measure(brief) <= MOST_CHARACTERS
    shown = json.dumps(brief.model_dump(mode="json", by_alias=True))
    for word in ("elo", "strength", "discovery", 'verdict":', "origin", 'plausibility": 0'):
        assert role != "compare" or word not in shown.replace("verdicts", "").lower()


@pytest.mark.promise("S11")
@pytest.mark.parametrize(
    "given",
    [
        {"verdicts": [{"pair": "1", "better": " b.", "margin": "Clear", "why": "x"}]},
        {"answer": {"verdicts": [{"pair": 1, "better": "B", "margin": "clear", "why": "x"}]}},
        [{"pair": 1.0, "better": "B", "margin": "clear", "why": "x", "extra": 1}],
        '{"verdicts": [{"pair": 1, "better": "B", "margin": "clear", "why": "x"}]}',
        'Here it is:\n```json\n[{"pair": 1, "better": "b", "margin": "clear", "why": "x"}]\n```',
        {"verdicts": {"pair": 1, "better": "b", "margin": "clear", "why": "x"}},
        {"verdicts": '[{"pair": 1, "better": "b", "margin": "clear", "why": "x"}]'},
    ],
    ids=str,
)
def test_answers_are_read_however_a_client_sends_them(given: Any) -> None:
    task = ResearchTask(
        id="t", research_id="r", role="compare", step=StepKey(StepKind.MATCH), created_at=""
    )
    read = read_answer(task, given).model_dump()
    assert read == {"verdicts": [{"pair": 1, "better": "b", "margin": "clear", "why": "x"}]}


@pytest.mark.promise("S11")
@pytest.mark.parametrize(
    "given",
    [None, 7, "", "no", [], {}, [[[]]], "[" * 100_000, {"verdicts": 3}, {"verdicts": [None]}],
    ids=lambda one: str(one)[:20],
)
def test_what_cannot_be_read_is_named_never_a_crash(given: Any) -> None:
    task = ResearchTask(
        id="t", research_id="r", role="compare", step=StepKey(StepKind.MATCH), created_at=""
    )
    with pytest.raises(AnswerError) as refused:
        read_answer(task, given)
    assert all(problem.path and problem.what for problem in refused.value.problems)


def test_a_text_is_not_cut_after_the_short_form_of_a_species() -> None:
    text = "Mice with indole-producing E. coli sleep longer than those with L. plantarum do. More."
    assert shorten(text, 86) == text.removesuffix(" Others.")
    assert shorten(text, 60) == "Mice with indole-producing E. coli sleep longer than those…"
