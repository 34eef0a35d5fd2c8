"""The context memory of the research room in SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeVar

from carrel.core.errors import ConflictError
from carrel.core.secrets import mask_known_secrets, mask_secrets
from carrel.rooms.research.errors import StepTakenError
from carrel.rooms.research.records import (
    AgentOutput,
    Changes,
    Decision,
    Event,
    Hypothesis,
    HypothesisStanding,
    Job,
    JobState,
    MatchPlayed,
    Pace,
    Project,
    ProjectStatus,
    Record,
    Review,
    SafetyRecord,
    StepDone,
)
from carrel.stores.sql.driver import Driver, Rows, Step

RecordT = TypeVar("RecordT", bound=Record)

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS research_projects (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, status TEXT NOT NULL, problem TEXT,
        created_at TEXT NOT NULL, updated_at TEXT NOT NULL, body TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS research_projects_owner ON research_projects (owner, created_at)",
    """CREATE TABLE IF NOT EXISTS research_hypotheses (
        id TEXT PRIMARY KEY, research_id TEXT NOT NULL, made INTEGER NOT NULL, status TEXT NOT NULL,
        review_count INTEGER NOT NULL, standing TEXT NOT NULL, decision TEXT NOT NULL, body TEXT NOT
          NULL)""",
    "CREATE INDEX IF NOT EXISTS research_hypotheses_project ON research_hypotheses (research_id, "
    "made)",
    """CREATE TABLE IF NOT EXISTS research_reviews (
        id TEXT PRIMARY KEY, research_id TEXT NOT NULL, hypothesis_id TEXT NOT NULL, created_at TEXT
          NOT NULL, body TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS research_reviews_project ON research_reviews (research_id, "
    "created_at)",
    """CREATE TABLE IF NOT EXISTS research_matches (
        research_id TEXT NOT NULL, number INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY
          (research_id, number))""",
    """CREATE TABLE IF NOT EXISTS research_outputs (
        id TEXT PRIMARY KEY, research_id TEXT NOT NULL, created_at TEXT NOT NULL, body TEXT NOT
          NULL)""",
    "CREATE INDEX IF NOT EXISTS research_outputs_project ON research_outputs (research_id, "
    "created_at)",
    """CREATE TABLE IF NOT EXISTS research_safety (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, created_at TEXT NOT NULL, body TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS research_events (
        id TEXT PRIMARY KEY, research_id TEXT NOT NULL, created_at TEXT NOT NULL, body TEXT NOT
          NULL)""",
    "CREATE INDEX IF NOT EXISTS research_events_project ON research_events (research_id, "
    "created_at)",
    """CREATE TABLE IF NOT EXISTS research_jobs (
        id TEXT PRIMARY KEY, research_id TEXT NOT NULL, state TEXT NOT NULL, problem TEXT,
          problem_code TEXT,
        planned_steps INTEGER NOT NULL DEFAULT 0, worker TEXT, lease_until DOUBLE PRECISION NOT NULL
          DEFAULT 0,
        created_at TEXT NOT NULL, body TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS research_steps (
        job_id TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, seconds DOUBLE PRECISION NOT
          NULL, finished_at TEXT NOT NULL,
        made TEXT NOT NULL, PRIMARY KEY (job_id, name))""",
)
# One script for each version. What an earlier version lacks goes into a new script at the end,
# never into an old one.
SCRIPTS = (
    ";\n".join(SCHEMA),
    """ALTER TABLE research_jobs ADD COLUMN lease_clock TEXT NOT NULL DEFAULT '';
ALTER TABLE research_jobs ADD COLUMN lease_ticks DOUBLE PRECISION NOT NULL DEFAULT 0""",
)

# A lease of another start of the machine is measured by the time of day. One that ends later than
# any could is from a clock
# that has been set back since.
_LONGEST_LEASE_SECONDS = 3600.0

_OF_PROJECT = ("hypotheses", "reviews", "matches", "outputs", "events", "jobs")
_HYPOTHESIS = "id, status, review_count, standing, decision"
_MOST_READ = 1000
_JOB = "body, state, problem, problem_code, planned_steps"
_PROJECT = "p.body, p.status, p.problem, p.updated_at"
_PUT_JOB = """INSERT INTO research_jobs (id, research_id, state, planned_steps, created_at, body)
    VALUES (:id, :research_id, :state, :planned_steps, :created_at, :body)"""
# A hypothesis that came from evolution stays one that did; the number of its reviews says whether
# it was reviewed.
_REVIEWED = """UPDATE research_hypotheses SET review_count = review_count + 1,
    status = CASE WHEN status = 'pending' THEN 'reviewed' ELSE status END WHERE id = :id"""
_PUT_PROJECT = """INSERT INTO research_projects (id, owner, status, problem, created_at, updated_at,
      body)
    VALUES (:id, :owner, :status, :problem, :created_at, :updated_at, :body)"""
_PUT_HYPOTHESIS = """INSERT INTO research_hypotheses (id, research_id, made, status, review_count,
      standing, decision, body)
    SELECT :id, :research_id, (SELECT count(*) FROM research_hypotheses WHERE research_id =
      :research_id),
    :status, :review_count, :standing, :decision, :body"""
_PUT_REVIEW = """INSERT INTO research_reviews (id, research_id, hypothesis_id, created_at, body)
    VALUES (:id, :research_id, :hypothesis_id, :created_at, :body)"""
_PUT_MATCH = (
    "INSERT INTO research_matches (research_id, number, body) VALUES (:research_id, :number, :body)"
)
_PUT_OUTPUT = """INSERT INTO research_outputs (id, research_id, created_at, body) VALUES (:id,
      :research_id, :created_at, :body)
    ON CONFLICT (id) DO NOTHING"""
_PUT_SAFETY = (
    "INSERT INTO research_safety (id, owner, created_at, body) VALUES (:id, :owner, "
    ":created_at, :body)"
)
_PUT_EVENT = (
    "INSERT INTO research_events (id, research_id, created_at, body) VALUES (:id, "
    ":research_id, :created_at, :body)"
)
# The row that is inserted exists only where the job is still this worker's; a second one of the
# same name is a conflict.
_PUT_STEP = """INSERT INTO research_steps (job_id, name, kind, seconds, finished_at, made)
    SELECT id, CAST(:name AS TEXT), CAST(:kind AS TEXT), CAST(:seconds AS DOUBLE PRECISION),
      CAST(:at AS TEXT), CAST(:made AS TEXT)
    FROM research_jobs WHERE id = :job_id AND worker = :worker AND state = 'running' RETURNING
      name"""
_TOUCH = (
    "UPDATE research_projects SET updated_at = CASE WHEN updated_at < :at THEN :at ELSE "
    "updated_at END WHERE id = {}"
)
# Where the job was lost meanwhile no step row is there; then this breaks a constraint, which undoes
# everything.
_FENCE = """INSERT INTO research_jobs (id, research_id, state, created_at, body)
    SELECT CAST(:job_id AS TEXT), CAST(NULL AS TEXT), 'lost', '', ''
    WHERE NOT EXISTS (SELECT 1 FROM research_steps WHERE job_id = :job_id AND name = :name)"""
# Standings hold only for the matches they were made from: taken with the project's row in hand, so
# that nobody adds one meanwhile.
_LOCK = """UPDATE research_projects SET updated_at = updated_at
    WHERE id = (SELECT research_id FROM research_hypotheses WHERE id = :id)"""
_LOCK_PROJECT_OF_JOB = """UPDATE research_projects SET updated_at = updated_at
    WHERE id = (SELECT research_id FROM research_jobs WHERE id = :id)"""
# A job that has ended keeps the name of who ended it, so that the project follows only where the
# job did.
_END_JOB = """UPDATE research_jobs SET state = :state, problem = :problem, problem_code = :code
    WHERE id = :id AND worker = :worker AND state = 'running' RETURNING id"""
_END_PROJECT = """UPDATE research_projects SET status = :status, problem = :problem, updated_at =
      :at WHERE id =
    (SELECT research_id FROM research_jobs WHERE id = :id AND worker = :worker AND state =
      :state)"""
_IS_RUN = """j.body LIKE '%"kind":"research"%'"""
_NEVER_BEGUN = (
    "The run was never begun, since it could not be written down. Start it again with "
    "start_research."
)
_SEEN = """INSERT INTO research_jobs (id, research_id, state, created_at, body)
    SELECT CAST(:id AS TEXT), CAST(NULL AS TEXT), 'stale', '', '' WHERE :seen <> (SELECT count(*)
      FROM research_matches
    WHERE research_id = (SELECT research_id FROM research_hypotheses WHERE id = :id))"""


class SqlResearch:
    """The context memory over a driver; the contract is the port's."""

    schema_steps = SCRIPTS

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        # What was written in a hypothesis never changes, and reading it back costs more than all
        # the rest.
        self._read: dict[str, Hypothesis] = {}

    async def close(self) -> None:
        await self._driver.close()

    async def keep(self, changes: Changes) -> None:
        steps = _kept(changes)
        if steps:
            await self._driver.run(*steps)

    async def project(self, research_id: str) -> Project | None:
        rows = await self._rows(
            f"SELECT {_PROJECT} FROM research_projects p WHERE p.id = :id", id=research_id
        )
        return _project(rows[0]) if rows else None

    async def projects(
        self, owner: str, status: str | None, limit: int
    ) -> list[tuple[Project, int]]:
        sql = f"""SELECT {_PROJECT}, (SELECT count(*) FROM research_hypotheses h WHERE h.research_id
              = p.id)
            FROM research_projects p WHERE p.owner = :owner AND (:any_status = 1 OR p.status =
              :status)
            ORDER BY p.created_at DESC, p.id LIMIT :most"""
        rows = await self._rows(
            sql, owner=owner, status=status or "", any_status=int(status is None), most=limit
        )
        return [(_project(row), int(row[4])) for row in rows]

    async def set_active(self, job_id: str, worker: str, at: str) -> None:
        sql = """UPDATE research_projects SET status = 'active', problem = NULL, updated_at = :at
              WHERE id =
            (SELECT research_id FROM research_jobs WHERE id = :id AND worker = :worker AND state =
              'running')"""
        await self._rows(sql, id=job_id, worker=worker, at=at)

    async def delete_project(self, research_id: str) -> None:
        of_jobs = (
            "DELETE FROM research_steps WHERE job_id IN (SELECT id FROM research_jobs WHERE "
            "research_id = :id)"
        )
        steps: list[Step] = [
            ("DELETE FROM research_projects WHERE id = :id", {"id": research_id}),
            (of_jobs, {"id": research_id}),
        ]
        steps.extend(
            (f"DELETE FROM research_{name} WHERE research_id = :id", {"id": research_id})
            for name in _OF_PROJECT
        )
        await self._driver.run(*steps)

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
        if any(row[0] not in self._read for row in rows):
            if len(self._read) > _MOST_READ:
                self._read.clear()
            bodies = await self._rows(
                f"SELECT id, body FROM research_hypotheses WHERE {condition}", id=value
            )
            for name, body in bodies:
                if name not in self._read:
                    self._read[name] = Hypothesis.model_validate_json(body)
        return [_hypothesis(self._read[row[0]], row) for row in rows if row[0] in self._read]

    async def decide(self, hypothesis_id: str, decision: Decision) -> None:
        sql = "UPDATE research_hypotheses SET decision = :decision WHERE id = :id"
        await self._rows(sql, id=hypothesis_id, decision=decision.model_dump_json())

    async def reviews(self, research_id: str) -> list[Review]:
        return await self._all(Review, "reviews", research_id, "created_at, id")

    async def matches(self, research_id: str) -> list[MatchPlayed]:
        return await self._all(MatchPlayed, "matches", research_id, "number")

    async def output(self, output_id: str) -> AgentOutput | None:
        rows = await self._rows("SELECT body FROM research_outputs WHERE id = :id", id=output_id)
        return AgentOutput.model_validate_json(mask_known_secrets(rows[0][0])) if rows else None

    async def outputs(
        self, research_id: str, *, agent: str | None = None, only_model_calls: bool = False
    ) -> list[AgentOutput]:
        # A field of the record itself stands in its text unescaped; inside what was given or
        # answered every quote is escaped.
        by_agent = "%" if agent is None else f'%"agent":"{agent}"%'
        by_model = '%"is_model_call":true%' if only_model_calls else "%"
        sql = """SELECT body FROM research_outputs WHERE research_id = :id AND body LIKE CAST(:agent
              AS TEXT)
            AND body LIKE CAST(:model AS TEXT) ORDER BY created_at, id"""
        rows = await self._rows(sql, id=research_id, agent=by_agent, model=by_model)
        return [AgentOutput.model_validate_json(mask_known_secrets(row[0])) for row in rows]

    async def safety(self, owner: str) -> list[SafetyRecord]:
        rows = await self._rows(
            "SELECT body FROM research_safety WHERE owner = :owner ORDER BY created_at, id",
            owner=owner,
        )
        return [SafetyRecord.model_validate_json(row[0]) for row in rows]

    async def events(self, research_id: str) -> list[Event]:
        found = await self._all(Event, "events", research_id, "created_at, id")
        return [event.model_copy(update={"says": mask_secrets(event.says)}) for event in found]

    async def add_job(self, job: Job) -> None:
        await self._driver.run(_put_job(job))

    async def job(self, job_id: str) -> Job | None:
        rows = await self._rows(f"SELECT {_JOB} FROM research_jobs WHERE id = :id", id=job_id)
        return _job(rows[0]) if rows else None

    async def jobs(self, research_id: str) -> list[Job]:
        sql = f"SELECT {_JOB} FROM research_jobs WHERE research_id = :id ORDER BY created_at, id"
        return [_job(row) for row in await self._rows(sql, id=research_id)]

    async def open_jobs(self) -> list[str]:
        rows = await self._rows(
            "SELECT id FROM research_jobs WHERE state IN ('waiting', 'running') ORDER BY "
            "created_at, id"
        )
        return [str(row[0]) for row in rows]

    async def claim(self, job_id: str, worker: str, lease_seconds: float) -> bool:
        clock = self._driver.lease_clock
        sql = f"""UPDATE research_jobs SET state = 'running', worker = :worker, lease_until =
              {clock.now} + :seconds,
            lease_clock = {clock.name}, lease_ticks = {clock.ticks} + :seconds WHERE id = :id AND
              (state = 'waiting'
            OR (state = 'running' AND (worker IS NULL OR (lease_clock = {clock.name} AND lease_ticks
              < {clock.ticks})
            OR (lease_clock <> {clock.name} AND (lease_until < {clock.now} OR lease_until >
              {clock.now} + :longest)))))
            RETURNING id"""
        return bool(
            await self._rows(
                sql, id=job_id, worker=worker, seconds=lease_seconds, longest=_LONGEST_LEASE_SECONDS
            )
        )

    async def holder(self, job_id: str) -> str | None:
        rows = await self._rows(
            "SELECT worker FROM research_jobs WHERE id = :id AND state = 'running'", id=job_id
        )
        return rows[0][0] if rows else None

    async def release(self, job_id: str, worker: str) -> None:
        sql = (
            "UPDATE research_jobs SET state = 'waiting', worker = NULL WHERE id = :id AND "
            "worker = :worker AND state = 'running'"
        )
        await self._rows(sql, id=job_id, worker=worker)

    async def renew(self, job_id: str, worker: str, lease_seconds: float) -> bool:
        clock = self._driver.lease_clock
        sql = f"""UPDATE research_jobs SET lease_until = {clock.now} + :seconds, lease_clock =
              {clock.name},
            lease_ticks = {clock.ticks} + :seconds WHERE id = :id AND worker = :worker AND state =
              'running' RETURNING id"""
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
        told = {"id": job_id, "worker": worker, "state": state, "problem": problem}
        steps: list[Step] = [
            (_LOCK_PROJECT_OF_JOB, {"id": job_id}),
            (_END_JOB, {**told, "code": problem_code}),
        ]
        if project_status is not None:
            steps.append((_END_PROJECT, {**told, "status": project_status, "at": at}))
        return bool((await self._driver.run(*steps))[1])

    async def reconcile(self, at: str) -> None:
        ended = f"SELECT j.research_id FROM research_jobs j WHERE {_IS_RUN} AND j.state = :state"
        steps: list[Step] = [
            (
                f"""UPDATE research_projects SET status = :state, updated_at = :at, problem =
                    (SELECT max(j.problem) FROM research_jobs j WHERE j.research_id =
                      research_projects.id AND {_IS_RUN})
                    WHERE status IN ('initializing', 'active') AND id IN ({ended})""",
                {"state": state, "at": at},
            )
            for state in ("completed", "failed", "paused", "cancelled")
        ]
        never = f"""UPDATE research_projects SET status = 'failed', updated_at = :at, problem =
              :problem
            WHERE status IN ('initializing', 'active')
            AND NOT EXISTS (SELECT 1 FROM research_jobs j WHERE j.research_id = research_projects.id
              AND {_IS_RUN})"""
        steps.append((never, {"at": at, "problem": _NEVER_BEGUN}))
        await self._driver.run(*steps)

    async def mask_stored_secrets(self) -> None:
        for table, column in (("projects", "problem"), ("jobs", "problem"), ("events", "body")):
            rows = await self._rows(
                f"SELECT id, {column} FROM research_{table} WHERE {column} IS NOT NULL"
            )
            steps: list[Step] = [
                (
                    f"UPDATE research_{table} SET {column} = :masked WHERE id = :id",
                    {"id": name, "masked": masked},
                )
                for name, text in rows
                if (
                    masked := mask_secrets(text)
                    if column == "problem"
                    else mask_known_secrets(text)
                )
                != text
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
        of_project = (
            "UPDATE research_projects SET status = :status, problem = NULL, updated_at = "
            ":at WHERE id = :id"
        )
        of_jobs = f"""UPDATE research_jobs SET state = :state, problem = NULL, problem_code = NULL,
              worker = NULL
            WHERE research_id = :id AND state IN ({", ".join(f":{name}" for name in names)})"""
        await self._driver.run(
            (of_project, {"id": research_id, "status": status, "at": event.created_at}),
            (of_jobs, {"id": research_id, "state": state, **names}),
            *_kept(Changes(events=(event,))),
        )

    async def set_job(
        self,
        job_id: str,
        state: JobState,
        problem: str | None = None,
        problem_code: str | None = None,
        *,
        after: Sequence[JobState] | None = None,
    ) -> bool:
        sql = (
            "UPDATE research_jobs SET state = :state, problem = :problem, problem_code = :code, "
            "worker = NULL WHERE id = :id"
        )
        told: dict[str, str | None] = {
            "id": job_id,
            "state": state,
            "problem": problem,
            "code": problem_code,
        }
        if after is not None:
            told.update({f"after_{number}": one for number, one in enumerate(after)})
            sql += (
                f" AND state IN ({', '.join(f':after_{number}' for number in range(len(after)))})"
            )
        return bool(await self._rows(f"{sql} RETURNING id", **told))

    async def plan(self, job_id: str, worker: str, planned_steps: int) -> bool:
        sql = """UPDATE research_jobs SET planned_steps = :planned WHERE id = :id AND worker =
              :worker AND state = 'running'
            RETURNING id"""
        return bool(await self._rows(sql, id=job_id, worker=worker, planned=planned_steps))

    async def steps(self, job_id: str) -> list[StepDone]:
        sql = (
            "SELECT name, kind, seconds, finished_at, made FROM research_steps WHERE job_id = "
            ":id ORDER BY finished_at, name"
        )
        return [
            StepDone(
                job_id=job_id,
                name=name,
                kind=kind,
                seconds=seconds,
                at=at,
                made=tuple(json.loads(made)),
            )
            for name, kind, seconds, at, made in await self._rows(sql, id=job_id)
        ]

    async def finish(self, step: StepDone, worker: str, changes: Changes) -> None:
        told = {
            "name": step.name,
            "kind": step.kind,
            "seconds": step.seconds,
            "at": step.at,
            "made": json.dumps(step.made),
        }
        project = "(SELECT research_id FROM research_jobs WHERE id = :job_id)"
        steps: list[Step] = [(_TOUCH.format(project), {"job_id": step.job_id, "at": step.at})]
        steps.append((_PUT_STEP, {"job_id": step.job_id, "worker": worker, **told}))
        steps.extend(_kept(changes))
        steps.append((_FENCE, {"job_id": step.job_id, "name": step.name}))
        try:
            await self._driver.run(*steps)
        except ConflictError as error:
            raise StepTakenError(
                "The step is finished already, or its job is another worker's"
            ) from error

    async def pace(self) -> dict[str, Pace]:
        rows = await self._rows(
            "SELECT kind, avg(seconds), count(*) FROM research_steps GROUP BY kind"
        )
        return {
            str(kind): Pace(seconds=float(seconds), count=int(count))
            for kind, seconds, count in rows
        }

    async def _rows(self, sql: str, **parameters: object) -> Rows:
        return (await self._driver.run((sql, parameters)))[0]

    async def _all(
        self, kind: type[RecordT], table: str, research_id: str, order: str
    ) -> list[RecordT]:
        rows = await self._rows(
            f"SELECT body FROM research_{table} WHERE research_id = :id ORDER BY {order}",
            id=research_id,
        )
        return [kind.model_validate_json(row[0]) for row in rows]


def _kept(changes: Changes) -> list[Step]:
    steps: list[Step] = (
        [_touched(changes)] if changes.hypotheses or changes.reviews or changes.matches else []
    )
    if changes.matches_seen is not None and changes.standings:
        about = changes.standings[0][0]
        steps.extend(((_LOCK, {"id": about}), (_SEEN, {"id": about, "seen": changes.matches_seen})))
    for project in changes.projects:
        values = project.model_dump(
            include={"id", "owner", "status", "problem", "created_at", "updated_at"}
        )
        steps.append((_PUT_PROJECT, {**values, "body": project.model_dump_json()}))
    steps.extend(_put_job(job) for job in changes.jobs)
    for made in changes.hypotheses:
        values = made.model_dump(include={"id", "research_id", "status", "review_count"})
        body = made.model_dump_json()
        told = {
            "standing": made.standing.model_dump_json(),
            "decision": made.decision.model_dump_json(),
            "body": body,
        }
        steps.append((_PUT_HYPOTHESIS, {**values, **told}))
    for hypothesis_id, standing in changes.standings:
        sql = "UPDATE research_hypotheses SET standing = :standing WHERE id = :id"
        steps.append((sql, {"id": hypothesis_id, "standing": standing.model_dump_json()}))
    for review in changes.reviews:
        values = review.model_dump(include={"id", "research_id", "hypothesis_id", "created_at"})
        steps.append((_PUT_REVIEW, {**values, "body": review.model_dump_json()}))
        steps.append((_REVIEWED, {"id": review.hypothesis_id}))
    steps.extend(
        (
            _PUT_MATCH,
            {
                "research_id": match.research_id,
                "number": match.number,
                "body": match.model_dump_json(),
            },
        )
        for match in changes.matches
    )
    for put, records in ((_PUT_OUTPUT, changes.outputs), (_PUT_EVENT, changes.events)):
        for record in records:
            values = record.model_dump(include={"id", "research_id", "created_at"})
            steps.append((put, {**values, "body": record.model_dump_json()}))
    for decision in changes.safety:
        values = decision.model_dump(include={"id", "owner", "created_at"})
        steps.append((_PUT_SAFETY, {**values, "body": decision.model_dump_json()}))
    return steps


def _put_job(job: Job) -> Step:
    values = job.model_dump(include={"id", "research_id", "state", "planned_steps", "created_at"})
    return _PUT_JOB, {**values, "body": job.model_dump_json()}


def _touched(changes: Changes) -> Step:
    """Comes first: whoever writes to a project takes its row before any other, so that two workers
    never wait for each other.
    """
    records: tuple[Any, ...] = (*changes.hypotheses, *changes.reviews, *changes.matches)
    return _TOUCH.format("CAST(:id AS TEXT)"), {
        "id": records[0].research_id,
        "at": max(record.created_at for record in records),
    }


def _mask_problem(problem: str | None) -> str | None:
    """Rows of before secrets were masked when they were written may hold some."""
    return None if problem is None else mask_secrets(problem)


def _project(row: tuple[Any, ...]) -> Project:
    told = {"status": row[1], "problem": _mask_problem(row[2]), "updated_at": row[3]}
    return Project.model_validate_json(row[0]).model_copy(update=told)


def _hypothesis(read: Hypothesis, row: tuple[Any, ...]) -> Hypothesis:
    return read.model_copy(
        update={
            "status": row[1],
            "review_count": row[2],
            "standing": HypothesisStanding.model_validate_json(row[3]),
            "decision": Decision.model_validate_json(row[4]),
        }
    )


def _job(row: tuple[Any, ...]) -> Job:
    told = {
        "state": row[1],
        "problem": _mask_problem(row[2]),
        "problem_code": row[3],
        "planned_steps": row[4],
    }
    return Job.model_validate_json(row[0]).model_copy(update=told)
