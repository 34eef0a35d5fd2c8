"""The Elasticsearch that search_papers asks where `papers.search` says so."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.settings import Settings, SettingsError

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

    from carrel.stores.sqlite.papers.search import Ranking


class PaperCluster:
    """Opened by the first question; the driver is imported only where it is set."""

    def __init__(self, settings: Settings) -> None:
        if settings.elasticsearch.address is None:
            raise SettingsError(
                "papers.search is elasticsearch, and no Elasticsearch is named",
                next_step="Set elasticsearch.url.",
                details={"setting": "elasticsearch.url"},
            )
        self._chosen = settings.elasticsearch
        self._lock = threading.Lock()
        self._known: Elasticsearch | None = None
        try:
            from carrel.stores.elasticsearch.papers import ElasticsearchRanking
        except ImportError as error:
            raise SettingsError(
                f"The driver for elasticsearch is not installed ({error.name})",
                next_step="Install it with pip install 'carrel[elasticsearch]'.",
            ) from error
        self._ranking = ElasticsearchRanking

    def open_ranking(self, snapshot: Path, build_id: str) -> Ranking:
        """The cluster answers for just this build, or says that it cannot."""
        return self._ranking(
            self._client, f"{self._chosen.prefix}papers", build_id, self._chosen.timeout
        )

    def close(self) -> None:
        if self._known is not None:
            self._known.close()

    def _client(self) -> Elasticsearch:
        from elasticsearch import Elasticsearch

        with self._lock:
            if self._known is None:
                self._known = Elasticsearch(self._chosen.address, api_key=self._chosen.api_key)
            return self._known
