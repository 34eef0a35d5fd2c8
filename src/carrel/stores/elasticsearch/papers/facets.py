"""The most frequent authors, venues and keywords of the papers in a cluster."""

from __future__ import annotations

import base64
from typing import Any

from carrel.libraries.query.papers import FacetCategory
from carrel.rooms.papers.building.paper_keys import facet_value
from carrel.rooms.papers.models import FacetCount
from carrel.stores.corpus.facets import SPELLED, names_of
from carrel.stores.corpus.records import read_stored
from carrel.stores.elasticsearch.fields import HELD
from carrel.stores.elasticsearch.papers.engine import ClusterSearch

# Values that each shard counts: where there are several, a rarer one of each is not forgotten.
_LEAST_COUNTED = 2_000


def top_facets(search: ClusterSearch, category: FacetCategory, count: int) -> list[FacetCount]:
    """The values of most papers, spelled as a paper that has them spells them."""
    terms: dict[str, Any] = {
        "field": f"f_{category}",
        "size": count,
        "shard_size": max(_LEAST_COUNTED, 10 * count),
        "order": [{"_count": "desc"}, {"_key": "asc"}],
    }
    first = {"top_hits": {"size": 1, "sort": [{"row": "asc"}], "_source": [HELD]}}
    values: dict[str, Any] = {"terms": terms}
    if category in SPELLED:
        values["aggs"] = {"first": first}
    answer = search.ask(size=0, aggs={"values": values})
    return [
        FacetCount(value=_spelling(category, bucket), paper_count=int(bucket["doc_count"]))
        for bucket in answer["aggregations"]["values"]["buckets"]
    ]


def _spelling(category: FacetCategory, bucket: dict[str, Any]) -> str:
    value = str(bucket["key"])
    if category not in SPELLED:
        return value
    (hit,) = bucket["first"]["hits"]["hits"]
    names = names_of(read_stored(base64.b64decode(hit["_source"][HELD]["record"])).record)[category]
    return next((name for name in names if facet_value(name) == value), value)
