"""The papers of a corpus with their texts, for a model that summarises them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from carrel.core.errors import NotConfiguredError
from carrel.rooms.papers.building.models import PaperToRead
from carrel.stores.corpus.manifest import read_manifest, segment_folder
from carrel.stores.corpus.records import read_stored
from carrel.stores.corpus.segments import open_segment, read_asset


class CorpusPapersToRead:
    """Papers of the manifest that there is at the start, so that later changes do not matter."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        manifest = read_manifest(folder)
        if manifest is None:
            raise NotConfiguredError(
                "There is no corpus in that folder.",
                next_step="Build one with carrel papers build.",
            )
        self._manifest = manifest

    def count(self) -> int:
        return self._manifest.papers

    def papers(self) -> Iterator[PaperToRead]:
        for entry in self._manifest.segments:
            folder, dead = segment_folder(self._folder, entry.name), frozenset(entry.deleted)
            with closing(open_segment(folder)) as connection:
                for row, body in connection.execute("SELECT row, record FROM paper ORDER BY row"):
                    if row in dead:
                        continue
                    paper = read_stored(body)
                    text = paper.record.abstract or ""
                    if sha256 := paper.record.markdown_sha256:
                        content = read_asset(folder, connection, f"md/{sha256}.md")
                        text = (content or b"").decode("utf-8", "replace")
                    yield PaperToRead(paper.paper_id, paper.record.title, text)
