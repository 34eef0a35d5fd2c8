"""Whether a library file can be used."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from carrel.core.errors import CarrelError
from carrel.core.health import Health
from carrel.stores.csl_json.library import CslJsonLibrary

_END_BYTES = 4096


_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class LibraryHealth:
    """Whether the library at a path can be used."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def check(self) -> Health:
        """Reads the whole library."""
        path = self._path
        if path.is_dir():
            return Health(
                False, f"{path} is a folder", "Name a file with references.library or --library."
            )
        if not path.exists():
            return Health(True, f"{path} (made by the first reference)")
        library = CslJsonLibrary(path)
        try:
            count = len((await library.snapshot()).items)
        except CarrelError as error:
            return Health(False, f"{path}: {error.message}", error.next_step)
        finally:
            await library.close()
        return Health(True, f"{path} ({count} reference{'' if count == 1 else 's'})")

    async def probe(self) -> Health:
        """Looks at both ends of the file, which costs the same at any size."""
        problem = await asyncio.to_thread(_find_problem, self._path)
        return Health(problem is None, f"{self._path}: {problem or 'there'}")


def _find_problem(path: Path) -> str | None:
    """Why the library cannot be used, judged by both ends of its file; None where it can."""
    if path.is_dir():
        return "is a folder"
    try:
        with path.open("rb") as file:
            first = file.read(_END_BYTES)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _END_BYTES))
            last = file.read(_END_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    is_whole = first.removeprefix(_BYTE_ORDER_MARK).lstrip().startswith(
        b"["
    ) and last.rstrip().endswith(b"]")
    is_blank = not (first.strip() or last.strip())
    return None if is_whole or is_blank else "is not a whole CSL-JSON array"
