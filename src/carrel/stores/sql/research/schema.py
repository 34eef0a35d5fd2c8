"""The tables of the research room, and the steps that bring earlier versions of them forward."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from typing import Any

from carrel.rooms.research.records import (
    Advice,
    AgentOutput,
    Event,
    MetaReview,
)
from carrel.stores.sql.driver import Rows, Step, UpgradeStatements

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
_TASKS = (
    """CREATE TABLE research_tasks (
        id TEXT PRIMARY KEY, research_id TEXT NOT NULL, role TEXT NOT NULL, step TEXT NOT NULL,
        material TEXT NOT NULL, state TEXT NOT NULL, worker TEXT, lease INTEGER NOT NULL DEFAULT 0,
        lease_until DOUBLE PRECISION NOT NULL DEFAULT 0, lease_clock TEXT NOT NULL DEFAULT '',
        lease_ticks DOUBLE PRECISION NOT NULL DEFAULT 0,
        touched DOUBLE PRECISION NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0,
        holders TEXT NOT NULL DEFAULT '[]', answer TEXT, result TEXT,
        created_at TEXT NOT NULL, finished_at TEXT)""",
    "CREATE INDEX research_tasks_project ON research_tasks (research_id, created_at)",
    "ALTER TABLE research_projects ADD COLUMN mind TEXT",
    "ALTER TABLE research_hypotheses ADD COLUMN superseded_by TEXT",
    "ALTER TABLE research_reviews ADD COLUMN superseded_by TEXT",
)
_PUT_STEP_BY_KEY = """INSERT INTO research_steps_by_key
    (job_id, kind, round, number, hypothesis_id, seconds, finished_at, result_ids)
    VALUES (:job_id, :kind, :round, :number, :hypothesis_id, :seconds, :at, :result_ids)
    ON CONFLICT DO NOTHING RETURNING job_id"""
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
        yield _PUT_STEP_BY_KEY, {"job_id": job_id, "kind": kind, **values}
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
    ";\n".join(_TASKS),
)
