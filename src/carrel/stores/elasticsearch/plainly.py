"""Troubles of the client in the words of the house, without the address of the server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from elastic_transport import ConnectionError as TransportConnectionError
from elastic_transport import ConnectionTimeout, TransportError
from elasticsearch import ApiError, UnsupportedProductError

from carrel.core.errors import InvalidInputError, NotConfiguredError, NotFoundError, TimedOutError, UnavailableError


@contextmanager
def plainly() -> Iterator[None]:
    """Turns the client's errors into ours, whichever of the two clients is used inside."""
    try:
        yield
    except UnsupportedProductError as error:
        raise NotConfiguredError(
            "The server at elasticsearch.url is not Elasticsearch; OpenSearch and others are not supported",
            next_step="Connect an Elasticsearch 8 or newer, or unset elasticsearch.url to use the embedded search.",
        ) from error
    except ConnectionTimeout as error:
        raise TimedOutError(
            "Elasticsearch did not answer in time", next_step="Ask for less, or raise elasticsearch.timeout."
        ) from error
    except TransportConnectionError as error:
        raise UnavailableError(
            "Elasticsearch cannot be reached", next_step="Try again; the operator can run `carrel doctor`."
        ) from error
    except ApiError as error:
        raise _explained(error) from error
    except TransportError as error:
        raise UnavailableError("Elasticsearch cannot be used now", next_step="Try again later.") from error


def _explained(error: ApiError) -> Exception:
    reason = _reason(error)
    match error.meta.status:
        case 400:
            return InvalidInputError(f"Elasticsearch refuses the body: {reason}", next_step="Correct the body and ask again.")
        case 404:
            return NotFoundError("index", reason, next_step="Fill it with `carrel search sync`, or ask another index.")
        case 401 | 403:
            return NotConfiguredError(
                "Elasticsearch refuses Carrel's credentials", next_step="The operator should set elasticsearch.api_key."
            )
        case 429:
            return UnavailableError("Elasticsearch is too busy", next_step="Try again in a moment.")
        case _:
            return UnavailableError("Elasticsearch failed", next_step="Try again later.")


def _reason(error: ApiError) -> str:
    body = error.body
    facts = body.get("error", {}) if isinstance(body, dict) else {}
    if not isinstance(facts, dict):
        return str(facts)[:300]
    causes = facts.get("root_cause") or [facts]
    return str(causes[0].get("index") if error.meta.status == 404 else causes[0].get("reason"))[:300]
