"""The papers of a snapshot with their texts, for a model to read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import orjson

from carrel.core.errors import NotConfiguredError
from carrel.rooms.papers.building.models import PaperToRead
from carrel.stores.sqlite.paper_snapshot_writer import SNAPSHOT_NAME
from carrel.stores.static_folder.paper_assets import STATIC_NAME


class SqlitePapersToRead:
    """Takes the list of papers at the start, so that a snapshot that is replaced meanwhile does not
    matter.
    """

    def __init__(self, folder: Path) -> None:
        self._static = folder / STATIC_NAME
        path = folder / SNAPSHOT_NAME
        if not path.is_file():
            raise NotConfiguredError(
                "There is no corpus in that folder.",
                next_step="Build one with carrel papers build.",
            )
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        ) as connection:
            select = (
                "SELECT paper_id, title, source_md_content_hash FROM paper ORDER BY paper_index"
            )
            self._rows: list[tuple[str, str, str | None]] = connection.execute(select).fetchall()

    def count(self) -> int:
        return len(self._rows)

    def papers(self) -> Iterator[PaperToRead]:
        for paper_id, title, sha256 in self._rows:
            yield PaperToRead(paper_id, title, self._text(paper_id, sha256))

    def _text(self, paper_id: str, sha256: str | None) -> str:
        if sha256 is not None:
            return (self._static / "md" / f"{sha256}.md").read_text(encoding="utf-8")
        summary = orjson.loads((self._static / "summary" / f"{paper_id}.json").read_bytes())
        return str(summary.get("abstract") or "")
