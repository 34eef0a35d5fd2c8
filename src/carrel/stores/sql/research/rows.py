"""Records of the research room as rows: the statements that save them, and how they are read."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from pydantic import TypeAdapter

from carrel.core.errors import ConflictError
from carrel.core.secrets import mask_known_secrets, mask_secrets
from carrel.rooms.research.outside_models import OutsideLooks
from carrel.rooms.research.records import (
    AgentOutput,
    Changes,
    Decision,
    Event,
    Hypothesis,
    Job,
    MetaReview,
    Project,
    Rating,
    Record,
    UnderstoodAs,
    Work,
)
from carrel.stores.sql.driver import Rows, Step

_PUT_JOB = """INSERT INTO research_jobs
    (id, research_id, kind, work, state, planned_steps, created_at)
    VALUES (:id, :research_id, :kind, :work, :state, :planned_steps, :created_at)"""
# A hypothesis that came from evolution stays one that did; the number of its reviews says whether
# it was reviewed.
_COUNT_REVIEW = """UPDATE research_hypotheses SET review_count = review_count + 1,
    status = CASE WHEN status = 'pending' THEN 'reviewed' ELSE status END WHERE id = :id"""
_PUT_PROJECT = """INSERT INTO research_projects
    (id, owner, status, problem, created_at, updated_at, mind, body)
    VALUES (:id, :owner, :status, :problem, :created_at, :updated_at, :mind, :body)"""
_SUPERSEDE = "UPDATE research_{} SET superseded_by = :task WHERE id = :id"
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
TOUCH_PROJECT = """UPDATE research_projects
    SET updated_at = CASE WHEN updated_at < :at THEN :at ELSE updated_at END WHERE id = {}"""
# Ratings hold only for the matches they were computed from: counted with the project's row locked,
# so that nobody adds one meanwhile.
_LOCK_PROJECT_OF_HYPOTHESIS = """UPDATE research_projects SET updated_at = updated_at
    WHERE id = (SELECT research_id FROM research_hypotheses WHERE id = :id)"""
_COUNT_MATCHES = """SELECT count(*) FROM research_matches
    WHERE research_id = (SELECT research_id FROM research_hypotheses WHERE id = :id)"""
_WORK: TypeAdapter[Work] = TypeAdapter(Work)
Finding = UnderstoodAs | MetaReview | OutsideLooks
_FINDING: TypeAdapter[Finding] = TypeAdapter(Finding)


def save_changes(changes: Changes) -> Generator[Step, Rows, None]:
    """Statements that store the changes. Raises ConflictError where matches were played since."""
    if changes.hypotheses or changes.reviews or changes.matches:
        yield _touch_project(changes)
    if changes.expected_match_count is not None and changes.ratings:
        yield from _require_match_count(changes.ratings[0][0], changes.expected_match_count)
    for project in changes.projects:
        columns = ("id", "owner", "status", "problem", "created_at", "updated_at", "mind")
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
    yield from _supersede(changes)
    for match in changes.matches:
        yield _put(_PUT_MATCH, match, ("research_id", "number"))
    for output in changes.outputs:
        yield _put_output(output)
    for event in changes.events:
        yield put_event(event)
    for decision in changes.safety:
        yield _put(_PUT_SAFETY, decision, ("id", "owner", "research_id", "created_at"))


def _supersede(changes: Changes) -> Iterator[Step]:
    for table, pairs in (
        ("hypotheses", changes.superseded_hypotheses),
        ("reviews", changes.superseded_reviews),
    ):
        for superseded, task in pairs:
            yield _SUPERSEDE.format(table), {"id": superseded, "task": task}


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


def put_event(event: Event) -> Step:
    return _put(_PUT_EVENT, event, ("id", "research_id", "created_at", "reason"))


def _put(
    sql: str, record: Record, columns: Sequence[str], more: dict[str, Any] | None = None
) -> Step:
    values = {column: getattr(record, column) for column in columns}
    return sql, {**values, **(more or {}), "body": record.model_dump_json()}


def _touch_project(changes: Changes) -> Step:
    """The first statement of a write: locking the project's row first prevents deadlocks."""
    records: tuple[Any, ...] = (*changes.hypotheses, *changes.reviews, *changes.matches)
    return TOUCH_PROJECT.format("CAST(:id AS TEXT)"), {
        "id": records[0].research_id,
        "at": max(record.created_at for record in records),
    }


def _mask_problem(problem: str | None) -> str | None:
    """Masks secrets, which old rows may still hold."""
    return None if problem is None else mask_secrets(problem)


def read_project(row: tuple[Any, ...]) -> Project:
    changed = {
        "status": row[1],
        "problem": _mask_problem(row[2]),
        "updated_at": row[3],
        "mind": row[4],
    }
    return Project.model_validate_json(row[0]).model_copy(update=changed)


def read_hypothesis(parsed: Hypothesis, row: tuple[Any, ...]) -> Hypothesis:
    return parsed.model_copy(
        update={
            "status": row[1],
            "review_count": row[2],
            "rating": Rating.model_validate_json(row[3]),
            "decision": Decision.model_validate_json(row[4]),
            "superseded_by": row[5],
        }
    )


def read_job(row: tuple[Any, ...]) -> Job:
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


def read_event(row: tuple[Any, ...]) -> Event:
    body, reason = row
    event = Event.model_validate_json(body)
    changed = {"says": mask_secrets(event.says), "reason": _mask_problem(reason)}
    return event.model_copy(update=changed)


def read_output(row: tuple[Any, ...]) -> AgentOutput:
    body, finding = row
    output = AgentOutput.model_validate_json(mask_known_secrets(body))
    if finding is None:
        return output
    found = _FINDING.validate_json(mask_known_secrets(finding))
    return output.model_copy(update={"finding": found})
