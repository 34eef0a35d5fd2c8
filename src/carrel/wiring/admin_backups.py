"""Backups into the home's own folder: written and checked as jobs, listed, read and removed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.core.background_jobs import BackgroundJobs, JobLostError, JobProgress, JobRun
from carrel.core.errors import CarrelError, NotFoundError
from carrel.doors.web.admin.models import BackupFile
from carrel.settings import Settings
from carrel.stores.backup.backup_list import BACKUPS_FOLDER_NAME
from carrel.wiring.backup import (
    Manifest,
    backup_name,
    backup_places,
    check_backup,
    kept_elsewhere,
    make_backup,
    open_database_copies,
)
from carrel.wiring.home import embedded_databases
from carrel.wiring.jobs import open_jobs

if TYPE_CHECKING:
    from carrel.core.clock import Clock
    from carrel.core.progress import Progress
    from carrel.wiring.desk import Desk

MAKE, CHECK = "make_backup", "check_backup"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,150}\.tar\.gz")
_LOOK_SECONDS = 0.5
_PIECE_BYTES = 1024 * 1024


class BackupStoppedError(JobLostError):
    """The job was cancelled while the backup was written or read."""


class ThreadProgress:
    """Progress of work in a thread, which stops it when it is told to."""

    def __init__(self) -> None:
        self.phase = ""
        self.done = 0
        self.total: int | None = None
        self.is_stopped = False

    def begin(self, phase: str, total: int | None, unit: str, work: float | None = None) -> None:
        self.phase, self.total, self.done = phase, total, 0

    def advance(self, amount: int = 1, work: float | None = None) -> None:
        if self.is_stopped:
            raise BackupStoppedError("The backup was stopped")
        self.done += amount

    def end(self) -> None:
        return None


class BackupJob:
    """Runs work on one backup in a thread; `work` takes the file and returns what was found."""

    is_resumable = False

    def __init__(self, folder: Path, work: Callable[[Path, Progress], Manifest]) -> None:
        self._folder = folder
        self._work = work

    async def run(self, job: JobRun) -> str:
        progress, file = ThreadProgress(), self._folder / job.record.input
        thread = asyncio.create_task(asyncio.to_thread(self._work, file, progress))
        try:
            while not thread.done():
                await asyncio.wait({thread}, timeout=_LOOK_SECONDS)
                told = f"{file.name}: {progress.phase}"
                await job.save(JobProgress("", progress.done, progress.total, told))
        finally:
            progress.is_stopped = True
            with suppress(CarrelError, OSError):
                await asyncio.shield(thread)
        manifest = thread.result()
        size = (await asyncio.to_thread(file.stat)).st_size
        return (
            f"{file.name} is whole: {manifest.summary}, in {size:,} bytes, made by Carrel "
            f"{manifest.carrel}."
        )


class HomeBackups:
    """The folder of backups in a home."""

    def __init__(self, desk: Desk) -> None:
        settings: Settings = desk.settings
        clock: Clock = desk.clock
        self._settings = settings
        self._clock = clock
        self._folder = settings.home / BACKUPS_FOLDER_NAME
        self.folder = str(self._folder)
        self.elsewhere = kept_elsewhere(settings)
        self.jobs: BackgroundJobs = open_jobs(
            settings,
            {
                MAKE: BackupJob(self._folder, self._make),
                CHECK: BackupJob(self._folder, check_backup),
            },
            clock,
        )

    @property
    def problem(self) -> str:
        if not self._settings.keeps_home:
            return "The home folder does not last here, and a backup in it would not either"
        return ""

    async def list_files(self) -> list[BackupFile]:
        return await asyncio.to_thread(_list_files, self._folder)

    async def start_backup(self, owner: str) -> str:
        name = backup_name(self._clock)
        return (await self.jobs.submit(MAKE, owner, name, None)).id

    async def start_check(self, name: str, owner: str) -> str:
        self._find(name)
        return (await self.jobs.submit(CHECK, owner, name, None)).id

    async def remove(self, name: str) -> None:
        await asyncio.to_thread(self._find(name).unlink, missing_ok=True)

    def read(self, name: str) -> tuple[int, AsyncIterator[bytes]]:
        file = self._find(name)
        return file.stat().st_size, _read_pieces(file)

    def _make(self, file: Path, progress: Progress) -> Manifest:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        # Without this the file would lack what is gone, and be named as the newest to restore.
        embedded_databases(self._settings).refuse_replaced()
        return make_backup(
            backup_places(self._settings),
            file,
            elsewhere=self.elsewhere,
            may_replace=False,
            progress=progress,
            clock=self._clock,
            database=open_database_copies(self._settings),
        )

    def _find(self, name: str) -> Path:
        file = self._folder / name
        if not _NAME.fullmatch(name) or file.is_symlink() or not file.is_file():
            raise NotFoundError("Backup", name[:100], next_step="Load the page again.")
        return file


def _list_files(folder: Path) -> list[BackupFile]:
    found = []
    for file in folder.glob("*.tar.gz") if folder.is_dir() else ():
        with suppress(OSError):
            facts = file.lstat()
            if file.is_symlink() or not _NAME.fullmatch(file.name):
                continue
            made_at = datetime.fromtimestamp(facts.st_mtime, UTC).isoformat(timespec="seconds")
            found.append(BackupFile(name=file.name, size_bytes=facts.st_size, made_at=made_at))
    return sorted(found, key=lambda each: (each.made_at, each.name), reverse=True)


async def _read_pieces(file: Path) -> AsyncIterator[bytes]:
    stream = await asyncio.to_thread(file.open, "rb")
    try:
        while piece := await asyncio.to_thread(stream.read, _PIECE_BYTES):
            yield piece
    finally:
        stream.close()
