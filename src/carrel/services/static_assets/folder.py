"""Static files from a local folder, which is never left."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from carrel.services.static_assets.names import (
    DEFAULT_MAX_BYTES,
    DEFAULT_TIMEOUT_SECONDS,
    checked,
    missing,
    too_large,
)


class FolderAssets:
    """Reads files such as `md/<hash>.md` below one folder; links that lead out of it are files that
    do not exist.
    """

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
        """The whole file. FileNotFoundError where it is absent, TimeoutError when late, OSError for
        any other trouble.
        """
        return await asyncio.wait_for(
            asyncio.to_thread(self._read, checked(name)), self._timeout_seconds
        )

    async def close(self) -> None:
        """Nothing is held open."""

    def _read(self, name: str) -> bytes:
        root = self._folder.resolve()
        try:
            real = root.joinpath(*name.split("/")).resolve(strict=True)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise missing() from error
        if not real.is_relative_to(root) or not real.is_file():
            raise missing()
        # A link swapped in since the path was resolved is not followed.
        handle = os.open(
            real, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        )
        with os.fdopen(handle, "rb") as file:
            body = file.read(self._max_bytes + 1)
        if len(body) > self._max_bytes:
            raise too_large(self._max_bytes)
        return body
