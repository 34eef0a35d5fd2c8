"""The one error that crosses rooms, gate and doors: code, what happened, what to do, and facts."""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping
from typing import ClassVar

from carrel.core.secrets import mask_secrets, mask_secrets_in
from carrel.libraries.text.budget import InputTooCostlyError

Facts = Mapping[str, object]
MAX_DESCRIPTION_CHARACTERS = 200
# Drivers quote the values they stumble over, so everything from the first quote to the last goes.
_QUOTED = re.compile(r"""(["'`\u201c\u00ab]).*["'`\u201d\u00bb]""", re.DOTALL)
# What the system says of a disk that is full, or of an account's share of it.
DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_CODES = ("sqlstate", "sqlite_errorname", "status_code")


class CarrelError(Exception):
    """An error a caller can act on; subclasses set `code`, which never changes once published."""

    code: ClassVar[str] = "internal_error"
    is_retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, next_step: str = "", details: Facts | None = None) -> None:
        # Errors carry what services and drivers say, and are shown, logged and kept.
        self.message = mask_secrets(message)
        super().__init__(self.message)
        self.next_step = next_step
        self.details: dict[str, object] = {
            key: mask_secrets_in(value) for key, value in (details or {}).items()
        }

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle errors as they are: subclasses take arguments that are not in `args`."""
        return _restore_error, (type(self), self.__dict__)

    def to_facts(self) -> dict[str, object]:
        """The error body of every door: code, message, details, and the next step if any."""
        facts: dict[str, object] = {
            "code": self.code,
            "message": self.message,
            "details": self.details,
        }
        if self.next_step:
            facts["next_step"] = self.next_step
        return facts


def _restore_error(kind: type[CarrelError], state: dict[str, object]) -> CarrelError:
    error = kind.__new__(kind, state["message"])
    error.__dict__.update(state)
    return error


class InvalidInputError(CarrelError):
    """What was sent does not fit the question."""

    code = "invalid_input"


class CostlyInputError(CarrelError):
    """Parsing the input would cost more than an input of its size may."""

    code = InputTooCostlyError.code

    def __init__(self, error: InputTooCostlyError) -> None:
        super().__init__(error.message, next_step=error.next_step, details=error.details)
        self.exceeded = error.exceeded


class NotFoundError(CarrelError):
    """Something named by the caller does not exist, or is not theirs to see."""

    code = "resource_not_found"

    def __init__(
        self,
        resource_type: str,
        resource_id: str,
        *,
        next_step: str = "",
        details: Facts | None = None,
    ) -> None:
        facts = {"resource_type": resource_type, "resource_id": resource_id, **(details or {})}
        super().__init__(
            f"{resource_type} not found: {resource_id}", next_step=next_step, details=facts
        )


class UnknownOperationError(CarrelError):
    """No operation of that name is offered at this door."""

    code = "unknown_tool"

    def __init__(self, name: str, *, next_step: str = "") -> None:
        super().__init__("unknown tool", next_step=next_step, details={"tool_name": name})


class ConflictError(CarrelError):
    """Somebody else changed the same thing first."""

    code = "conflict"


class UnavailableError(CarrelError):
    """A store or service that the answer needs cannot be reached now."""

    code = "unavailable"
    is_retryable = True


class StorageFullError(UnavailableError):
    """There is no space left where something has to be written."""

    code = "storage_full"

    @classmethod
    def at(cls, place: str) -> StorageFullError:
        """The error for a place that cannot be written."""
        return cls(
            f"The disk is full: {place} cannot be written",
            next_step="Free some space there, then try again.",
        )

    @classmethod
    def of(cls, error: BaseException) -> StorageFullError | None:
        """The error to tell where one that nobody expected came of a full disk, else None."""
        found: BaseException | None = error
        while found is not None:
            if isinstance(found, OSError) and found.errno in DISK_FULL:
                return cls.at("this server's disk")
            found = found.__cause__
        return None


class NotConfiguredError(CarrelError):
    """The operation exists but the operator has not set up what it needs."""

    code = "not_configured"


class TimedOutError(CarrelError):
    """The answer took longer than its limit."""

    code = "timed_out"
    is_retryable = True


class UnauthenticatedError(CarrelError):
    """The caller did not say who they are, or the proof is not valid."""

    code = "unauthenticated"


class InsufficientPermissionsError(CarrelError):
    """The caller is known and may not do this."""

    code = "insufficient_permissions"

    def __init__(self, required: frozenset[str], held: frozenset[str]) -> None:
        missing = sorted(required - held)
        super().__init__(
            f"{' and '.join(missing)} scope{'s' if len(missing) > 1 else ''} required",
            next_step="Ask for a token with the missing scope, then call again.",
            details={"required": sorted(required), "user_has": sorted(held)},
        )


class RateLimitExceededError(CarrelError):
    """Too many calls in too short a time."""

    code = "rate_limit_exceeded"
    is_retryable = True

    def __init__(self, retry_after_seconds: int) -> None:
        self.retry_after_seconds = max(1, retry_after_seconds)
        super().__init__(
            f"Rate limit exceeded. Retry after {self.retry_after_seconds} seconds.",
            next_step=f"Wait {self.retry_after_seconds} seconds, then call again.",
            details={"retry_after": self.retry_after_seconds},
        )


class AuditUnavailableError(CarrelError):
    """The audit log cannot be written, so nothing may be changed."""

    code = "audit_unavailable"
    is_retryable = True


class InternalError(CarrelError):
    """A bug. Says nothing of what is inside; the log has the rest under the same error id."""

    code = "internal_error"

    def __init__(self, error_id: str) -> None:
        super().__init__(
            "An unexpected error occurred",
            next_step=f"Report it with the error id {error_id}; the server's log has the cause.",
            details={"error_id": error_id},
        )


def describe_error(error: BaseException) -> str:
    """An exception for the log: type, codes and message, with quoted values masked.

    Only the first line of the message: drivers add the failing row in the next ones.
    """
    codes = [
        f"{name}={value}"
        for name in _CODES
        if isinstance(value := getattr(error, name, None), str | int)
    ]
    lines = str(error).strip().splitlines()
    message = _QUOTED.sub(r"\1…\1", lines[0])[:MAX_DESCRIPTION_CHARACTERS] if lines else ""
    kind = type(error)
    name = (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    return " ".join(part for part in (name, *codes, message) if part)


def describe_cause(error: BaseException) -> str:
    """The description of an error's cause, or an empty string."""
    cause = error.__cause__ or error.__context__
    return "" if cause is None else describe_error(cause)
