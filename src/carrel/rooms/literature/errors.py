"""Errors of the literature room, and the failure of a service that coverage tells of."""

from __future__ import annotations

from typing import Literal

from carrel.core.errors import Facts, NotConfiguredError, NotFoundError, UnavailableError

FailureKind = Literal[
    "network_off",
    "unreachable",
    "timed_out",
    "rate_limited",
    "budget_spent",
    "paused",
    "failed",
    "unreadable",
    "not_recorded",
    "key_refused",
]


class LiteratureServiceError(Exception):
    """A service was not asked or did not answer; `reason` is one sentence for people."""

    failure: FailureKind = "failed"
    retry_after_seconds: float | None = None

    def __init__(self, service: str, reason: str) -> None:
        super().__init__(reason)
        self.service = service
        self.reason = reason


class NetworkForbiddenError(NotConfiguredError):
    """The setting `network = false` forbids everything that leaves this machine."""

    code = "network_forbidden"

    def __init__(self) -> None:
        super().__init__(
            "Settings forbid the network, so nothing outside can be asked",
            next_step="Set network = true (CARREL_NETWORK=true), or add what you have as files.",
        )


class LiteratureUnavailableError(UnavailableError):
    """No service that was asked answered, so nothing is known."""

    code = "literature_unavailable"


class WorkNotKnownError(NotFoundError):
    """Every service that was asked answered, and none knows the work."""

    def __init__(self, name: str, details: Facts) -> None:
        super().__init__(
            "Work",
            name,
            next_step="Check the identifier, or find the work by search_literature.",
            details=details,
        )
