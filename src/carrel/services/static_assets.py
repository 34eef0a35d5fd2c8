"""Static files from a local folder, which is never left."""

from __future__ import annotations

import asyncio
import errno
import os
import re
from pathlib import Path

DEFAULT_TIMEOUT_SECONDS = 10.0
DEFAULT_MAX_BYTES = 32 * 1024 * 1024

_PIECE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}")


class FolderAssets:
    """Reads files such as `md/<hash>.md` below one folder; links out of it count as absent."""

    def __init__(
        self,
        folder: Path,
        *,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> None:
        self._folder = folder
        self._timeout_seconds = timeout_seconds
        self._max_bytes = max_bytes

    async def read(self, name: str) -> bytes:
        """Raises FileNotFoundError, TimeoutError, or OSError for any other failure."""
        return await asyncio.wait_for(
            asyncio.to_thread(self._read, check_name(name)), self._timeout_seconds
        )

    async def close(self) -> None:
        """Nothing is held open."""

    def _read(self, name: str) -> bytes:
        root = self._folder.resolve()
        try:
            real = root.joinpath(*name.split("/")).resolve(strict=True)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise file_not_found() from error
        if not real.is_relative_to(root) or not real.is_file():
            raise file_not_found()
        # A link swapped in since the path was resolved is not followed.
        handle = os.open(
            real, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        )
        with os.fdopen(handle, "rb") as file:
            body = file.read(self._max_bytes + 1)
        if len(body) > self._max_bytes:
            raise file_too_large(self._max_bytes)
        return body


def check_name(name: str) -> str:
    """The name if every piece of it is plain; one that climbs or hides raises FileNotFoundError."""
    if not all(_PIECE.fullmatch(piece) for piece in name.split("/")):
        raise file_not_found()
    return name


def file_not_found() -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, "no such static file")


def file_too_large(max_bytes: int) -> OSError:
    return OSError(errno.EFBIG, f"the static file is larger than {max_bytes} bytes")
