"""What HTTP itself turns away, before any operation is known."""

from __future__ import annotations

from carrel.core.errors import CarrelError


class NothingThereError(CarrelError):
    code = "not_found"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"There is nothing at {path[:200]}", next_step="GET /docs lists what there is."
        )


class MethodNotAllowedError(CarrelError):
    code = "method_not_allowed"

    def __init__(self, method: str, path: str, allowed: str) -> None:
        super().__init__(
            f"{method[:20]} is not supported at {path[:200]}", next_step=f"Use {allowed}."
        )


class BodyTooLargeError(CarrelError):
    code = "body_too_large"

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(
            f"The body is larger than {limit_bytes} bytes", next_step="Send less at once."
        )


class BodyTooSlowError(CarrelError):
    code = "body_too_slow"

    def __init__(self, limit_seconds: float) -> None:
        super().__init__(
            f"The body did not arrive within {limit_seconds:g} seconds", next_step="Send it again."
        )


class HostNotAllowedError(CarrelError):
    code = "host_not_allowed"

    def __init__(self) -> None:
        super().__init__(
            "This server does not answer under that Host",
            next_step="Add it to server.allowed_hosts if it should.",
        )


class OriginNotAllowedError(CarrelError):
    """A web page that is neither ours nor listed. `origin` is None where it cannot be named in the
    settings.
    """

    code = "origin_not_allowed"

    def __init__(self, origin: str | None) -> None:
        if origin is None:
            super().__init__(
                "A web page without an origin of its own may not use this server",
                next_step="Call from a page whose origin is named in server.allowed_origins, or "
                "from a program.",
            )
        else:
            super().__init__(
                f"Web pages of {origin} may not use this server",
                next_step=f'If they should, add "{origin}" to server.allowed_origins and start '
                f"the server again.",
            )


class RepeatedHeaderError(CarrelError):
    code = "malformed_request"

    def __init__(self, name: str) -> None:
        super().__init__(f"The header {name} appears more than once", next_step="Send it once.")


class ServerBusyError(CarrelError):
    """Too much is under way at once, over all callers or for this one."""

    code = "server_busy"
    is_retryable = True

    def __init__(self, what: str, retry_after_seconds: int = 5) -> None:
        super().__init__(
            what,
            next_step=f"Wait {retry_after_seconds} seconds, then call again.",
            details={"retry_after": retry_after_seconds},
        )
