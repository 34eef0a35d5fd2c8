"""A corpus folder and the published corpus that it follows or is published to.

In a copy, a change is published before it is acknowledged: the lease is held, the newest generation
fetched, the change made, what is new uploaded and the pointer swapped. What cannot be published is
taken back.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from carrel.core.errors import CarrelError
from carrel.core.progress import NoProgress, Progress
from carrel.rooms.papers.errors import BuildInProgressError
from carrel.stores.corpus import MANIFEST_NAME
from carrel.stores.corpus.manifest import Manifest, read_manifest, segment_folder, write_manifest
from carrel.stores.corpus.publication import sweep_segments
from carrel.stores.corpus.published.catalogue import Catalogue, Head, read_catalogue, read_head
from carrel.stores.corpus.published.errors import (
    ChangeNotPublishedError,
    CorpusMovedOnError,
    NoSegmentsError,
    OwnCorpusError,
    PublicationGoneError,
)
from carrel.stores.corpus.published.garbage import GRACE_SECONDS, remove_garbage
from carrel.stores.corpus.published.lease import HeldLease, LeaseTimes, LostLeaseError, hold_lease
from carrel.stores.corpus.published.note import PublishedNote, read_note, write_note
from carrel.stores.corpus.published.packs import describe_pack, fetch_segment
from carrel.stores.corpus.published.publisher import CorpusUploader, Published, UploadTally
from carrel.stores.corpus.published.workshop import WorkshopCopy
from carrel.stores.file_lock import LockHeldError, hold_lock
from carrel.stores.objects.store import LostSwapError, MissingObjectError, ObjectStore
from carrel.stores.objects.swap_probe import check_swaps

log = logging.getLogger("carrel.published")

LOCK_NAME = "published.lock"
# Less than add_paper may take, so that who waits is told why.
_LOCK_WAIT_SECONDS = 240.0
# How often a generation may be replaced and swept while it is fetched.
_FETCH_TRIES = 5
_SWAP_IS_SAFE: set[str] = set()


@dataclass(frozen=True, slots=True)
class FetchReport:
    """What a fetch brought: the generation, and segments and bytes that were moved for it."""

    generation: int
    papers: int
    segments: int = 0
    bytes: int = 0
    is_changed: bool = False


class PublishedFolder:
    """One corpus folder beside one object store. Methods block."""

    def __init__(
        self,
        corpus: Path,
        store: ObjectStore,
        *,
        lease_times: LeaseTimes | None = None,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._corpus = corpus
        self._store = store
        self._workshop = WorkshopCopy(corpus, store)
        self._lease_times = lease_times
        self._wall_clock = wall_clock

    @property
    def store(self) -> ObjectStore:
        return self._store

    def note(self) -> PublishedNote | None:
        """What of this store is in the folder; None where nothing is."""
        note = read_note(self._corpus)
        return note if note is not None and note.url == self._store.url else None

    # Reading.

    def follow(self, wait_seconds: float = 0.0) -> FetchReport | None:
        """Fetch what was published since; None where nothing was, or others fetch it now.

        Raises PublicationGoneError where the store went back, and ObjectStoreError.
        """
        note, head = self.note(), read_head(self._store)
        self._refuse_to_go_back(note, head)
        is_current = note is not None and head is not None and note.token == head.token
        if head is None or (is_current and note is not None and not note.is_changing):
            return None
        try:
            with self._hold_folder(wait_seconds):
                return self._fetch_newest(NoProgress())
        except LockHeldError:
            return None

    def fetch(self, progress: Progress, *, checks: bool = False) -> FetchReport | None:
        """Take what is published now, whatever the folder holds; None where nothing is.

        With `checks` every segment is hashed again, and fetched again where it is damaged.
        """
        with self._wait_for_folder():
            note = read_note(self._corpus)
            is_copy = note is not None and note.is_copy and note.url == self._store.url
            if not is_copy and ((self._corpus / MANIFEST_NAME).exists() or note is not None):
                raise OwnCorpusError(str(self._corpus))
            return self._fetch_newest(progress, checks=checks)

    def become_copy(self) -> None:
        """Make the folder a copy of what the store holds, or will hold; nothing is fetched."""
        with self._wait_for_folder():
            if self.note() is None and not (self._corpus / MANIFEST_NAME).exists():
                write_note(self._corpus, PublishedNote(self._store.url, 0, "", is_copy=True))

    # Changing a copy.

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Make changes to the folder in this block; they are published when it ends.

        Raises BuildInProgressError where the lease cannot be had, and whatever keeps the change
        from being published, after it was taken back.
        """
        check_store(self._store)
        with self._wait_for_folder(), hold_lease(self._store, self._lease_times) as lease:
            head, before = self._prepare_change()
            try:
                yield
                self._publish_change(head, before, lease)
            except BaseException:
                self._take_back(before)
                raise

    @contextmanager
    def reading_workshop(self) -> Iterator[None]:
        """The state of builds as it is published, to be read in this block."""
        with self._wait_for_folder():
            head = read_head(self._store)
            self._refuse_to_go_back(self.note(), head)
            if head is not None:
                self._fetch_and_restore(head)
            yield

    def is_copy(self) -> bool:
        note = self.note()
        return note is not None and note.is_copy

    # Publishing a folder of one's own.

    def publish(self, progress: Progress, *, replaces: bool = False) -> Published | None:
        """Publish the folder as it is; None where that is published already.

        Raises CorpusMovedOnError where the store holds a generation that this folder was not built
        upon, unless `replaces`.
        """
        check_store(self._store)
        with self._wait_for_folder(), hold_lease(self._store, self._lease_times) as lease:
            manifest = read_manifest(self._corpus)
            if manifest is None:
                raise NoSegmentsError(str(self._corpus))
            head, note = read_head(self._store), self.note()
            if head is not None and not replaces and (note is None or note.token != head.token):
                raise CorpusMovedOnError(
                    self._store.url, head.generation, None if note is None else note.generation
                )
            before = None if head is None else read_catalogue(self._store, head)
            published = self._swap(manifest, before, head, lease, progress)
            if published is not None:
                self._write_note(published.head, is_copy=False)
            elif head is not None:
                self._write_note(head, is_copy=False)
            return published

    # Care, by whoever gets the lease.

    def has_newest_workshop(self) -> bool:
        """Whether the folder has what builds go on from, as the one that changed it last has."""
        note, head = self.note(), read_head(self._store)
        if note is None or head is None or note.token != head.token or note.is_changing:
            return False
        chain = read_catalogue(self._store, head).workshop
        return chain is not None and self._workshop.has(chain)

    def sweep_store(self, grace_seconds: float = GRACE_SECONDS) -> int:
        """Remove objects that nobody needs any more; returns how many."""
        with self._wait_for_folder(), hold_lease(self._store, self._lease_times):
            head = read_head(self._store)
            if head is None:
                return 0
            catalogue = read_catalogue(self._store, head)
            found = self._store.find(head.catalogue_key)
            # By the store's own clock: this machine's may be wrong.
            written = self._wall_clock() if found is None else found.modified
            now = max(written, self._store_time())
            return remove_garbage(self._store, catalogue, self._workshop, now, grace_seconds)

    def _store_time(self) -> float:
        """The clock of the store, from an object that is written now."""
        key = "probes/time"
        self._store.write(key, b"")
        found = self._store.find(key)
        return self._wall_clock() if found is None else found.modified

    # Parts.

    def _prepare_change(self) -> tuple[Head | None, Catalogue | None]:
        head = read_head(self._store)
        self._refuse_to_go_back(self.note(), head)
        before = None
        if head is not None:
            before = self._fetch_and_restore(head)
        elif (self._corpus / MANIFEST_NAME).exists() and self.note() is None:
            raise CorpusMovedOnError(self._store.url, 0, None)
        note = self.note() or PublishedNote(self._store.url, 0, "", is_copy=True)
        write_note(self._corpus, replace(note, is_changing=True))
        return head, before

    def _publish_change(
        self, head: Head | None, before: Catalogue | None, lease: HeldLease
    ) -> None:
        manifest = read_manifest(self._corpus) or (None if before is None else before.manifest)
        if manifest is None:
            # Nothing was made, as by a paper that could not be read.
            return
        published = self._swap(manifest, before, head, lease, NoProgress())
        if published is not None:
            self._write_note(published.head, is_copy=True)
            tally = published.tally
            log.info(
                "corpus published",
                extra={
                    "generation": published.head.generation,
                    "objects": tally.objects,
                    "bytes": tally.bytes,
                },
            )
        elif head is not None:
            self._write_note(head, is_copy=True)

    def _swap(
        self,
        manifest: Manifest,
        before: Catalogue | None,
        head: Head | None,
        lease: HeldLease,
        progress: Progress,
    ) -> Published | None:
        uploader = CorpusUploader(self._corpus, self._store, self._workshop, self._wall_clock)
        try:
            return uploader.publish(manifest, before, head, lease, progress)
        except (LostSwapError, LostLeaseError) as error:
            raise ChangeNotPublishedError from error

    def _take_back(self, before: Catalogue | None) -> None:
        """Undo a change that was not published; where that fails, whoever comes next does it."""
        note = self.note()
        if note is None or not note.is_changing:
            return
        try:
            if before is not None:
                write_manifest(self._corpus, before.manifest)
                self._workshop.restore()
                write_note(self._corpus, replace(note, is_changing=False))
            else:
                self._forget_first_change()
        except (CarrelError, OSError) as error:
            log.warning("change not taken back yet", extra={"reason": str(error)})

    def _forget_first_change(self) -> None:
        """Nothing was published before: the folder holds no corpus then either."""
        (self._corpus / MANIFEST_NAME).unlink(missing_ok=True)
        self._workshop.forget()
        write_note(self._corpus, PublishedNote(self._store.url, 0, "", is_copy=True))

    def _fetch_newest(self, progress: Progress, *, checks: bool = False) -> FetchReport | None:
        for attempt in range(_FETCH_TRIES):
            head = read_head(self._store)
            if head is None:
                return None
            try:
                _, report = self._fetch(head, progress, checks=checks)
            except MissingObjectError:
                # It may have been replaced, and swept, while it was fetched.
                newer = read_head(self._store)
                is_last = attempt == _FETCH_TRIES - 1
                if is_last or newer is None or newer.token == head.token:
                    raise
                continue
            note = self.note()
            if note is not None and note.is_changing:
                self._workshop.restore()
            self._write_note(head, is_copy=True)
            return report
        return None

    def _fetch_and_restore(self, head: Head) -> Catalogue:
        """The published generation in the folder, with the workshop that belongs to it."""
        note = self.note()
        catalogue, _ = self._fetch(head, NoProgress())
        self._workshop.bring_to(
            catalogue.workshop, is_trusted=note is not None and not note.is_changing
        )
        self._write_note(head, is_copy=True)
        return catalogue

    def _fetch(
        self, head: Head, progress: Progress, *, checks: bool = False
    ) -> tuple[Catalogue, FetchReport]:
        """Fetch what the folder lacks of a generation, and only then show it to readers."""
        catalogue = read_catalogue(self._store, head)
        manifest, earlier = catalogue.manifest, read_manifest(self._corpus)
        missing = [
            entry
            for entry in manifest.segments
            if not segment_folder(self._corpus, entry.name).is_dir()
            or (
                checks
                and describe_pack(segment_folder(self._corpus, entry.name))
                != catalogue.packs[entry.name]
            )
        ]
        if missing:
            progress.begin("fetching", len(missing), "segments")
        moved = 0
        for entry in missing:
            pack = catalogue.packs[entry.name]
            moved += fetch_segment(self._store, self._corpus, entry.name, pack)
            progress.advance()
        if missing:
            progress.end()
        is_changed = earlier != manifest
        if is_changed or missing:
            write_manifest(self._corpus, manifest)
        sweep_segments(self._corpus, earlier or manifest, manifest, self._wall_clock)
        return catalogue, FetchReport(
            catalogue.generation, manifest.papers, len(missing), moved, is_changed
        )

    def _refuse_to_go_back(self, note: PublishedNote | None, head: Head | None) -> None:
        if note is None or not note.generation:
            return
        found = None if head is None else head.generation
        if found is None or found < note.generation:
            raise PublicationGoneError(self._store.url, note.generation, found)

    def _write_note(self, head: Head, *, is_copy: bool) -> None:
        now = PublishedNote(self._store.url, head.generation, head.token, is_copy)
        if read_note(self._corpus) != now:
            write_note(self._corpus, now)

    @contextmanager
    def _hold_folder(self, wait_seconds: float) -> Iterator[None]:
        """One process of this machine at a time. Raises LockHeldError."""
        self._corpus.mkdir(parents=True, exist_ok=True)
        with hold_lock(self._corpus / LOCK_NAME, wait_seconds=wait_seconds):
            yield

    @contextmanager
    def _wait_for_folder(self) -> Iterator[None]:
        try:
            with self._hold_folder(_LOCK_WAIT_SECONDS):
                yield
        except LockHeldError as error:
            raise BuildInProgressError from error


def check_store(store: ObjectStore) -> None:
    """Once for each address in a process: raises UnsafeStoreError, or ObjectStoreError."""
    if store.url not in _SWAP_IS_SAFE:
        check_swaps(store)
        _SWAP_IS_SAFE.add(store.url)


__all__ = ["FetchReport", "PublishedFolder", "UploadTally", "check_store"]
