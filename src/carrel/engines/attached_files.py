"""Files that are attached to references: copied in whole or not at all."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import stat
from pathlib import Path

from carrel.core.errors import UnavailableError


class LocalFiles:
    """The machine's own files. Everything that touches the disk runs on a thread."""

    async def read_text(self, path: Path) -> str:
        return await asyncio.to_thread(path.read_text, encoding="utf-8", errors="replace")

    async def read_bytes(self, path: Path, max_bytes: int) -> bytes:
        return await asyncio.to_thread(_read_bounded, path, max_bytes)

    async def copy_in(self, source: Path, target: Path) -> None:
        await asyncio.to_thread(_copy, source, target)

    async def remove(self, path: Path) -> None:
        await asyncio.to_thread(_remove, path)

    async def exists(self, path: Path) -> bool:
        """Whether a file is there. UnavailableError where that cannot be told, such as in a folder that may not be read."""
        return await asyncio.to_thread(_is_file, path)

    def resolved(self, path: Path) -> Path:
        return path.expanduser().resolve()


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a usable path"
        raise UnavailableError(
            f"{path.name} cannot be looked at: {reason}", next_step="Check the path and who may read its folder."
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
