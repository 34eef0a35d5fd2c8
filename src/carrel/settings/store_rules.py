"""Rules about stores: what each choice needs, and data that a choice would leave behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from carrel.policy.audit import QueueOptions, Retention
from carrel.settings import Settings, SettingsError
from carrel.settings.places import database_files

HoldsRows = Callable[[Path, Sequence[str]], bool]


@contextmanager
def needs_driver(extra: str) -> Iterator[None]:
    """Raises SettingsError where the driver that is imported inside is not installed."""
    try:
        yield
    except ImportError as error:
        raise SettingsError(
            f"The driver for {extra} is not installed ({error.name})",
            next_step=f"Install it with pip install 'carrel[{extra}]'.",
        ) from error


def need_psycopg() -> None:
    """Raises SettingsError where the driver for PostgreSQL is not installed."""
    try:
        import psycopg  # noqa: F401
        import psycopg_pool  # noqa: F401
    except ImportError:
        raise SettingsError(
            "DATABASE_URL is set, and the driver for PostgreSQL is not installed",
            next_step="pip install 'carrel[postgres]'",
        ) from None


def need_database_url(settings: Settings, reason: str) -> str:
    """The address of PostgreSQL; SettingsError with the reason where none is named."""
    if not settings.database.url:
        raise SettingsError(
            f"{reason}, and no database is named",
            next_step="Set DATABASE_URL, or database.url.",
            details={"setting": "database.url"},
        )
    return settings.database.url


def refuse_two_corpora(settings: Settings) -> None:
    """Raises SettingsError where a corpus of this machine and a published one are both named."""
    if settings.papers.corpus_url is not None and settings.papers.store == "elasticsearch":
        raise SettingsError(
            "papers.corpus_url names a published corpus, and papers.store = elasticsearch another",
            next_step="Leave one of them out; the server that fills the cluster can be one with "
            "papers.corpus_url.",
            details={"setting": "papers.corpus_url"},
        )
    if settings.papers.corpus_url is not None and settings.papers.snapshot is not None:
        raise SettingsError(
            "papers.snapshot and papers.corpus_url both name the corpus",
            next_step="Leave one of them out; carrel papers publish --snapshot FOLDER --to URL "
            "puts the one into the other.",
            details={"setting": "papers.corpus_url"},
        )


def need_elasticsearch(settings: Settings, problem: str) -> str:
    """The address of Elasticsearch; SettingsError with the problem where none is named."""
    if settings.elasticsearch.address is None:
        raise SettingsError(
            problem,
            next_step="Set elasticsearch.url.",
            details={"setting": "elasticsearch.url"},
        )
    return settings.elasticsearch.address


def need_model_name(settings: Settings) -> str:
    """The name of the language model; raises SettingsError where only its provider is set."""
    if not settings.model.name:
        raise SettingsError(
            f"model.provider is {settings.model.provider} but model.name is not set",
            next_step="Name a model.",
        )
    return settings.model.name


def refuse_mixed_lines(settings: Settings) -> None:
    """Raises SettingsError where several processes would write the log to one stream."""
    if settings.server.workers > 1:
        raise SettingsError(
            "audit.store = stdout needs server.workers = 1: long lines of several "
            "processes would be mixed up",
            next_step="Set server.workers = 1 and run more instances, or keep the log in "
            "PostgreSQL (DATABASE_URL) or in files.",
            details={"setting": "server.workers"},
        )


def refuse_notes_in_file(settings: Settings, holds_rows: HoldsRows) -> None:
    """Raises SettingsError where `auto` now means PostgreSQL and there are notes in a file."""
    file = database_files(settings)["knowledge"]
    if settings.knowledge.store == "auto" and holds_rows(file, ("notes", "nodes")):
        raise SettingsError(
            f"There are notes in {file}, and DATABASE_URL says that notes are kept in PostgreSQL",
            next_step="Set knowledge.store (CARREL_KNOWLEDGE_STORE) to sqlite to go on with the "
            "file, or to postgres to use the database; carrel knowledge export FOLDER with the "
            "one and carrel knowledge import FOLDER with the other carries notes over.",
            details={"setting": "knowledge.store"},
        )


def refuse_library_files(settings: Settings, files: Sequence[Path]) -> None:
    """Raises SettingsError where `auto` now means the database and there are library files."""
    if settings.references.store == "auto" and files:
        raise SettingsError(
            f"There is a library in {files[0]}, and DATABASE_URL says that libraries are kept in "
            "the database",
            next_step="Set references.store (CARREL_REFERENCES_STORE) to files to go on with the "
            "files, or to database; carrel references add FILE carries references over.",
            details={"setting": "references.store", "files": [str(file) for file in files[:10]]},
        )


def find_unserved_files(settings: Settings, holds_rows: HoldsRows) -> dict[str, str]:
    """What is in files of the home and not served, because DATABASE_URL was set later; by name."""
    found, files = {}, database_files(settings)
    access, research = files["access"], files["research"]
    if settings.auth.mode in {"builtin", "tokens"} and holds_rows(
        access, ("access_users", "access_tokens")
    ):
        found["users and tokens"] = str(access)
    if "research" in settings.rooms and holds_rows(research, ("research_projects",)):
        found["research projects"] = str(research)
    return found


def audit_queue_options(settings: Settings) -> QueueOptions:
    """How the audit log is queued, anchored and summed up."""
    audit = settings.audit
    return QueueOptions(
        most_waiting=audit.most_waiting,
        keep_timeout_seconds=audit.keep_timeout_seconds,
        anchor_every_lines=audit.anchor_every_lines,
        anchor_every_seconds=audit.anchor_every_seconds,
        refusal_period_seconds=audit.refusal_period_seconds,
        refusals_in_full=audit.refusals_in_full,
    )


def audit_retention(settings: Settings) -> Retention:
    """How much of a log in files is kept, and for how long."""
    audit = settings.audit
    return Retention(
        audit.max_file_bytes,
        audit.max_total_bytes,
        timedelta(days=audit.max_age_days),
        audit.min_free_bytes,
    )
