"""Every part that keeps tables in PostgreSQL: its upgrade steps and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from carrel.stores.postgres.audit import SCRIPTS as AUDIT
from carrel.stores.postgres.knowledge import STEPS as KNOWLEDGE
from carrel.stores.postgres.limits import SCRIPTS as LIMITS
from carrel.stores.postgres.schema import UpgradeStep
from carrel.stores.sql.access import SCRIPTS as ACCESS
from carrel.stores.sql.jobs import SCRIPTS as JOBS
from carrel.stores.sql.library_members import SCRIPTS as LIBRARY_MEMBERS
from carrel.stores.sql.literature.schema import SCRIPTS as LITERATURE
from carrel.stores.sql.quotas import SCRIPTS as QUOTAS
from carrel.stores.sql.references.schema import SCRIPTS as REFERENCES
from carrel.stores.sql.research.schema import SCRIPTS as RESEARCH


@dataclass(frozen=True, slots=True)
class DatabasePart:
    """The tables of one part, those that others refer to first.

    `passing` are tables whose rows are made again by themselves, so that no copy carries them.
    """

    steps: Sequence[UpgradeStep]
    tables: tuple[str, ...]
    passing: tuple[str, ...] = ()


DATABASE_PARTS: dict[str, DatabasePart] = {
    "access": DatabasePart(
        ACCESS,
        (
            "access_users",
            "access_tokens",
            "access_clients",
            "access_grants",
            "access_codes",
            "access_refresh",
            "access_sessions",
            "access_keys",
            "access_origins",
            "access_people",
            "access_sign_ins",
            "access_logouts",
        ),
    ),
    "knowledge": DatabasePart(
        KNOWLEDGE,
        (
            "knowledge_notes",
            "knowledge_note_tags",
            "knowledge_history",
            "knowledge_nodes",
        ),
        # What readers of changes need to know of notes that are gone; they begin anew.
        passing=("knowledge_removed",),
    ),
    "references": DatabasePart(
        REFERENCES,
        (
            "reference_libraries",
            "reference_items",
            "reference_work_keys",
            "reference_changes",
            "reference_versions",
            "reference_files",
            "reference_file_chunks",
            "reference_file_drafts",
        ),
    ),
    "library_members": DatabasePart(
        LIBRARY_MEMBERS, ("shared_libraries", "shared_library_members")
    ),
    "research": DatabasePart(
        RESEARCH,
        (
            "research_projects",
            "research_hypotheses",
            "research_reviews",
            "research_matches",
            "research_outputs",
            "research_safety",
            "research_events",
            "research_jobs",
            "research_steps",
            "research_tasks",
        ),
    ),
    "literature": DatabasePart(
        LITERATURE,
        (
            "literature_notices",
            "literature_tables",
            "literature_alerts",
            "literature_alert_marks",
            "literature_alert_works",
            "literature_alert_keys",
            "literature_completions",
        ),
        passing=("literature_leases",),
    ),
    "quotas": DatabasePart(QUOTAS, ("quota_use", "quota_allotments")),
    "jobs": DatabasePart(JOBS, ("background_jobs",)),
    "limits": DatabasePart(LIMITS, (), passing=("limit_buckets",)),
    "audit": DatabasePart(AUDIT, ("audit_log", "audit_anchors", "audit_signing_key")),
}


def part_steps() -> dict[str, Sequence[UpgradeStep]]:
    """The upgrade steps of every part."""
    return {name: part.steps for name, part in DATABASE_PARTS.items()}
