"""The corpus at a place for an index that ranks, whichever kind lies there now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from carrel.stores.corpus.current import CorpusPlace
from carrel.stores.corpus.documents import ranked_corpus
from carrel.stores.paper_documents import RankedVersion
from carrel.stores.sqlite.papers.documents import ranked_snapshot


@contextmanager
def ranked_version(place: CorpusPlace) -> Iterator[RankedVersion]:
    """The present version of the corpus."""
    if place.has_segments():
        with ranked_corpus(place.folder) as corpus:
            yield corpus
    else:
        with ranked_snapshot(place.snapshot) as snapshot:
            yield snapshot
