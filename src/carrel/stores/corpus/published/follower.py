"""Follows a published corpus while a server answers: looks, fetches, verifies, then swaps."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from carrel.core.errors import CarrelError
from carrel.core.health import Health
from carrel.rooms.papers.errors import SnapshotUnavailableError
from carrel.stores.corpus.published.folder import PublishedFolder, check_store

log = logging.getLogger("carrel.published")

NOT_FETCHED = "corpus_not_fetched"
BEHIND = "corpus_not_followed"
# How often a server offers to merge segments and to remove objects that nobody needs.
CARE_EVERY_SECONDS = 600.0
_STOP_SECONDS = 5.0
# A look that takes so much longer than the pause between looks is told of like one that failed: a
# store that takes connections and says nothing fails only after minutes.
_SLOW_LOOK_SECONDS = 15.0
_LOOK_AT_STORE = "Wait; if it stays so, look at the object store and the network."


class CorpusNotFetchedError(SnapshotUnavailableError):
    """Nothing is known yet of the published corpus, so nothing can be answered."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            f"{url} has not been fetched yet ({reason})",
            next_step="Try again in a moment; carrel doctor says what is in the way.",
        )


class CorpusFollower:
    """One thread that keeps a folder at the published generation; `care` runs now and then.

    Whatever goes wrong is remembered for `/ready` and the doctor, and tried again; the generation
    that was fetched before goes on meanwhile.
    """

    def __init__(
        self,
        folder: PublishedFolder,
        every_seconds: float,
        care: Callable[[], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.folder = folder
        self._every_seconds = every_seconds
        self._care = care
        self._clock = clock
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._answered_at: float | None = None
        self._problem: CarrelError | None = None
        self._cared_at = clock()

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="corpus follower", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends after what it is at; a fetch that takes longer is left, and harms nothing."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def step(self, wait_seconds: float = 0.0) -> bool:
        """Look once and fetch what is new; whether that could be done."""
        try:
            report = self.folder.follow(wait_seconds)
        except CarrelError as error:
            self._tell(error)
            return False
        except OSError as error:
            self._tell(SnapshotUnavailableError(f"its copy: {error.strerror or error}"))
            return False
        self._problem = None
        self._answered_at = self._clock()
        if report is not None and report.is_changed:
            log.info(
                "corpus fetched",
                extra={
                    "generation": report.generation,
                    "segments": report.segments,
                    "bytes": report.bytes,
                },
            )
        return True

    def refuse_unknown(self) -> None:
        """Raises CorpusNotFetchedError where an empty folder does not mean an empty corpus."""
        note = self.folder.note()
        if self._answered_at is None and (note is None or not note.generation):
            reason = "not asked yet" if self._problem is None else self._problem.message
            raise CorpusNotFetchedError(self.folder.store.url, reason)
        if note is not None and note.generation:
            raise CorpusNotFetchedError(self.folder.store.url, "its copy was removed")

    async def health(self) -> Health:
        """The generation that is served, and since when the store has not been heard of."""
        note, url = self.folder.note(), self.folder.store.url
        generation = 0 if note is None else note.generation
        problem = self._problem
        if problem is None and self._answered_at is None:
            if self._thread is None:
                return Health(bool(generation), self._describe(generation))
            says = f"{url}: the first look is under way"
            return Health(False, says, "Wait; large corpora take a while.", problem=NOT_FETCHED)
        silent = 0.0 if self._answered_at is None else self._clock() - self._answered_at
        if problem is None and silent <= self._every_seconds + _SLOW_LOOK_SECONDS:
            return Health(True, self._describe(generation), note=f"generation {generation}")
        reason = "the look under way has not ended" if problem is None else problem.message
        next_step = _LOOK_AT_STORE if problem is None else problem.next_step
        if not generation:
            return Health(False, f"{url}: {reason}", next_step, problem=NOT_FETCHED)
        since = f" for {silent:,.0f} s" if silent else ""
        return Health(
            True,
            f"generation {generation} of {url} goes on and has not been followed{since}: {reason}",
            next_step,
            note=f"generation {generation}, {BEHIND}",
        )

    def _describe(self, generation: int) -> str:
        url = self.folder.store.url
        return f"generation {generation} of {url}" if generation else f"{url} (nothing published)"

    def _tell(self, error: CarrelError) -> None:
        """The same trouble at every look is told once."""
        if self._problem is None or self._problem.message != error.message:
            log.warning(
                "corpus not followed", extra={"reason": error.message, "action": error.next_step}
            )
        self._problem = error

    def _run(self) -> None:
        is_probed = False
        while not self._stop.is_set():
            try:
                if self.step() and not is_probed:
                    is_probed = self._probe()
                if self._care is not None and self._clock() - self._cared_at > CARE_EVERY_SECONDS:
                    self._cared_at = self._clock()
                    self._care()
            except CarrelError as error:
                log.info("corpus not cared for", extra={"reason": error.message})
            except Exception:
                log.exception("following the corpus failed and begins anew")
            self._stop.wait(self._every_seconds)

    def _probe(self) -> bool:
        """Ask once whether the store refuses stale swaps; a reader without rights cannot ask."""
        try:
            check_store(self.folder.store)
        except CarrelError as error:
            log.warning(
                "corpus can be read and not changed",
                extra={"reason": error.message, "action": error.next_step},
            )
        return True
