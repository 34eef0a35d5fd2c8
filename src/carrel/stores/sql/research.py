"""The store of the research room in SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Sequence
from typing import Any, TypeVar

from pydantic import TypeAdapter

from carrel.core.errors import ConflictError
from carrel.core.secrets import mask_known_secrets, mask_secrets
from carrel.rooms.research.errors import StepTakenError
from carrel.rooms.research.records import (
    Advice,
    AgentOutput,
    Changes,
    Decision,
    Event,
    Hypothesis,
    Job,
    JobState,
    MatchPlayed,
    MetaReview,
    Project,
    ProjectStatus,
    Rating,
    Record,
    Review,
    SafetyRecord,
    StepDone,
    StepKey,
    StepKind,
    UnderstoodAs,
    Work,
)
from carrel.stores.sql.driver import Driver, Rows, Step, UpgradeStatements

RecordT = TypeVar("RecordT", bound=Record)

_FIRST_TABLES = (
    """CREATE TABLE IF NOT EXISTS research_projects (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, status TEXT NOT NULL, problem TEXT,
        created_at TEXT NOT NULL, updated_at TEXT NOT NULL, body TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS research_projects_owner ON research_projects (owner, created_at)",
    """CREATE TABLE IF NOT EXISTS research_hypotheses (
        id TEXT PRIMARY KEY, research_id TEXT NOT NULL, made INTEGER NOT NULL, status TEXT NOT NULL,
        review_count INTEGER NOT NULL, standing TEXT NOT NULL, decision TEXT NOT NULL,
        body TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS research_hypotheses_project "
    "ON research_hypotheses (research_id, made)",
    """CREATE TABLE IF NOT EXISTS research_reviews (
        id TEXT PRIMARY KEY, research_id TEXT NOT NULL, hypothesis_id TEXT NOT NULL,
        created_at TEXT NOT NULL, body TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS research_reviews_project "
    "ON research_reviews (research_id, created_at)",
    """CREATE TABLE IF NOT EXISTS research_matches (
        research_id TEXT NOT NULL, number INTEGER NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (research_id, number))""",
    """CREATE TABLE IF NOT EXISTS research_outputs (
        id TEXT PRIMARY KEY, research_id TEXT NOT NULL, created_at TEXT NOT NULL,
        body TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS research_outputs_project "
    "ON research_outputs (research_id, created_at)",
    """CREATE TABLE IF NOT EXISTS research_safety (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, created_at TEXT NOT NULL, body TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS research_events (
        id TEXT PRIMARY KEY, research_id TEXT NOT NULL, created_at TEXT NOT NULL,
        body TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS research_events_project "
    "ON research_events (research_id, created_at)",
    """CREATE TABLE IF NOT EXISTS research_jobs (
        id TEXT PRIMARY KEY, research_id TEXT NOT NULL, state TEXT NOT NULL, problem TEXT,
        problem_code TEXT, planned_steps INTEGER NOT NULL DEFAULT 0, worker TEXT,
        lease_until DOUBLE PRECISION NOT NULL DEFAULT 0, created_at TEXT NOT NULL,
        body TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS research_steps (
        job_id TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
        seconds DOUBLE PRECISION NOT NULL, finished_at TEXT NOT NULL,
        made TEXT NOT NULL, PRIMARY KEY (job_id, name))""",
)
_LEASES_BY_CLOCK = (
    "ALTER TABLE research_jobs ADD COLUMN lease_clock TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE research_jobs ADD COLUMN lease_ticks DOUBLE PRECISION NOT NULL DEFAULT 0",
)
_STEPS_BY_KEY = """CREATE TABLE research_steps_by_key (
    job_id TEXT NOT NULL, kind TEXT NOT NULL, round INTEGER NOT NULL, number INTEGER NOT NULL,
    hypothesis_id TEXT NOT NULL, seconds DOUBLE PRECISION NOT NULL,
    finished_at TEXT NOT NULL, result_ids TEXT NOT NULL,
    PRIMARY KEY (job_id, kind, round, number, hypothesis_id))"""
_COLUMNS_FOR_BODIES = (
    "ALTER TABLE research_jobs ADD COLUMN kind TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE research_jobs ADD COLUMN work TEXT NOT NULL DEFAULT '{}'",
    "CREATE INDEX research_jobs_project ON research_jobs (research_id, kind, created_at)",
    "CREATE INDEX research_jobs_state ON research_jobs (state, created_at)",
    "ALTER TABLE research_outputs ADD COLUMN agent TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE research_outputs ADD COLUMN is_model_call INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE research_outputs ADD COLUMN cost DOUBLE PRECISION NOT NULL DEFAULT 0",
    "ALTER TABLE research_outputs ADD COLUMN finding TEXT",
    "CREATE INDEX research_outputs_agent ON research_outputs (research_id, agent, created_at)",
    "CREATE INDEX research_outputs_calls ON research_outputs (research_id, is_model_call)",
    "ALTER TABLE research_events ADD COLUMN reason TEXT",
    "ALTER TABLE research_safety ADD COLUMN research_id TEXT",
    "CREATE INDEX research_safety_owner ON research_safety (owner, created_at)",
    "ALTER TABLE research_hypotheses RENAME COLUMN standing TO rating",
)
_ADVICE_OPENINGS = {
    "strong": "Carry the leading hypotheses: ",
    "weak": "Lead the last and rest on little: ",
    "unsafe": "Refused as unsafe, not to be led to again: ",
}


def _put_fields_into_columns() -> Generator[Step, Rows, None]:
    """Move fields that were only in JSON bodies and sentences into columns."""
    for statement in _COLUMNS_FOR_BODIES:
        yield statement, {}
    yield from _split_names_of_steps()
    for job_id, body in (yield "SELECT id, body FROM research_jobs", {}):
        job = json.loads(body)
        sql = "UPDATE research_jobs SET kind = :kind, work = :work WHERE id = :id"
        yield sql, {"id": job_id, "kind": job["kind"], "work": json.dumps(job["work"])}
    yield "ALTER TABLE research_jobs DROP COLUMN body", {}
    for output_id, body in (yield "SELECT id, body FROM research_outputs", {}):
        output = AgentOutput.model_validate_json(body)
        sql = """UPDATE research_outputs SET agent = :agent, is_model_call = :is_call,
            cost = :cost, finding = :finding WHERE id = :id"""
        yield (
            sql,
            {
                "id": output_id,
                "agent": output.agent,
                "is_call": int(output.is_model_call),
                "cost": output.cost,
                "finding": _finding_in(output),
            },
        )
    for event_id, body in (yield "SELECT id, body FROM research_events", {}):
        event = Event.model_validate_json(body)
        if event.kind == "exhausted":
            sql = "UPDATE research_events SET reason = :reason WHERE id = :id"
            yield sql, {"id": event_id, "reason": event.says.partition(": ")[2]}
    for decision_id, body in (yield "SELECT id, body FROM research_safety", {}):
        sql = "UPDATE research_safety SET research_id = :research_id WHERE id = :id"
        yield sql, {"id": decision_id, "research_id": json.loads(body).get("research_id")}


def _split_names_of_steps() -> Generator[Step, Rows, None]:
    """Old names: `match:1:12` (round, number), `meta-review:2` (round), `review:hyp_…`, `goal`."""
    yield _STEPS_BY_KEY, {}
    for job_id, name, kind, *others in (
        yield "SELECT job_id, name, kind, seconds, finished_at, made FROM research_steps", {}
    ):
        parts = name.split(":")[1:]
        values: dict[str, Any] = {"round": 0, "number": 0, "hypothesis_id": ""}
        match kind, parts:
            case "review", [hypothesis_id]:
                values["hypothesis_id"] = hypothesis_id
            case (("settle" | "meta-review"), [in_round]):
                values["round"] = int(in_round)
            case _, [in_round, number]:
                values |= {"round": int(in_round), "number": int(number)}
            case _, [number]:
                values["number"] = int(number)
        values |= dict(zip(("seconds", "at", "result_ids"), others, strict=True))
        put = _PUT_STEP.replace("research_steps", "research_steps_by_key")
        yield put, {"job_id": job_id, "kind": kind, **values}
    yield "DROP TABLE research_steps", {}
    yield "ALTER TABLE research_steps_by_key RENAME TO research_steps", {}


def _finding_in(output: AgentOutput) -> str | None:
    """What an agent found, from the text that it was kept in."""
    if output.agent == "goal reading":
        return output.answered
    if output.agent != "meta-review":
        return None
    advice: dict[str, tuple[str, ...]] = {}
    for name, opening in _ADVICE_OPENINGS.items():
        line = re.search(rf"^{re.escape(opening)}(.+)\.$", output.answered, re.MULTILINE)
        advice[name] = tuple(line[1].split("; ")) if line else ()
    return MetaReview(text=output.answered, advice=Advice(**advice)).model_dump_json()


# One step for each version of the tables. What an earlier version lacks goes into a new step at
# the end, never into an old one.
SCRIPTS = (
    ";\n".join(_FIRST_TABLES),
    ";\n".join(_LEASES_BY_CLOCK),
    UpgradeStatements(_put_fields_into_columns),
)

_OF_PROJECT = ("hypotheses", "reviews", "matches", "outputs", "events", "jobs")
_HYPOTHESIS = "id, status, review_count, rating, decision"
_MOST_CACHED = 1000
_JOB = "id, research_id, kind, work, state, problem, problem_code, planned_steps, created_at"
_PROJECT = "p.body, p.status, p.problem, p.updated_at"
_PUT_JOB = """INSERT INTO research_jobs
    (id, research_id, kind, work, state, planned_steps, created_at)
    VALUES (:id, :research_id, :kind, :work, :state, :planned_steps, :created_at)"""
# A hypothesis that came from evolution stays one that did; the number of its reviews says whether
# it was reviewed.
_COUNT_REVIEW = """UPDATE research_hypotheses SET review_count = review_count + 1,
    status = CASE WHEN status = 'pending' THEN 'reviewed' ELSE status END WHERE id = :id"""
_PUT_PROJECT = """INSERT INTO research_projects
    (id, owner, status, problem, created_at, updated_at, body)
    VALUES (:id, :owner, :status, :problem, :created_at, :updated_at, :body)"""
_PUT_HYPOTHESIS = """INSERT INTO research_hypotheses
    (id, research_id, made, status, review_count, rating, decision, body)
    SELECT :id, :research_id,
        (SELECT count(*) FROM research_hypotheses WHERE research_id = :research_id),
        :status, :review_count, :rating, :decision, :body"""
_SET_RATING = "UPDATE research_hypotheses SET rating = :rating WHERE id = :id"
_PUT_REVIEW = """INSERT INTO research_reviews (id, research_id, hypothesis_id, created_at, body)
    VALUES (:id, :research_id, :hypothesis_id, :created_at, :body)"""
_PUT_MATCH = (
    "INSERT INTO research_matches (research_id, number, body) VALUES (:research_id, :number, :body)"
)
_PUT_OUTPUT = """INSERT INTO research_outputs
    (id, research_id, agent, is_model_call, cost, created_at, finding, body)
    VALUES (:id, :research_id, :agent, :is_call, :cost, :created_at, :finding, :body)
    ON CONFLICT (id) DO NOTHING"""
_PUT_SAFETY = """INSERT INTO research_safety (id, owner, research_id, created_at, body)
    VALUES (:id, :owner, :research_id, :created_at, :body)"""
_PUT_EVENT = """INSERT INTO research_events (id, research_id, created_at, reason, body)
    VALUES (:id, :research_id, :created_at, :reason, :body)"""
_TOUCH = """UPDATE research_projects
    SET updated_at = CASE WHEN updated_at < :at THEN :at ELSE updated_at END WHERE id = {}"""
_PROJECT_OF_JOB = "(SELECT research_id FROM research_jobs WHERE id = :job_id)"
# Locks the row of the job, so that nobody can claim it before the step is committed.
_LOCK_JOB = """UPDATE research_jobs SET worker = worker
    WHERE id = :job_id AND worker = :worker AND state = 'running' RETURNING id"""
_PUT_STEP = """INSERT INTO research_steps
    (job_id, kind, round, number, hypothesis_id, seconds, finished_at, result_ids)
    VALUES (:job_id, :kind, :round, :number, :hypothesis_id, :seconds, :at, :result_ids)
    ON CONFLICT DO NOTHING RETURNING job_id"""
# Ratings hold only for the matches they were computed from: counted with the project's row locked,
# so that nobody adds one meanwhile.
_LOCK_PROJECT_OF_HYPOTHESIS = """UPDATE research_projects SET updated_at = updated_at
    WHERE id = (SELECT research_id FROM research_hypotheses WHERE id = :id)"""
_COUNT_MATCHES = """SELECT count(*) FROM research_matches
    WHERE research_id = (SELECT research_id FROM research_hypotheses WHERE id = :id)"""
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
_WORK: TypeAdapter[Work] = TypeAdapter(Work)
_FINDING: TypeAdapter[UnderstoodAs | MetaReview] = TypeAdapter(UnderstoodAs | MetaReview)


class SqlResearch:
    """The store over a driver; the contract is the port's."""

    schema_steps = SCRIPTS

    schema_steps = SCRIPTS

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        # The text of a hypothesis never changes, and parsing it costs more than all the rest.
        self._parsed: dict[str, Hypothesis] = {}

    async def close(self) -> None:
        await self._driver.close()

    async def save(self, changes: Changes) -> None:
        await self._driver.transact(_save(changes))

    async def project(self, research_id: str) -> Project | None:
        rows = await self._rows(
            f"SELECT {_PROJECT} FROM research_projects p WHERE p.id = :id", id=research_id
        )
        return _project(rows[0]) if rows else None

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
        return [(_project(row), int(row[4])) for row in rows]

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
        return [_hypothesis(self._parsed[row[0]], row) for row in rows if row[0] in self._parsed]

    async def decide(self, hypothesis_id: str, decision: Decision) -> None:
        sql = "UPDATE research_hypotheses SET decision = :decision WHERE id = :id"
        await self._rows(sql, id=hypothesis_id, decision=decision.model_dump_json())

    async def reviews(self, research_id: str) -> list[Review]:
        return await self._records(Review, "reviews", research_id, "created_at, id")

    async def matches(self, research_id: str) -> list[MatchPlayed]:
        return await self._records(MatchPlayed, "matches", research_id, "number")

    async def output(self, output_id: str) -> AgentOutput | None:
        rows = await self._rows(
            "SELECT body, finding FROM research_outputs WHERE id = :id", id=output_id
        )
        return _output(rows[0]) if rows else None

    async def outputs(self, research_id: str, *, agent: str | None = None) -> list[AgentOutput]:
        sql = """SELECT body, finding FROM research_outputs WHERE research_id = :id
            AND (:any_agent = 1 OR agent = :agent) ORDER BY created_at, id"""
        rows = await self._rows(
            sql, id=research_id, agent=agent or "", any_agent=int(agent is None)
        )
        return [_output(row) for row in rows]

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
        return [_event(row) for row in await self._rows(sql, id=research_id)]

    async def job(self, job_id: str) -> Job | None:
        rows = await self._rows(f"SELECT {_JOB} FROM research_jobs WHERE id = :id", id=job_id)
        return _job(rows[0]) if rows else None

    async def jobs(self, research_id: str) -> list[Job]:
        sql = f"SELECT {_JOB} FROM research_jobs WHERE research_id = :id ORDER BY created_at, id"
        return [_job(row) for row in await self._rows(sql, id=research_id)]

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
        steps: list[Step] = [
            (
                f"""UPDATE research_projects SET status = :state, updated_at = :at, problem =
                        (SELECT max(j.problem) FROM research_jobs j WHERE {run})
                    WHERE status IN ('initializing', 'active') AND EXISTS
                        (SELECT 1 FROM research_jobs j WHERE {run} AND j.state = :state)""",
                {"state": state, "at": at},
            )
            for state in ("completed", "failed", "paused", "cancelled")
        ]
        never_begun = f"""UPDATE research_projects
            SET status = 'failed', updated_at = :at, problem = :problem
            WHERE status IN ('initializing', 'active')
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
            _put_event(event),
        )

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
        touch = _TOUCH.format(_PROJECT_OF_JOB)

        def finish() -> Generator[Step, Rows, None]:
            yield touch, {"job_id": step.job_id, "at": step.finished_at}
            if not (yield _LOCK_JOB, {"job_id": step.job_id, "worker": worker}):
                raise StepTakenError("The job is another worker's, or was stopped")
            if not (yield _PUT_STEP, values):
                raise StepTakenError("The step is finished already")
            yield from _save(changes)

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


def _save(changes: Changes) -> Generator[Step, Rows, None]:
    """Statements that store the changes. Raises ConflictError where matches were played since."""
    if changes.hypotheses or changes.reviews or changes.matches:
        yield _touch_project(changes)
    if changes.expected_match_count is not None and changes.ratings:
        yield from _require_match_count(changes.ratings[0][0], changes.expected_match_count)
    for project in changes.projects:
        columns = ("id", "owner", "status", "problem", "created_at", "updated_at")
        yield _put(_PUT_PROJECT, project, columns)
    for job in changes.jobs:
        yield _put_job(job)
    for hypothesis in changes.hypotheses:
        yield _put_hypothesis(hypothesis)
    for hypothesis_id, rating in changes.ratings:
        yield _SET_RATING, {"id": hypothesis_id, "rating": rating.model_dump_json()}
    for review in changes.reviews:
        yield _put(_PUT_REVIEW, review, ("id", "research_id", "hypothesis_id", "created_at"))
        yield _COUNT_REVIEW, {"id": review.hypothesis_id}
    for match in changes.matches:
        yield _put(_PUT_MATCH, match, ("research_id", "number"))
    for output in changes.outputs:
        yield _put_output(output)
    for event in changes.events:
        yield _put_event(event)
    for decision in changes.safety:
        yield _put(_PUT_SAFETY, decision, ("id", "owner", "research_id", "created_at"))


def _require_match_count(hypothesis_id: str, expected: int) -> Generator[Step, Rows, None]:
    about = {"id": hypothesis_id}
    yield _LOCK_PROJECT_OF_HYPOTHESIS, about
    ((match_count,),) = yield _COUNT_MATCHES, about
    if match_count != expected:
        raise ConflictError("Other matches have been played meanwhile")


def _put_job(job: Job) -> Step:
    columns = {"id", "research_id", "state", "planned_steps", "created_at"}
    work = job.work.model_dump_json(exclude={"kind"})
    return _PUT_JOB, {**job.model_dump(include=columns), "kind": job.kind, "work": work}


def _put_hypothesis(hypothesis: Hypothesis) -> Step:
    rated = {
        "rating": hypothesis.rating.model_dump_json(),
        "decision": hypothesis.decision.model_dump_json(),
    }
    columns = ("id", "research_id", "status", "review_count")
    return _put(_PUT_HYPOTHESIS, hypothesis, columns, rated)


def _put_output(output: AgentOutput) -> Step:
    finding = None if output.finding is None else output.finding.model_dump_json()
    more = {"is_call": int(output.is_model_call), "finding": finding}
    columns = ("id", "research_id", "agent", "cost", "created_at")
    return _put(_PUT_OUTPUT, output, columns, more)


def _put_event(event: Event) -> Step:
    return _put(_PUT_EVENT, event, ("id", "research_id", "created_at", "reason"))


def _put(
    sql: str, record: Record, columns: Sequence[str], more: dict[str, Any] | None = None
) -> Step:
    values = {column: getattr(record, column) for column in columns}
    return sql, {**values, **(more or {}), "body": record.model_dump_json()}


def _touch_project(changes: Changes) -> Step:
    """The first statement of a write: locking the project's row first prevents deadlocks."""
    records: tuple[Any, ...] = (*changes.hypotheses, *changes.reviews, *changes.matches)
    return _TOUCH.format("CAST(:id AS TEXT)"), {
        "id": records[0].research_id,
        "at": max(record.created_at for record in records),
    }


def _mask_problem(problem: str | None) -> str | None:
    """Masks secrets, which old rows may still hold."""
    return None if problem is None else mask_secrets(problem)


def _project(row: tuple[Any, ...]) -> Project:
    changed = {"status": row[1], "problem": _mask_problem(row[2]), "updated_at": row[3]}
    return Project.model_validate_json(row[0]).model_copy(update=changed)


def _hypothesis(parsed: Hypothesis, row: tuple[Any, ...]) -> Hypothesis:
    return parsed.model_copy(
        update={
            "status": row[1],
            "review_count": row[2],
            "rating": Rating.model_validate_json(row[3]),
            "decision": Decision.model_validate_json(row[4]),
        }
    )


def _job(row: tuple[Any, ...]) -> Job:
    job_id, research_id, kind, work, state, problem, problem_code, planned_steps, created_at = row
    return Job(
        id=job_id,
        research_id=research_id,
        work=_WORK.validate_python({**json.loads(work), "kind": kind}),
        state=state,
        planned_steps=planned_steps,
        problem=_mask_problem(problem),
        problem_code=problem_code,
        created_at=created_at,
    )


def _event(row: tuple[Any, ...]) -> Event:
    body, reason = row
    event = Event.model_validate_json(body)
    changed = {"says": mask_secrets(event.says), "reason": _mask_problem(reason)}
    return event.model_copy(update=changed)


def _output(row: tuple[Any, ...]) -> AgentOutput:
    body, finding = row
    output = AgentOutput.model_validate_json(mask_known_secrets(body))
    if finding is None:
        return output
    found = _FINDING.validate_json(mask_known_secrets(finding))
    return output.model_copy(update={"finding": found})
