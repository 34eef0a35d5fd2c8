"""Search bodies for a real Elasticsearch: checked, bounded, and limited to what the caller may read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from elastic_transport import ConnectionError as TransportConnectionError
from elastic_transport import ConnectionTimeout, TransportError
from elasticsearch import ApiError, AsyncElasticsearch, UnsupportedProductError

from carrel.core.errors import InvalidInputError, NotConfiguredError, NotFoundError, TimedOutError, UnavailableError
from carrel.rooms.knowledge.models import SearchAnswer
from carrel.rooms.knowledge.search_body.passed_on import checked
from carrel.stores.elasticsearch.names import resolved

READERS = "carrel_readers"


class RemoteSearch:
    """One cluster. `own` gives the names under which our own documents are there."""

    def __init__(
        self,
        open_client: Callable[[], AsyncElasticsearch],
        *,
        allowed: Sequence[str],
        own: Mapping[str, str],
        timeout_seconds: float,
    ) -> None:
        self._open_client = open_client
        self._known: AsyncElasticsearch | None = None
        self._allowed = tuple(allowed)
        self._own = dict(own)
        self._timeout_seconds = timeout_seconds

    @property
    def client(self) -> AsyncElasticsearch:
        if self._known is None:
            self._known = self._open_client()
        return self._known

    async def search(self, index: str, body: Mapping[str, Any], readers: frozenset[str]) -> SearchAnswer:
        asked = checked(body)
        async with told_plainly():
            client = self.client.options(request_timeout=self._timeout_seconds + 2.0, max_retries=0)
            names = await resolved(client, index, self._allowed, self._own)
            asked["query"] = {"bool": {"must": [asked.get("query", {"match_all": {}})], "filter": [_readable(readers)]}}
            asked["timeout"] = f"{max(1, int(self._timeout_seconds * 1000))}ms"
            answer = await client.search(index=names, body=asked)
        return _shown(dict(answer), {name: own for own, name in self._own.items()})

    async def check(self) -> str:
        """What the server says of itself."""
        async with told_plainly():
            facts = await self.client.options(request_timeout=5.0, max_retries=0).info()
        return f"Elasticsearch {facts['version']['number']}, cluster {facts['cluster_name']}"

    async def close(self) -> None:
        if self._known is not None:
            await self._known.close()


def _readable(readers: frozenset[str]) -> dict[str, Any]:
    """Documents without readers are the operator's own, open to all who may ask their index."""
    mine = {"terms": {READERS: sorted(readers)}}
    open_to_all = {"bool": {"must_not": [{"exists": {"field": READERS}}]}}
    return {"bool": {"should": [mine, open_to_all], "minimum_should_match": 1}}


def _shown(answer: dict[str, Any], names: Mapping[str, str]) -> SearchAnswer:
    hits = dict(answer["hits"])
    for hit in hits.get("hits", ()):
        hit["_index"] = names.get(hit["_index"], hit["_index"])
        for part in ("_source", "fields"):
            if isinstance(hit.get(part), dict):
                hit[part].pop(READERS, None)
    shards = dict(answer["_shards"])
    troubles = []
    if answer.get("timed_out"):
        troubles.append("the time was up")
    if shards.get("failed"):
        troubles.append(f"{shards['failed']} of {shards['total']} shards failed")
        shards.pop("failures", None)
    return SearchAnswer(
        took=int(answer["took"]),
        timed_out=bool(answer["timed_out"]),
        shards=shards,
        hits=hits,
        aggregations=answer.get("aggregations"),
        warning=f"This answer is not complete: {' and '.join(troubles)}." if troubles else None,
    )


@asynccontextmanager
async def told_plainly() -> AsyncIterator[None]:
    """Turns the client's errors into the room's own, without the address of the server."""
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
