"""Search bodies for a real Elasticsearch: checked, bounded, limited to readable documents."""

from __future__ import annotations

import fnmatch
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from elasticsearch import AsyncElasticsearch, NotFoundError

from carrel.core.errors import CarrelError
from carrel.libraries.query.elasticsearch.allow_list import (
    check_search_body,
    refuse_leaking_clauses,
)
from carrel.rooms.knowledge.documents import DocumentSource
from carrel.rooms.knowledge.errors import IndexNotAllowedError, translate_query_errors
from carrel.rooms.knowledge.models import SearchAnswer
from carrel.stores.elasticsearch.errors import translate_driver_errors
from carrel.stores.elasticsearch.fields import DIGEST, DOCUMENT_ID, HELD, READERS
from carrel.stores.elasticsearch.sync import ClusterFreshness

log = logging.getLogger("carrel.search")
_INTERNAL_FIELDS = (READERS, DOCUMENT_ID, DIGEST, HELD)
# Other clusters, date arithmetic and characters that no index name has.
_STRANGE = re.compile(r'[<>:/\\?"|#\s]')
_MOST_INDICES = 200
# What begins the names of our indices that nobody asks with search bodies.
INNER_INDICES = ("passages", "texts", "sync-lease")


def open_cluster(address: str, api_key: str | None, timeout_seconds: float) -> AsyncElasticsearch:
    """A client that connects at its first call."""
    return AsyncElasticsearch(address, api_key=api_key, request_timeout=timeout_seconds + 2.0)


class RemoteSearch:
    """Search in one cluster; `own` are the names of our indices there.

    `public` indices may be read whole by every caller; `sources` are synced before every answer.
    """

    def __init__(
        self,
        open_client: Callable[[], AsyncElasticsearch],
        *,
        allowed: Sequence[str],
        own: Mapping[str, str],
        timeout_seconds: float,
        sources: Iterable[DocumentSource] = (),
        public: frozenset[str] = frozenset(),
    ) -> None:
        self._open_client = open_client
        self._known: AsyncElasticsearch | None = None
        self._allowed = tuple(allowed)
        self._own = dict(own)
        self._timeout_seconds = timeout_seconds
        self._public = public
        self._freshness = ClusterFreshness(lambda: self.client, sources, self._own)

    @property
    def client(self) -> AsyncElasticsearch:
        if self._known is None:
            self._known = self._open_client()
        return self._known

    async def search(
        self, index: str, body: Mapping[str, Any], readers: frozenset[str]
    ) -> SearchAnswer:
        with translate_query_errors():
            asked = check_search_body(body)
        with translate_driver_errors():
            client = self.client.options(request_timeout=self._timeout_seconds + 2.0, max_retries=0)
            behind = await indices_behind(client, self._own.values())
            names = await resolve_indices(client, index, self._allowed, self._own, behind)
            own = [name for name, there in self._own.items() if there in names]
            left_out = await self._make_ready(own, body)
            if any(self._own[name] not in behind.values() for name in own):
                behind = await indices_behind(client, self._own.values())
            asked["query"] = {
                "bool": {
                    "must": [asked.get("query", {"match_all": {}})],
                    "filter": [_readable_by(readers)],
                    **({"must_not": [{"ids": {"values": left_out}}]} if left_out else {}),
                }
            }
            asked["timeout"] = f"{max(1, int(self._timeout_seconds * 1000))}ms"
            hides_sort = len(own) == len(names) and _break_ties(asked)
            answer = await client.search(index=names, body=asked)
        found = _to_answer(
            dict(answer),
            {
                name: own
                for own, there in self._own.items()
                for name in (there, *(one for one, alias in behind.items() if alias == there))
            },
            sort_keys=_sort_keys(body),
            hides_sort=hides_sort,
        )
        if left_out:
            reason = "notes that changed since the cluster last took any are left out"
            found = found.model_copy(
                update={"warning": f"{found.warning or 'This answer is not complete:'} {reason}."}
            )
        return found

    async def notes_changed(self) -> None:
        """Writes to the cluster at once; where that fails, the next question does."""
        for index in self._freshness.indices:
            try:
                with translate_driver_errors():
                    await self._freshness.bring_up_to_date(index)
            except CarrelError as error:
                log.warning(
                    "cluster not told of a change", extra={"index": index, "code": error.code}
                )

    async def _make_ready(self, own: Sequence[str], body: Mapping[str, Any]) -> list[str]:
        """Our own indices as the stores are now; the ids that the cluster still has wrong."""
        left_out: list[str] = []
        for name in own:
            if name in self._freshness.indices:
                left_out += await self._freshness.bring_up_to_date(name)
            if name not in self._public:
                with translate_query_errors():
                    refuse_leaking_clauses(body)
                await self._freshness.require_own_scoring(name)
        return left_out

    async def check(self) -> str:
        """The version and the cluster name of the server."""
        with translate_driver_errors():
            facts = await self.client.options(request_timeout=5.0, max_retries=0).info()
        return f"Elasticsearch {facts['version']['number']}, cluster {facts['cluster_name']}"

    async def close(self) -> None:
        await self._freshness.close()
        if self._known is not None:
            await self._known.close()


def _readable_by(readers: frozenset[str]) -> dict[str, Any]:
    """Documents without readers are the operator's own, open to all who may ask their index."""
    mine = {"terms": {READERS: sorted(readers)}}
    open_to_all = {"bool": {"must_not": [{"exists": {"field": READERS}}]}}
    return {"bool": {"should": [mine, open_to_all], "minimum_should_match": 1}}


def _sort_keys(body: Mapping[str, Any]) -> list[Any]:
    given = body.get("sort")
    return given if isinstance(given, list) else [] if given is None else [given]


def _break_ties(asked: dict[str, Any]) -> bool:
    """Orders ties by id; returns whether the answer then has a sort value that nobody asked for."""
    keys = _sort_keys(asked)
    after = asked.get("search_after")
    if isinstance(after, list) and len(after) <= len(keys):
        return False
    if not keys:
        asked["track_scores"] = True
    asked["sort"] = [
        *(keys or [{"_score": "desc"}]),
        {DOCUMENT_ID: {"order": "asc", "unmapped_type": "keyword"}},
    ]
    return True


def _to_answer(
    answer: dict[str, Any], names: Mapping[str, str], *, sort_keys: list[Any], hides_sort: bool
) -> SearchAnswer:
    hits = dict(answer["hits"])
    for hit in hits.get("hits", ()):
        hit["_index"] = names.get(hit["_index"], hit["_index"])
        for part in ("_source", "fields", "highlight"):
            if isinstance(hit.get(part), dict):
                for field in _INTERNAL_FIELDS:
                    hit[part].pop(field, None)
        if hides_sort:
            values = hit.pop("sort", [])
            if sort_keys:
                hit["sort"] = values[: len(sort_keys)]
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


async def indices_behind(client: AsyncElasticsearch, aliases: Iterable[str]) -> dict[str, str]:
    """The index behind each of these aliases that there is, with the alias."""
    wanted = list(aliases)
    found = await client.options(ignore_status=404).indices.get_alias(
        name=",".join(wanted), ignore_unavailable=True
    )
    return {
        name: alias
        for name, facts in dict(found).items()
        if isinstance(facts, dict)
        for alias in facts.get("aliases", {})
        if alias in wanted
    }


async def resolve_indices(
    client: AsyncElasticsearch,
    given: str,
    allowed: Sequence[str],
    own: Mapping[str, str],
    behind: Mapping[str, str],
) -> list[str]:
    """The indices behind names, patterns and aliases; IndexNotAllowedError for any other.

    `behind`: our own aliases by the indices that they name; the alias is asked.
    """
    parts = [part.strip() for part in given.split(",") if part.strip()]
    if not parts or _STRANGE.search(",".join(parts)):
        raise IndexNotAllowedError(given[:100], [*own, *allowed])
    chosen: dict[str, None] = {}
    open_parts: list[str] = []
    for part in parts:
        if part in own:
            chosen[own[part]] = None
        elif part in allowed and not _is_pattern(part):
            # Named by the operator word for word, so an alias keeps its filter.
            chosen[part] = None
        else:
            open_parts.append("*" if part == "_all" else part)
    if open_parts:
        try:
            answer = await client.indices.resolve_index(
                name=",".join(open_parts), expand_wildcards=["open"]
            )
        except NotFoundError:
            # The same answer as for what exists and is not allowed, so that nobody learns which
            # names there are.
            raise IndexNotAllowedError(given[:100], [*own, *allowed]) from None
        for concrete in _concrete(dict(answer)):
            name = behind.get(concrete, concrete)
            if name not in own.values() and not any(
                fnmatch.fnmatchcase(name, pattern) for pattern in allowed
            ):
                if _is_inner(name, own) and _is_pattern(given):
                    # Of ours, and not to be asked: what papers are read from, indices being made.
                    continue
                raise IndexNotAllowedError(given[:100], [*own, *allowed])
            chosen[name] = None
    if not chosen or len(chosen) > _MOST_INDICES:
        raise IndexNotAllowedError(given[:100], [*own, *allowed])
    return list(chosen)


def _is_inner(name: str, own: Mapping[str, str]) -> bool:
    """Whether an index of ours is behind none of the names that may be asked."""
    prefixes = {there.removesuffix(index) for index, there in own.items()}
    kinds = (*INNER_INDICES, *(f"{index}-" for index in own))
    return any(name.startswith(f"{prefix}{kind}") for prefix in prefixes for kind in kinds)


def _is_pattern(name: str) -> bool:
    return "*" in name or name.startswith(("-", "+"))


def _concrete(answer: Mapping[str, Any]) -> list[str]:
    """Every index behind the names: indices, those of aliases, and those of data streams."""
    found: dict[str, None] = {}
    for index in answer.get("indices", ()):
        found[str(index["name"])] = None
    for alias in answer.get("aliases", ()):
        found.update(dict.fromkeys(_as_list(alias["indices"])))
    for stream in answer.get("data_streams", ()):
        found.update(dict.fromkeys(_as_list(stream["backing_indices"])))
    return list(found)


def _as_list(names: object) -> list[str]:
    return [str(name) for name in names] if isinstance(names, list) else [str(names)]
