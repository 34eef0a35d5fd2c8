"""What every context store of the research room promises."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache

import pytest

from carrel.libraries.discovery.connections.candidates import (
    CandidateConnection,
    ExperimentalProtocol,
    GenerationMethod,
)
from carrel.rooms.research.errors import StepTakenError
from carrel.rooms.research.ports import ResearchStore
from carrel.rooms.research.records import (
    AgentOutput,
    Changes,
    CitedPassage,
    Decision,
    Draft,
    Event,
    GenerateWork,
    Hypothesis,
    Job,
    MatchPlayed,
    MetaReview,
    Project,
    RankWork,
    Rating,
    ResearchWork,
    Review,
    ReviewScores,
    SafetyRecord,
    StepDone,
    StepKey,
    StepKind,
)
from carrel.rooms.research.tasks.records import Pair, ResearchTask, TaskMaterial
from carrel.stores.sql.research import SqlResearch
from tests.libraries.discovery.small_corpus import GOAL, small_discovery

NOW = "2026-01-01T00:00:00+00:00"
LATER = "2026-01-01T00:00:01+00:00"
Story = Callable[[ResearchStore], Awaitable[None]]


def project(name: str = "res_a", owner: str = "ada", created_at: str = NOW) -> Project:
    return Project(
        id=name,
        owner=owner,
        goal=GOAL,
        domain="medicine",
        hypothesis_count=3,
        seed=7,
        created_at=created_at,
        updated_at=created_at,
    )


@cache
def _found_connection() -> CandidateConnection:
    """Nothing of it changes, and hundreds of hypotheses rest on it."""
    (connection,) = small_discovery().generate(GOAL, count=1)
    return connection


def hypothesis(name: str, research_id: str = "res_a", parents: tuple[str, ...] = ()) -> Hypothesis:
    draft = Draft(
        title=f"Title of {name}",
        summary="Kälte, 冷え and “quotes”",
        rationale="r",
        protocol=ExperimentalProtocol("o", ("one", "two")),
        citations=("disease-0",),
        origin="discovery",
        method="literature_based",
        connection=_found_connection(),
    )
    return Hypothesis(
        id=name,
        research_id=research_id,
        draft=draft,
        parents=parents,
        start_elo=1000.0,
        created_at=NOW,
        rating=Rating(elo_score=1000.0),
    )


def review(name: str, hypothesis_id: str) -> Review:
    scores = ReviewScores(plausibility=0.5, novelty=1.0, testability=0.25, safety=1.0, overall=0.6)
    return Review(
        id=name,
        research_id="res_a",
        hypothesis_id=hypothesis_id,
        review_type="initial",
        scores=scores,
        reviewer="x",
        created_at=LATER,
    )


def match(number: int) -> MatchPlayed:
    return MatchPlayed(
        research_id="res_a",
        number=number,
        first="hyp_1",
        second="hyp_2",
        verdict="first",
        first_elo=1016.0,
        second_elo=984.0,
        created_at=LATER,
    )


def step(kind: StepKind, number: int = 0, result_ids: tuple[str, ...] = ()) -> StepDone:
    key = StepKey(kind, number=number)
    return StepDone(job_id="job_a", key=key, seconds=0.5, result_ids=result_ids, finished_at=NOW)


def review_task(hypothesis_id: str = "hyp_1", research_id: str = "res_a") -> ResearchTask:
    material = TaskMaterial(
        passages=(CitedPassage(id="p~1", paper_id="p", year=2020, text="Kälte"),),
        hypothesis_ids=(hypothesis_id,),
        pairs=(Pair(first="hyp_1", second="hyp_2", is_swapped=True),),
    )
    key = StepKey(StepKind.REVIEW, round=1, hypothesis_id=hypothesis_id)
    return ResearchTask(
        id=f"task_{hypothesis_id}",
        research_id=research_id,
        role="review",
        step=key,
        material=material,
        created_at=NOW,
    )


def told_event(research_id: str, at: str) -> Event:
    return Event(
        id=f"evt_{research_id}_{at}",
        research_id=research_id,
        kind="steered",
        says="",
        created_at=at,
    )


def run_job(name: str = "job_a", research_id: str = "res_a") -> Job:
    return Job(id=name, research_id=research_id, work=ResearchWork(count=3), created_at=NOW)


async def statuses(
    store: ResearchStore, research_id: str, job_id: str
) -> tuple[str, str | None, str]:
    """Of the project: its status and problem; of the job: its state."""
    found, job = await store.project(research_id), await store.job(job_id)
    assert found is not None
    assert job is not None
    return found.status, found.problem, job.state


class ResearchMemoryContract:
    """Inherited by every backend, which gives `told`: it opens a store, tells it a story, and
    closes it.
    """

    @pytest.fixture
    def told(self) -> Callable[[Story], None]:
        raise NotImplementedError

    def test_outputs_are_told_apart_by_who_made_them_and_never_by_what_they_say(
        self, told: Callable[[Story], None]
    ) -> None:
        def output(name: str, agent: str, *, is_model_call: bool = False) -> AgentOutput:
            # What was given and answered reads like the record of another agent, and of a model's
            # call.
            misleading = '{"agent":"meta-review","is_model_call":true}'
            return AgentOutput(
                id=name, research_id="res_a", agent=agent, step="s", mind="m", given=misleading,
                answered=misleading,
                is_model_call=is_model_call, created_at=NOW,
                cost=0.25 if is_model_call else 0.0,
                finding=MetaReview(text=misleading) if agent == "meta-review" else None,
            )  # fmt: skip

        async def story(store: ResearchStore) -> None:
            plain, looking_back, called = (
                output("out_1", "ranking"),
                output("out_2", "meta-review"),
                output("out_3", "generation", is_model_call=True),
            )
            await store.save(Changes(projects=(project(),), outputs=(plain, looking_back, called)))
            assert await store.outputs("res_a") == [plain, looking_back, called]
            assert await store.outputs("res_a", agent="meta-review") == [looking_back]
            assert await store.model_usage("res_a") == (1, 0.25)
            assert await store.model_usage("res_b") == (0, 0.0)
            assert await store.outputs("res_b", agent="meta-review") == []

        told(story)

    def test_ids_of_hypotheses_are_their_owners_and_begin_as_asked(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            projects = (project(), project("res_b", owner="bob"))
            made = (
                hypothesis("hyp_1"),
                hypothesis("hyp_2"),
                hypothesis("h%p_3"),
                hypothesis("hyp_4", "res_b"),
            )
            await store.save(Changes(projects=projects, hypotheses=made))
            found, total = await store.hypothesis_ids("ada", "hyp_", 10)
            assert (sorted(found), total) == (["hyp_1", "hyp_2"], 2)
            assert await store.hypothesis_ids("ada", "h%", 10) == (["h%p_3"], 1)
            assert await store.hypothesis_ids("bob", "", 10) == (["hyp_4"], 1)
            assert (
                len((await store.hypothesis_ids("ada", "", 1))[0]),
                (await store.hypothesis_ids("ada", "", 1))[1],
            ) == (1, 3)
            assert await store.hypothesis_ids("eve", "", 10) == ([], 0)

        told(story)

    def test_what_is_kept_comes_back_as_it_was(self, told: Callable[[Story], None]) -> None:
        async def story(store: ResearchStore) -> None:
            made = (hypothesis("hyp_1"), hypothesis("hyp_2", parents=("hyp_1",)))
            output = AgentOutput(
                id="out_1",
                research_id="res_a",
                agent="generation",
                step="s",
                mind="m",
                given="g",
                answered="a",
                cost=0.25,
                created_at=NOW,
            )
            event = Event(id="evt_1", research_id="res_a", kind="started", says="x", created_at=NOW)
            decision = SafetyRecord(
                id="safe_1",
                owner="ada",
                subject="goal",
                text="t",
                is_allowed=False,
                rule="r",
                reason="y",
                created_at=NOW,
            )
            await store.save(
                Changes(
                    projects=(project(),),
                    hypotheses=made,
                    outputs=(output,),
                    events=(event,),
                    safety=(decision,),
                )
            )
            assert await store.project("res_a") == project()
            assert await store.hypotheses("res_a") == list(made)
            assert await store.hypothesis("hyp_2") == made[1]
            assert await store.outputs("res_a") == [output]
            assert await store.output("out_1") == output
            assert await store.events("res_a") == [event]
            assert await store.safety("ada") == [decision]
            assert await store.safety("bob") == []
            assert await store.project("res_none") is None
            assert await store.hypothesis("hyp_none") is None

        told(story)

    @pytest.mark.promise("A6")
    def test_projects_are_listed_by_owner_newest_first(self, told: Callable[[Story], None]) -> None:
        async def story(store: ResearchStore) -> None:
            older, newer, other = (
                project(),
                project("res_b", created_at=LATER),
                project("res_c", owner="bob"),
            )
            await store.save(
                Changes(projects=(older, newer, other), hypotheses=(hypothesis("hyp_1"),))
            )
            await store.steer(
                "res_b", ("waiting",), "completed", "completed", told_event("res_b", LATER)
            )
            assert [
                (found.id, count) for found, count in await store.projects("ada", None, 10)
            ] == [("res_b", 0), ("res_a", 1)]
            assert [found.id for found, _ in await store.projects("ada", "completed", 10)] == [
                "res_b"
            ]
            assert len(await store.projects("ada", None, 1)) == 1

        told(story)

    def test_jobs_of_everybody_are_listed_with_their_owner_and_steps(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            assert isinstance(store, SqlResearch)
            jobs = store.all_jobs
            assert await jobs.list_all(None, 10) == []
            work = RankWork(method="tournament")
            other = Job(
                id="job_b", research_id="res_b", work=work, created_at=LATER, planned_steps=4
            )
            await store.save(
                Changes(
                    projects=(project(), project("res_b", "ben", LATER)), jobs=(run_job(), other)
                )
            )
            assert await store.claim("job_a", "w", 60)
            await store.finish_step(step(StepKind.GENERATE), "w", Changes())
            found = await jobs.list_all(None, 10)
            rows = [(job.id, job.kind, job.owner, job.state, job.done, job.total) for job in found]
            assert rows == [
                ("job_b", "rank", "ben", "running", 0, 4),
                ("job_a", "research", "ada", "running", 1, None),
            ]
            assert [job.input for job in found] == ["res_b", "res_a"]
            assert await jobs.count_running() == 2
            assert await store.cancel_job("job_b")
            assert [job.id for job in await jobs.list_all("running", 10)] == ["job_a"]
            assert [job.id for job in await jobs.list_all("cancelled", 10)] == ["job_b"]
            assert [job.id for job in await jobs.list_all(None, 1)] == ["job_b"]
            assert await jobs.count_running() == 1

        told(story)

    def test_undecided_hypotheses_are_counted_by_project(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            made = [hypothesis(name) for name in ("hyp_1", "hyp_2", "hyp_3")]
            await store.save(Changes(projects=(project(),), hypotheses=tuple(made)))
            await store.decide("hyp_1", Decision(approval="approved", by="ada", at=NOW))
            await store.save(Changes(superseded_hypotheses=(("hyp_2", "task_1"),)))
            assert await store.undecided_counts("ada") == {"res_a": 1}
            assert await store.undecided_counts("bob") == {}

        told(story)

    def test_held_projects_of_everybody_are_listed_oldest_first(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            held = [
                project(name, owner=owner, created_at=at).model_copy(update={"status": "held"})
                for name, owner, at in (("res_b", "bob", LATER), ("res_c", "ada", NOW))
            ]
            await store.save(Changes(projects=(project(), *held)))
            assert [one.id for one in await store.held_projects(10)] == ["res_c", "res_b"]
            assert [one.id for one in await store.held_projects(1)] == ["res_c"]

        told(story)

    def test_reviews_standings_and_decisions_change_only_their_own_part(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            evolved = hypothesis("hyp_2").model_copy(update={"status": "evolved"})
            await store.save(
                Changes(projects=(project(),), hypotheses=(hypothesis("hyp_1"), evolved))
            )
            await store.decide(
                "hyp_1", Decision(approval="approved", by="ada", at=LATER, reason="good")
            )
            standing = Rating(elo_score=1016.0, wins=1)
            await store.save(
                Changes(
                    reviews=(review("rev_1", "hyp_1"), review("rev_2", "hyp_2")),
                    ratings=(("hyp_1", standing),),
                )
            )
            first, second = await store.hypotheses("res_a")
            assert (first.status, first.review_count, first.rating, first.decision.approval) == (
                "reviewed",
                1,
                standing,
                "approved",
            )
            assert (second.status, second.review_count, second.decision.approval) == (
                "evolved",
                1,
                "undecided",
            )
            assert [one.id for one in await store.reviews("res_a")] == ["rev_1", "rev_2"]

        told(story)

    @pytest.mark.promise("S2")
    def test_a_step_is_kept_whole_once_and_only_by_who_holds_the_job(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            await store.save(Changes(projects=(project(),)))
            await store.save(Changes(jobs=(run_job(),)))
            assert await store.claim("job_a", "one", 10.0)
            await store.finish_step(
                step(StepKind.GENERATE, 1, ("hyp_1",)),
                "one",
                Changes(hypotheses=(hypothesis("hyp_1"),)),
            )
            with pytest.raises(StepTakenError):
                await store.finish_step(
                    step(StepKind.GENERATE, 1),
                    "one",
                    Changes(hypotheses=(hypothesis("hyp_twice"),)),
                )
            with pytest.raises(StepTakenError):
                await store.finish_step(
                    step(StepKind.GENERATE, 2),
                    "two",
                    Changes(hypotheses=(hypothesis("hyp_stolen"),)),
                )
            assert [made.id for made in await store.hypotheses("res_a")] == ["hyp_1"]
            assert [(done.key, done.result_ids) for done in await store.steps("job_a")] == [
                (StepKey(StepKind.GENERATE, number=1), ("hyp_1",))
            ]
            await store.finish_step(step(StepKind.MATCH, 1), "one", Changes(matches=(match(0),)))
            with pytest.raises(StepTakenError):
                await store.finish_step(
                    step(StepKind.MATCH, 2),
                    "one",
                    Changes(matches=(match(0),), hypotheses=(hypothesis("hyp_half"),)),
                )
            assert await store.hypothesis("hyp_half") is None
            assert (await store.mean_step_seconds())[StepKind.MATCH] == 0.5

        told(story)

    def test_a_match_keeps_by_how_much_it_was_won_and_who_judged_it(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            judged = match(1).model_copy(update={"margin": "slight", "judged_by": "ann"})
            await store.save(Changes(projects=(project(),), matches=(match(0), judged)))
            found = await store.matches("res_a")
            assert [(one.margin, one.judged_by) for one in found] == [(None, ""), ("slight", "ann")]

        told(story)

    @pytest.mark.promise("S2")
    def test_a_task_is_leased_to_one_worker_and_goes_to_another_when_its_lease_is_over(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            await store.save(Changes(projects=(project(),)))
            task = review_task()
            taken = await asyncio.gather(
                *(store.tasks.lease(task, f"worker {number}", 60.0) for number in range(5))
            )
            (held,) = [one for one in taken if one is not None]
            assert (held.material, held.step, held.lease, held.is_held) == (
                task.material,
                task.step,
                1,
                True,
            )
            assert held.idle_seconds < 60.0
            assert held.lease_until > NOW
            assert await store.tasks.renew(task.id, 1, -1.0)
            (expired,) = await store.tasks.of_project("res_a")
            assert (expired.is_held, expired.state) == (False, "leased")
            again = await store.tasks.lease(expired, "late", 60.0)
            assert again is not None
            assert (again.lease, again.worker, again.holder_of(1)) == (2, "late", held.worker)
            assert not await store.tasks.renew(task.id, 1, 60.0)
            found = CitedPassage(id="q~2", paper_id="q", text="found")
            assert await store.tasks.renew(task.id, 2, 60.0, [found, *task.material.passages])
            now = await store.tasks.find(task.id)
            assert now is not None
            assert now.material.found == (found,)
            assert await store.tasks.find("task_none") is None

        told(story)

    @pytest.mark.promise("S2")
    def test_an_answer_is_kept_once_and_whole_and_a_late_one_where_nobody_else_was_first(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            made = (hypothesis("hyp_1"), hypothesis("hyp_2"))
            old = review("rev_old", "hyp_1")
            await store.save(Changes(projects=(project(),), hypotheses=made, reviews=(old,)))
            task = await store.tasks.lease(review_task(), "slow", -1.0)
            assert task is not None
            assert await store.tasks.lease(task, "quick", 60.0) is not None
            late = await store.tasks.find(task.id)
            assert late is not None
            changes = Changes(
                reviews=(review("rev_1", "hyp_1"),),
                superseded_hypotheses=(("hyp_2", task.id),),
                superseded_reviews=(("rev_old", task.id),),
            )
            await store.tasks.finish(late, 1, "{}", "kept", LATER, changes)
            for lease in (1, 2):
                with pytest.raises(StepTakenError):
                    twice = Changes(reviews=(review("rev_2", "hyp_1"),))
                    await store.tasks.finish(late, lease, "{}", "", LATER, twice)
            done = await store.tasks.find(task.id)
            assert done is not None
            assert (done.state, done.worker, done.lease, done.answer, done.result) == (
                "done",
                "slow",
                1,
                "{}",
                "kept",
            )
            assert await store.tasks.lease(done, "quick", 60.0) is None
            reviews = await store.reviews("res_a")
            assert [(one.id, one.superseded_by) for one in reviews] == [
                ("rev_1", None),
                ("rev_old", task.id),
            ]
            assert [one.superseded_by for one in await store.hypotheses("res_a")] == [None, task.id]
            other = await store.tasks.lease(review_task("hyp_2"), "quick", 60.0)
            assert other is not None
            with pytest.raises(StepTakenError):
                await store.tasks.finish(other, 1, "{}", "", LATER, Changes(reviews=(old,)))
            assert [one.state for one in await store.tasks.of_project("res_a")] == [
                "done",
                "leased",
            ]

        told(story)

    @pytest.mark.promise("S2")
    def test_the_third_answer_that_fails_gives_the_task_back_and_says_who_had_it(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            await store.save(Changes(projects=(project(),)))
            task = await store.tasks.lease(review_task(), "one", 60.0)
            assert task is not None
            assert [await store.tasks.fail(task.id, 1, 3) for _ in range(4)] == [1, 2, 3, 0]
            back = await store.tasks.find(task.id)
            assert back is not None
            assert (back.state, back.was_given_back_by("one")) == ("waiting", True)
            again = await store.tasks.lease(back, "two", 60.0)
            assert again is not None
            assert (again.failures, again.was_given_back_by("two")) == (0, False)
            assert await store.tasks.fail(task.id, 1, 3) == 0

        told(story)

    @pytest.mark.promise("S9")
    def test_a_project_that_is_stopped_hands_out_nothing_and_a_deleted_one_has_no_tasks(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            await store.save(Changes(projects=(project(),), jobs=(run_job(),)))
            assert await store.tasks.take_over("res_a", told_event("res_a", "taken"))
            found = await store.project("res_a")
            assert found is not None
            assert (found.mind, found.status) == ("assistant", "active")
            await store.cancel_job("job_a")
            await store.reconcile(LATER)
            assert (await statuses(store, "res_a", "job_a"))[0] == "active"
            task = await store.tasks.lease(review_task(), "one", 60.0)
            assert task is not None
            await store.steer("res_a", ("waiting",), "paused", "paused", told_event("res_a", LATER))
            assert await store.tasks.lease(review_task("hyp_2"), "one", 60.0) is None
            assert not await store.tasks.take_over("res_a", told_event("res_a", "again"))
            await store.tasks.finish(task, 1, "{}", "", LATER, Changes())
            await store.steer("res_a", ("waiting",), "waiting", "active", told_event("res_a", NOW))
            await store.tasks.complete("res_a", told_event("res_a", "done"))
            assert (await statuses(store, "res_a", "job_a"))[0] == "completed"
            last = await store.tasks.lease(review_task("hyp_2"), "one", 60.0)
            assert last is not None
            await store.delete_project("res_a")
            assert await store.tasks.of_project("res_a") == []
            with pytest.raises(StepTakenError):
                await store.tasks.finish(last, 1, "{}", "", LATER, Changes())

        told(story)

    @pytest.mark.promise("S2")
    @pytest.mark.promise("S8")
    def test_standings_made_from_fewer_matches_than_there_are_by_now_are_not_kept(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            await store.save(
                Changes(
                    projects=(project(),), hypotheses=(hypothesis("hyp_1"), hypothesis("hyp_2"))
                )
            )
            for name in ("job_a", "job_b"):
                await store.save(
                    Changes(
                        jobs=(
                            Job(
                                id=name,
                                research_id="res_a",
                                work=RankWork(method="tournament"),
                                created_at=NOW,
                            ),
                        )
                    )
                )
                assert await store.claim(name, name, 10.0)
            settled = Changes(
                ratings=(("hyp_1", Rating(elo_score=1000.0, strength=0.1)),),
                expected_match_count=0,
            )
            newer = Rating(elo_score=1016.0, wins=1)
            other = step(StepKind.MATCH, 1).model_copy(update={"job_id": "job_b"})
            await store.finish_step(
                other, "job_b", Changes(matches=(match(0),), ratings=(("hyp_1", newer),))
            )
            with pytest.raises(StepTakenError):
                await store.finish_step(step(StepKind.SETTLE), "job_a", settled)
            assert (await store.hypotheses("res_a"))[0].rating == newer
            assert await store.steps("job_a") == []
            await store.finish_step(
                step(StepKind.SETTLE),
                "job_a",
                settled.model_copy(update={"expected_match_count": 1}),
            )
            assert (await store.hypotheses("res_a"))[0].rating.strength == 0.1

        told(story)

    @pytest.mark.promise("S2")
    @pytest.mark.promise("S8")
    def test_of_a_match_and_a_settling_at_once_the_standings_follow_from_all_matches(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            await store.save(
                Changes(
                    projects=(project(),), hypotheses=(hypothesis("hyp_1"), hypothesis("hyp_2"))
                )
            )
            for name in ("job_a", "job_b"):
                await store.save(
                    Changes(
                        jobs=(
                            Job(
                                id=name,
                                research_id="res_a",
                                work=RankWork(method="tournament"),
                                created_at=NOW,
                            ),
                        )
                    )
                )
                assert await store.claim(name, name, 10.0)
            for number in range(8):
                newer = Rating(elo_score=1000.0, wins=number + 1)
                stale = Rating(elo_score=1000.0, wins=number, strength=0.5)
                played = step(StepKind.MATCH, number).model_copy(update={"job_id": "job_b"})
                changes = Changes(matches=(match(number),), ratings=(("hyp_1", newer),))
                await asyncio.gather(
                    store.finish_step(played, "job_b", changes),
                    store.finish_step(
                        step(StepKind.SETTLE, number),
                        "job_a",
                        Changes(ratings=(("hyp_1", stale),), expected_match_count=number),
                    ),
                    return_exceptions=True,
                )
                assert (await store.hypotheses("res_a"))[0].rating == newer

        told(story)

    @pytest.mark.promise("S2")
    def test_a_job_is_held_by_one_worker_until_its_lease_runs_out(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            await store.save(Changes(projects=(project(),)))
            await store.save(Changes(jobs=(run_job(),)))
            assert await store.open_jobs() == ["job_a"]
            taken = await asyncio.gather(
                *(store.claim("job_a", f"worker {number}", 10.0) for number in range(5))
            )
            assert taken.count(True) == 1
            holder = await store.holder("job_a")
            assert not await store.claim("job_a", "late", 10.0)
            assert await store.renew("job_a", str(holder), 10.0)
            assert not await store.claim("job_a", "late", 10.0)
            # A lease that ended before it began: nobody has to wait for it.
            assert await store.renew("job_a", str(holder), -1.0)
            assert await store.claim("job_a", "late", 10.0)
            assert not await store.renew("job_a", str(holder), 10.0)
            await store.release("job_a", "late")
            assert await store.claim("job_a", "again", 10.0)

        told(story)

    @pytest.mark.promise("S9")
    def test_how_a_job_ended_is_not_overwritten_by_who_came_late(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            await store.save(Changes(projects=(project(),)))
            await store.save(Changes(jobs=(run_job(),)))
            await store.claim("job_a", "one", 10.0)
            await store.set_active("job_a", "another", LATER)
            assert (await store.project("res_a")) == project()
            await store.set_active("job_a", "one", LATER)
            active = await store.project("res_a")
            assert active is not None
            assert (active.status, active.updated_at) == ("active", LATER)
            assert await store.end_job("job_a", "one", "completed", LATER)
            assert not await store.cancel_job("job_a")
            job = await store.job("job_a")
            assert job is not None
            assert job.state == "completed"
            await store.steer("res_a", ("waiting",), "paused", "paused", told_event("res_a", LATER))
            await store.set_active("job_a", "one", LATER)
            paused = await store.project("res_a")
            assert paused is not None
            assert paused.status == "paused"

        told(story)

    @pytest.mark.promise("S9")
    def test_a_paused_job_takes_no_step_and_a_deleted_project_leaves_nothing(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            await store.save(Changes(projects=(project(),)))
            await store.save(Changes(jobs=(run_job(),)))
            await store.claim("job_a", "one", 10.0)
            why = ("because", "budget_exhausted")
            assert await store.end_job("job_a", "one", "paused", LATER, *why)
            with pytest.raises(StepTakenError):
                await store.finish_step(
                    step(StepKind.GENERATE, 1), "one", Changes(hypotheses=(hypothesis("hyp_1"),))
                )
            assert await store.open_jobs() == []
            job = await store.job("job_a")
            assert job is not None
            assert (job.state, job.problem, job.problem_code) == (
                "paused",
                "because",
                "budget_exhausted",
            )
            event = told_event("res_a", LATER)
            await store.steer("res_a", ("paused",), "waiting", "active", event)
            await store.claim("job_a", "one", 10.0)
            await store.delete_project("res_a")
            with pytest.raises(StepTakenError):
                await store.finish_step(
                    step(StepKind.GENERATE, 1), "one", Changes(hypotheses=(hypothesis("hyp_1"),))
                )
            assert await store.project("res_a") is None
            assert await store.hypotheses("res_a") == []
            assert await store.jobs("res_a") == []

        told(story)

    @pytest.mark.promise("S2")
    def test_a_worker_that_lost_its_lease_writes_nothing_more(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            job = run_job()
            await store.save(Changes(projects=(project(),), jobs=(job,)))
            assert await store.claim("job_a", "slow", -1.0)
            assert await store.claim("job_a", "next", 10.0)
            assert not await store.plan("job_a", "slow", 7)
            assert not await store.end_job(
                "job_a", "slow", "failed", LATER, "late", "unavailable", project_status="failed"
            )
            with pytest.raises(StepTakenError):
                await store.finish_step(
                    step(StepKind.GENERATE, 1), "slow", Changes(hypotheses=(hypothesis("hyp_1"),))
                )
            await store.release("job_a", "slow")
            assert await store.holder("job_a") == "next"
            assert await statuses(store, "res_a", "job_a") == ("initializing", None, "running")
            assert await store.hypotheses("res_a") == []

        told(story)

    @pytest.mark.promise("S2")
    def test_a_run_and_its_project_end_in_one_moment(self, told: Callable[[Story], None]) -> None:
        async def story(store: ResearchStore) -> None:
            job = run_job()
            await store.save(Changes(projects=(project(),), jobs=(job,)))
            assert await store.claim("job_a", "one", 10.0)
            assert await store.end_job(
                "job_a", "one", "paused", LATER, "full", "storage_full", project_status="paused"
            )
            assert await statuses(store, "res_a", "job_a") == ("paused", "full", "paused")
            assert not await store.end_job(
                "job_a", "one", "completed", LATER, project_status="completed"
            )
            assert await statuses(store, "res_a", "job_a") == ("paused", "full", "paused")
            await store.steer(
                "res_a", ("paused", "failed"), "waiting", "active", told_event("res_a", LATER)
            )
            assert await statuses(store, "res_a", "job_a") == ("active", None, "waiting")
            assert await store.claim("job_a", "two", 10.0)

        told(story)

    @pytest.mark.promise("S2")
    def test_a_project_that_nobody_works_on_is_not_said_to_be_worked_on(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(store: ResearchStore) -> None:
            names = ("ended", "failed", "going", "never")
            await store.save(Changes(projects=tuple(project(f"res_{name}") for name in names)))
            for name in names[:3]:
                await store.save(Changes(jobs=(run_job(f"job_{name}", f"res_{name}"),)))
                await store.claim(f"job_{name}", "one", 10.0)
            await store.save(
                Changes(
                    jobs=(
                        Job(
                            id="job_other",
                            research_id="res_never",
                            work=GenerateWork(count=1, method=GenerationMethod.DEBATE),
                            created_at=NOW,
                        ),
                    )
                )
            )
            await store.end_job("job_ended", "one", "completed", LATER)
            await store.end_job("job_failed", "one", "failed", LATER, "why", "unavailable")
            await store.reconcile(LATER)
            assert await statuses(store, "res_ended", "job_ended") == (
                "completed",
                None,
                "completed",
            )
            assert await statuses(store, "res_failed", "job_failed") == ("failed", "why", "failed")
            assert await statuses(store, "res_going", "job_going") == (
                "initializing",
                None,
                "running",
            )
            status, problem, _ = await statuses(store, "res_never", "job_other")
            assert status == "failed"
            assert "never begun" in str(problem)

        told(story)
