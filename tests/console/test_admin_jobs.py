"""Work behind the admin pages: backups that stop when told to, and sizes of what lies on disk."""

from __future__ import annotations

import asyncio
import re
import tarfile
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from carrel.cli import main
from carrel.core.background_jobs import BackgroundJobs
from carrel.core.caller import Caller, Visit
from carrel.core.clock import SystemClock
from carrel.core.errors import CarrelError
from carrel.core.progress import Progress
from carrel.policy.scopes import ALL_SCOPES
from carrel.stores.home.storage_sizes import measure_home, measure_path
from carrel.stores.sql.jobs import SqlJobs
from carrel.stores.sqlite.driver import SqliteDriver
from carrel.wiring.admin_backups import BackupJob
from carrel.wiring.backup import Manifest
from carrel.wiring.console_admin import admin_operations
from carrel.wiring.desk import Desk, open_desk
from tests.console.served_desk import desk_settings

pytestmark = pytest.mark.promise("V1")
ADMIN = Caller("ada", ALL_SCOPES, "web")


def run_alone(story: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """In a thread of its own: playwright has a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(story())).result()


def test_a_cancelled_backup_stops_its_thread_and_leaves_no_failure(tmp_path: Path) -> None:
    began, ended = threading.Event(), threading.Event()

    def write_without_end(file: Path, progress: Progress) -> Manifest:
        progress.begin("copying", 100, "bytes")
        try:
            while True:
                progress.advance(1)
                began.set()
        finally:
            ended.set()

    async def story() -> None:
        store = SqlJobs(SqliteDriver(tmp_path / "jobs.db", SqlJobs.schema_steps))
        handlers = {"make_backup": BackupJob(tmp_path, write_without_end)}
        jobs = BackgroundJobs(store, handlers, SystemClock(), "worker")
        try:
            record = await jobs.submit("make_backup", "ada", "x.tar.gz", None)
            await asyncio.to_thread(began.wait, 20)
            assert (await jobs.cancel(record.id, "ada")).state == "cancelled"
            assert ended.is_set()
        finally:
            await jobs.close()

    run_alone(story)


def test_a_server_that_stops_ends_a_backup_under_way(tmp_path: Path) -> None:
    began, ended = threading.Event(), threading.Event()

    def write_without_end(file: Path, progress: Progress) -> Manifest:
        try:
            while True:
                progress.advance(1)
                began.set()
        finally:
            ended.set()

    async def story() -> None:
        store = SqlJobs(SqliteDriver(tmp_path / "jobs.db", SqlJobs.schema_steps))
        handlers = {"make_backup": BackupJob(tmp_path, write_without_end)}
        jobs = BackgroundJobs(store, handlers, SystemClock(), "worker")
        record = await jobs.submit("make_backup", "ada", "x.tar.gz", None)
        await asyncio.to_thread(began.wait, 20)
        await jobs.close()
        assert ended.is_set()
        again = SqlJobs(SqliteDriver(tmp_path / "jobs.db", SqlJobs.schema_steps))
        found = await again.get(record.id)
        await again.close()
        assert found is not None
        assert found.state == "failed"

    run_alone(story)


def with_desk(tmp_path: Path, story: Callable[[Desk], Coroutine[Any, Any, Any]]) -> Any:
    settings = desk_settings(tmp_path / "home", rooms=["knowledge"])

    async def run() -> Any:
        async with open_desk(settings).session(resumes_jobs=True) as desk:
            return await story(desk)

    return run_alone(run)


def test_a_damaged_backup_is_said_to_be_damaged(tmp_path: Path) -> None:
    async def story(desk: Desk) -> None:
        operations = {each.name: each for each in admin_operations(desk)}
        visit = Visit("http", "r")

        async def ask(operation: str, **arguments: Any) -> Any:
            return await desk.gate.call(operations[operation], arguments, ADMIN, visit)

        async def wait_for_jobs() -> Any:
            while (found := await ask("list_backups")).jobs[0].state == "running":
                await asyncio.sleep(0)
            return found

        await ask("make_backup")
        made = await wait_for_jobs()
        assert made.jobs[0].state == "completed"
        name = made.backups[0].name
        file = desk.settings.home / "backups" / name
        body = bytearray(file.read_bytes())
        body[len(body) // 2] ^= 0xFF
        file.write_bytes(body)
        await ask("check_backup", name=name)
        found = await wait_for_jobs()
        assert found.jobs[0].state == "failed"
        # What is met first, the archive's end or a file in it, depends on its size.
        assert re.search("is damaged|is not a backup", found.jobs[0].message)
        # A backup is no part of the next one.
        await ask("remove_backup", name=name)
        assert (await ask("list_backups")).backups == []

    with_desk(tmp_path, story)


def test_a_restore_leaves_the_backups_where_they_are_and_carries_none(tmp_path: Path) -> None:
    home = tmp_path / "home"

    async def story(desk: Desk) -> str:
        operations = {each.name: each for each in admin_operations(desk)}
        visit = Visit("http", "r")
        for _ in range(2):
            await desk.gate.call(operations["make_backup"], {}, ADMIN, visit)
            while True:
                found = await desk.gate.call(operations["list_backups"], {}, ADMIN, visit)
                if found.jobs[0].state != "running":
                    break
                await asyncio.sleep(0)
            (newest, *_) = found.backups
            (home / "backups" / newest.name).rename(home / "backups" / f"x-{newest.name}")
        return f"x-{newest.name}"

    name = with_desk(tmp_path, story)
    file = home / "backups" / name
    with tarfile.open(file) as archive:
        assert not [each for each in archive.getnames() if "/backups/" in each]
    assert main(["restore", str(file), "--home", str(home), "--force", "--quiet"]) == 0
    assert file.is_file()
    (aside,) = home.glob("before-restore-*")
    assert not (aside / "backups").exists()


def test_where_the_home_does_not_last_no_backup_is_kept_in_it(tmp_path: Path) -> None:
    async def story(desk: Desk) -> None:
        changed = desk.settings.server.model_copy(update={"home_is_persistent": False})
        object.__setattr__(desk, "settings", desk.settings.model_copy(update={"server": changed}))
        operations = {each.name: each for each in admin_operations(desk)}
        visit = Visit("http", "r")
        found = await desk.gate.call(operations["list_backups"], {}, ADMIN, visit)
        assert not found.can_make
        for name in ("make_backup", "check_backup", "download_backup", "remove_backup"):
            arguments = {} if name == "make_backup" else {"name": "x.tar.gz"}
            with pytest.raises(CarrelError, match="does not last") as refusal:
                await desk.gate.call(operations[name], arguments, ADMIN, visit)
            assert refusal.value.code == "not_configured"

    with_desk(tmp_path, story)


def test_sizes_are_counted_by_part_and_links_are_not_followed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "papers" / "segments").mkdir(parents=True)
    (home / "papers" / "segments" / "a").write_bytes(b"12345")
    (home / "papers" / "manifest.json").write_bytes(b"1")
    (home / "access.sqlite").write_bytes(b"123")
    (home / "access.sqlite-wal").write_bytes(b"4567")
    (home / "carrel.toml").write_bytes(b"xx")
    (tmp_path / "elsewhere").write_bytes(b"x" * 100_000)
    (home / "papers" / "link").symlink_to(tmp_path / "elsewhere")
    found = measure_home(home)
    assert (found["access"].size_bytes, found["access"].file_count) == (7, 2)
    assert (found["other"].size_bytes, found["other"].file_count) == (2, 1)
    assert found["papers"].file_count == 3
    assert found["papers"].size_bytes < 1000
    assert measure_path(tmp_path / "nothing").file_count == 0
    assert measure_home(tmp_path / "nothing") == {}
