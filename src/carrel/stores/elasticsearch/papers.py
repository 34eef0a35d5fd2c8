"""Papers in Elasticsearch: the documents of the index, the query, and the ranking."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from elasticsearch import Elasticsearch, NotFoundError

from carrel.core.errors import UnavailableError
from carrel.libraries.query.papers import (
    AllOf,
    AnyOf,
    FacetCategory,
    FacetPhrase,
    Not,
    PaperQuery,
    QueryNode,
    WithIdentifier,
    YearRange,
    split_phrases,
    without_stop_words,
)
from carrel.libraries.text.folding import fold_text, text_key
from carrel.libraries.text.words import Phrase, split_words
from carrel.rooms.knowledge.documents import (
    Checkpoint,
    Document,
    DocumentChange,
    FieldKind,
    Put,
    Reset,
)
from carrel.stores.elasticsearch.errors import translate_driver_errors
from carrel.stores.sqlite.papers import rows
from carrel.stores.sqlite.papers.documents import PAPER_FIELDS, paper_page
from carrel.stores.sqlite.papers.rows import ListedPaper
from carrel.stores.sqlite.papers.snapshot import PaperSnapshot, SnapshotVersion

FACETS: tuple[FacetCategory, ...] = ("author", "venue", "keyword", "institution", "tag")
TEXTS = ("title", "summary", "metadata", "full")
_MAX_WORD_CHARACTERS = 80
# Larger than the place of any paper in its snapshot, and small enough for a year before it in a
# double.
_LATEST = 1 << 32

RANKED_FIELDS: Mapping[str, FieldKind] = {
    **PAPER_FIELDS,
    **{f"words_{name}": "words" for name in (*TEXTS, *FACETS)},
    "title_key": "keyword",
    "newness": "number",
}


class RankedPapers:
    """The index `papers`; its mark is the snapshot's build id, and on the way how far it is."""

    index = "papers"
    fields = RANKED_FIELDS
    is_public = True

    def __init__(self, snapshot: PaperSnapshot, *, mark_every: int = 1000) -> None:
        self._snapshot = snapshot
        self._mark_every = mark_every

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        generation = await asyncio.to_thread(self._snapshot.current)
        build_id = generation.build_id
        if since == build_id:
            return
        begun, _, place = (since or "").rpartition("@")
        last = int(place) if begun == build_id else -1
        if begun != build_id:
            yield Reset()
        told = 0
        with generation.connection() as connection:
            while page := await asyncio.to_thread(_page, generation, connection, last):
                for number, document in page:
                    yield Put(document)
                    told += 1
                    if told % self._mark_every == 0:
                        yield Checkpoint(f"{build_id}@{number}")
                last = page[-1][0]
        yield Checkpoint(build_id)


def spaced_words(text: str) -> str:
    """Every word, folded, with spaces between, so that index and query tokenize alike."""
    return " ".join(word[:_MAX_WORD_CHARACTERS] for word in split_words(fold_text(text)))


def title_mark(title_key: str) -> str:
    """A short digest of a whole title, as long titles are not indexed exactly."""
    return hashlib.sha256(title_key.encode()).hexdigest()[:32]


def _page(
    generation: SnapshotVersion, connection: sqlite3.Connection, after: int
) -> list[tuple[int, Document]]:
    return [
        (
            number,
            Document(
                document.id,
                {**document.fields, **_ranked_by(connection, document.id)},
                document.readers,
            ),
        )
        for number, document in paper_page(generation, connection, after)
    ]


def _ranked_by(connection: sqlite3.Connection, paper_id: str) -> dict[str, object]:
    title, year, place, number = connection.execute(
        "SELECT title, year, paper_index, rowid FROM paper WHERE paper_id = ?", (paper_id,)
    ).fetchone()
    summary, source, translated, metadata = _indexed(connection, paper_id, number)
    known_year = int(year) if str(year).isdecimal() else 0
    fields: dict[str, object] = {
        "words_title": spaced_words(str(title)),
        "words_summary": spaced_words(summary),
        "words_metadata": spaced_words(metadata),
        "words_full": [spaced_words(text) for text in (source, translated) if text],
        "title_key": title_mark(text_key(str(title))),
        "newness": known_year * _LATEST + max(0, _LATEST - 1 - int(place or 0)),
    }
    for facet in FACETS:
        sql = f"SELECT value FROM {facet} JOIN paper_{facet} USING ({facet}_id) WHERE paper_id = ?"
        fields[f"words_{facet}"] = [
            spaced_words(str(value)) for (value,) in connection.execute(sql, (paper_id,))
        ]
    return fields


def _indexed(connection: sqlite3.Connection, paper_id: str, number: int) -> tuple[str, ...]:
    """The texts of the full-text table, which usually counts as the table of papers does."""
    columns = "SELECT summary, source, translated, metadata FROM paper_fts"
    row = connection.execute(
        f"{columns} WHERE rowid = ? AND paper_id = ?", (number, paper_id)
    ).fetchone()
    if row is None:
        row = connection.execute(f"{columns} WHERE paper_id = ?", (paper_id,)).fetchone() or (
            "",
            "",
            "",
            "",
        )
    return tuple(str(text or "") for text in row)


Clause = dict[str, Any]
# The weights of the snapshot's own index, of which only the proportions matter.
_WEIGHTS = {"words_title": 5, "words_summary": 3, "words_metadata": 2, "words_full": 1}
_MAX_PREFIX_WORDS = 60
_MAX_PIECES = 200


def question(connection: sqlite3.Connection, query: PaperQuery) -> Clause | None:
    """The clause for a query; None where nothing is asked for."""
    parts = [] if query.strict is None else [_node(connection, query.strict)]
    if query.identifiers:
        # An identifier that was pasted whole is not a bag of numbers.
        parts += [_phrase(phrase) for phrase in query.loose]
    elif query.loose:
        parts.append(_bag(query.loose))
    return {"bool": {"must": parts}} if parts else None


def _bag(loose: Sequence[Phrase]) -> Clause:
    """A query for any of the words; more and rarer matches score higher."""
    content = without_stop_words(loose)
    return _any([_phrase(piece) for piece in split_phrases(content) or content][:_MAX_PIECES])


def _node(connection: sqlite3.Connection, node: QueryNode) -> Clause:
    match node:
        case Phrase():
            return _phrase(node)
        case FacetPhrase(category, words, is_prefix):
            return _unscored(_in_field(f"words_{category}", Phrase(words, is_prefix), 1))
        case YearRange(first, last):
            return _unscored({"range": {"year": {"gte": first or 0, "lte": last or 9999}}})
        case WithIdentifier(identifiers):
            return _unscored({"ids": {"values": rows.identified_papers(connection, identifiers)}})
        case Not(part):
            return _unscored({"bool": {"must_not": [_node(connection, part)]}})
        case AllOf(parts):
            return {"bool": {"must": [_node(connection, part) for part in parts]}}
        case AnyOf(parts):
            return _any([_node(connection, part) for part in parts])


def _phrase(phrase: Phrase) -> Clause:
    text = _text(phrase)
    if phrase.in_title:
        return _in_field("words_title", phrase, _WEIGHTS["words_title"])
    if phrase.is_prefix or " " in text:
        return _any([_in_field(field, phrase, weight) for field, weight in _WEIGHTS.items()])
    return {
        "combined_fields": {
            "query": text,
            "fields": [f"{field}^{weight}" for field, weight in _WEIGHTS.items()],
        }
    }


def _in_field(field: str, phrase: Phrase, weight: int) -> Clause:
    """Words in this order; the last may be the beginning of one."""
    asked: Clause = {"query": _text(phrase), "boost": weight}
    if phrase.is_prefix:
        return {"match_phrase_prefix": {field: {**asked, "max_expansions": _MAX_PREFIX_WORDS}}}
    return {"match_phrase": {field: asked}}


def _text(phrase: Phrase) -> str:
    return spaced_words(" ".join(phrase.words))


def _any(choices: list[Clause]) -> Clause:
    return {"bool": {"should": choices, "minimum_should_match": 1}}


def _unscored(clause: Clause) -> Clause:
    return {"bool": {"filter": [clause]}}


_MAX_TITLES = 50
_BEST_FIRST = [{"_score": "desc"}, {"newness": "desc"}, {"paper_id": "asc"}]
_NEWEST_FIRST = [{"newness": "desc"}, {"paper_id": "asc"}]


class ElasticsearchRanking:
    """One snapshot in one cluster; UnavailableError where the cluster lacks it."""

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
    ) -> list[ListedPaper]:
        with translate_driver_errors():
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
        return page + rows.listed_papers(connection, ranked)

    def _named(self, connection: sqlite3.Connection, query: PaperQuery) -> list[ListedPaper]:
        """The papers whose identifier or whole title was typed."""
        if query.identifiers:
            return rows.listed_papers(
                connection, rows.identified_papers(connection, query.identifiers)
            )
        if not query.loose or query.strict is not None:
            return []
        titled = {"term": {"title_key": title_mark(query.title_key)}}
        return rows.listed_papers(connection, self._found(titled, 0, _MAX_TITLES, _NEWEST_FIRST))

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
        """Raises UnavailableError for a missing or incomplete index or one of another snapshot."""
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


class PaperCluster:
    """One Elasticsearch that ranks papers; connected by the first question."""

    def __init__(
        self, address: str, api_key: str | None, prefix: str, timeout_seconds: float
    ) -> None:
        self._address = address
        self._api_key = api_key
        self._index = f"{prefix}papers"
        self._timeout_seconds = timeout_seconds
        self._lock = threading.Lock()
        self._connected: Elasticsearch | None = None

    def open_ranking(self, snapshot: Path, build_id: str) -> ElasticsearchRanking:
        """The ranking answers for just this build, or raises UnavailableError."""
        return ElasticsearchRanking(self._client, self._index, build_id, self._timeout_seconds)

    def close(self) -> None:
        if self._connected is not None:
            self._connected.close()

    def _client(self) -> Elasticsearch:
        with self._lock:
            if self._connected is None:
                self._connected = Elasticsearch(self._address, api_key=self._api_key)
            return self._connected
