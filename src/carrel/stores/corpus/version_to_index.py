"""The corpus at a place for an index elsewhere, whichever kind lies there now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from carrel.stores.corpus.current import CorpusPlace
from carrel.stores.corpus.indexed_version import indexed_corpus
from carrel.stores.indexed_papers import IndexedVersion
from carrel.stores.search.snapshot_version import indexed_snapshot


@contextmanager
def version_to_index(place: CorpusPlace) -> Iterator[IndexedVersion]:
    """The present version of the corpus."""
    if place.has_segments():
        with indexed_corpus(place.folder) as corpus:
            yield corpus
    else:
        with indexed_snapshot(place.snapshot) as snapshot:
            yield snapshot
