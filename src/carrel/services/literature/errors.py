"""Why a look-up failed: no network, unknown work, or a failing service."""

from __future__ import annotations

from typing import get_args

from carrel.core.errors import NotFoundError, UnavailableError
from carrel.core.secrets import mask_secrets
from carrel.rooms.literature.errors import FailureKind, LiteratureServiceError

# How people write the services; a name that is not here is shown as it is.
TITLES = {
    "openalex": "OpenAlex",
    "crossref": "Crossref",
    "pubmed": "PubMed",
    "europepmc": "Europe PMC",
    "arxiv": "arXiv",
    "semantic_scholar": "Semantic Scholar",
    "dblp": "dblp",
    "datacite": "DataCite",
    "doaj": "DOAJ",
    "unpaywall": "Unpaywall",
    "opencitations": "OpenCitations",
    "biorxiv": "bioRxiv",
}


def title_of(service: str) -> str:
    """The name of a service for people."""
    return TITLES.get(service, service)


class WorkUnknownError(NotFoundError):
    """No service knows the identifier."""


class LookupUnavailableError(UnavailableError):
    """The services cannot be asked, so nothing is known of the identifier."""

    code = "lookup_unavailable"


class WorkLookupError(LiteratureServiceError):
    """Any failure of a request to the service `service`; `reason` is a sentence for people."""

    # Whether asking again cannot help.
    is_final: bool = False

    def __init__(self, service: str, message: str) -> None:
        super().__init__(service, mask_secrets(message))


class NetworkUnavailableError(WorkLookupError):
    """The service could not be reached at all: no network, no name, no connection."""

    failure = "unreachable"

    def __init__(self, service: str, address: str, cause: str) -> None:
        # What was asked is told elsewhere, and long.
        place = address.partition("?")[0]
        super().__init__(service, f"{title_of(service)} cannot be reached at {place}: {cause}")
        self.address = mask_secrets(address)


class NetworkOffError(WorkLookupError):
    """Nothing may leave, and the answer is not among those that were kept."""

    failure = "network_off"


class NotRecordedError(WorkLookupError):
    """Recordings alone are asked, and this request is not among them."""

    failure = "not_recorded"

    def __init__(self, service: str, method: str, url: str) -> None:
        super().__init__(
            service,
            f"No recording answers {method} {url}; ask once with literature.mode = record to "
            "make one",
        )


class WorkNotFoundError(WorkLookupError):
    """The service answered that it knows no such work."""

    def __init__(self, service: str, identifier: str) -> None:
        super().__init__(
            service, f"{title_of(service)} knows no work with the identifier {identifier}"
        )
        self.identifier = identifier


class ServiceFailedError(WorkLookupError):
    """The service was reached and did not do its work, after as many attempts as are allowed."""

    def __init__(
        self,
        service: str,
        cause: str,
        status: int | None = None,
        retry_after_seconds: float | None = None,
        *,
        is_final: bool = False,
    ) -> None:
        super().__init__(service, f"{title_of(service)} could not answer: {cause}")
        self.status = status
        self.retry_after_seconds = retry_after_seconds
        self.is_final = is_final


class ServiceTimeoutError(ServiceFailedError):
    """The service did not answer in time."""

    failure = "timed_out"


class RateLimitedError(ServiceFailedError):
    """The service asks for fewer requests; `retry_after_seconds` where it says when."""

    failure = "rate_limited"


class BudgetSpentError(ServiceFailedError):
    """The service charges, and what may be spent there today is spent."""

    failure = "budget_spent"


class KeyRefusedError(ServiceFailedError):
    """The service does not accept the key, or answers nobody without one."""

    failure = "key_refused"


class ServicePausedError(WorkLookupError):
    """The service is left alone for a while, after failures or at its wish; it was not asked."""

    def __init__(
        self, service: str, cause: str, seconds: float, failure: FailureKind = "paused"
    ) -> None:
        why = "at its own wish" if failure == "rate_limited" else "after repeated failures"
        super().__init__(
            service,
            f"{title_of(service)} is not asked for {max(1, round(seconds))} seconds {why}: {cause}",
        )
        self.failure = failure
        self.retry_after_seconds = seconds


class UnreadableAnswerError(WorkLookupError):
    """The service answered with something other than what it promises."""

    failure = "unreadable"

    def __init__(self, service: str, cause: str, *, is_final: bool = False) -> None:
        super().__init__(service, f"The answer of {title_of(service)} could not be read: {cause}")
        self.is_final = is_final


class ReplayedFailureError(WorkLookupError):
    """The service failed when the search was recorded, and so it does in its repetition."""

    def __init__(
        self, service: str, failure: str, reason: str, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(service, reason)
        self.retry_after_seconds = retry_after_seconds
        known: tuple[FailureKind, ...] = get_args(FailureKind)
        self.failure = next((kind for kind in known if kind == failure), "failed")
