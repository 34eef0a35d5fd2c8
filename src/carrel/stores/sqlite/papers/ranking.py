"""What the store asks of an index, whichever it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from carrel.libraries.query.papers import PaperQuery
from carrel.libraries.text.snippets import Stem
from carrel.stores.sqlite.papers.rows import Shown


class Ranking(Protocol):
    """Papers for a question, best first. Called on the store's threads; a connection to the
    snapshot is lent for the call.
    """

    @property
    def name(self) -> str:
        """What the index is, for people who ask."""
        ...

    @property
    def stem(self) -> Stem | None:
        """How words that count as equal are told, for marking them; None where only equal words
        do.
        """
        ...

    def search(
        self, connection: sqlite3.Connection, query: PaperQuery, first: int, count: int
    ) -> list[Shown]: ...


OpenRanking = Callable[[Path, str], Ranking | None]
"""From a snapshot and its build id to the index beside it, or None where there is none that
fits.
"""
