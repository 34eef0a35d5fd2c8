"""Versions of the tables in a PostgreSQL database: brought forward in steps, or only looked at.

Everything happens in one transaction under a transaction-level lock, so that it works behind a
transaction pooler and two processes never change tables at once.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from psycopg import OperationalError

from carrel.stores.postgres.statements import ScriptStep
from carrel.stores.sql.driver import Rows, UpgradeStatements

# An upgrade step: a script, or statements that look at the rows they get.
UpgradeStep = str | UpgradeStatements
Parts = Mapping[str, Sequence[UpgradeStep]]

# One number for everybody who changes tables.
_LOCK = 7_227_1735
_LIST_VERSIONS = (
    "CREATE TABLE IF NOT EXISTS carrel_versions (part text PRIMARY KEY, version integer NOT NULL)"
)


class PostgresRefusedError(OperationalError):
    """Our own refusal, raised where the driver's errors are expected; its text is for people."""


class OlderSchemaError(PostgresRefusedError):
    """Tables are of an earlier version, and this process may not change them."""


@dataclass(frozen=True, slots=True)
class PartVersion:
    """The version of one part's tables, and the one that this Carrel knows."""

    part: str
    version: int
    known: int

    @property
    def is_behind(self) -> bool:
        return self.version < self.known

    @property
    def is_newer(self) -> bool:
        return self.version > self.known


def read_versions(parts: Parts) -> Generator[ScriptStep, Rows, list[PartVersion]]:
    """The versions of all parts, 0 for tables that were never made; changes nothing."""
    has_list = yield "SELECT to_regclass('carrel_versions') IS NOT NULL", {}
    rows = (yield "SELECT part, version FROM carrel_versions", {}) if has_list[0][0] else []
    found = {str(part): int(version) for part, version in rows}
    return [PartVersion(name, found.get(name, 0), len(steps)) for name, steps in parts.items()]


def upgrade_tables(
    parts: Parts, *, may_migrate: bool = True
) -> Generator[ScriptStep, Rows, list[PartVersion]]:
    """Brings all parts forward and returns what they were; newer tables are refused.

    Tables without a version are of the first, whose script says IF NOT EXISTS. Without
    `may_migrate` nothing is changed: older tables raise OlderSchemaError.
    """
    versions = yield from read_versions(parts)
    _refuse_newer(versions)
    behind = [each for each in versions if each.is_behind]
    if not behind:
        return versions
    if not may_migrate:
        names = ", ".join(each.part for each in behind)
        raise OlderSchemaError(
            f"its tables are of an earlier version ({names}): run carrel migrate"
        )
    yield from lock_versions()
    # Again, now that nobody else changes them.
    versions = yield from read_versions(parts)
    _refuse_newer(versions)
    for each in versions:
        yield from _upgrade_part(each, parts[each.part])
    return versions


def run_steps(steps: Sequence[UpgradeStep]) -> Generator[ScriptStep, Rows, None]:
    """Runs upgrade steps in their order."""
    for step in steps:
        if isinstance(step, UpgradeStatements):
            yield from step.statements()
        else:
            yield step, None


def lock_versions() -> Generator[ScriptStep, Rows, None]:
    """Keeps every other process from changing tables until the transaction ends."""
    yield f"SELECT pg_advisory_xact_lock({_LOCK})", {}
    yield _LIST_VERSIONS, {}


def remember_version(part: str, version: int) -> ScriptStep:
    """The statement that keeps the version of a part."""
    return (
        "INSERT INTO carrel_versions (part, version) VALUES (:part, :version) "
        "ON CONFLICT (part) DO UPDATE SET version = excluded.version",
        {"part": part, "version": version},
    )


def _upgrade_part(
    found: PartVersion, steps: Sequence[UpgradeStep]
) -> Generator[ScriptStep, Rows, None]:
    if found.is_behind:
        yield from run_steps(steps[found.version :])
        yield remember_version(found.part, found.known)


def _refuse_newer(versions: Sequence[PartVersion]) -> None:
    for each in versions:
        if each.is_newer:
            raise PostgresRefusedError(
                f"the {each.part} tables were written by a newer Carrel (version {each.version}, "
                f"known {each.known}); use that one"
            )
