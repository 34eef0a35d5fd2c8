"""The three indices of papers in a cluster as readers see them: which build, what it holds."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from elasticsearch import Elasticsearch, NotFoundError

from carrel.core.clock import Clock
from carrel.core.errors import UnavailableError
from carrel.libraries.text.abbreviations import AbbreviationTable
from carrel.stores.elasticsearch.errors import translate_driver_errors
from carrel.stores.elasticsearch.papers.engine import ClusterEngine, ClusterSearch
from carrel.stores.elasticsearch.papers.mapping import FORMAT, KINDS

ABBREVIATIONS = "carrel/abbreviations"
# The row of documents that belong to no paper.
NO_PAPER = -1
_NEXT_STEP = "The operator should run `carrel search sync --index papers`."
# How long a reader trusts what it knows of the build.
_REMEMBER_SECONDS = 0.5
_MOST_PARTS = 1_000


@dataclass(frozen=True, slots=True)
class PaperState:
    """What the cluster says of its papers; `build_id` is None while they are being written."""

    build_id: str | None
    statistics: Mapping[str, Any]
    abbreviations: str
    model: str | None = None


class PaperSet:
    """Readers of the indices of one prefix; many threads may use it at once."""

    def __init__(
        self,
        client: Callable[[], Elasticsearch],
        prefix: str,
        timeout_seconds: float,
        clock: Clock,
    ) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: tuple[float, PaperState] | None = None
        self._table: tuple[str, AbbreviationTable] = ("", AbbreviationTable(()))
        searches = {
            kind: ClusterSearch(client, f"{prefix}{kind}", timeout_seconds) for kind in KINDS
        }
        self.papers = ClusterEngine(searches["papers"])
        self.passages = ClusterEngine(searches["passages"])
        self.texts = searches["texts"]

    def state(self, *, is_fresh: bool = False) -> PaperState:
        """UnavailableError where there are no papers in the cluster, or ones of another version."""
        now = self._clock.monotonic()
        if not is_fresh and self._seen is not None and now - self._seen[0] < _REMEMBER_SECONDS:
            return self._seen[1]
        found = self._read_state()
        if self._seen is not None and self._seen[1] != found:
            self.papers.forget()
        self._seen = (now, found)
        return found

    def _read_state(self) -> PaperState:
        name = self.papers.search.index
        with translate_driver_errors():
            try:
                mapping = self.papers.search.client().indices.get_mapping(
                    index=name, filter_path="*.mappings._meta.carrel"
                )
            except NotFoundError:
                raise self._unusable("is not there") from None
        metas = [
            each.get("mappings", {}).get("_meta", {}).get("carrel", {})
            for each in dict(mapping).values()
        ]
        meta = metas[0] if len(metas) == 1 else {}
        if meta.get("format") != FORMAT:
            raise self._unusable("is not of this version of Carrel")
        cursor = meta.get("cursor")
        return PaperState(
            None if cursor is None else str(cursor).partition("+")[0],
            meta.get("statistics") or {},
            str(meta.get("abbreviations") or ""),
            meta.get("model"),
        )

    def abbreviations(self) -> AbbreviationTable:
        """How the papers abbreviate; read again when that has changed."""
        wanted = self.state().abbreviations
        with self._lock:
            if self._table[0] != wanted:
                body = self.read_text(ABBREVIATIONS)
                rows = orjson.loads(body) if body else []
                self._table = (wanted, AbbreviationTable(tuple(row) for row in rows))
            return self._table[1]

    def read_text(self, name: str) -> bytes | None:
        """A text by its name; None where the cluster holds none of that name."""
        hits = self.texts.hits(
            query={"term": {"name": {"value": name}}},
            size=_MOST_PARTS,
            sort=[{"row": "asc"}, {"part": "asc"}],
            source=["row", "body"],
        )
        if not hits:
            return None
        # Papers that share a text have it several times.
        row = hits[0]["_source"]["row"]
        parts = [hit["_source"]["body"] for hit in hits if hit["_source"]["row"] == row]
        return b"".join(base64.b64decode(part) for part in parts)

    def unusable_for(self, build_id: str) -> UnavailableError | None:
        """The error where the cluster does not hold just the papers of this build."""
        if self.state(is_fresh=True).build_id == build_id:
            return None
        return self._unusable("does not hold just the papers of this corpus")

    def _unusable(self, trouble: str) -> UnavailableError:
        index = self.papers.search.index
        return UnavailableError(
            f"The Elasticsearch index {index} {trouble}",
            next_step=_NEXT_STEP,
            details={"index": index},
        )
