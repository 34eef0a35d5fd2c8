"""Records of papers and their passages as the indices of a cluster hold them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from carrel.rooms.papers.errors import DamagedCorpusError
from carrel.stores.corpus.passage_rows import StoredPassage
from carrel.stores.corpus.records import StoredPaper, read_stored
from carrel.stores.elasticsearch.fields import HELD
from carrel.stores.elasticsearch.papers.state import PaperSet

# What Elasticsearch takes in one list of values, and gives at once.
_AT_ONCE = 5_000
_MOST_PASSAGES = 10_000


@dataclass(frozen=True, slots=True)
class HeldPaper:
    """A paper of a cluster: its row there and its record."""

    row: int
    paper: StoredPaper
    other_texts: tuple[str, ...] = ()


class PaperRecords:
    """Reads records and passages; many threads may use it at once."""

    def __init__(self, papers: PaperSet) -> None:
        self._papers = papers.papers.search
        self._passages = papers.passages.search

    def by_id(self, paper_id: str) -> HeldPaper | None:
        """The paper of that id."""
        found = self._held({"ids": {"values": [paper_id]}}, 1)
        return found[0] if found else None

    def by_rows(self, rows: Sequence[int]) -> list[HeldPaper]:
        """Those of the rows that are there, in this order."""
        found: dict[int, HeldPaper] = {}
        for first in range(0, len(rows), _AT_ONCE):
            some = list(rows[first : first + _AT_ONCE])
            for held in self._held({"terms": {"row": some}}, len(some)):
                found[held.row] = held
        return [found[row] for row in rows if row in found]

    def ids_of_rows(self, rows: Sequence[int]) -> dict[int, str]:
        """The ids of those of the rows that are there."""
        found: dict[int, str] = {}
        for first in range(0, len(rows), _AT_ONCE):
            some = list(rows[first : first + _AT_ONCE])
            hits = self._papers.hits(
                query={"terms": {"row": some}},
                size=len(some),
                docvalue_fields=[{"field": "row"}],
                sort=["_doc"],
            )
            found |= {int(hit["fields"]["row"][0]): str(hit["_id"]) for hit in hits}
        return found

    def passages_at(
        self, places: Sequence[tuple[int, int]]
    ) -> dict[tuple[int, int], StoredPassage]:
        """Passages by row and number, as the ranking names them."""
        if not places:
            return {}
        ids = [f"{row}-{number}" for row, number in places]
        hits = self._passages.hits(
            query={"ids": {"values": ids}},
            size=min(len(ids), _MOST_PASSAGES),
            source=["row", "number", "passage"],
            sort=["_doc"],
        )
        return {_place(hit): _passage(hit) for hit in hits}

    def passages_of_row(self, row: int) -> list[StoredPassage]:
        """All passages of a paper in order."""
        hits = self._passages.hits(
            query={"term": {"row": {"value": row}}},
            size=_MOST_PASSAGES,
            source=["row", "number", "passage"],
            sort=[{"number": "asc"}],
        )
        return [_passage(hit) for hit in hits if "passage" in hit["_source"]]

    def _held(self, query: dict[str, Any], count: int) -> list[HeldPaper]:
        hits = self._papers.hits(query=query, size=count, source=[HELD], sort=["_doc"])
        return [_read_held(hit) for hit in hits]


def _read_held(hit: dict[str, Any]) -> HeldPaper:
    try:
        held = hit["_source"][HELD]
        stored = read_stored(base64.b64decode(held["record"]))
        return HeldPaper(int(held["row"]), stored, tuple(held["other_texts"]))
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedCorpusError("a record in the cluster") from error


def _place(hit: dict[str, Any]) -> tuple[int, int]:
    return int(hit["_source"]["row"]), int(hit["_source"]["number"])


def _passage(hit: dict[str, Any]) -> StoredPassage:
    facts = hit["_source"]["passage"]
    return StoredPassage(number=int(hit["_source"]["number"]), **facts)
