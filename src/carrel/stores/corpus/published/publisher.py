"""Publishes the corpus of a folder: what the store lacks is uploaded, then the pointer swapped.

Whatever happens before the swap leaves the published generation as it was, and what was uploaded by
then is not uploaded again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from carrel.core.progress import NoProgress, Progress
from carrel.stores.corpus.manifest import Manifest, segment_folder
from carrel.stores.corpus.published.catalogue import (
    PACKS,
    Catalogue,
    Head,
    StoredObject,
    next_catalogue,
    publish_catalogue,
)
from carrel.stores.corpus.published.garbage import REUSABLE_SECONDS
from carrel.stores.corpus.published.lease import HeldLease
from carrel.stores.corpus.published.packs import deflate, describe_pack, read_pack
from carrel.stores.corpus.published.workshop import WorkshopCopy, WorkshopDraft, file_pieces
from carrel.stores.objects.store import ObjectStore

# Uploads at once: each holds a piece of 8 MiB.
_UPLOADS_AT_ONCE = 4


class UploadTally:
    """What one publication moved, counted from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.objects = 0
        self.bytes = 0
        self.reused = 0

    def add(self, size_bytes: int) -> None:
        with self._lock:
            self.objects += 1
            self.bytes += size_bytes

    def reuse(self) -> None:
        with self._lock:
            self.reused += 1


@dataclass(frozen=True, slots=True)
class Published:
    """A generation that has just been published."""

    head: Head
    catalogue: Catalogue
    tally: UploadTally


class CorpusUploader:
    """Publishes one folder, for whoever holds its locks and the lease of the store."""

    def __init__(
        self,
        corpus: Path,
        store: ObjectStore,
        workshop: WorkshopCopy,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._corpus = corpus
        self._store = store
        self._workshop = workshop
        self._now = now

    def publish(
        self,
        manifest: Manifest,
        before: Catalogue | None,
        head: Head | None,
        lease: HeldLease,
        progress: Progress | None = None,
    ) -> Published | None:
        """Publish upon `before`; None where nothing differs from it.

        Raises LostSwapError or LostLeaseError where somebody else published, ObjectStoreError.
        """
        tally = UploadTally()
        known = {} if before is None else before.packs
        packs = self._upload_segments(manifest, known, tally, progress or NoProgress())
        draft = self._draft_workshop(before, tally)
        is_same = before is not None and before.manifest == manifest
        if is_same and (draft is None or not self._workshop.exists()):
            return None
        first = next_catalogue(before, manifest, datetime.now(UTC).isoformat())
        catalogue = replace(
            first, packs=packs, workshop=first.workshop if draft is None else draft.chain
        )
        # Whoever lost the lease may have had its uploads removed as nobody's.
        lease.confirm()
        published = publish_catalogue(self._store, catalogue, head)
        if draft is not None:
            self._workshop.settle(draft)
        return Published(published, catalogue, tally)

    def _draft_workshop(self, before: Catalogue | None, tally: UploadTally) -> WorkshopDraft | None:
        if not self._workshop.exists():
            return None
        chain = None if before is None else before.workshop
        return self._workshop.draft(chain, lambda key, path: self._put_file(key, path, tally))

    def _upload_segments(
        self,
        manifest: Manifest,
        known: Mapping[str, StoredObject],
        tally: UploadTally,
        progress: Progress,
    ) -> dict[str, StoredObject]:
        earlier = dict(known)
        missing = [entry for entry in manifest.segments if entry.name not in earlier]
        if missing:
            progress.begin("publishing", len(missing), "segments")

        def upload(name: str) -> StoredObject:
            folder = segment_folder(self._corpus, name)
            pack = describe_pack(folder)
            self._put(f"{PACKS}/{pack.sha256}", lambda: deflate(read_pack(folder)), None, tally)
            return pack

        with ThreadPoolExecutor(_UPLOADS_AT_ONCE, thread_name_prefix="publish") as hands:
            packs = hands.map(upload, [entry.name for entry in missing])
            for entry, pack in zip(missing, packs, strict=True):
                earlier[entry.name] = pack
                progress.advance()
        if missing:
            progress.end()
        return {entry.name: earlier[entry.name] for entry in manifest.segments}

    def _put_file(self, key: str, path: Path, tally: UploadTally) -> None:
        self._put(key, lambda: file_pieces(path), path.stat().st_size, tally)

    def _put(
        self,
        key: str,
        pieces: Callable[[], Iterable[bytes]],
        size_bytes: int | None,
        tally: UploadTally,
    ) -> None:
        """Upload an object unless the store has it and will not sweep it away meanwhile."""
        found = self._store.find(key)
        if (
            found is not None
            and size_bytes in {None, found.size_bytes}
            and found.modified > self._now() - REUSABLE_SECONDS
        ):
            tally.reuse()
            return
        moved = [0]

        def count() -> Iterator[bytes]:
            for piece in pieces():
                moved[0] += len(piece)
                yield piece

        self._store.write_pieces(key, count())
        tally.add(moved[0])
