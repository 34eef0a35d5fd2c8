"""Keeps a corpus in step with folders: one look after the other, in a command or in a server."""

from __future__ import annotations

import logging
import shlex
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from carrel.core.errors import CarrelError
from carrel.core.progress import NoProgress, Progress
from carrel.rooms.papers.building.intake import Intake, PaperIntake
from carrel.rooms.papers.building.models import BuildOptions
from carrel.services.folder_watch import FolderWatcher
from carrel.services.things_to_add import is_note
from carrel.stores.file_lock import LockHeldError, hold_lock
from carrel.stores.sqlite.papers import WORKSHOP_NAME
from carrel.stores.sqlite.papers.build_locks import wait_for_other_additions
from carrel.wiring.papers_build import paper_builder

log = logging.getLogger("carrel.watch")

Say = Callable[[str], None]
LOCK_NAME = "watch.lock"


class CorpusWatch:
    """One corpus and the folders it follows; `say` gets one line for each change or problem.

    With `has_notes`, as on a desk, Markdown files that are notes are left to `carrel add`.
    """

    def __init__(
        self,
        into: Path,
        folders: Sequence[Path],
        say: Say,
        complain: Say,
        progress: Progress | None = None,
        *,
        has_notes: bool = False,
    ) -> None:
        self._into = into
        self._folders = [folder.expanduser().absolute() for folder in folders]
        self._watcher = FolderWatcher(self._folders)
        self._say = say
        self._complain = complain
        self._progress = progress or NoProgress()
        self.last_taken: Intake | None = None
        self._is_in_step = False
        self._complaint = ""
        self._is_note = partial(is_note, folders=self._folders) if has_notes else None
        self._has_told_notes = False

    def run(self, stop: threading.Event, every_seconds: float) -> None:
        """Look until `stop` is set; what goes wrong is told, and tried again at the next look."""
        while not stop.is_set():
            self.step()
            stop.wait(every_seconds)

    def step(self) -> bool:
        """Bring the corpus in step; whether that could be done."""
        try:
            if self._is_in_step:
                self._follow()
            else:
                self._bring_in_step()
        except CarrelError as error:
            self._complain_once(f"{error.message.rstrip('.')}. {error.next_step}".strip())
            return False
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            self._complain_once(f"{place}{error.strerror or error}")
            return False
        self._complaint = ""
        return True

    def _bring_in_step(self) -> None:
        self._watcher.begin()
        for folder in self._folders:
            if not folder.is_dir():
                self._complain_once(f"{folder} is not there; what came from it stays")
        with self._open_builder(BuildOptions()) as builder:
            taken = builder.sync(self._folders, self._progress, self._hold_back, self._is_note)
        self._tell(taken)
        self._is_in_step = True

    def _follow(self) -> None:
        paths = self._watcher.find_changes()
        if not paths:
            return
        # Few files need no pool of processes of their own.
        options = BuildOptions(workers=1) if len(paths) == 1 else BuildOptions()
        with self._open_builder(options) as builder:
            taken = builder.follow(paths, NoProgress(), self._is_note)
        self._watcher.settle(paths)
        self._tell(taken)

    @contextmanager
    def _open_builder(self, options: BuildOptions) -> Iterator[PaperIntake]:
        with (
            wait_for_other_additions(self._into / WORKSHOP_NAME),
            paper_builder(self._into, options) as builder,
        ):
            yield builder

    def _hold_back(self, gone: Sequence[str]) -> set[str]:
        held = self._watcher.held_back(gone)
        for folder, paths in held.items():
            self._complain_once(
                f"{folder} is empty, as if a disk were not mounted: {len(paths):,} papers stay. If "
                f"they were removed, carrel papers build {folder} takes them out"
            )
        return {path for paths in held.values() for path in paths}

    def _tell(self, taken: Intake) -> None:
        self.last_taken = taken
        for change in taken.changes:
            self._say(str(change))
        for line in taken.lines:
            self._complain(str(line))
        if taken.notes and not self._has_told_notes:
            self._has_told_notes = True
            one = Path(taken.notes[0])
            folder = next(each for each in self._folders if one.is_relative_to(each))
            self._complain(
                f"{len(taken.notes):,} of the Markdown files are notes, such as {one}, and no "
                f"papers: carrel add {shlex.quote(str(folder))} keeps notes, carrel add FILE "
                f"--as papers makes papers of them"
            )

    def _complain_once(self, text: str) -> None:
        """The same trouble at every look is told once."""
        if text != self._complaint:
            self._complain(text)
        self._complaint = text


class ServerWatch:
    """The watch of a server: a thread of whichever worker holds the lock."""

    def __init__(self, into: Path, folders: Sequence[Path], every_seconds: float) -> None:
        self._into = into
        self._folders = folders
        self._every_seconds = every_seconds
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="folder watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends after the change it is at, which is short."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        workshop = self._into / WORKSHOP_NAME
        while not self._stop.is_set():
            with suppress(LockHeldError, OSError):
                workshop.mkdir(parents=True, exist_ok=True)
                with hold_lock(workshop / LOCK_NAME):
                    self._watch()
            # Another worker watches; it may end one day.
            self._stop.wait(self._every_seconds)

    def _watch(self) -> None:
        def say(text: str) -> None:
            log.info("source changed", extra={"change": text})

        def complain(text: str) -> None:
            log.warning("folder not followed", extra={"reason": text})

        watch = CorpusWatch(self._into, self._folders, say, complain, has_notes=True)
        try:
            watch.run(self._stop, self._every_seconds)
        except Exception:
            log.exception("the folder watch failed and begins anew")
