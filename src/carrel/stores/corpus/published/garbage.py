"""Removes objects that no generation needs, after a grace for replicas that still fetch them.

Only whoever holds the lease may do this: nobody uploads meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from carrel.stores.corpus.published.catalogue import (
    CATALOGUES,
    CHANGES,
    FILES,
    PACKS,
    Catalogue,
    parse_catalogue,
)
from carrel.stores.corpus.published.workshop import WorkshopCopy
from carrel.stores.objects.store import ObjectFacts, ObjectStore, read_whole

# How long a replica may fetch a generation that has been replaced. Whoever is slower begins again
# with the newest one and keeps what it has.
GRACE_SECONDS = 3600.0
# What was handed in may wait for its job, and be in no generation yet.
HANDED_IN_SECONDS = 24 * 3600.0
# An older upload that nobody published is uploaded again, so that it is not swept meanwhile.
REUSABLE_SECONDS = GRACE_SECONDS / 2
_CATALOGUE = re.compile(rf"{CATALOGUES}/(\d{{12}})-[0-9a-f]{{32}}\.json")
_MOST_CATALOGUE_BYTES = 256 * 1024 * 1024
_SWEPT = (PACKS, CHANGES, FILES)


def remove_garbage(
    store: ObjectStore,
    catalogue: Catalogue,
    workshop: WorkshopCopy,
    now: float,
    grace_seconds: float = GRACE_SECONDS,
) -> int:
    """Remove what neither this generation nor a recent one needs; returns how many objects.

    `now` is the store's own time. Files of the workshop are left alone where the folder at hand
    does not know which ones are needed.
    """
    oldest = now - grace_seconds
    catalogues = sorted(_catalogues(store), key=lambda each: _number(each.key))
    # A catalogue counts until its grace is over, which begins when the next one is published.
    replaced_at = [each.modified for each in catalogues[1:]]
    kept = [
        each
        for each, replaced in zip(catalogues, [*replaced_at, now], strict=True)
        if replaced > oldest or each.key == catalogue.key
    ]
    needed = set(catalogue.object_keys()) | workshop.file_keys()
    for each in kept:
        if each.key != catalogue.key:
            content = read_whole(store, each.key, _MOST_CATALOGUE_BYTES)
            needed.update(parse_catalogue(store, each.key, content).object_keys())
    knows_files = catalogue.workshop is not None and workshop.has(catalogue.workshop)
    gone = [each.key for each in catalogues if each not in kept and each.modified <= oldest]
    for folder in _SWEPT:
        if folder == FILES and not knows_files:
            continue
        spare = max(grace_seconds, HANDED_IN_SECONDS) if folder == FILES else grace_seconds
        gone += [
            each.key
            for each in store.list_below(folder)
            if each.key not in needed and each.modified <= now - spare
        ]
    store.remove(gone)
    return len(gone)


def _catalogues(store: ObjectStore) -> Iterator[ObjectFacts]:
    return (each for each in store.list_below(CATALOGUES) if _CATALOGUE.fullmatch(each.key))


def _number(key: str) -> int:
    found = _CATALOGUE.fullmatch(key)
    assert found is not None
    return int(found[1])
