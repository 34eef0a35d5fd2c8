"""What adds papers to the corpus of a server: files, uploads, and long work as jobs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.core.clock import SystemClock
from carrel.core.progress import Progress
from carrel.rooms.papers.addition import PaperAdder
from carrel.rooms.papers.addition_job import KIND, AdditionJob, AdditionWaits
from carrel.rooms.papers.models import PaperAdded, PaperRemoved
from carrel.rooms.papers.ports import PaperInbox, WorkLookup
from carrel.rooms.papers.uploads import UploadLimits, Uploads
from carrel.settings import Settings
from carrel.wiring.papers_published import copy_folder, find_copy

if TYPE_CHECKING:
    from carrel.core.background_jobs import BackgroundJobs
    from carrel.services.paper_sources.warm_reader import WarmReader
    from carrel.stores.objects.uploads import UploadObjects
    from carrel.stores.upload_files import UploadFolder

# Up to this size a text is added in a thread: starting a process would cost ten times as much.
_SMALL_BYTES = 256 * 1024
UPLOADS_NAME = "uploads"


class LazyReader:
    """The reader process that stays between additions, once a first one has started it."""

    def __init__(self) -> None:
        self._reader: WarmReader | None = None

    def open(self) -> WarmReader:
        # Imported with the data of builds, which a server needs only now.
        from carrel.services.paper_sources.warm_reader import WarmReader

        if self._reader is None:
            self._reader = WarmReader()
        return self._reader

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()


def open_uploads(settings: Settings) -> Uploads:
    """The uploads of this home; nothing is made before the first one."""
    return Uploads(open_upload_store(settings), _upload_limits(settings))


def open_upload_store(settings: Settings) -> UploadFolder | UploadObjects:
    """What was sent in pieces so far, by whom: in the home, or beside the published corpus."""
    limits, copy = _upload_limits(settings), copy_folder(settings)
    if copy is not None and settings.papers.corpus_url is not None:
        from carrel.stores.objects.addresses import open_objects
        from carrel.stores.objects.uploads import UploadObjects

        objects = open_objects(settings.papers.corpus_url)
        return UploadObjects(objects, copy / UPLOADS_NAME, limits, SystemClock())
    from carrel.stores.upload_files import UploadFolder

    return UploadFolder(settings.home / UPLOADS_NAME, limits, SystemClock())


def _upload_limits(settings: Settings) -> UploadLimits:
    chosen = settings.papers
    return UploadLimits(
        chosen.max_upload_bytes,
        chosen.max_open_uploads,
        chosen.max_upload_bytes_per_caller,
        chosen.upload_hours,
    )


def paper_adder(
    into: Path,
    lookup: WorkLookup | None,
    settings: Settings | None = None,
    uploads: Uploads | None = None,
    reader: LazyReader | None = None,
) -> PaperAdder:
    """Changes the corpus in `into`; long texts are added in a process of their own.

    A PDF is added here: its reader works in a process that can be ended. Without settings there are
    no jobs, and no path is allowed over HTTP.
    """

    async def add_file(file: Path) -> PaperAdded:
        file = await asyncio.to_thread(_find_here, into, file)
        if await asyncio.to_thread(_is_cheap, file):
            return await asyncio.to_thread(_add_here, into, file, reader)
        from carrel.services.child_process import add_in_child

        return await add_in_child(_add_here, into, file)

    async def take_files(
        path: Path, within: tuple[Path, ...] | None, progress: Progress
    ) -> PaperAdded:
        return await asyncio.to_thread(_take_here, into, path, within, progress, reader)

    async def remove(paper_id: str, who: str) -> PaperRemoved:
        return await asyncio.to_thread(_remove_here, into, paper_id, who)

    def open_inbox() -> PaperInbox:
        # Imported with the data of builds, which a server needs only now.
        from carrel.stores.sqlite.papers import INBOX_NAME
        from carrel.stores.static_folder import PaperInboxFolder

        folder, copy = PaperInboxFolder(into / INBOX_NAME), find_copy(into)
        if copy is None:
            return folder
        from carrel.stores.corpus.published.inbox import PublishedInbox

        return PublishedInbox(folder, copy.store)

    def open_paper_jobs(handler: AdditionJob) -> BackgroundJobs:
        from carrel.wiring.jobs import open_jobs

        assert settings is not None
        return open_jobs(settings, {KIND: handler}, SystemClock())

    chosen = None if settings is None else settings.papers
    return PaperAdder(
        open_inbox,
        add_file,
        remove,
        lookup,
        take_files=take_files,
        uploads=uploads,
        open_jobs=None if settings is None else open_paper_jobs,
        waits=None
        if chosen is None
        else AdditionWaits(chosen.add_wait_seconds, chosen.task_after_seconds),
        allowed_folders=() if chosen is None else chosen.allowed_folders,
    )


def _find_here(into: Path, file: Path) -> Path:
    """A file of the inbox, fetched where another server that shares the corpus took it in."""
    copy = None if file.exists() else find_copy(into)
    if copy is None:
        return file
    from carrel.stores.corpus.published.inbox import PublishedInbox
    from carrel.stores.sqlite.papers import INBOX_NAME
    from carrel.stores.static_folder import PaperInboxFolder

    return PublishedInbox(PaperInboxFolder(into / INBOX_NAME), copy.store).find(file)


def _is_cheap(file: Path) -> bool:
    return file.suffix == ".pdf" or file.stat().st_size <= _SMALL_BYTES


def _add_here(into: Path, file: Path, reader: LazyReader | None = None) -> PaperAdded:
    from carrel.wiring.papers_build import add_paper_file

    is_read_apart = reader is not None and file.suffix == ".pdf"
    return add_paper_file(into, file, reader.open().read_all if reader and is_read_apart else None)


def _take_here(
    into: Path,
    path: Path,
    within: tuple[Path, ...] | None,
    progress: Progress,
    reader: LazyReader | None,
) -> PaperAdded:
    from carrel.wiring.papers_build import take_path

    is_one_pdf = reader is not None and path.suffix.lower() == ".pdf" and path.is_file()
    read_warm = reader.open().read_all if reader and is_one_pdf else None
    return take_path(into, path, within, progress, read_warm)


def _remove_here(into: Path, paper_id: str, who: str) -> PaperRemoved:
    from carrel.wiring.papers_build import remove_paper

    return remove_paper(into, paper_id, who)
