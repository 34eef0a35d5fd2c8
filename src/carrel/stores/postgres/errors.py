"""Why PostgreSQL failed, in our own words: its own may quote what was being written, and go to the
log only.
"""

from __future__ import annotations

from psycopg import Error, InterfaceError, OperationalError
from psycopg_pool import PoolTimeout, TooManyRequests

# By class of SQLSTATE, the first two characters.
_REASONS = {
    "08": "no connection to the server",
    "22": "it does not take a value",
    "23": "it does not take a value",
    "25": "it may not be written now",
    "28": "it refuses the credentials",
    "3D": "there is no such database",
    "40": "too many write the same thing at once",
    "42": "it refuses the tables or the rights on them",
    "53": "it has no room or memory left",
    "54": "a value is too large",
    "55": "too many write the same thing at once",
    "57": "it is starting, stopping or was told to stop",
    "58": "its disk cannot be read or written",
}


class PostgresRefusedError(OperationalError):
    """A refusal of ours that passes where the driver's errors pass; its sentence is written for
    people.
    """


def reason_of(error: BaseException) -> str:
    """A reason that names nothing of what is inside."""
    if isinstance(error, PostgresRefusedError):
        return str(error)
    state = error.sqlstate if isinstance(error, Error) else None
    if state:
        return _REASONS.get(state[:2], "it failed")
    if isinstance(
        error, PoolTimeout | TooManyRequests | OperationalError | InterfaceError | OSError
    ):
        return "no connection to the server"
    return "it failed"
