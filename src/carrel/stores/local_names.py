"""Names in the files of a home, for completion: read-only, bounded in size and time, best effort.

Nothing is opened for writing or made, and what cannot be read has no names.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path

from carrel.stores.home.database_reading import open_to_read

Named = list[tuple[str, str]]

# A larger library is not read for one key press; 16 MB are some 20,000 references.
_MOST_LIBRARY_BYTES = 16 * 1024 * 1024
_MOST_ROWS = 200
_BUSY_SECONDS = 0.1
# The ids of CSL-JSON as every writer puts them: a text or a number.
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.){1,500}"|\d{1,20})')


def citation_keys(library: Path, beginning: str, most: int) -> Named:
    """The keys of a library that begin so, in its order."""
    if library.stat().st_size > _MOST_LIBRARY_BYTES:
        return []
    found: dict[str, str] = {}
    for match in _ID.finditer(library.read_bytes()):
        with suppress(ValueError):
            key = str(json.loads(match[1]))
            if key.startswith(beginning):
                found[key] = ""
            if len(found) >= most:
                break
    return list(found.items())


def research_projects(home: Path, owner: str) -> Named:
    """The newest projects of a person with their goals."""
    statement = (
        "SELECT id, json_extract(body, '$.goal') FROM research_projects WHERE owner = ? "
        "ORDER BY created_at DESC LIMIT ?"
    )
    return _ask(home / "research" / "research.db", statement, owner)


def user_names(home: Path) -> Named:
    return _ask(home / "access.sqlite", "SELECT name, '' FROM access_users ORDER BY name LIMIT ?")


def _ask(file: Path, statement: str, *values: str) -> Named:
    # Hardly waited for: the person is typing.
    with open_to_read(file, _BUSY_SECONDS) as rows:
        if rows is None:
            return []
        found = rows.execute(statement, (*values, _MOST_ROWS)).fetchall()
    return [(str(name), str(meaning or "")) for name, meaning in found]
