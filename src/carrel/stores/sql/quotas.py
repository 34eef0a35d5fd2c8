"""Use of quotas by day, and what administrators have allotted, in SQL."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from carrel.core.errors import ConflictError
from carrel.policy.quotas import Allotment, Subject, Use
from carrel.stores.sql.driver import Driver, Rows, Step, bind

SCRIPTS = (
    """CREATE TABLE IF NOT EXISTS quota_use (
        subject TEXT NOT NULL, day TEXT NOT NULL, calls DOUBLE PRECISION NOT NULL,
        cost DOUBLE PRECISION NOT NULL, PRIMARY KEY (subject, day));
    CREATE TABLE IF NOT EXISTS quota_allotments (
        subject TEXT PRIMARY KEY, calls DOUBLE PRECISION, cost DOUBLE PRECISION)""",
)
# More than any quota, so that one statement serves those without a limit.
_UNLIMITED = 1e300
# Sums of tenths are not quite whole.
_ROUNDING = 1e-6
_CHARGE = f"""INSERT INTO quota_use AS q (subject, day, calls, cost)
    SELECT :subject, :day, CAST(:calls AS DOUBLE PRECISION), CAST(:cost AS DOUBLE PRECISION)
    WHERE CAST(:calls AS DOUBLE PRECISION) <= :most_calls + {_ROUNDING}
      AND CAST(:cost AS DOUBLE PRECISION) <= :most_cost + {_ROUNDING}
    ON CONFLICT (subject, day) DO UPDATE SET calls = q.calls + excluded.calls,
      cost = q.cost + excluded.cost
    WHERE q.calls + excluded.calls <= :most_calls + {_ROUNDING}
      AND q.cost + excluded.cost <= :most_cost + {_ROUNDING}
    RETURNING 1"""
_ADD = """INSERT INTO quota_use AS q (subject, day, calls, cost)
    VALUES (:subject, :day, CASE WHEN :calls > 0 THEN :calls ELSE 0 END,
      CASE WHEN :cost > 0 THEN :cost ELSE 0 END)
    ON CONFLICT (subject, day) DO UPDATE SET
      calls = CASE WHEN q.calls + :calls > 0 THEN q.calls + :calls ELSE 0 END,
      cost = CASE WHEN q.cost + :cost > 0 THEN q.cost + :cost ELSE 0 END"""


class _RefusedError(ConflictError):
    """Undoes a charge; says for whom it was too much."""

    def __init__(self, subject: Subject) -> None:
        super().__init__("The quota is used up")
        self.subject = subject


class SqlQuotaBook:
    """The book over a driver; the contract is the port's."""

    schema_steps = SCRIPTS

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def close(self) -> None:
        await self._driver.close()

    async def charge(
        self, day: str, wanted: Sequence[tuple[Subject, Allotment]], use: Use
    ) -> Subject | None:
        try:
            await self._driver.transact(_charge(day, wanted, use))
        except _RefusedError as refusal:
            return refusal.subject
        return None

    async def add(self, day: str, subjects: Sequence[Subject], use: Use) -> None:
        facts: dict[str, object] = {"day": day, "calls": use.calls, "cost": use.cost}
        steps: list[Step] = [(_ADD, facts | {"subject": key}) for key in _in_order(subjects)]
        await self._driver.run(*steps)

    async def used(self, day: str, subjects: Sequence[Subject] | None = None) -> dict[Subject, Use]:
        sql = "SELECT subject, calls, cost FROM quota_use WHERE day = :day"
        facts: dict[str, object] = {"day": day}
        if subjects is not None:
            listed, places = bind("subject", _in_order(subjects))
            sql, facts = f"{sql} AND subject IN ({listed})", facts | places
        (rows,) = await self._driver.run((sql, facts))
        return {Subject.parse(row[0]): Use(float(row[1]), float(row[2])) for row in rows}

    async def allotments(self) -> dict[Subject, Allotment]:
        (rows,) = await self._driver.run(("SELECT subject, calls, cost FROM quota_allotments", {}))
        return {Subject.parse(row[0]): Allotment(row[1], row[2]) for row in rows}

    async def set_allotment(self, subject: Subject, allotment: Allotment | None) -> None:
        name: dict[str, object] = {"subject": subject.key}
        if allotment is None:
            await self._driver.run(("DELETE FROM quota_allotments WHERE subject = :subject", name))
            return
        sql = """INSERT INTO quota_allotments (subject, calls, cost)
            VALUES (:subject, CAST(:calls AS DOUBLE PRECISION), CAST(:cost AS DOUBLE PRECISION))
            ON CONFLICT (subject) DO UPDATE SET calls = excluded.calls, cost = excluded.cost"""
        await self._driver.run((sql, name | {"calls": allotment.calls, "cost": allotment.cost}))

    async def forget_before(self, day: str) -> None:
        await self._driver.run(("DELETE FROM quota_use WHERE day < :day", {"day": day}))


def _charge(
    day: str, wanted: Sequence[tuple[Subject, Allotment]], use: Use
) -> Generator[Step, Rows, None]:
    """All rows in one order, so that two charges never wait for each other."""
    facts: dict[str, object] = {"day": day, "calls": use.calls, "cost": use.cost}
    for subject, allotment in sorted(wanted, key=lambda each: each[0].key):
        most = {
            "most_calls": _UNLIMITED if allotment.calls is None else allotment.calls,
            "most_cost": _UNLIMITED if allotment.cost is None else allotment.cost,
        }
        taken = yield _CHARGE, facts | most | {"subject": subject.key}
        if not taken:
            raise _RefusedError(subject)


def _in_order(subjects: Sequence[Subject]) -> list[str]:
    return sorted(subject.key for subject in subjects)
