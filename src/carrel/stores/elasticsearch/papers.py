"""Papers in Elasticsearch: the documents of the index, the query, and the ranking."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import partial
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
    PaperIdentifier,
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
from carrel.stores.corpus.folder import CorpusSession
from carrel.stores.corpus.papers import find_papers, identified_rows, ids_of_rows
from carrel.stores.corpus.store import CorpusRanking
from carrel.stores.elasticsearch.errors import translate_driver_errors
from carrel.stores.paper_documents import (
    PAPER_FIELDS,
    RANKED_FACETS,
    IndexedTexts,
    OpenRankedVersion,
)
from carrel.stores.search.ranking import MatchCount, RankedPaper, RankedPassage
from carrel.stores.sqlite.papers import rows
from carrel.stores.sqlite.papers.rows import ListedPaper

FACETS = RANKED_FACETS
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

    def __init__(self, open_version: OpenRankedVersion, *, mark_every: int = 1000) -> None:
        self._open_version = open_version
        self._mark_every = mark_every

    async def changes(self, since: str | None) -> AsyncIterator[DocumentChange]:
        opened = self._open_version()
        version = await asyncio.to_thread(opened.__enter__)
        try:
            build_id = version.build_id
            if since == build_id:
                return
            begun, _, place = (since or "").rpartition("@")
            last = int(place) if begun == build_id else -1
            if begun != build_id:
                yield Reset()
            told = 0
            while page := await asyncio.to_thread(version.page, last):
                for number, document, texts in page:
                    fields = {**document.fields, **ranked_fields(texts)}
                    yield Put(Document(document.id, fields, document.readers))
                    told += 1
                    if told % self._mark_every == 0:
                        yield Checkpoint(f"{build_id}@{number}")
                last = page[-1][0]
            yield Checkpoint(build_id)
        finally:
            await asyncio.to_thread(opened.__exit__, None, None, None)


def spaced_words(text: str) -> str:
    """Every word, folded, with spaces between, so that index and query tokenize alike."""
    return " ".join(word[:_MAX_WORD_CHARACTERS] for word in split_words(fold_text(text)))


def title_mark(title_key: str) -> str:
    """A short digest of a whole title, as long titles are not indexed exactly."""
    return hashlib.sha256(title_key.encode()).hexdigest()[:32]


def ranked_fields(texts: IndexedTexts) -> dict[str, object]:
    """The words of a paper, by the fields that are searched."""
    known_year = int(texts.year) if texts.year.isdecimal() else 0
    fields: dict[str, object] = {
        "words_title": spaced_words(texts.title),
        "words_summary": spaced_words(texts.summary),
        "words_metadata": spaced_words(texts.metadata),
        "words_full": [spaced_words(text) for text in (texts.source, texts.translated) if text],
        "title_key": title_mark(text_key(texts.title)),
        "newness": known_year * _LATEST + max(0, _LATEST - 1 - texts.place),
    }
    for facet in FACETS:
        fields[f"words_{facet}"] = [spaced_words(value) for value in texts.facets[facet]]
    return fields


Clause = dict[str, Any]
# The weights of the snapshot's own index, of which only the proportions matter.
_WEIGHTS = {"words_title": 5, "words_summary": 3, "words_metadata": 2, "words_full": 1}
_MAX_PREFIX_WORDS = 60
_MAX_PIECES = 200


Identify = Callable[[Sequence[PaperIdentifier]], list[str]]
"""The ids of the papers that these identifiers name, from the corpus itself."""


def question(identify: Identify, query: PaperQuery) -> Clause | None:
    """The clause for a query; None where nothing is asked for."""
    parts = [] if query.strict is None else [_node(identify, query.strict)]
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


def _node(identify: Identify, node: QueryNode) -> Clause:
    match node:
        case Phrase():
            return _phrase(node)
        case FacetPhrase(category, words, is_prefix):
            return _unscored(_in_field(f"words_{category}", Phrase(words, is_prefix), 1))
        case YearRange(first, last):
            return _unscored({"range": {"year": {"gte": first or 0, "lte": last or 9999}}})
        case WithIdentifier(identifiers):
            return _unscored({"ids": {"values": identify(identifiers)}})
        case Not(part):
            return _unscored({"bool": {"must_not": [_node(identify, part)]}})
        case AllOf(parts):
            return {"bool": {"must": [_node(identify, part) for part in parts]}}
        case AnyOf(parts):
            return _any([_node(identify, part) for part in parts])


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
        found = self.search_ids(partial(rows.identified_papers, connection), query, first, count)
        return rows.listed_papers(connection, found)

    def total(self, connection: sqlite3.Connection, query: PaperQuery) -> int | None:
        """Not asked of the cluster."""
        return None

    def search_ids(
        self, identify: Identify, query: PaperQuery, first: int, count: int
    ) -> list[str]:
        """Ids of papers, best first."""
        with translate_driver_errors():
            self._check_state()
            named = self._named(identify, query)
            page = named[first : first + count]
            asked = question(identify, query)
            wanted = count - len(page)
            if asked is None or not wanted:
                return page
            order = _BEST_FIRST if query.phrases else _NEWEST_FIRST
            ranked = self._found(
                {"bool": {"must": [asked], "must_not": [{"ids": {"values": named}}]}},
                max(0, first - len(named)),
                wanted,
                order,
            )
        return page + ranked

    def _named(self, identify: Identify, query: PaperQuery) -> list[str]:
        """The papers whose identifier or whole title was typed."""
        if query.identifiers:
            return identify(query.identifiers)
        if not query.loose or query.strict is not None:
            return []
        titled = {"term": {"title_key": title_mark(query.title_key)}}
        return self._found(titled, 0, _MAX_TITLES, _NEWEST_FIRST)

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


class ElasticsearchCorpusRanking:
    """One version of a corpus of segments in one cluster; only search is asked there."""

    stem = None

    def __init__(self, cluster: ElasticsearchRanking, beside: CorpusRanking) -> None:
        self.name = cluster.name
        self._cluster = cluster
        self._beside = beside

    def search(
        self, session: CorpusSession, query: PaperQuery, first: int, count: int
    ) -> list[RankedPaper]:
        def identify(identifiers: Sequence[PaperIdentifier]) -> list[str]:
            rows = identified_rows(session, identifiers)
            ids = ids_of_rows(session, rows)
            return [ids[row] for row in rows if row in ids]

        found = self._cluster.search_ids(identify, query, first, count)
        return [RankedPaper(paper.row, 0.0) for paper in find_papers(session, found)]

    def count(self, query: PaperQuery) -> MatchCount:
        return MatchCount(0, is_exact=False)

    def search_passages(
        self, query: PaperQuery, within_rows: Sequence[int] | None, first: int, count: int
    ) -> list[RankedPassage]:
        return self._beside.search_passages(query, within_rows, first, count)

    def with_facet_words(
        self, session: CorpusSession, categories: Sequence[FacetCategory], words: Sequence[str]
    ) -> Iterator[int]:
        return self._beside.with_facet_words(session, categories, words)

    def words_like(self, word: str) -> list[tuple[str, int]]:
        return self._beside.words_like(word)

    def with_title_beginning(
        self, session: CorpusSession, text: str, count: int
    ) -> tuple[list[int], int]:
        return self._beside.with_title_beginning(session, text, count)


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

    def rank_corpus(
        self, session: CorpusSession, beside: CorpusRanking
    ) -> ElasticsearchCorpusRanking:
        """The same for a corpus of segments, whose own index answers what is not ranked."""
        index, timeout = self._index, self._timeout_seconds
        ranking = ElasticsearchRanking(self._client, index, session.version.build_id, timeout)
        return ElasticsearchCorpusRanking(ranking, beside)

    def close(self) -> None:
        if self._connected is not None:
            self._connected.close()

    def _client(self) -> Elasticsearch:
        with self._lock:
            if self._connected is None:
                self._connected = Elasticsearch(self._address, api_key=self._api_key)
            return self._connected
