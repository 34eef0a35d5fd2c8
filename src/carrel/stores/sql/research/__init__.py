"""The store of the research room in SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Generator, Sequence
from typing import TypeVar

from carrel.core.errors import ConflictError
from carrel.core.secrets import mask_known_secrets, mask_secrets
from carrel.rooms.research.errors import StepTakenError
from carrel.rooms.research.records import (
    AgentOutput,
    Changes,
    Decision,
    Event,
    Hypothesis,
    Job,
    JobState,
    MatchPlayed,
    Project,
    ProjectStatus,
    Record,
    Review,
    SafetyRecord,
    StepDone,
    StepKey,
    StepKind,
)
from carrel.stores.sql.driver import Driver, Rows, Step
from carrel.stores.sql.research.job_list import ResearchJobList
from carrel.stores.sql.research.rows import (
    TOUCH_PROJECT,
    put_event,
    read_event,
    read_hypothesis,
    read_job,
    read_output,
    read_project,
    save_changes,
)
from carrel.stores.sql.research.schema import SCRIPTS
from carrel.stores.sql.research.tasks import SqlResearchTasks

RecordT = TypeVar("RecordT", bound=Record)

_OF_PROJECT = ("hypotheses", "reviews", "matches", "outputs", "events", "jobs", "tasks")
_HYPOTHESIS = "id, status, review_count, rating, decision, superseded_by"
_MOST_CACHED = 1000
_JOB = "id, research_id, kind, work, state, problem, problem_code, planned_steps, created_at"
_PROJECT = "p.body, p.status, p.problem, p.updated_at, p.mind"
_PROJECT_OF_JOB = "(SELECT research_id FROM research_jobs WHERE id = :job_id)"
# Locks the row of the job, so that nobody can claim it before the step is committed.
_LOCK_JOB = """UPDATE research_jobs SET worker = worker
    WHERE id = :job_id AND worker = :worker AND state = 'running' RETURNING id"""
_PUT_STEP = """INSERT INTO research_steps
    (job_id, kind, round, number, hypothesis_id, seconds, finished_at, result_ids)
    VALUES (:job_id, :kind, :round, :number, :hypothesis_id, :seconds, :at, :result_ids)
    ON CONFLICT DO NOTHING RETURNING job_id"""
_LOCK_PROJECT_OF_JOB = (
    f"UPDATE research_projects SET updated_at = updated_at WHERE id = {_PROJECT_OF_JOB}"
)
# A job that has ended keeps the name of who ended it, so that the project follows only where the
# job did.
_END_JOB = """UPDATE research_jobs SET state = :state, problem = :problem, problem_code = :code
    WHERE id = :job_id AND worker = :worker AND state = 'running' RETURNING id"""
_END_PROJECT = """UPDATE research_projects
    SET status = :status, problem = :problem, updated_at = :at
    WHERE id = (SELECT research_id FROM research_jobs
        WHERE id = :job_id AND worker = :worker AND state = :state)"""
_NEVER_BEGUN = (
    "The run was never begun, since it could not be written down. Start it again with "
    "start_research."
)


class SqlResearch:
    """The store over a driver; the contract is the port's."""

    schema_steps = SCRIPTS

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.tasks = SqlResearchTasks(driver)
        self.all_jobs = ResearchJobList(driver)
        # The text of a hypothesis never changes, and parsing it costs more than all the rest.
        self._parsed: dict[str, Hypothesis] = {}

    async def close(self) -> None:
        await self._driver.close()

    async def save(self, changes: Changes) -> None:
        await self._driver.transact(save_changes(changes))

    async def project(self, research_id: str) -> Project | None:
        rows = await self._rows(
            f"SELECT {_PROJECT} FROM research_projects p WHERE p.id = :id", id=research_id
        )
        return read_project(rows[0]) if rows else None

    async def projects(
        self, owner: str, status: str | None, limit: int
    ) -> list[tuple[Project, int]]:
        sql = f"""SELECT {_PROJECT},
                (SELECT count(*) FROM research_hypotheses h WHERE h.research_id = p.id)
            FROM research_projects p
            WHERE p.owner = :owner AND (:any_status = 1 OR p.status = :status)
            ORDER BY p.created_at DESC, p.id LIMIT :most"""
        rows = await self._rows(
            sql, owner=owner, status=status or "", any_status=int(status is None), most=limit
        )
        return [(read_project(row), int(row[5])) for row in rows]

    async def undecided_counts(self, owner: str) -> dict[str, int]:
        sql = """SELECT h.research_id, h.decision FROM research_hypotheses h
            JOIN research_projects p ON p.id = h.research_id
            WHERE p.owner = :owner AND h.superseded_by IS NULL"""
        found = await self._rows(sql, owner=owner)
        return Counter(
            str(row[0])
            for row in found
            if Decision.model_validate_json(row[1]).approval == "undecided"
        )

    async def held_projects(self, limit: int) -> list[Project]:
        sql = f"""SELECT {_PROJECT} FROM research_projects p WHERE p.status = 'held'
            ORDER BY p.created_at, p.id LIMIT :most"""
        return [read_project(row) for row in await self._rows(sql, most=limit)]

    async def set_active(self, job_id: str, worker: str, at: str) -> None:
        sql = """UPDATE research_projects SET status = 'active', problem = NULL, updated_at = :at
            WHERE id = (SELECT research_id FROM research_jobs
                WHERE id = :id AND worker = :worker AND state = 'running')"""
        await self._rows(sql, id=job_id, worker=worker, at=at)

    async def delete_project(self, research_id: str) -> None:
        statements = [
            "DELETE FROM research_projects WHERE id = :id",
            "DELETE FROM research_steps WHERE job_id IN "
            "(SELECT id FROM research_jobs WHERE research_id = :id)",
            *(f"DELETE FROM research_{name} WHERE research_id = :id" for name in _OF_PROJECT),
        ]
        await self._driver.run(*((sql, {"id": research_id}) for sql in statements))

    async def hypothesis(self, hypothesis_id: str) -> Hypothesis | None:
        found = await self._hypotheses("id = :id", hypothesis_id)
        return found[0] if found else None

    async def hypothesis_ids(self, owner: str, start: str, count: int) -> tuple[list[str], int]:
        sql = """FROM research_hypotheses h JOIN research_projects p ON p.id = h.research_id
            WHERE p.owner = :owner AND substr(h.id, 1, :length) = :start"""
        names = {"owner": owner, "start": start, "length": len(start)}
        total = await self._rows(f"SELECT count(*) {sql}", **names)
        rows = await self._rows(
            f"SELECT h.id {sql} ORDER BY h.made DESC, h.id LIMIT :most", **names, most=count
        )
        return [str(row[0]) for row in rows], int(total[0][0])

    async def hypotheses(self, research_id: str) -> list[Hypothesis]:
        return await self._hypotheses("research_id = :id", research_id)

    async def _hypotheses(self, condition: str, value: str) -> list[Hypothesis]:
        rows = await self._rows(
            f"SELECT {_HYPOTHESIS} FROM research_hypotheses WHERE {condition} ORDER BY made, id",
            id=value,
        )
        if any(row[0] not in self._parsed for row in rows):
            if len(self._parsed) > _MOST_CACHED:
                self._parsed.clear()
            bodies = await self._rows(
                f"SELECT id, body FROM research_hypotheses WHERE {condition}", id=value
            )
            for name, body in bodies:
                if name not in self._parsed:
                    self._parsed[name] = Hypothesis.model_validate_json(body)
        return [
            read_hypothesis(self._parsed[row[0]], row) for row in rows if row[0] in self._parsed
        ]

    async def decide(self, hypothesis_id: str, decision: Decision) -> None:
        sql = "UPDATE research_hypotheses SET decision = :decision WHERE id = :id"
        await self._rows(sql, id=hypothesis_id, decision=decision.model_dump_json())

    async def reviews(self, research_id: str) -> list[Review]:
        sql = """SELECT body, superseded_by FROM research_reviews WHERE research_id = :id
            ORDER BY created_at, id"""
        return [
            Review.model_validate_json(body).model_copy(update={"superseded_by": task})
            for body, task in await self._rows(sql, id=research_id)
        ]

    async def matches(self, research_id: str) -> list[MatchPlayed]:
        return await self._records(MatchPlayed, "matches", research_id, "number")

    async def output(self, output_id: str) -> AgentOutput | None:
        rows = await self._rows(
            "SELECT body, finding FROM research_outputs WHERE id = :id", id=output_id
        )
        return read_output(rows[0]) if rows else None

    async def outputs(self, research_id: str, *, agent: str | None = None) -> list[AgentOutput]:
        sql = """SELECT body, finding FROM research_outputs WHERE research_id = :id
            AND (:any_agent = 1 OR agent = :agent) ORDER BY created_at, id"""
        rows = await self._rows(
            sql, id=research_id, agent=agent or "", any_agent=int(agent is None)
        )
        return [read_output(row) for row in rows]

    async def model_usage(self, research_id: str) -> tuple[int, float]:
        sql = """SELECT count(*), coalesce(sum(cost), 0) FROM research_outputs
            WHERE research_id = :id AND is_model_call = 1"""
        ((calls, cost),) = await self._rows(sql, id=research_id)
        return int(calls), float(cost)

    async def safety(self, owner: str, research_id: str | None = None) -> list[SafetyRecord]:
        sql = """SELECT body FROM research_safety WHERE owner = :owner
            AND (:any_project = 1 OR research_id = :id) ORDER BY created_at, id"""
        rows = await self._rows(
            sql, owner=owner, id=research_id or "", any_project=int(research_id is None)
        )
        return [SafetyRecord.model_validate_json(row[0]) for row in rows]

    async def events(self, research_id: str) -> list[Event]:
        sql = """SELECT body, reason FROM research_events WHERE research_id = :id
            ORDER BY created_at, id"""
        return [read_event(row) for row in await self._rows(sql, id=research_id)]

    async def job(self, job_id: str) -> Job | None:
        rows = await self._rows(f"SELECT {_JOB} FROM research_jobs WHERE id = :id", id=job_id)
        return read_job(rows[0]) if rows else None

    async def jobs(self, research_id: str) -> list[Job]:
        sql = f"SELECT {_JOB} FROM research_jobs WHERE research_id = :id ORDER BY created_at, id"
        return [read_job(row) for row in await self._rows(sql, id=research_id)]

    async def open_jobs(self) -> list[str]:
        sql = """SELECT id FROM research_jobs WHERE state IN ('waiting', 'running')
            ORDER BY created_at, id"""
        return [str(row[0]) for row in await self._rows(sql)]

    async def claim(self, job_id: str, worker: str, lease_seconds: float) -> bool:
        clock = self._driver.lease_clock
        sql = f"""UPDATE research_jobs SET state = 'running', worker = :worker, {clock.grant}
            WHERE id = :id
            AND (state = 'waiting' OR (state = 'running' AND {clock.has_expired})) RETURNING id"""
        return bool(await self._rows(sql, id=job_id, worker=worker, seconds=lease_seconds))

    async def holder(self, job_id: str) -> str | None:
        rows = await self._rows(
            "SELECT worker FROM research_jobs WHERE id = :id AND state = 'running'", id=job_id
        )
        return rows[0][0] if rows else None

    async def release(self, job_id: str, worker: str) -> None:
        sql = """UPDATE research_jobs SET state = 'waiting', worker = NULL
            WHERE id = :id AND worker = :worker AND state = 'running'"""
        await self._rows(sql, id=job_id, worker=worker)

    async def renew(self, job_id: str, worker: str, lease_seconds: float) -> bool:
        sql = f"""UPDATE research_jobs SET {self._driver.lease_clock.grant}
            WHERE id = :id AND worker = :worker AND state = 'running' RETURNING id"""
        return bool(await self._rows(sql, id=job_id, worker=worker, seconds=lease_seconds))

    async def end_job(
        self,
        job_id: str,
        worker: str,
        state: JobState,
        at: str,
        problem: str | None = None,
        problem_code: str | None = None,
        *,
        project_status: ProjectStatus | None = None,
    ) -> bool:
        values = {"job_id": job_id, "worker": worker, "state": state, "problem": problem}
        steps: list[Step] = [
            (_LOCK_PROJECT_OF_JOB, {"job_id": job_id}),
            (_END_JOB, {**values, "code": problem_code}),
        ]
        if project_status is not None:
            steps.append((_END_PROJECT, {**values, "status": project_status, "at": at}))
        return bool((await self._driver.run(*steps))[1])

    async def reconcile(self, at: str) -> None:
        run = "j.research_id = research_projects.id AND j.kind = 'research'"
        # An assistant works on after the run that drafted has ended.
        by_run = "coalesce(mind, '') <> 'assistant'"
        steps: list[Step] = [
            (
                f"""UPDATE research_projects SET status = :state, updated_at = :at, problem =
                        (SELECT max(j.problem) FROM research_jobs j WHERE {run})
                    WHERE status IN ('initializing', 'active') AND {by_run} AND EXISTS
                        (SELECT 1 FROM research_jobs j WHERE {run} AND j.state = :state)""",
                {"state": state, "at": at},
            )
            for state in ("completed", "failed", "paused", "cancelled")
        ]
        never_begun = f"""UPDATE research_projects
            SET status = 'failed', updated_at = :at, problem = :problem
            WHERE status IN ('initializing', 'active') AND {by_run}
            AND NOT EXISTS (SELECT 1 FROM research_jobs j WHERE {run})"""
        steps.append((never_begun, {"at": at, "problem": _NEVER_BEGUN}))
        await self._driver.run(*steps)

    async def mask_stored_secrets(self) -> None:
        for table, column in (("projects", "problem"), ("jobs", "problem"), ("events", "body")):
            mask = mask_secrets if column == "problem" else mask_known_secrets
            rows = await self._rows(
                f"SELECT id, {column} FROM research_{table} WHERE {column} IS NOT NULL"
            )
            sql = f"UPDATE research_{table} SET {column} = :masked WHERE id = :id"
            steps: list[Step] = [
                (sql, {"id": name, "masked": mask(text)})
                for name, text in rows
                if mask(text) != text
            ]
            if steps:
                await self._driver.run(*steps)

    async def steer(
        self,
        research_id: str,
        after: Sequence[JobState],
        state: JobState,
        status: ProjectStatus,
        event: Event,
    ) -> None:
        names = {f"after_{number}": one for number, one in enumerate(after)}
        set_project = """UPDATE research_projects
            SET status = :status, problem = NULL, updated_at = :at WHERE id = :id"""
        set_jobs = f"""UPDATE research_jobs
            SET state = :state, problem = NULL, problem_code = NULL, worker = NULL
            WHERE research_id = :id AND state IN ({", ".join(f":{name}" for name in names)})"""
        await self._driver.run(
            (set_project, {"id": research_id, "status": status, "at": event.created_at}),
            (set_jobs, {"id": research_id, "state": state, **names}),
            put_event(event),
        )

    async def decide_goal(
        self,
        research_id: str,
        status: ProjectStatus,
        problem: str | None,
        at: str,
        changes: Changes,
    ) -> bool:
        sql = """UPDATE research_projects SET status = :status, problem = :problem,
            updated_at = :at WHERE id = :id AND status = 'held' RETURNING id"""
        values = {"id": research_id, "status": status, "problem": problem, "at": at}

        def change() -> Generator[Step, Rows, bool]:
            if not (yield sql, values):
                return False
            yield from save_changes(changes)
            return True

        return await self._driver.transact(change())

    async def cancel_job(self, job_id: str) -> bool:
        sql = """UPDATE research_jobs
            SET state = 'cancelled', problem = NULL, problem_code = NULL, worker = NULL
            WHERE id = :id AND state IN ('waiting', 'running', 'paused') RETURNING id"""
        return bool(await self._rows(sql, id=job_id))

    async def plan(self, job_id: str, worker: str, planned_steps: int) -> bool:
        sql = """UPDATE research_jobs SET planned_steps = :planned
            WHERE id = :id AND worker = :worker AND state = 'running' RETURNING id"""
        return bool(await self._rows(sql, id=job_id, worker=worker, planned=planned_steps))

    async def steps(self, job_id: str) -> list[StepDone]:
        sql = """SELECT kind, round, number, hypothesis_id, seconds, result_ids, finished_at
            FROM research_steps WHERE job_id = :id
            ORDER BY finished_at, kind, round, number, hypothesis_id"""
        rows = await self._rows(sql, id=job_id)
        return [
            StepDone(
                job_id=job_id,
                key=StepKey(StepKind(kind), in_round, number, hypothesis_id),
                seconds=seconds,
                result_ids=tuple(json.loads(ids)),
                finished_at=at,
            )
            for kind, in_round, number, hypothesis_id, seconds, ids, at in rows
        ]

    async def finish_step(self, step: StepDone, worker: str, changes: Changes) -> None:
        values = {
            "job_id": step.job_id,
            "kind": step.key.kind.value,
            "round": step.key.round,
            "number": step.key.number,
            "hypothesis_id": step.key.hypothesis_id,
            "seconds": step.seconds,
            "at": step.finished_at,
            "result_ids": json.dumps(step.result_ids),
        }
        # The project's row comes first, as everywhere, so that two workers never deadlock.
        touch = TOUCH_PROJECT.format(_PROJECT_OF_JOB)

        def finish() -> Generator[Step, Rows, None]:
            yield touch, {"job_id": step.job_id, "at": step.finished_at}
            if not (yield _LOCK_JOB, {"job_id": step.job_id, "worker": worker}):
                raise StepTakenError("The job is another worker's, or was stopped")
            if not (yield _PUT_STEP, values):
                raise StepTakenError("The step is finished already")
            yield from save_changes(changes)

        try:
            await self._driver.transact(finish())
        except ConflictError as error:
            raise StepTakenError("Somebody else has stored the same thing first") from error

    async def mean_step_seconds(self) -> dict[StepKind, float]:
        rows = await self._rows("SELECT kind, avg(seconds) FROM research_steps GROUP BY kind")
        return {StepKind(kind): float(seconds) for kind, seconds in rows}

    async def _rows(self, sql: str, **parameters: object) -> Rows:
        return (await self._driver.run((sql, parameters)))[0]

    async def _records(
        self, kind: type[RecordT], table: str, research_id: str, order: str
    ) -> list[RecordT]:
        rows = await self._rows(
            f"SELECT body FROM research_{table} WHERE research_id = :id ORDER BY {order}",
            id=research_id,
        )
        return [kind.model_validate_json(row[0]) for row in rows]
