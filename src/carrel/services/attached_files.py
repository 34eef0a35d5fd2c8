"""Files that are attached to references: copied in whole or not at all."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import io
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from carrel.core.errors import DISK_FULL, InvalidInputError, StorageFullError, UnavailableError

# What the system says of a path that can name no file on it, whatever is on the disk.
_NOT_A_PATH = frozenset({errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL, errno.EILSEQ})
_SHOWN_CHARACTERS = 100


class LocalFiles:
    """Local files; every disk access runs on a thread."""

    async def read_text(self, path: Path) -> str:
        return await asyncio.to_thread(path.read_text, encoding="utf-8", errors="replace")

    async def read_bytes(self, path: Path, max_bytes: int) -> bytes:
        return await asyncio.to_thread(_read_bounded, path, max_bytes)

    async def copy_in(self, source: Path, target: Path) -> None:
        await asyncio.to_thread(_copy, source, target)

    async def write_in(self, content: bytes, target: Path) -> None:
        await asyncio.to_thread(_write, content, target)

    async def size(self, path: Path) -> int | None:
        return await asyncio.to_thread(_size, path)

    async def digest(self, path: Path) -> str:
        return await asyncio.to_thread(_digest, path)

    async def list_files(self, folder: Path) -> list[tuple[str, int]]:
        return await asyncio.to_thread(_list_files, folder)

    async def remove(self, path: Path) -> None:
        await asyncio.to_thread(_remove, path)

    async def exists(self, path: Path) -> bool:
        """Raises InvalidInputError for an impossible path, UnavailableError if access is denied."""
        return await asyncio.to_thread(_is_file, path)

    def resolved(self, path: Path) -> Path:
        return path.expanduser().resolve()

    async def local_path(self, path: Path) -> Path:
        return path


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except ValueError as error:
        raise InvalidInputError(
            "The path holds characters that no path may hold", next_step="Check the path."
        ) from error
    except OSError as error:
        shown = (
            path.name
            if len(path.name) <= _SHOWN_CHARACTERS
            else f"{path.name[:_SHOWN_CHARACTERS]}…"
        )
        reason = error.strerror or "unknown reason"
        if error.errno in _NOT_A_PATH:
            raise InvalidInputError(
                f"{shown} names no file: {reason}", next_step="Check the path."
            ) from error
        raise UnavailableError(
            f"{shown} cannot be looked at: {reason}",
            next_step="Check the path and who may read its folder.",
        ) from error


def _read_bounded(path: Path, max_bytes: int) -> bytes:
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise OSError(27, f"the file is larger than {max_bytes} bytes")
    return data


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as read:
        _write_from(read, target)


def _write(content: bytes, target: Path) -> None:
    _write_from(io.BytesIO(content), target)


def _size(path: Path) -> int | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _list_files(folder: Path) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    root = folder.expanduser().resolve()
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(place, name)
            if name.startswith(".") or path.is_symlink():
                continue
            size = _size(path)
            if size is not None:
                found.append((path.relative_to(root).as_posix(), size))
    return found


@contextmanager
def _translate_write_errors() -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno in DISK_FULL:
            raise StorageFullError.at("the folder of attached files") from error
        raise UnavailableError(
            f"The folder of attached files cannot be written: {error.strerror or 'unknown reason'}",
            next_step="Check who may write there; carrel doctor says more.",
        ) from error


@_translate_write_errors()
def _write_from(read: BinaryIO, target: Path) -> None:
    """Raises FileExistsError where the name is taken, also at this moment.

    Raises StorageFullError or UnavailableError where the folder cannot be written.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with draft.open("xb") as written:
            shutil.copyfileobj(read, written, 1024 * 1024)
            written.flush()
            os.fsync(written.fileno())
        # Claims the name: of two that write to it at once, one has to choose another.
        target.open("xb").close()
        try:
            draft.replace(target)
        except OSError:
            target.unlink(missing_ok=True)
            raise
    finally:
        draft.unlink(missing_ok=True)
    for folder in (target.parent, target.parent.parent):
        _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    """Makes the names in a folder last, where folders can be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    if path.parent.is_dir() and not any(path.parent.iterdir()):
        path.parent.rmdir()
