"""The work of assistants: hands out tasks under leases, checks answers and keeps them."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.rooms.research.agents import derived_id, find_understanding
from carrel.rooms.research.agents.ranking import RankingAgent
from carrel.rooms.research.agents.supervisor import Supervisor
from carrel.rooms.research.errors import (
    BudgetExhaustedError,
    StepTakenError,
    TaskLostError,
    TaskNotFoundError,
)
from carrel.rooms.research.hypothesis_views import rank_by_strength
from carrel.rooms.research.ports import Ids, ResearchStore, TaskPassages
from carrel.rooms.research.records import (
    Changes,
    CitedPassage,
    Job,
    Project,
    make_event,
)
from carrel.rooms.research.runner import Runner
from carrel.rooms.research.tasks.answers import AnswerError, Problem, read_answer
from carrel.rooms.research.tasks.briefs import write_brief
from carrel.rooms.research.tasks.materials import (
    SEARCH_SECONDS,
    gather_material,
    keep_passages,
)
from carrel.rooms.research.tasks.models import (
    NextResearchTask,
    NextTask,
    SubmitResearchTask,
    SubmittedTask,
)
from carrel.rooms.research.tasks.outcomes import Outcome, OutcomeBuilder, UnsafeAnswerError
from carrel.rooms.research.tasks.plan import PlannedTask, Planner, Waiting, WorkState, list_drafts
from carrel.rooms.research.tasks.records import (
    MOST_FAILURES,
    ResearchTask,
    Role,
    TaskResult,
    split_handed_id,
)

FindProject = Callable[[str, Call], Awaitable[Project]]

_LEASE_SECONDS: dict[Role, float] = {"generate": 1800.0, "review": 1800.0}
_OTHER_LEASE_SECONDS = 900.0
# A call answers within ten seconds. The first draft is awaited in a call, then by asking again,
# seldom, since clients count calls; after a minute it is ended as it is.
_CALL_SECONDS, _AWAIT_DRAFT_SECONDS, _LONGEST_DRAFT_SECONDS = 9.0, 7.0, 60.0
_SOON_SECONDS, _DRAFT_SECONDS, _LATER_SECONDS = 5, 20, 60
_MOST_TRIES = 5
_MOST_FOUND = 200
_NO_NEXT = (
    "The answer is stored, but the next task could not be made: ask with next_research_task, and "
    "report the server's log if that fails too."
)
log = logging.getLogger("carrel.research")
_NAME = re.compile(r"[^\w.@ -]+")


class AssistantWork:
    """Tasks for the assistants of a project's owner; all state is in the store."""

    def __init__(
        self,
        store: ResearchStore,
        supervisor: Supervisor,
        runner: Runner,
        passages: TaskPassages,
        clock: Clock,
        ids: Ids,
        find_project: FindProject,
    ) -> None:
        self._store = store
        self._reasoner = supervisor.context.reasoner
        self._start_elo = supervisor.context.start_elo
        self._ranking = RankingAgent(supervisor.context)
        self._runner = runner
        self._passages = passages
        self._clock = clock
        self._ids = ids
        self._find_project = find_project

    async def next(self, question: NextResearchTask, call: Call) -> NextTask:
        """A task for the caller, or why there is none."""
        project = await self._find_project(question.research_id, call)
        tasks = await self._store.tasks.of_project(project.id)
        worker = name_worker(question.worker, call, tasks)
        return await self._next(project, worker, question.roles, take_over=question.take_over)

    async def submit(self, question: SubmitResearchTask, call: Call) -> SubmittedTask:
        """Checks an answer and keeps it, or says what is wrong with it."""
        task, lease, worker, project = await self._find_task(question.task_id, call)
        submitted = await self._submit(task, lease, worker, project, question.answer)
        now = await self._store.tasks.find(task.id)
        is_still_theirs = now is not None and now.state == "leased" and now.lease == lease
        if not question.and_next or is_still_theirs:
            return submitted
        try:
            following = await self._next(project, worker, (), take_over=True)
        except Exception:
            # What was handed in is stored: a fault in what follows must not look like its loss.
            log.exception("the task after %s could not be made", task.id)
            following = _wait(_NO_NEXT, _SOON_SECONDS)
        return submitted.model_copy(update={"next": following})

    async def keep_found(self, handed_id: str, found: Sequence[CitedPassage], call: Call) -> None:
        """Renews a task's lease and lets its answer cite what was found. Raises TaskLostError."""
        task, lease, _, _ = await self._find_task(handed_id, call)
        kept = keep_passages(found)[: max(0, _MOST_FOUND - len(task.material.found))]
        seconds = _LEASE_SECONDS.get(task.role, _OTHER_LEASE_SECONDS)
        if not await self._store.tasks.renew(task.id, lease, seconds, kept):
            raise TaskLostError(
                f"The task {handed_id} is done, or another worker has it by now",
                next_step="Ask for another with next_research_task.",
            )

    async def _find_task(
        self, handed_id: str, call: Call
    ) -> tuple[ResearchTask, int, str, Project]:
        task_id, lease = split_handed_id(handed_id)
        task = await self._store.tasks.find(task_id)
        worker = None if task is None else task.holder_of(lease)
        if task is None or worker is None:
            raise TaskNotFoundError(handed_id)
        stored = await self._store.project(task.research_id)
        if stored is None or stored.owner != call.caller.user_id:
            raise TaskNotFoundError(handed_id)
        return task, lease, worker, await self._find_project(task.research_id, call)

    async def _next(
        self, project: Project, worker: str, roles: Sequence[Role], *, take_over: bool
    ) -> NextTask:
        asked_at = self._clock.now()
        run = await self._run(project)
        stopped = self._why_stopped(project, run, take_over=take_over)
        if stopped is not None:
            return stopped
        if _has_no_budget(project, run):
            event = make_event(
                self._ids,
                self._clock,
                project,
                "active",
                f"{worker} goes on in the place of the model",
            )
            await self._store.steer(project.id, ("paused",), "cancelled", "active", event)
        draft = await self._end_draft(project, run)
        if draft is not None:
            return draft
        if project.mind != "assistant":
            event = make_event(
                self._ids, self._clock, project, "assistant", f"{worker} works on it"
            )
            if not await self._store.tasks.take_over(project.id, event):
                return _wait("The project was stopped just now.", _SOON_SECONDS)
        understood = await find_understanding(self._store, project.id)
        says = understood.says if understood is not None else ""
        for _ in range(_MOST_TRIES):
            state = await self._state(project)
            mine = next((one for one in state.tasks if one.is_held and one.worker == worker), None)
            if mine is not None:
                return write_brief(mine, state, says)
            planned = Planner(state, worker, roles).next_task()
            if planned is None:
                return await self._finish_project(project, state)
            if isinstance(planned, Waiting):
                return _wait(planned.why, _LATER_SECONDS)
            await self._reopen(project, worker)
            used = (self._clock.now() - asked_at).total_seconds()
            seconds = min(SEARCH_SECONDS, max(1.0, _CALL_SECONDS - used))
            leased = await self._lease(planned, state, worker, seconds)
            if leased is not None:
                return write_brief(leased, state, says)
        return _wait("Others have just taken what there was.", _SOON_SECONDS)

    def _why_stopped(
        self, project: Project, run: Job | None, *, take_over: bool
    ) -> NextTask | None:
        match project.status:
            case "paused" if _has_no_budget(project, run):
                if not take_over:
                    return NextTask(
                        done=True,
                        report="The budget of the configured model is used up and the project is "
                        "paused. With take_over=true you do the rest, which costs it nothing.",
                    )
            case "paused":
                return _wait("The project is paused: resume_research goes on.", _LATER_SECONDS)
            case "initializing" | "active" | "completed" | "failed":
                pass
            case "held":
                return NextTask(done=True, report=f"There is no work yet. {project.problem}")
            case status:
                return NextTask(
                    done=True,
                    report=f"The project is {status}: there is no work. get_results("
                    f"research_id={project.id}) has what was found.",
                )
        if project.mind == "model" and not take_over:
            return NextTask(
                done=True,
                report=f"A configured model does the work of this project: get_research_status("
                f"research_id={project.id}) follows it. With take_over=true you do it instead.",
            )
        return None

    async def _end_draft(self, project: Project, run: Job | None) -> NextTask | None:
        """Waits a moment for the draft that is under way; ends one that takes too long."""
        if run is not None and run.problem_code == "unsafe_goal":
            return NextTask(done=True, report=f"The goal was refused: {run.problem}")
        if run is None or not run.is_open:
            return None
        ended = await self._runner.wait(run.id, _AWAIT_DRAFT_SECONDS)
        if ended is None or not ended.is_open:
            return None
        age = self._clock.now() - datetime.fromisoformat(project.created_at)
        if age.total_seconds() < _LONGEST_DRAFT_SECONDS:
            return _wait("The first draft is being made from the papers.", _DRAFT_SECONDS)
        await self._store.cancel_job(run.id)
        return None

    async def _run(self, project: Project) -> Job | None:
        jobs = await self._store.jobs(project.id)
        return next((job for job in jobs if job.kind == "research"), None)

    async def _state(self, project: Project) -> WorkState:
        run = await self._run(project)
        steps = [] if run is None else await self._store.steps(run.id)
        return WorkState(
            project,
            await self._store.hypotheses(project.id),
            await self._store.reviews(project.id),
            await self._store.tasks.of_project(project.id),
            list_drafts(steps),
            has_run=run is not None,
        )

    async def _reopen(self, project: Project, worker: str) -> None:
        """A project whose work was done and that has some again is worked on."""
        if project.mind == "assistant" and project.status != "active":
            event = make_event(self._ids, self._clock, project, "assistant", f"{worker} goes on")
            await self._store.tasks.take_over(project.id, event)

    async def _lease(
        self, planned: PlannedTask, state: WorkState, worker: str, search_seconds: float
    ) -> ResearchTask | None:
        stored, project = planned.stored, state.project
        if stored is not None and planned.role != "compare":
            task = stored
        else:
            understood = await find_understanding(self._store, project.id)
            material = await gather_material(
                planned, state, understood, self._passages, search_seconds
            )
            task = ResearchTask(
                id=derived_id("task", project.id, planned.step.label),
                research_id=project.id,
                role=planned.role,
                step=planned.step,
                material=material,
                created_at=self._now(),
            )
        seconds = _LEASE_SECONDS.get(planned.role, _OTHER_LEASE_SECONDS)
        return await self._store.tasks.lease(task, worker, seconds)

    async def _finish_project(self, project: Project, state: WorkState) -> NextTask:
        leaders = rank_by_strength(state.live.values())[:3]
        if project.status != "completed":
            event = make_event(
                self._ids, self._clock, project, "completed", "The assistant's work is done"
            )
            await self._store.tasks.complete(project.id, event)
        titles = "; ".join(f"{number}. {one.draft.title}" for number, one in enumerate(leaders, 1))
        return NextTask(
            done=True,
            report=f"All work is done: {len(state.live)} hypotheses. First: {titles or 'none'}. "
            f"get_results(research_id={project.id}, top_n=3) has these with their papers, "
            "format=detailed the whole.",
        )

    async def _submit(
        self, task: ResearchTask, lease: int, worker: str, project: Project, given: object
    ) -> SubmittedTask:
        if task.state == "done":
            return _say_done(task, lease, given)
        if project.status == "cancelled":
            return SubmittedTask(kept=False, says="The project is cancelled: nothing is kept.")
        try:
            written = read_answer(task, given)
            for _ in range(_MOST_TRIES):
                outcome = await self._build(task, worker, project, written)
                if outcome.is_redone:
                    return SubmittedTask(
                        kept=False, says="It was late, and others have done it meanwhile."
                    )
                try:
                    await self._store.tasks.finish(
                        task,
                        lease,
                        written.model_dump_json(),
                        outcome.result.model_dump_json(),
                        self._now(),
                        outcome.changes,
                    )
                except StepTakenError:
                    # Other matches were played meanwhile, or somebody else was first.
                    now = await self._store.tasks.find(task.id)
                    if now is None:
                        raise TaskNotFoundError(task.id) from None
                    if now.state == "done":
                        return _say_done(now, lease, given)
                    continue
                return SubmittedTask(
                    kept=True, says=outcome.result.says, ids=list(outcome.result.ids)
                )
        except AnswerError as error:
            return await self._refuse(task, lease, error)
        raise StepTakenError(
            "Too many answers came at once; it was not stored",
            next_step="Submit the same answer again: nothing is lost.",
        )

    async def _build(
        self, task: ResearchTask, worker: str, project: Project, written: object
    ) -> Outcome:
        builder = OutcomeBuilder(
            task,
            await self._state(project),
            f"assistant {worker}",
            self._now(),
            self._start_elo,
            self._ranking,
        )
        return await builder.build(written)  # type: ignore[arg-type]

    async def _refuse(self, task: ResearchTask, lease: int, error: AnswerError) -> SubmittedTask:
        if isinstance(error, UnsafeAnswerError):
            await self._store.save(Changes(safety=error.decisions))
        problems: list[Problem] = error.problems
        failures = await self._store.tasks.fail(task.id, lease, MOST_FAILURES)
        if not failures:
            says = "Not kept: the lease is over, and the answer has faults."
            return SubmittedTask(kept=False, says=says, problems=problems)
        if failures >= MOST_FAILURES:
            says = "Not kept: the third answer with faults. The task is given back."
            return SubmittedTask(kept=False, says=says, problems=problems)
        seconds = _LEASE_SECONDS.get(task.role, _OTHER_LEASE_SECONDS)
        await self._store.tasks.renew(task.id, lease, seconds)
        return SubmittedTask(
            kept=False,
            says="Not kept: mend what problems names and submit again; the task is still yours, "
            f"answers that are still read: {MOST_FAILURES - failures}.",
            problems=problems,
        )

    def _now(self) -> str:
        return self._clock.now().isoformat()


def _has_no_budget(project: Project, run: Job | None) -> bool:
    """Whether the project is paused because its model has used up the budget."""
    is_models = project.status == "paused" and project.mind == "model"
    return is_models and run is not None and run.problem_code == BudgetExhaustedError.code


def _wait(why: str, seconds: int) -> NextTask:
    return NextTask(waiting=True, retry_after=seconds, why=why)


def _say_done(task: ResearchTask, lease: int, given: object) -> SubmittedTask:
    """The same answer to the same answer; to others, which one was first."""
    if task.lease != lease:
        says = f"Not kept: {task.worker} has done this task meanwhile."
        return SubmittedTask(kept=False, says=says)
    result = TaskResult.model_validate_json(task.result or "{}")
    if not _is_same_answer(task, given):
        says = f"Not kept: another answer to this task was kept before ({result.says})."
        return SubmittedTask(kept=False, says=says, ids=list(result.ids))
    return SubmittedTask(kept=True, says=result.says, ids=list(result.ids))


def _is_same_answer(task: ResearchTask, given: object) -> bool:
    try:
        return read_answer(task, given).model_dump_json() == task.answer
    except AnswerError:
        return False


def name_worker(given: str, call: Call, tasks: Sequence[ResearchTask]) -> str:
    """A name that tells apart the clients of one person: `given`, or the client's own.

    The full name of a worker that has had a task here takes up that worker's work again.
    """
    name = " ".join(_NAME.sub(" ", given).split())[:60]
    if name and any(name == one.worker for task in tasks for one in task.holders):
        return name
    visit = call.visit
    # At stdio the session begins with the name that the client gave itself.
    agent = visit.session if visit.door == "stdio" else visit.user_agent
    client = f"{call.caller.client_id or ''}|{visit.user_agent}|{visit.session}"
    mark = hashlib.sha256(client.encode()).hexdigest()[:4]
    plain = " ".join(_NAME.sub(" ", agent.partition("/")[0]).split())[:40]
    return f"{name or plain or visit.door}-{mark}"
