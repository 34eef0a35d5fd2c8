"""Answers search_papers from a cluster that `carrel search sync` has filled from just this
snapshot.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from elasticsearch import Elasticsearch, NotFoundError

from carrel.core.errors import UnavailableError
from carrel.libraries.query.papers import PaperQuery
from carrel.stores.elasticsearch.errors import plainly
from carrel.stores.elasticsearch.papers.compile import question
from carrel.stores.elasticsearch.papers.documents import title_mark
from carrel.stores.sqlite.papers import rows
from carrel.stores.sqlite.papers.rows import Shown

_MAX_TITLES = 50
_BEST_FIRST = [{"_score": "desc"}, {"newness": "desc"}, {"paper_id": "asc"}]
_NEWEST_FIRST = [{"newness": "desc"}, {"paper_id": "asc"}]


class ElasticsearchRanking:
    """One snapshot in one cluster. Where the cluster cannot answer for it, that is an error and
    never an empty list.
    """

    name = "a real Elasticsearch"

    stem = None

    def __init__(
        self, client: Callable[[], Elasticsearch], index: str, build_id: str, timeout_seconds: float
    ) -> None:
        self._client = client
        self._index = index
        self._build_id = build_id
        self._timeout_seconds = timeout_seconds

    def search(
        self, connection: sqlite3.Connection, query: PaperQuery, first: int, count: int
    ) -> list[Shown]:
        with plainly():
            self._check_state()
            named = self._named(connection, query)
            page = named[first : first + count]
            asked = question(connection, query)
            wanted = count - len(page)
            if asked is None or not wanted:
                return page
            without = {"ids": {"values": [paper.paper_id for paper in named]}}
            order = _BEST_FIRST if query.phrases else _NEWEST_FIRST
            ranked = self._found(
                {"bool": {"must": [asked], "must_not": [without]}},
                max(0, first - len(named)),
                wanted,
                order,
            )
        return page + rows.shown(connection, ranked)

    def _named(self, connection: sqlite3.Connection, query: PaperQuery) -> list[Shown]:
        """The papers whose identifier or whole title was typed."""
        if query.identifiers:
            return rows.shown(connection, rows.with_identifiers(connection, query.identifiers))
        if not query.loose or query.strict is not None:
            return []
        titled = {"term": {"title_key": title_mark(query.title_key)}}
        return rows.shown(connection, self._found(titled, 0, _MAX_TITLES, _NEWEST_FIRST))

    def _found(
        self, asked: dict[str, Any], first: int, count: int, order: list[dict[str, str]]
    ) -> list[str]:
        answer = self._patient().search(
            index=self._index,
            query=asked,
            from_=first,
            size=count,
            sort=order,
            source=False,
            timeout=f"{max(1, int(self._timeout_seconds * 1000))}ms",
            track_total_hits=False,
        )
        if answer["timed_out"] or answer["_shards"]["failed"]:
            raise UnavailableError(
                "Elasticsearch answered only in part",
                next_step="Try again.",
                details={"index": self._index},
            )
        return [str(hit["_id"]) for hit in answer["hits"]["hits"]]

    def _check_state(self) -> None:
        """An index that is missing, half filled or of another snapshot would leave papers out."""
        try:
            mapping = self._patient().indices.get_mapping(
                index=self._index, filter_path="*.mappings._meta.carrel.cursor"
            )
        except NotFoundError:
            raise self._stale("is not there") from None
        found = (
            dict(mapping)
            .get(self._index, {})
            .get("mappings", {})
            .get("_meta", {})
            .get("carrel", {})
            .get("cursor")
        )
        if found != self._build_id:
            raise self._stale("does not hold just the papers of this snapshot")

    def _stale(self, trouble: str) -> UnavailableError:
        return UnavailableError(
            f"The Elasticsearch index {self._index} {trouble}",
            next_step="The operator should run `carrel search sync --index papers`.",
            details={"index": self._index},
        )

    def _patient(self) -> Elasticsearch:
        return self._client().options(request_timeout=self._timeout_seconds + 2.0, max_retries=0)
