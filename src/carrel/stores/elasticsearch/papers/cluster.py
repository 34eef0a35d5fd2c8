"""One Elasticsearch that ranks papers, connected by the first question."""

from __future__ import annotations

import threading
from pathlib import Path

from elasticsearch import Elasticsearch

from carrel.core.clock import Clock
from carrel.stores.corpus.folder import CorpusSession
from carrel.stores.corpus.store import CorpusRanking
from carrel.stores.elasticsearch.papers.ranking import (
    AddMeaning,
    ClusterCorpusRanking,
    ClusterRanking,
    ClusterSnapshotRanking,
)
from carrel.stores.elasticsearch.papers.state import PaperSet


class PaperCluster:
    """The papers of one prefix in one cluster."""

    def __init__(
        self,
        address: str,
        api_key: str | None,
        prefix: str,
        timeout_seconds: float,
        clock: Clock,
        add_meaning: AddMeaning = lambda words, papers: None,
    ) -> None:
        self._address = address
        self._api_key = api_key
        self._lock = threading.Lock()
        self._connected: Elasticsearch | None = None
        self.papers = PaperSet(self._client, prefix, timeout_seconds, clock)
        self.ranking = ClusterRanking(self.papers, add_meaning)

    def open_ranking(self, snapshot: Path, build_id: str) -> ClusterSnapshotRanking:
        """The ranking answers for just this build, or raises UnavailableError."""
        return ClusterSnapshotRanking(self.ranking, build_id)

    def rank_corpus(self, session: CorpusSession, own: CorpusRanking) -> ClusterCorpusRanking:
        """The same for a corpus of segments, whose own index answers what is not ranked."""
        return ClusterCorpusRanking(self.ranking, session.version.build_id, own)

    def close(self) -> None:
        if self._connected is not None:
            self._connected.close()

    def _client(self) -> Elasticsearch:
        with self._lock:
            if self._connected is None:
                self._connected = Elasticsearch(self._address, api_key=self._api_key)
            return self._connected
