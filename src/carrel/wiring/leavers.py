"""What somebody leaves: counted, exported, handed over or erased, over all stores of the desk."""

from __future__ import annotations

import asyncio
import io
import json
import os
import shutil
import tarfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from carrel.core.caller import LOCAL_USER, library_name
from carrel.core.clock import Clock
from carrel.core.errors import ConflictError, InvalidInputError, NotFoundError
from carrel.policy.authorization.administration import no_such_user
from carrel.rooms.knowledge.leaving import LeavingNotes
from carrel.rooms.papers.uploads import Upload, UploadNotFoundError
from carrel.rooms.references.leaving import LeavingLibrary
from carrel.rooms.references.ports import Libraries
from carrel.services.attached_files import LocalFiles
from carrel.settings import Settings
from carrel.settings.places import audit_place
from carrel.stores.csl_json.library_ends import FileLibraryEnds
from carrel.stores.csl_json.user_libraries import UserLibraries
from carrel.stores.note_folders import FILE_NAME, NoteFoldersFile
from carrel.stores.objects.uploads import UploadObjects
from carrel.stores.sql.access import SqlAccess
from carrel.stores.sql.driver import Driver
from carrel.stores.sql.jobs import SCRIPTS as JOBS
from carrel.stores.sql.literature.schema import SCRIPTS as LITERATURE
from carrel.stores.sql.personal_rows import (
    FORMER_MEMBER,
    ORPHANED_LIBRARIES,
    PERSONAL_TABLES,
    count_rows,
    erase_note_authors,
    erase_rows,
    export_statements,
    forget_shelves,
    hand_over_rows,
)
from carrel.stores.sql.quotas import SCRIPTS as QUOTAS
from carrel.stores.sql.research.schema import SCRIPTS as RESEARCH
from carrel.stores.upload_files import UploadFolder
from carrel.wiring.home import open_driver
from carrel.wiring.knowledge import open_stores
from carrel.wiring.papers_adding import open_upload_store
from carrel.wiring.references import (
    library_path,
    open_members_driver,
    open_row_libraries,
    open_search,
    users_folder,
)

_STEPS = {
    "research": RESEARCH,
    "literature": LITERATURE,
    "jobs": JOBS,
    "quotas": QUOTAS,
    "access": SqlAccess.schema_steps,
}
_HISTORY = {"sqlite": "note_history", "postgres": "knowledge_history"}


@dataclass(slots=True)
class Leaving:
    """One person's leaving; every step may be done again after a kill."""

    settings: Settings
    name: str
    clock: Clock
    drivers: dict[str, Driver]
    notes: LeavingNotes
    history: Driver | None
    library: LeavingLibrary
    uploads: UploadFolder | UploadObjects
    folders: NoteFoldersFile
    access: SqlAccess

    async def count(self) -> dict[str, int]:
        """How much there is of each kind, in the order of the report."""
        found = await self.notes.count(self.name)
        found |= await self.library.count(self.name)
        for part in PERSONAL_TABLES:
            found |= await self.drivers[part].transact(
                count_rows(part, self.name), is_read_only=True
            )
        found["uploads under way"] = len(await self._list_uploads())
        found["folders of notes"] = len(
            [row for row in self.folders.all() if row.user_id == self.name]
        )
        return found

    def audit_says(self) -> str:
        """What is said of the log, of which nothing is taken."""
        return (
            f"The audit log ({audit_place(self.settings)}) stays: it can only grow, and what "
            f"{self.name} did is in it until it expires."
        )

    async def refuse_nobody(self, counts: dict[str, int]) -> None:
        """Raises NotFoundError where nothing at all is kept of the person."""
        if self.name == LOCAL_USER:
            raise InvalidInputError(
                "local is whoever works at this machine", next_step="Name a user of the desk."
            )
        if not any(counts.values()):
            raise no_such_user(self.name)

    async def refuse_other(self, other: str) -> None:
        """Raises where the other person cannot take what is handed over."""
        if other == self.name:
            raise InvalidInputError(
                "Nobody can hand over to themselves", next_step="Name somebody else."
            )
        user = await self.access.user(other)
        if user is None and self.settings.auth.mode in {"builtin", "tokens"}:
            raise NotFoundError("User", other, next_step="carrel users list shows who there is.")
        if user is not None and user.is_disabled:
            raise ConflictError(f"{other} is disabled", next_step="Name somebody who is not.")

    async def refuse_orphans(self) -> None:
        """Raises ConflictError where a shared library would have no owner any more."""
        (rows,) = await self.drivers["library_members"].run(
            (ORPHANED_LIBRARIES, {"name": self.name})
        )
        if rows:
            named = ", ".join(str(row[0]) for row in rows[:10])
            raise ConflictError(
                f"{self.name} is the only owner of shared libraries: {named}",
                next_step="Hand over instead, or make somebody else an owner first.",
                details={"libraries": [str(row[0]) for row in rows[:100]]},
            )

    async def lock_out(self) -> None:
        """Ends what acts for the person, so that nothing is added meanwhile."""
        now = self.clock.now().timestamp()
        if await self.access.set_disabled(self.name, True, now):
            for token in await self.access.tokens():
                if token.user_name == self.name:
                    await self.access.revoke_token(token.name, now)

    async def export(self, file: Path) -> None:
        """Writes all of it, but secrets, into a tar file that is there whole or not at all."""
        draft = file.with_name(f"{file.name}.part")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            with tarfile.open(fileobj=stream, mode="w:gz") as archive:

                def put(name: str, content: bytes) -> None:
                    info = tarfile.TarInfo(name)
                    info.size, info.mode = len(content), 0o600
                    info.mtime = int(self.clock.now().timestamp())
                    archive.addfile(info, io.BytesIO(content))

                notes = [_plain_note(asdict(note)) async for note in self.notes.export(self.name)]
                put("notes.json", _as_json(notes))
                await self.library.export(self.name, put)
                for part in PERSONAL_TABLES:
                    for table, rows in (await self._export_part(part)).items():
                        put(f"{part}/{table}.json", _as_json(rows))
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(file)

    async def hand_over(self, other: str) -> None:
        """Gives what the person made to another, then ends the account."""
        await self.lock_out()
        await self.notes.hand_over(self.name, other)
        await self.library.hand_over(self.name, other)
        for part in PERSONAL_TABLES:
            if part != "access":
                await self.drivers[part].transact(hand_over_rows(part, self.name, other))
        await self._end()

    async def erase(self) -> None:
        """Removes all of it; what the team has stays, by nobody."""
        await self.refuse_orphans()
        await self.lock_out()
        await self.notes.erase(self.name, FORMER_MEMBER)
        if self.history is not None:
            table = _HISTORY[self.settings.knowledge_store]
            await self.history.run(erase_note_authors(table, self.name))
        await self.library.erase(self.name)
        for part in PERSONAL_TABLES:
            if part != "access":
                await self.drivers[part].transact(erase_rows(part, self.name))
        await self._end()

    async def _end(self) -> None:
        """What nobody else can use, and at the very last the account."""
        for upload in await self._list_uploads():
            with suppress(UploadNotFoundError):
                await asyncio.to_thread(self.uploads.remove, upload.id, self.name)
        if self.history is not None and self.settings.knowledge_store == "sqlite":
            await self.history.run(forget_shelves(self.name))
        with self.folders.hold():
            known = self.folders.all()
            kept = [row for row in known if row.user_id != self.name]
            if len(kept) < len(known):
                self.folders.replace(kept)
        answers = self.settings.home / "cache" / "answers" / library_name(self.name)
        await asyncio.to_thread(shutil.rmtree, answers, ignore_errors=True)
        for part in PERSONAL_TABLES:
            await self.drivers[part].transact(erase_rows(part, self.name, account_only=True))

    async def _list_uploads(self) -> list[Upload]:
        return await asyncio.to_thread(self.uploads.list_of, self.name)

    async def _export_part(self, part: str) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for table, statement, owned in export_statements(part):
            (names,) = await self.drivers[part].run(_columns_of(self.settings, table))
            columns = [str(row[0]) for row in names if str(row[0]) not in owned.secret]
            listed = ", ".join(columns)
            chosen = statement.replace("SELECT *", f"SELECT {listed}", 1)
            (rows,) = await self.drivers[part].run((chosen, {"name": owned.prefix + self.name}))
            if rows:
                found[table] = [dict(zip(columns, row, strict=True)) for row in rows]
        return found


@asynccontextmanager
async def open_leaving(settings: Settings, name: str, clock: Clock) -> AsyncIterator[Leaving]:
    """Everything that may hold something of a person, closed at the end."""
    async with AsyncExitStack() as closing:
        drivers = {part: open_driver(settings, part, steps) for part, steps in _STEPS.items()}
        drivers["library_members"] = open_members_driver(settings)
        for driver in drivers.values():
            closing.push_async_callback(driver.close)
        stores = open_stores(settings)
        closing.push_async_callback(stores.notes.close)
        history = None
        if settings.knowledge_store in _HISTORY:
            history = _open_history(settings)
            closing.push_async_callback(history.close)
        yield Leaving(
            settings,
            name,
            clock,
            drivers,
            LeavingNotes(stores.notes, clock),
            history,
            _open_library(settings, closing),
            open_upload_store(settings),
            NoteFoldersFile(settings.home / FILE_NAME),
            SqlAccess(drivers["access"]),
        )


def _open_library(settings: Settings, closing: AsyncExitStack) -> LeavingLibrary:
    files = UserLibraries(
        library_path(settings), users_folder(settings), settings.references.attachments, open_search
    )
    closing.push_async_callback(files.close)
    libraries: Libraries = files
    if settings.has_library_rows:
        from carrel.stores.sql.references.libraries import RowLibraries
        from carrel.stores.sql.references.library_ends import RowLibraryEnds

        rows = open_row_libraries(settings)
        ends = RowLibraryEnds(open_driver(settings, "references", RowLibraries.schema_steps))
        closing.push_async_callback(rows.close)
        closing.push_async_callback(ends.close)
        libraries = rows
        return LeavingLibrary(libraries, ends, LocalFiles())
    return LeavingLibrary(libraries, FileLibraryEnds(users_folder(settings)), LocalFiles())


def _open_history(settings: Settings) -> Driver:
    """The database of the notes, for what is no note."""
    if settings.knowledge_store == "postgres":
        from carrel.stores.postgres.knowledge import STEPS

        return open_driver(settings, "knowledge", STEPS)
    from carrel.stores.sqlite.driver import SqliteDriver
    from carrel.stores.sqlite.knowledge import STEPS as SQLITE_STEPS

    return SqliteDriver(settings.home / "knowledge.sqlite", SQLITE_STEPS)


def _columns_of(settings: Settings, table: str) -> tuple[str, dict[str, object]]:
    if settings.database.url:
        sql = (
            "SELECT column_name FROM information_schema.columns WHERE table_name = :name "
            "AND table_schema = current_schema() ORDER BY ordinal_position"
        )
    else:
        sql = "SELECT name FROM pragma_table_info(:name)"
    return sql, {"name": table}


def _plain_note(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        **facts,
        "created_at": facts["created_at"].isoformat(),
        "updated_at": facts["updated_at"].isoformat(),
    }


def _as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str).encode()
