"""A token bucket in SQL: one atomic statement refills, checks and takes."""

from __future__ import annotations

from carrel.policy.limits import Rate

SCHEMA = """CREATE TABLE IF NOT EXISTS limit_buckets (
    key TEXT PRIMARY KEY, tokens DOUBLE PRECISION NOT NULL, updated_at DOUBLE PRECISION NOT NULL,
    full_at DOUBLE PRECISION NOT NULL, is_granted INTEGER NOT NULL)"""

_GONE = "CASE WHEN :now > b.updated_at THEN :now - b.updated_at ELSE 0.0 END"
_SUM = f"(b.tokens + ({_GONE}) * :per_second)"
_FILLED = f"(CASE WHEN {_SUM} > :burst THEN :burst ELSE {_SUM} END)"
_LEFT = f"(CASE WHEN {_FILLED} >= :cost THEN {_FILLED} - :cost ELSE {_FILLED} END)"

TAKE = f"""INSERT INTO limit_buckets AS b (key, tokens, updated_at, full_at, is_granted)
    VALUES (:key, :burst - :cost, :now, :now + :cost / :per_second, 1)
    ON CONFLICT (key) DO UPDATE SET
        tokens = {_LEFT},
        is_granted = CASE WHEN {_FILLED} >= :cost THEN 1 ELSE 0 END,
        full_at = :now + (:burst - {_LEFT}) / :per_second,
        updated_at = CASE WHEN :now > b.updated_at THEN :now ELSE b.updated_at END
    RETURNING is_granted, tokens"""

SWEEP = "DELETE FROM limit_buckets WHERE full_at < :now"


def bucket_parameters(key: str, cost: float, rate: Rate, now: float) -> dict[str, object]:
    """The parameters of TAKE."""
    return {
        "key": key,
        "cost": cost,
        "burst": rate.burst,
        "per_second": rate.per_second,
        "now": now,
    }
