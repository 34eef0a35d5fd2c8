"""Keeps the concept index of a corpus: made by one process, mapped by all."""

from __future__ import annotations

import logging
import secrets
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import orjson

from carrel.core.errors import describe_error
from carrel.libraries.discovery.concepts.extraction import Chunk, ChunkReader, in_chunks
from carrel.libraries.discovery.concepts.packed_index import PackedIndex
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.records import Mapper, Paper
from carrel.stores.concepts import FORMAT
from carrel.stores.concepts.builder import IndexBuilder
from carrel.stores.concepts.sections import DamagedFileError, SectionFile, write_sections
from carrel.stores.file_lock import hold_lock

log = logging.getLogger("carrel.research")

# Raised whenever the way concepts are read from texts changes, so that indexes made the old way are
# made again.
READING = 8
_PAPERS_PER_CHUNK = 500
# So many changed papers are read by their ids; for more of them all papers are gone through.
_FEW_CHANGED = 2000
# Below this many papers to read, starting further processes takes longer than they save.
_WORTH_PROCESSES = 3000
_OPENING_TRIES = 5

Report = Callable[[int, int], None]


class PaperSource(Protocol):
    """The papers that an index is made of; the ids in `fingerprints` come once each."""

    def fingerprints(self) -> Iterator[tuple[str, str]]: ...

    def everything(self) -> Iterator[tuple[Paper, str]]: ...

    def papers(self, paper_ids: Sequence[str]) -> list[Paper]: ...


class ConceptTables:
    """The index of one corpus: a file of tables, and a small one that says which and of what."""

    def __init__(
        self, folder: Path, name: str, vocabulary_name: str, map_in_processes: Mapper
    ) -> None:
        self._folder, self._name = folder, f"concepts-{name}"
        self._facts = {"format": FORMAT, "reading": READING, "vocabulary": vocabulary_name}
        self._map_in_processes = map_in_processes

    def open(self, state: str, vocabulary: Vocabulary | None) -> PackedIndex | None:
        """The index of the papers in this state; None where another, or none, was made."""
        opened = self._open()
        if opened is None or opened[1] != state:
            return None
        return PackedIndex(opened[0], vocabulary)

    def make(
        self, papers: PaperSource, state: str, vocabulary: Vocabulary | None, report: Report
    ) -> PackedIndex:
        """Make the index of the papers in this state, from the one before where there is one.

        One process makes it; others that ask meanwhile wait and map what it made.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with hold_lock(self._folder / f"{self._name}.lock", wait_seconds=None):
                made = self.open(state, vocabulary)
                if made is not None:
                    return made
                return self._make_kept(papers, state, vocabulary, report)
        except OSError as error:
            # A cache: where it cannot be kept, this process has one of its own.
            log.warning(
                "the concept index cannot be kept",
                extra={"file": self._name, "reason": describe_error(error)},
            )
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            draft = Path(folder) / "tables"
            self._write(Path(folder) / "work", draft, _Changes(papers, None), vocabulary, report)
            return PackedIndex(SectionFile(draft), vocabulary)

    def _make_kept(
        self, papers: PaperSource, state: str, vocabulary: Vocabulary | None, report: Report
    ) -> PackedIndex:
        for left_over in self._folder.glob(f"{self._name}.work-*"):
            shutil.rmtree(left_over, ignore_errors=True)
        opened = self._open()
        before = None if opened is None else PackedIndex(opened[0], vocabulary)
        changes = _Changes(papers, before)
        if opened is not None and before is not None and not changes.are_any:
            self._point_to(opened[0].path.name, state)
            return before
        token = secrets.token_hex(8)
        work = self._folder / f"{self._name}.work-{token}"
        try:
            work.mkdir()
            draft = work / "draft"
            self._write(work / "sections", draft, changes, vocabulary, report)
            file = self._folder / f"{self._name}-{token}.tables"
            draft.replace(file)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        self._point_to(file.name, state)
        self._remove_others(file.name)
        return PackedIndex(SectionFile(file), vocabulary)

    def _write(
        self,
        work: Path,
        draft: Path,
        changes: _Changes,
        vocabulary: Vocabulary | None,
        report: Report,
    ) -> None:
        builder = IndexBuilder(work, vocabulary)
        for chunk, fingerprints in changes.kept_chunks():
            builder.add(chunk, fingerprints)
        read = ChunkReader(vocabulary)
        total, done = changes.count, 0
        marks: deque[dict[str, str]] = deque()

        def portions() -> Iterator[list[Paper]]:
            for some in in_chunks(changes.papers(), _PAPERS_PER_CHUNK):
                marks.append({paper.id: mark for paper, mark in some})
                yield [paper for paper, _ in some]

        in_processes = total >= _WORTH_PROCESSES
        chunks = (self._map_in_processes if in_processes else map)(read, portions())
        for chunk in chunks:
            builder.add(chunk, marks.popleft())
            done += len(chunk.documents)
            report(min(done, total), total)
        write_sections(builder.finish(), draft, self._facts)
        written = SectionFile(draft)
        written.verify()
        written.close()

    def _open(self) -> tuple[SectionFile, str] | None:
        """The newest tables of this form, and the state of the papers they were made of."""
        pointer = self._folder / f"{self._name}.json"
        for _ in range(_OPENING_TRIES):
            try:
                told = orjson.loads(pointer.read_bytes())
                file = SectionFile(self._folder / Path(told["file"]).name)
            except FileNotFoundError:
                # Replaced between the two steps by another process, or nothing was made yet.
                if not pointer.exists():
                    return None
                continue
            except (DamagedFileError, OSError, ValueError, KeyError, TypeError) as error:
                log.warning(
                    "cache is made again",
                    extra={"file": pointer.name, "cause": describe_error(error)},
                )
                return None
            return (file, str(told["state"])) if file.facts == self._facts else None
        return None

    def _point_to(self, file: str, state: str) -> None:
        pointer = self._folder / f"{self._name}.json"
        draft = pointer.with_suffix(f".{secrets.token_hex(8)}.draft")
        draft.write_bytes(orjson.dumps({"file": file, "state": state}))
        draft.replace(pointer)

    def _remove_others(self, current: str) -> None:
        """Removes earlier tables; who has them mapped goes on reading them."""
        others = [*self._folder.glob(f"{self._name}-*.tables"), *self._earlier_forms()]
        for other in others:
            if other.name != current:
                # On Windows it stays while another process reads it; the next time removes it.
                with suppress(OSError):
                    other.unlink()

    def _earlier_forms(self) -> Iterator[Path]:
        # SQLite, until version 0.9.
        return self._folder.glob(f"{self._name}.db*")


class _Changes:
    """Which papers an index has as they are, and which must be read."""

    def __init__(self, papers: PaperSource, before: PackedIndex | None) -> None:
        self._papers, self._before = papers, before
        self._kept = bytearray(0 if before is None else len(before))
        self._few: dict[str, str] | None = {}
        self.count = 0
        self._next = 0
        for paper_id, mark in papers.fingerprints():
            if not self._keep(paper_id, mark):
                self.count += 1
                if self._few is not None:
                    self._few[paper_id] = mark
                    if len(self._few) > _FEW_CHANGED:
                        self._few = None

    @property
    def are_any(self) -> bool:
        return bool(self.count) or not all(self._kept)

    def _keep(self, paper_id: str, mark: str) -> bool:
        before = self._before
        if before is None:
            return False
        # Papers mostly come in the order in which they came the last time.
        number: int | None = self._next
        if self._next >= len(before) or before.id_of(self._next) != paper_id:
            number = before.number_of_document(paper_id)
        if number is None or before.fingerprint_of(number) != mark:
            return False
        self._kept[number], self._next = 1, number + 1
        return True

    def kept_chunks(self) -> Iterator[tuple[Chunk, dict[str, str]]]:
        """What was read before of the papers that are as they were."""
        before = self._before
        if before is None:
            return
        numbers = (number for number, is_kept in enumerate(self._kept) if is_kept)
        for some in in_chunks(numbers, _PAPERS_PER_CHUNK):
            marks = {before.id_of(number): before.fingerprint_of(number) for number in some}
            yield before.chunk(some), marks

    def papers(self) -> Iterator[tuple[Paper, str]]:
        """The papers to read, each with its mark."""
        few = self._few
        if few is not None:
            for paper in self._papers.papers(list(few)):
                yield paper, few[paper.id]
            return
        before = self._before
        for paper, mark in self._papers.everything():
            number = None if before is None else before.number_of_document(paper.id)
            if number is None or not self._kept[number]:
                yield paper, mark
