"""An index of papers or passages in a cluster, as ranking asks it: queries are search bodies."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from elasticsearch import Elasticsearch, NotFoundError

from carrel.core.errors import UnavailableError
from carrel.libraries.text.words import STOP_WORDS
from carrel.stores.elasticsearch.errors import translate_driver_errors
from carrel.stores.elasticsearch.papers.mapping import word_field
from carrel.stores.search.compiler import stem
from carrel.stores.search.engine import CHEAP_MATCHES, FrequencyOption, Hit, MatchCount
from carrel.stores.search.schema import FULL_WEIGHT, HAS_BODY

Clause = dict[str, Any]

# Elasticsearch gives at most 10,000 documents at once; longer lists are asked for in pages.
_PAGE = 5_000
_BEST_FIRST = [{"_score": "desc"}, {"row": "asc"}, {"number": "asc"}]
_NEWEST_FIRST = [{"newness": "desc"}, {"row": "asc"}]
_STOP_STEMS = frozenset(map(stem, STOP_WORDS))
# The most beginnings of a phrase's last word that are looked for.
_MAX_EXPANSIONS = 60


class ClusterSearch:
    """Questions to one index of a cluster, each with a time limit; a part of an answer is none."""

    def __init__(
        self, client: Callable[[], Elasticsearch], index: str, timeout_seconds: float
    ) -> None:
        self._client = client
        self.index = index
        self._timeout_seconds = timeout_seconds

    def ask(self, **body: Any) -> Mapping[str, Any]:
        """The answer to a search. UnavailableError where the cluster cannot give it whole."""
        body.setdefault("track_total_hits", False)
        body.setdefault("source", False)
        if "knn" not in body:
            # Words are as rare as in all shards together; nearness needs no such count.
            body["search_type"] = "dfs_query_then_fetch"
        with translate_driver_errors():
            try:
                answer = self.client().search(
                    index=self.index,
                    timeout=f"{max(1, int(self._timeout_seconds * 1000))}ms",
                    **body,
                )
            except NotFoundError as error:
                raise UnavailableError(
                    f"The Elasticsearch index {self.index} is not there",
                    next_step="The operator should run `carrel search sync --index papers`.",
                    details={"index": self.index},
                ) from error
        if answer["timed_out"] or answer["_shards"]["failed"]:
            raise UnavailableError(
                "Elasticsearch answered only in part",
                next_step="Try again.",
                details={"index": self.index},
            )
        found: Mapping[str, Any] = answer.body
        return found

    def hits(self, **body: Any) -> list[dict[str, Any]]:
        """The hits alone."""
        found: list[dict[str, Any]] = self.ask(**body)["hits"]["hits"]
        return found

    def client(self) -> Elasticsearch:
        return self._client().options(request_timeout=self._timeout_seconds + 2.0, max_retries=0)


class ClusterEngine:
    """One index of a cluster as an engine of the ranking."""

    def __init__(self, search: ClusterSearch) -> None:
        self.search = search
        self._has_bodies: bool | None = None

    @property
    def engine(self) -> ClusterEngine:
        return self

    def term(self, field: str, value: str, option: FrequencyOption = "basic") -> Clause:
        return {"term": {word_field(field): {"value": value}}}

    def phrase(self, field: str, words: Sequence[str]) -> Clause:
        return {"match_phrase": {word_field(field): {"query": " ".join(words)}}}

    def phrase_beginning(self, field: str, words: Sequence[str]) -> Clause:
        asked = {"query": " ".join(words), "max_expansions": _MAX_EXPANSIONS}
        return {"match_phrase_prefix": {word_field(field): asked}}

    def beginning(
        self, field: str, prefix: str, limit: int, option: FrequencyOption = "basic"
    ) -> tuple[Clause, list[str]]:
        """All terms match; to be ranked by, the first `limit` of them count as equally rare."""
        name = word_field(field)
        matching: Clause = {"prefix": {name: {"value": prefix}}}
        if option == "basic":
            return matching, []
        rewrite = f"top_terms_blended_freqs_{limit}"
        scored: Clause = {"prefix": {name: {"value": prefix, "rewrite": rewrite}}}
        return self.with_scores(self.drop_scores(matching), scored), []

    def years(self, first: int | None, last: int | None) -> Clause:
        return {"range": {"year": {"gte": max(first or 1, 1), "lte": last or 9999}}}

    def rows(self, numbers: Iterable[int]) -> Clause:
        return self.drop_scores({"terms": {"row": list(numbers)}})

    def any_of(self, choices: Sequence[Clause]) -> Clause:
        if not choices:
            return {"match_none": {}}
        if len(choices) == 1:
            return choices[0]
        return {"bool": {"should": list(choices), "minimum_should_match": 1}}

    def all_of(self, wanted: Sequence[Clause], unwanted: Sequence[Clause]) -> Clause:
        if len(wanted) == 1 and not unwanted:
            return wanted[0]
        asked: Clause = {"must": list(wanted)} if wanted else {"filter": [{"match_all": {}}]}
        if unwanted:
            asked["must_not"] = list(unwanted)
        return {"bool": asked}

    def best_of(self, choices: Sequence[Clause], others: float) -> Clause:
        return {"dis_max": {"queries": list(choices), "tie_breaker": others}}

    def boost(self, query: Clause, weight: float) -> Clause:
        return {"bool": {"must": [query], "boost": weight}}

    def drop_scores(self, query: Clause) -> Clause:
        match query:
            case {"bool": {"filter": _, **others}} if not others:
                return query
            case _:
                return {"bool": {"filter": [query]}}

    def with_scores(self, filtered: Clause, scored: Clause) -> Clause:
        return {"bool": {"must": [filtered], "should": [scored]}}

    def is_known(self, field: str, term: str) -> bool:
        """Only stop words are left out of what ranks, so nobody need be asked."""
        return term not in _STOP_STEMS

    def has_bodies(self) -> bool:
        if self._has_bodies is None:
            body = {"term": {"key": {"value": HAS_BODY}}}
            self._has_bodies = bool(self.search.hits(query=body, size=1, terminate_after=1))
        return self._has_bodies

    def hits(
        self,
        query: Clause,
        wanted: int,
        deleted: Container[int],
        *,
        newest_first: bool = False,
    ) -> Iterator[Hit]:
        order = _NEWEST_FIRST if newest_first else _BEST_FIRST
        after: list[Any] | None = None
        while wanted > 0:
            limit = min(wanted, _PAGE)
            page = self.search.hits(
                query=query,
                size=limit,
                sort=order,
                search_after=after,
                docvalue_fields=[{"field": name} for name in ("row", "number", "weight")],
            )
            for hit in page:
                hit_row = int(_value(hit, "row"))
                if hit_row not in deleted:
                    score = 0.0 if newest_first else float(hit["sort"][0])
                    weighted = score * _value(hit, "weight") / FULL_WEIGHT
                    yield Hit(hit_row, int(_value(hit, "number")), weighted)
                    wanted -= 1
            if len(page) < limit:
                return
            after = page[-1]["sort"]

    def forget(self) -> None:
        """The papers have changed: what was known of them is asked again."""
        self._has_bodies = None

    def rows_of_keys(self, keys: Sequence[str]) -> list[int]:
        return sorted(dict.fromkeys(self.rows_by_key(keys).values()))

    def rows_by_key(self, keys: Sequence[str]) -> dict[str, int]:
        """The row of each key that a paper has, in the order of the keys."""
        asked = set(keys)
        found: dict[str, int] = {}
        for hit in self.search.hits(
            query={"terms": {"key": list(asked)}},
            size=min(2 * len(asked), _PAGE),
            sort=[{"row": "asc"}],
            docvalue_fields=[{"field": "row"}, {"field": "key"}],
        ):
            for key in asked.intersection(map(str, hit["fields"]["key"])):
                found.setdefault(key, int(_value(hit, "row")))
        return {key: found[key] for key in keys if key in found}

    def count_matches(self, query: Clause, terms: Sequence[str]) -> MatchCount:
        total = self.search.ask(query=query, size=0, track_total_hits=CHEAP_MATCHES)["hits"]
        return MatchCount(int(total["total"]["value"]), total["total"]["relation"] == "eq")

    def count(self, query: Clause) -> int:
        total = self.search.ask(query=query, size=0, track_total_hits=True)["hits"]["total"]
        return int(total["value"])


def _value(hit: Mapping[str, Any], field: str) -> float:
    found = hit.get("fields", {}).get(field)
    return found[0] if found else 0
