"""Search bodies for a real Elasticsearch: checked, bounded, and limited to what the caller may read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from elasticsearch import AsyncElasticsearch

from carrel.rooms.knowledge.models import SearchAnswer
from carrel.rooms.knowledge.search_body.passed_on import checked
from carrel.stores.elasticsearch.names import resolved
from carrel.stores.elasticsearch.plainly import plainly

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
        with plainly():
            client = self.client.options(request_timeout=self._timeout_seconds + 2.0, max_retries=0)
            names = await resolved(client, index, self._allowed, self._own)
            asked["query"] = {"bool": {"must": [asked.get("query", {"match_all": {}})], "filter": [_readable(readers)]}}
            asked["timeout"] = f"{max(1, int(self._timeout_seconds * 1000))}ms"
            answer = await client.search(index=names, body=asked)
        return _shown(dict(answer), {name: own for own, name in self._own.items()})

    async def check(self) -> str:
        """What the server says of itself."""
        with plainly():
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
