"""A corpus folder to build into, and a short way to build and look."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from carrel.rooms.papers.building.build_reports import BuildReport
from carrel.rooms.papers.building.models import BuildOptions
from carrel.stores.corpus.manifest import Manifest, read_manifest
from carrel.stores.corpus.snapshot_export import export_snapshot
from carrel.wiring.papers_build import build_papers


class Corpus:
    """A folder of sources and what was built from it, looked at through an exported snapshot."""

    def __init__(self, folder: Path) -> None:
        self.sources = folder / "sources"
        self.sources.mkdir()
        self.into = folder / "corpus"

    @property
    def exported(self) -> Path:
        """The corpus of this moment as a snapshot and a static folder."""
        manifest = (self.into / "manifest.json").read_bytes()
        folder = self.into.parent / f"exported-{hashlib.sha256(manifest).hexdigest()[:16]}"
        if not folder.exists():
            export_snapshot(self.into, folder)
        return folder

    @property
    def snapshot(self) -> Path:
        return self.exported / "paper_snapshot.db"

    @property
    def static(self) -> Path:
        return self.exported / "paper-static"

    @property
    def manifest(self) -> Manifest:
        found = read_manifest(self.into)
        assert found is not None
        return found

    def segment_files(self) -> dict[str, bytes]:
        """Every file that readers of the corpus may open, by its name."""
        folder = self.into / "segments"
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.sources / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def write_lines(self, name: str, *records: Mapping[str, object]) -> Path:
        return self.write(name, b"\n".join(orjson.dumps(record) for record in records))

    def build(self, *, workers: int = 1, size_limit_bytes: int = 1_000_000) -> BuildReport:
        return build_papers(
            [self.sources],
            self.into,
            BuildOptions(workers=workers, size_limit_bytes=size_limit_bytes),
        )

    def ask(self, query: str, *values: object) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(f"file:{self.snapshot}?mode=ro", uri=True)) as connection:
            return connection.execute(query, values).fetchall()

    def one(self, query: str, *values: object) -> object:
        [(value,)] = self.ask(query, *values)
        return value

    def static_json(self, path: str) -> dict[str, object]:
        value = orjson.loads((self.static / path).read_bytes())
        assert isinstance(value, dict)
        return value


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path)


@pytest.fixture
def codes() -> Callable[[BuildReport], list[str]]:
    return lambda report: sorted(line.code for line in report.lines)
