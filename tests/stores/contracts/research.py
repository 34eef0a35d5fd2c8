"""What every context memory of the research room promises."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from carrel.rooms.research.errors import StepTakenError
from carrel.rooms.research.ports import ContextMemory
from carrel.rooms.research.records import (
    AgentOutput,
    Changes,
    Decision,
    Draft,
    Event,
    Hypothesis,
    HypothesisStanding,
    Job,
    MatchPlayed,
    Project,
    Protocol,
    Review,
    SafetyRecord,
    Scores,
    StepDone,
)
from tests.libraries.discovery.small_corpus import GOAL, small_discovery

NOW = "2026-01-01T00:00:00+00:00"
LATER = "2026-01-01T00:00:01+00:00"
Story = Callable[[ContextMemory], Awaitable[None]]


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


def hypothesis(name: str, research_id: str = "res_a", parents: tuple[str, ...] = ()) -> Hypothesis:
    (connection,) = small_discovery().generate(GOAL, count=1)
    draft = Draft(
        title=f"Title of {name}",
        summary="Kälte, 冷え and “quotes”",
        rationale="r",
        protocol=Protocol(objective="o", methodology=("one", "two")),
        citations=("disease-0",),
        origin="discovery",
        method="literature_based",
        connection=connection,
    )
    return Hypothesis(
        id=name,
        research_id=research_id,
        draft=draft,
        parents=parents,
        start_elo=1000.0,
        created_at=NOW,
        standing=HypothesisStanding(elo_score=1000.0),
    )


def review(name: str, hypothesis_id: str) -> Review:
    scores = Scores(plausibility=0.5, novelty=1.0, testability=0.25, safety=1.0, overall=0.6)
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


def step(name: str, made: tuple[str, ...] = ()) -> StepDone:
    return StepDone(
        job_id="job_a", name=name, kind=name.partition(":")[0], seconds=0.5, made=made, at=NOW
    )


def told_event(research_id: str, at: str) -> Event:
    return Event(
        id=f"evt_{research_id}_{at}",
        research_id=research_id,
        kind="steered",
        says="",
        created_at=at,
    )


async def statuses(
    memory: ContextMemory, research_id: str, job_id: str
) -> tuple[str, str | None, str]:
    """Of the project: its status and problem; of the job: its state."""
    found, job = await memory.project(research_id), await memory.job(job_id)
    assert found is not None
    assert job is not None
    return found.status, found.problem, job.state


class ResearchMemoryContract:
    """Inherited by every backend, which gives `told`: it opens a memory, tells it a story, and
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
            )  # fmt: skip

        async def story(memory: ContextMemory) -> None:
            plain, looking_back, called = (
                output("out_1", "ranking"),
                output("out_2", "meta-review"),
                output("out_3", "generation", is_model_call=True),
            )
            await memory.keep(Changes(projects=(project(),), outputs=(plain, looking_back, called)))
            assert await memory.outputs("res_a") == [plain, looking_back, called]
            assert await memory.outputs("res_a", agent="meta-review") == [looking_back]
            assert await memory.outputs("res_a", only_model_calls=True) == [called]
            assert await memory.outputs("res_a", agent="ranking", only_model_calls=True) == []
            assert await memory.outputs("res_b", agent="meta-review") == []

        told(story)

    def test_ids_of_hypotheses_are_their_owners_and_begin_as_asked(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(memory: ContextMemory) -> None:
            projects = (project(), project("res_b", owner="bob"))
            made = (
                hypothesis("hyp_1"),
                hypothesis("hyp_2"),
                hypothesis("h%p_3"),
                hypothesis("hyp_4", "res_b"),
            )
            await memory.keep(Changes(projects=projects, hypotheses=made))
            found, total = await memory.hypothesis_ids("ada", "hyp_", 10)
            assert (sorted(found), total) == (["hyp_1", "hyp_2"], 2)
            assert await memory.hypothesis_ids("ada", "h%", 10) == (["h%p_3"], 1)
            assert await memory.hypothesis_ids("bob", "", 10) == (["hyp_4"], 1)
            assert (
                len((await memory.hypothesis_ids("ada", "", 1))[0]),
                (await memory.hypothesis_ids("ada", "", 1))[1],
            ) == (1, 3)
            assert await memory.hypothesis_ids("eve", "", 10) == ([], 0)

        told(story)

    def test_what_is_kept_comes_back_as_it_was(self, told: Callable[[Story], None]) -> None:
        async def story(memory: ContextMemory) -> None:
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
            await memory.keep(
                Changes(
                    projects=(project(),),
                    hypotheses=made,
                    outputs=(output,),
                    events=(event,),
                    safety=(decision,),
                )
            )
            assert await memory.project("res_a") == project()
            assert await memory.hypotheses("res_a") == list(made)
            assert await memory.hypothesis("hyp_2") == made[1]
            assert await memory.outputs("res_a") == [output]
            assert await memory.output("out_1") == output
            assert await memory.events("res_a") == [event]
            assert await memory.safety("ada") == [decision]
            assert await memory.safety("bob") == []
            assert await memory.project("res_none") is None
            assert await memory.hypothesis("hyp_none") is None

        told(story)

    @pytest.mark.promise("A6")
    def test_projects_are_listed_by_owner_newest_first(self, told: Callable[[Story], None]) -> None:
        async def story(memory: ContextMemory) -> None:
            older, newer, other = (
                project(),
                project("res_b", created_at=LATER),
                project("res_c", owner="bob"),
            )
            await memory.keep(
                Changes(projects=(older, newer, other), hypotheses=(hypothesis("hyp_1"),))
            )
            await memory.steer(
                "res_b", ("waiting",), "completed", "completed", told_event("res_b", LATER)
            )
            assert [
                (found.id, count) for found, count in await memory.projects("ada", None, 10)
            ] == [("res_b", 0), ("res_a", 1)]
            assert [found.id for found, _ in await memory.projects("ada", "completed", 10)] == [
                "res_b"
            ]
            assert len(await memory.projects("ada", None, 1)) == 1

        told(story)

    def test_reviews_standings_and_decisions_change_only_their_own_part(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(memory: ContextMemory) -> None:
            evolved = hypothesis("hyp_2").model_copy(update={"status": "evolved"})
            await memory.keep(
                Changes(projects=(project(),), hypotheses=(hypothesis("hyp_1"), evolved))
            )
            await memory.decide(
                "hyp_1", Decision(approval="approved", by="ada", at=LATER, reason="good")
            )
            standing = HypothesisStanding(elo_score=1016.0, wins=1)
            await memory.keep(
                Changes(
                    reviews=(review("rev_1", "hyp_1"), review("rev_2", "hyp_2")),
                    standings=(("hyp_1", standing),),
                )
            )
            first, second = await memory.hypotheses("res_a")
            assert (first.status, first.review_count, first.standing, first.decision.approval) == (
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
            assert [one.id for one in await memory.reviews("res_a")] == ["rev_1", "rev_2"]

        told(story)

    @pytest.mark.promise("S2")
    def test_a_step_is_kept_whole_once_and_only_by_who_holds_the_job(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(memory: ContextMemory) -> None:
            await memory.keep(Changes(projects=(project(),)))
            await memory.add_job(
                Job(id="job_a", research_id="res_a", kind="research", created_at=NOW)
            )
            assert await memory.claim("job_a", "one", 10.0)
            await memory.finish(
                step("generate:1", ("hyp_1",)), "one", Changes(hypotheses=(hypothesis("hyp_1"),))
            )
            with pytest.raises(StepTakenError):
                await memory.finish(
                    step("generate:1"), "one", Changes(hypotheses=(hypothesis("hyp_twice"),))
                )
            with pytest.raises(StepTakenError):
                await memory.finish(
                    step("generate:2"), "two", Changes(hypotheses=(hypothesis("hyp_stolen"),))
                )
            assert [made.id for made in await memory.hypotheses("res_a")] == ["hyp_1"]
            assert [(done.name, done.made) for done in await memory.steps("job_a")] == [
                ("generate:1", ("hyp_1",))
            ]
            await memory.finish(step("match:1"), "one", Changes(matches=(match(0),)))
            with pytest.raises(StepTakenError):
                await memory.finish(
                    step("match:2"),
                    "one",
                    Changes(matches=(match(0),), hypotheses=(hypothesis("hyp_half"),)),
                )
            assert await memory.hypothesis("hyp_half") is None
            assert (await memory.pace())["match"].count == 1

        told(story)

    @pytest.mark.promise("S2")
    @pytest.mark.promise("S8")
    def test_standings_made_from_fewer_matches_than_there_are_by_now_are_not_kept(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(memory: ContextMemory) -> None:
            await memory.keep(
                Changes(
                    projects=(project(),), hypotheses=(hypothesis("hyp_1"), hypothesis("hyp_2"))
                )
            )
            for name in ("job_a", "job_b"):
                await memory.add_job(Job(id=name, research_id="res_a", kind="rank", created_at=NOW))
                assert await memory.claim(name, name, 10.0)
            settled = Changes(
                standings=(("hyp_1", HypothesisStanding(elo_score=1000.0, strength=0.1)),),
                matches_seen=0,
            )
            newer = HypothesisStanding(elo_score=1016.0, wins=1)
            other = step("match:1").model_copy(update={"job_id": "job_b"})
            await memory.finish(
                other, "job_b", Changes(matches=(match(0),), standings=(("hyp_1", newer),))
            )
            with pytest.raises(StepTakenError):
                await memory.finish(step("settle"), "job_a", settled)
            assert (await memory.hypotheses("res_a"))[0].standing == newer
            assert await memory.steps("job_a") == []
            await memory.finish(
                step("settle"), "job_a", settled.model_copy(update={"matches_seen": 1})
            )
            assert (await memory.hypotheses("res_a"))[0].standing.strength == 0.1

        told(story)

    @pytest.mark.promise("S2")
    @pytest.mark.promise("S8")
    def test_of_a_match_and_a_settling_at_once_the_standings_follow_from_all_matches(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(memory: ContextMemory) -> None:
            await memory.keep(
                Changes(
                    projects=(project(),), hypotheses=(hypothesis("hyp_1"), hypothesis("hyp_2"))
                )
            )
            for name in ("job_a", "job_b"):
                await memory.add_job(Job(id=name, research_id="res_a", kind="rank", created_at=NOW))
                assert await memory.claim(name, name, 10.0)
            for number in range(8):
                newer = HypothesisStanding(elo_score=1000.0, wins=number + 1)
                stale = HypothesisStanding(elo_score=1000.0, wins=number, strength=0.5)
                played = step(f"match:{number}").model_copy(update={"job_id": "job_b"})
                changes = Changes(matches=(match(number),), standings=(("hyp_1", newer),))
                await asyncio.gather(
                    memory.finish(played, "job_b", changes),
                    memory.finish(
                        step(f"settle:{number}"),
                        "job_a",
                        Changes(standings=(("hyp_1", stale),), matches_seen=number),
                    ),
                    return_exceptions=True,
                )
                assert (await memory.hypotheses("res_a"))[0].standing == newer

        told(story)

    @pytest.mark.promise("S2")
    def test_a_job_is_held_by_one_worker_until_its_lease_runs_out(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(memory: ContextMemory) -> None:
            await memory.keep(Changes(projects=(project(),)))
            await memory.add_job(
                Job(id="job_a", research_id="res_a", kind="research", created_at=NOW)
            )
            assert await memory.open_jobs() == ["job_a"]
            taken = await asyncio.gather(
                *(memory.claim("job_a", f"worker {number}", 10.0) for number in range(5))
            )
            assert taken.count(True) == 1
            holder = await memory.holder("job_a")
            assert not await memory.claim("job_a", "late", 10.0)
            assert await memory.renew("job_a", str(holder), 10.0)
            assert not await memory.claim("job_a", "late", 10.0)
            # A lease that ended before it began: nobody has to wait for it.
            assert await memory.renew("job_a", str(holder), -1.0)
            assert await memory.claim("job_a", "late", 10.0)
            assert not await memory.renew("job_a", str(holder), 10.0)
            await memory.release("job_a", "late")
            assert await memory.claim("job_a", "again", 10.0)

        told(story)

    @pytest.mark.promise("S9")
    def test_how_a_job_ended_is_not_overwritten_by_who_came_late(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(memory: ContextMemory) -> None:
            await memory.keep(Changes(projects=(project(),)))
            await memory.add_job(
                Job(id="job_a", research_id="res_a", kind="research", created_at=NOW)
            )
            await memory.claim("job_a", "one", 10.0)
            await memory.set_active("job_a", "another", LATER)
            assert (await memory.project("res_a")) == project()
            await memory.set_active("job_a", "one", LATER)
            active = await memory.project("res_a")
            assert active is not None
            assert (active.status, active.updated_at) == ("active", LATER)
            assert await memory.set_job("job_a", "completed", after=("running",))
            assert not await memory.set_job(
                "job_a", "cancelled", after=("waiting", "running", "paused")
            )
            job = await memory.job("job_a")
            assert job is not None
            assert job.state == "completed"
            await memory.steer(
                "res_a", ("waiting",), "paused", "paused", told_event("res_a", LATER)
            )
            await memory.set_active("job_a", "one", LATER)
            paused = await memory.project("res_a")
            assert paused is not None
            assert paused.status == "paused"

        told(story)

    @pytest.mark.promise("S9")
    def test_a_paused_job_takes_no_step_and_a_deleted_project_leaves_nothing(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(memory: ContextMemory) -> None:
            await memory.keep(Changes(projects=(project(),)))
            await memory.add_job(
                Job(id="job_a", research_id="res_a", kind="research", created_at=NOW)
            )
            await memory.claim("job_a", "one", 10.0)
            await memory.set_job("job_a", "paused", "because", "budget_exhausted")
            with pytest.raises(StepTakenError):
                await memory.finish(
                    step("generate:1"), "one", Changes(hypotheses=(hypothesis("hyp_1"),))
                )
            assert await memory.open_jobs() == []
            job = await memory.job("job_a")
            assert job is not None
            assert (job.state, job.problem, job.problem_code) == (
                "paused",
                "because",
                "budget_exhausted",
            )
            assert await memory.set_job("job_a", "waiting")
            await memory.claim("job_a", "one", 10.0)
            await memory.delete_project("res_a")
            with pytest.raises(StepTakenError):
                await memory.finish(
                    step("generate:1"), "one", Changes(hypotheses=(hypothesis("hyp_1"),))
                )
            assert await memory.project("res_a") is None
            assert await memory.hypotheses("res_a") == []
            assert await memory.jobs("res_a") == []

        told(story)

    @pytest.mark.promise("S2")
    def test_a_worker_that_lost_its_lease_writes_nothing_more(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(memory: ContextMemory) -> None:
            job = Job(id="job_a", research_id="res_a", kind="research", created_at=NOW)
            await memory.keep(Changes(projects=(project(),), jobs=(job,)))
            assert await memory.claim("job_a", "slow", -1.0)
            assert await memory.claim("job_a", "next", 10.0)
            assert not await memory.plan("job_a", "slow", 7)
            assert not await memory.end_job(
                "job_a", "slow", "failed", LATER, "late", "unavailable", project_status="failed"
            )
            with pytest.raises(StepTakenError):
                await memory.finish(
                    step("generate:1"), "slow", Changes(hypotheses=(hypothesis("hyp_1"),))
                )
            await memory.release("job_a", "slow")
            assert await memory.holder("job_a") == "next"
            assert await statuses(memory, "res_a", "job_a") == ("initializing", None, "running")
            assert await memory.hypotheses("res_a") == []

        told(story)

    @pytest.mark.promise("S2")
    def test_a_run_and_its_project_end_in_one_moment(self, told: Callable[[Story], None]) -> None:
        async def story(memory: ContextMemory) -> None:
            job = Job(id="job_a", research_id="res_a", kind="research", created_at=NOW)
            await memory.keep(Changes(projects=(project(),), jobs=(job,)))
            assert await memory.claim("job_a", "one", 10.0)
            assert await memory.end_job(
                "job_a", "one", "paused", LATER, "full", "storage_full", project_status="paused"
            )
            assert await statuses(memory, "res_a", "job_a") == ("paused", "full", "paused")
            assert not await memory.end_job(
                "job_a", "one", "completed", LATER, project_status="completed"
            )
            assert await statuses(memory, "res_a", "job_a") == ("paused", "full", "paused")
            await memory.steer(
                "res_a", ("paused", "failed"), "waiting", "active", told_event("res_a", LATER)
            )
            assert await statuses(memory, "res_a", "job_a") == ("active", None, "waiting")
            assert await memory.claim("job_a", "two", 10.0)

        told(story)

    @pytest.mark.promise("S2")
    def test_a_project_that_nobody_works_on_is_not_said_to_be_worked_on(
        self, told: Callable[[Story], None]
    ) -> None:
        async def story(memory: ContextMemory) -> None:
            names = ("ended", "failed", "going", "never")
            await memory.keep(Changes(projects=tuple(project(f"res_{name}") for name in names)))
            for name in names[:3]:
                await memory.add_job(
                    Job(
                        id=f"job_{name}", research_id=f"res_{name}", kind="research", created_at=NOW
                    )
                )
                await memory.claim(f"job_{name}", "one", 10.0)
            await memory.add_job(
                Job(id="job_other", research_id="res_never", kind="generate", created_at=NOW)
            )
            await memory.set_job("job_ended", "completed")
            await memory.set_job("job_failed", "failed", "why", "unavailable")
            await memory.reconcile(LATER)
            assert await statuses(memory, "res_ended", "job_ended") == (
                "completed",
                None,
                "completed",
            )
            assert await statuses(memory, "res_failed", "job_failed") == ("failed", "why", "failed")
            assert await statuses(memory, "res_going", "job_going") == (
                "initializing",
                None,
                "running",
            )
            status, problem, _ = await statuses(memory, "res_never", "job_other")
            assert status == "failed"
            assert "never begun" in str(problem)

        told(story)
