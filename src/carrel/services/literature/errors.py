"""Why a look-up failed: no network, unknown work, or a failing service."""

from carrel.core.errors import NotFoundError, UnavailableError
from carrel.core.secrets import mask_secrets


class WorkUnknownError(NotFoundError):
    """No service knows the identifier."""


class LookupUnavailableError(UnavailableError):
    """The services cannot be asked, so nothing is known of the identifier."""

    code = "lookup_unavailable"


class WorkLookupError(Exception):
    """Any failure of a request to the service `service`."""

    def __init__(self, service: str, message: str) -> None:
        super().__init__(mask_secrets(message))
        self.service = service


class NetworkUnavailableError(WorkLookupError):
    """The service could not be reached at all: no network, no name, no connection."""

    def __init__(self, service: str, address: str, reason: str) -> None:
        super().__init__(service, f"{service} cannot be reached at {address}: {reason}")
        self.address = mask_secrets(address)
        self.reason = mask_secrets(reason)


class WorkNotFoundError(WorkLookupError):
    """The service answered that it knows no such work."""

    def __init__(self, service: str, identifier: str) -> None:
        super().__init__(service, f"{service} knows no work with the identifier {identifier}")
        self.identifier = identifier


class ServiceFailedError(WorkLookupError):
    """The service was reached and did not do its work, after as many attempts as are allowed."""

    def __init__(
        self,
        service: str,
        reason: str,
        status: int | None = None,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(service, f"{service} could not answer: {reason}")
        self.reason = mask_secrets(reason)
        self.status = status
        self.retry_after_seconds = retry_after_seconds


class ServicePausedError(WorkLookupError):
    """The service failed several times in a row and is left alone for a while; it was not asked."""

    def __init__(self, service: str, reason: str, seconds: float) -> None:
        super().__init__(
            service,
            f"{service} is not asked for {max(1, round(seconds))} seconds after repeated "
            f"failures: {reason}",
        )
        self.reason = mask_secrets(reason)
        self.retry_after_seconds = seconds


class UnreadableAnswerError(WorkLookupError):
    """The service answered with something other than what it promises."""

    def __init__(self, service: str, reason: str) -> None:
        super().__init__(service, f"The answer of {service} could not be read: {reason}")
        self.reason = mask_secrets(reason)
