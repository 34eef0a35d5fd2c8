"""A home folder as the first Carrel left it, before its files had versions: one of everything, made
with its own commands.

Ada can log in with PASSWORD, and her token is TOKEN. There are one paper, one note, one reference
and one imported hypothesis.
"""

from __future__ import annotations

import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

TOKEN = "carrel_AMi7Ku9WSLf9l3VzVxMGZvrCPjH-gzldkPEBH0ZjnOk"
PASSWORD = "a long enough password"
RESEARCH_ID = "res_581cc21fd7879a33"

_PACKED = Path(__file__).with_name("home_of_version_1.tar.xz")


def first_home(folder: Path) -> Path:
    """Unpacks it into a new folder."""
    folder.mkdir()
    with tarfile.open(_PACKED) as packed:
        packed.extractall(folder, filter="data")
    return folder


def rows_in(file: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of a SQLite file, by table."""
    with closing(sqlite3.connect(file)) as connection:
        names = [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            )
        ]
        return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}
