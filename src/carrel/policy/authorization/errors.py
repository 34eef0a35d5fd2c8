"""What the authorization server refuses, in OAuth's own words."""

from __future__ import annotations

from carrel.core.errors import CarrelError


class OAuthError(CarrelError):
    """A refusal with one of OAuth's error codes, told to the client as JSON or in the redirect."""

    code = "oauth_refused"

    def __init__(
        self, error: str, description: str, *, retry_after_seconds: int | None = None
    ) -> None:
        facts: dict[str, object] = {"error": error}
        if retry_after_seconds is not None:
            facts["retry_after"] = retry_after_seconds
        super().__init__(description, details=facts)
        self.error = error
        self.retry_after_seconds = retry_after_seconds


class UntrustedRequestError(CarrelError):
    """An authorization request whose client or redirect address cannot be trusted: shown to the
    person, never redirected.
    """

    code = "invalid_input"


class LoginRefusedError(CarrelError):
    """The name and the password do not fit, or there is no such user; nobody is told which."""

    code = "login_refused"

    def __init__(self) -> None:
        super().__init__(
            "That name and password do not fit",
            next_step="Try again, or ask the operator to reset the password.",
        )
