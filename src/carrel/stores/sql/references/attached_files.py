"""Attached files as rows: their bytes in chunks, and copies in a folder of this machine."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from enum import Enum, auto
from pathlib import Path

from carrel.core.errors import ConflictError
from carrel.stores.sql.driver import Driver, Rows, Step, insert_if_absent
from carrel.stores.sql.references.statements import Steps

CHUNK_BYTES = 512 * 1024
_DRAFT_SECONDS = 24 * 3600.0
_LOOK_SECONDS = 120.0


class DatabaseFiles:
    """The files of one library, named by paths below `folder`, which need not exist there."""

    def __init__(self, driver: Driver, library: str, folder: Path) -> None:
        self._driver = driver
        self._library = library
        self.folder = folder
        self._marks: Mapping[str, str] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    async def read_text(self, path: Path) -> str:
        return (await self._read_whole(path, None)).decode("utf-8", "replace")

    async def read_bytes(self, path: Path, max_bytes: int) -> bytes:
        found = await self._find(path)
        if found is not None and found[1] > max_bytes:
            raise OSError(27, f"the file is larger than {max_bytes} bytes")
        return await self._read_whole(path, None)

    async def copy_in(self, source: Path, target: Path) -> None:
        """Stores the bytes of a file of this machine.

        Raises FileExistsError where the name is taken, ConflictError where the library is removed
        meanwhile.
        """
        content, digest, size, number = secrets.token_hex(16), hashlib.sha256(), 0, 0
        begun = await self._driver.transact(_begin_draft(self._library, content))
        async for chunk in _read_chunks(source):
            digest.update(chunk)
            size += len(chunk)
            await self._rows(
                "INSERT INTO reference_file_chunks (content, number, bytes) "
                "VALUES (:content, :number, :bytes)",
                content=content, number=number, bytes=chunk,
            )  # fmt: skip
            number += 1
        facts = {"content": content, "size_bytes": size, "digest": digest.hexdigest()}
        outcome = await self._driver.transact(self._publish(self._name(target), facts, begun))
        if outcome is _Outcome.REMOVED:
            raise ConflictError("The library was removed at this moment")
        if outcome is _Outcome.TAKEN:
            raise FileExistsError(errno.EEXIST, "there is a file of that name")

    async def write_in(self, content: bytes, target: Path) -> None:
        draft = self.folder / f".{secrets.token_hex(16)}"
        try:
            await asyncio.to_thread(_write_copy, draft, content)
            await self.copy_in(draft, target)
        finally:
            await asyncio.to_thread(draft.unlink, missing_ok=True)

    async def size(self, path: Path) -> int | None:
        found = await self._find(path)
        return None if found is None else found[1]

    async def digest(self, path: Path) -> str:
        name = self.name_inside(path)
        rows = await self._rows(
            "SELECT digest FROM reference_files WHERE library = :library AND path = :path",
            library=self._library, path=name or "",
        )  # fmt: skip
        return str(rows[0][0]) if rows else ""

    async def list_files(self, folder: Path) -> list[tuple[str, int]]:
        rows = await self._rows(
            "SELECT path, size_bytes FROM reference_files WHERE library = :library",
            library=self._library,
        )
        return [(str(path), int(size)) for path, size in rows]

    async def remove(self, path: Path) -> None:
        await self._driver.transact(self._drop(self._name(path)))

    async def exists(self, path: Path) -> bool:
        return await self._find(path) is not None

    def resolved(self, path: Path) -> Path:
        return path.expanduser().resolve()

    async def local_path(self, path: Path) -> Path:
        """A copy of the file on this machine, made now if there is none."""
        found = await self._find(path)
        if found is None:
            return path
        content, size = found
        copy = self.folder / content / path.name
        if not await asyncio.to_thread(_has_size, copy, size):
            data = await self._read_whole(path, None)
            await asyncio.to_thread(_write_copy, copy, data)
        return copy

    def remember_loop(self) -> None:
        """Lets `read_beginning` be called from threads while this loop runs."""
        self._loop = asyncio.get_running_loop()

    async def read_marks(self) -> None:
        """Reads for `mark` which files there are."""
        rows = await self._rows(
            "SELECT path, digest FROM reference_files WHERE library = :library",
            library=self._library,
        )
        self._marks = {str(path): str(digest) for path, digest in rows}

    def mark(self, name: str) -> str:
        """Changes with the bytes of a file; empty where there is none."""
        return self._marks.get(name, "")

    def read_beginning(self, name: str, max_bytes: int) -> bytes:
        """The first bytes of a file; blocks, for threads."""
        if self._loop is None:
            raise RuntimeError("the loop of the library is not known")
        reading = self._read_whole(self.folder / name, max_bytes)
        return asyncio.run_coroutine_threadsafe(reading, self._loop).result(_LOOK_SECONDS)

    def name_inside(self, path: Path) -> str | None:
        """The name of a path below the folder, or None where it leads out."""
        whole = Path(os.path.normpath(path))
        root = Path(os.path.normpath(self.folder))
        if whole.is_relative_to(root):
            return whole.relative_to(root).as_posix()
        root = Path(os.path.realpath(self.folder))
        return whole.relative_to(root).as_posix() if whole.is_relative_to(root) else None

    def _name(self, path: Path) -> str:
        name = self.name_inside(path)
        if name is None:
            raise ValueError("the path is not in the folder of attachments")
        return name

    async def _find(self, path: Path) -> tuple[str, int] | None:
        name = self.name_inside(path)
        if name is None:
            return None
        rows = await self._rows(
            "SELECT content, size_bytes FROM reference_files "
            "WHERE library = :library AND path = :path",
            library=self._library, path=name,
        )  # fmt: skip
        return (str(rows[0][0]), int(rows[0][1])) if rows else None

    async def _read_whole(self, path: Path, max_bytes: int | None) -> bytes:
        found = await self._find(path)
        if found is None:
            raise FileNotFoundError(2, "it is not attached")
        content, size = found
        wanted = size if max_bytes is None else min(size, max_bytes)
        data = bytearray()
        number = 0
        while len(data) < wanted:
            rows = await self._rows(
                "SELECT bytes FROM reference_file_chunks "
                "WHERE content = :content AND number = :number",
                content=content, number=number,
            )  # fmt: skip
            if not rows:
                raise OSError(5, "it was replaced while it was read")
            data += rows[0][0]
            number += 1
        return bytes(data[:wanted])

    def _publish(self, name: str, facts: Mapping[str, object], epoch: str) -> Steps[_Outcome]:
        """Gives the file its name in the library of that epoch; where that fails, chunks go."""
        # Held until the end: whoever removes the library now finds this file, or has won.
        held = yield (
            "UPDATE reference_libraries SET revision = revision WHERE library = :library "
            "RETURNING epoch",
            {"library": self._library},
        )
        outcome = _Outcome.REMOVED
        if _epoch_of(held) == epoch:
            added = yield insert_if_absent(
                "reference_files", {"library": self._library, "path": name, **facts}
            )
            outcome = _Outcome.ADDED if added else _Outcome.TAKEN
        if outcome is not _Outcome.ADDED:
            yield _delete_chunks(facts["content"])
        yield (
            "DELETE FROM reference_file_drafts WHERE content = :content",
            {"content": facts["content"]},
        )
        return outcome

    def _drop(self, name: str) -> Steps[None]:
        rows = yield (
            "DELETE FROM reference_files WHERE library = :library AND path = :path "
            "RETURNING content",
            {"library": self._library, "path": name},
        )
        for (content,) in rows:
            yield _delete_chunks(content)

    async def _rows(self, sql: str, **parameters: object) -> Rows:
        return (await self._driver.run((sql, parameters)))[0]


class _Outcome(Enum):
    """What became of a file whose bytes were written."""

    ADDED = auto()
    TAKEN = auto()
    REMOVED = auto()


def _begin_draft(library: str, content: str) -> Steps[str]:
    """Notes what is about to be written, and removes what killed processes left long ago.

    Returns the epoch of the library; empty where it has no row yet.
    """
    now = time.time()
    rows = yield (
        "DELETE FROM reference_file_drafts WHERE started_at < :before RETURNING content",
        {"before": now - _DRAFT_SECONDS},
    )
    for (left,) in rows:
        yield _delete_chunks(left)
    yield (
        "INSERT INTO reference_file_drafts (content, started_at) VALUES (:content, :now)",
        {"content": content, "now": now},
    )
    head = yield (
        "SELECT epoch FROM reference_libraries WHERE library = :library",
        {"library": library},
    )
    return _epoch_of(head)


def _epoch_of(rows: Rows) -> str:
    return str(rows[0][0]) if rows else ""


def _delete_chunks(content: object) -> Step:
    return "DELETE FROM reference_file_chunks WHERE content = :content", {"content": content}


async def _read_chunks(source: Path) -> AsyncIterator[bytes]:
    with await asyncio.to_thread(source.open, "rb") as opened:
        while chunk := await asyncio.to_thread(opened.read, CHUNK_BYTES):
            yield chunk


def _has_size(file: Path, size: int) -> bool:
    try:
        return file.stat().st_size == size
    except OSError:
        return False


def _write_copy(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        draft.write_bytes(data)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
