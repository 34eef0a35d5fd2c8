"""Errors of the Elasticsearch client as ours, without the address of the server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from elastic_transport import ConnectionError as TransportConnectionError
from elastic_transport import ConnectionTimeout, TransportError
from elasticsearch import ApiError, UnsupportedProductError

from carrel.core.errors import (
    InvalidInputError,
    NotConfiguredError,
    NotFoundError,
    TimedOutError,
    UnavailableError,
)


@contextmanager
def translate_driver_errors() -> Iterator[None]:
    """Converts the client's errors to CarrelError."""
    try:
        yield
    except UnsupportedProductError as error:
        raise NotConfiguredError(
            "The server at elasticsearch.url is not Elasticsearch; OpenSearch and others are not "
            "supported",
            next_step="Connect an Elasticsearch 8 or newer, or unset elasticsearch.url to use the "
            "embedded search.",
        ) from error
    except ConnectionTimeout as error:
        raise TimedOutError(
            "Elasticsearch did not answer in time",
            next_step="Ask for less, or raise elasticsearch.timeout.",
        ) from error
    except TransportConnectionError as error:
        raise UnavailableError(
            "Elasticsearch cannot be reached",
            next_step="Try again; the operator starts it, or corrects elasticsearch.url.",
        ) from error
    except ApiError as error:
        raise _to_carrel_error(error) from error
    except TransportError as error:
        raise UnavailableError(
            "Elasticsearch cannot be used now", next_step="Try again later."
        ) from error


def _to_carrel_error(error: ApiError) -> Exception:
    match error.meta.status:
        case 400:
            return InvalidInputError(
                f"Elasticsearch refuses the body{_reason_of(error)}",
                next_step="Correct the body and ask again.",
            )
        case 404:
            return NotFoundError(
                "index",
                _index(error),
                next_step="Fill it with `carrel search sync`, or ask another index.",
            )
        case 401 | 403:
            return NotConfiguredError(
                "Elasticsearch refuses Carrel's credentials",
                next_step="The operator should set elasticsearch.api_key.",
            )
        case 429:
            return UnavailableError("Elasticsearch is too busy", next_step="Try again in a moment.")
        case _:
            return UnavailableError("Elasticsearch failed", next_step="Try again later.")


# Errors of reading the body itself: their reason repeats what the caller sent, and nothing of any
# document.
_OF_THE_BODY = {
    "parsing_exception",
    "x_content_parse_exception",
    "json_parse_exception",
    "named_object_not_found_exception",
}


def _reason_of(error: ApiError) -> str:
    """What is wrong with the body; of other errors only the kind: reasons may quote documents."""
    cause = _root_cause(error)
    kind = str(cause.get("type") or "no reason given")
    return f": {str(cause.get('reason'))[:300]}" if kind in _OF_THE_BODY else f" ({kind[:100]})"


def _index(error: ApiError) -> str:
    return str(_root_cause(error).get("index"))[:300]


def _root_cause(error: ApiError) -> Mapping[str, Any]:
    facts = error.body.get("error") if isinstance(error.body, dict) else None
    if not isinstance(facts, dict):
        return {}
    causes = facts.get("root_cause") or [facts]
    return causes[0] if isinstance(causes[0], dict) else {}
