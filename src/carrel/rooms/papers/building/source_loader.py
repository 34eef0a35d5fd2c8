"""Reads sources of a build into its state, part by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from carrel.core.progress import Progress
from carrel.rooms.papers.building.models import FoundSource, KnownSource, PartJob
from carrel.rooms.papers.building.ports import BuildState, PaperSources

# Seconds of computing for a megabyte, by reader, of 40 eLife articles as Markdown, 10 as JATS,
# 52 PDFs, 3,644 BibTeX entries and 3,000 JSON lines, by `python -m benchmarks.reading_costs`.
_SECONDS_PER_MEGABYTE = {
    "markdown": 2.4,
    "pdf": 1.5,
    "bibliography": 0.45,
    "jats": 0.2,
    "json_lines": 0.12,
}
_USUAL_SECONDS_PER_MEGABYTE = 0.5


def estimate_work(reader: str, size_bytes: int) -> float:
    """How long a file takes to read, in seconds of computing; for even progress, not for limits."""
    rate = _SECONDS_PER_MEGABYTE.get(reader, _USUAL_SECONDS_PER_MEGABYTE)
    return rate * size_bytes / 1_000_000


class SourceLoader:
    """Reads files with the readers of all kinds and keeps the records in the build state."""

    def __init__(self, sources: PaperSources, state: BuildState) -> None:
        self._sources = sources
        self._state = state

    def is_up_to_date(self, source: FoundSource, known: KnownSource | None) -> bool:
        """Whether all of it was read as it is now, by the present reader."""
        return known is not None and known.is_complete and self._sources.is_unchanged(known, source)

    def _take_read(self, source: FoundSource, progress: Progress) -> bool:
        """Take what a worker read of a source apart; False where none did."""
        taken = self._sources.take_read(source)
        if taken is None:
            return False
        content, parts = taken
        done = self._state.begin_source(source)
        for read in parts:
            if read.number not in done:
                self._state.add_part(read)
        self._state.complete_source(str(source.path), content)
        progress.advance(source.size_bytes, estimate_work(source.reader, source.size_bytes))
        return True

    def load(self, sources: Sequence[FoundSource], progress: Progress) -> None:
        """Read these sources, each from the part at which an earlier build stopped."""
        if not sources:
            return
        size_bytes = sum(source.size_bytes for source in sources)
        work = sum(estimate_work(source.reader, source.size_bytes) for source in sources)
        progress.begin("reading", size_bytes, "bytes", work)
        sources = [source for source in sources if not self._take_read(source, progress)]
        readers = {str(source.path): source.reader for source in sources}
        waiting: Counter[str] = Counter()
        cut: set[str] = set()
        contents: dict[str, bytes | None] = {}

        def jobs() -> Iterator[PartJob]:
            for source in sources:
                path = str(source.path)
                done = self._state.begin_source(source)
                contents[path] = self._sources.hash_content(source)
                remaining = source.size_bytes
                for part in self._sources.parts(source):
                    size = (
                        min(remaining, len(part.content)) if part.content is not None else remaining
                    )
                    remaining -= size
                    if part.number in done:
                        progress.advance(size, estimate_work(source.reader, size))
                        continue
                    waiting[path] += 1
                    yield PartJob(source.reader, part, size)
                cut.add(path)
                if not waiting[path]:
                    self._state.complete_source(path, contents.pop(path))

        for read in self._sources.read(jobs()):
            self._state.add_part(read)
            waiting[read.source] -= 1
            if read.source in cut and not waiting[read.source]:
                self._state.complete_source(read.source, contents.pop(read.source))
            progress.advance(read.size_bytes, estimate_work(readers[read.source], read.size_bytes))
        self._state.commit()
        progress.end()
