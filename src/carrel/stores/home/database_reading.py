"""Databases of a home opened to be read; nothing is made beside them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

_USUAL_WAIT_SECONDS = 5.0


@contextmanager
def open_to_read(
    file: Path, wait_seconds: float = _USUAL_WAIT_SECONDS
) -> Iterator[sqlite3.Connection | None]:
    """A database to be read; None where there is no file, which is never made."""
    if not file.is_file():
        yield None
        return
    address = f"{file.absolute().as_uri()}?mode=ro"
    if not file.with_name(f"{file.name}-wal").exists():
        # Nobody writes; else SQLite would make the file that readers share, and leave it behind.
        address += "&immutable=1"
    with closing(sqlite3.connect(address, uri=True, timeout=wait_seconds)) as rows:
        yield rows
