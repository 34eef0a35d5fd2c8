"""Files that are attached to references: copied in whole or not at all."""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import shutil
import stat
from pathlib import Path

from carrel.core.errors import InvalidInputError, UnavailableError

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

    async def remove(self, path: Path) -> None:
        await asyncio.to_thread(_remove, path)

    async def exists(self, path: Path) -> bool:
        """Raises InvalidInputError for an impossible path, UnavailableError if access is denied."""
        return await asyncio.to_thread(_is_file, path)

    def resolved(self, path: Path) -> Path:
        return path.expanduser().resolve()


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
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with source.open("rb") as read, draft.open("xb") as written:
            shutil.copyfileobj(read, written, 1024 * 1024)
            written.flush()
            os.fsync(written.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    if path.parent.is_dir() and not any(path.parent.iterdir()):
        path.parent.rmdir()
