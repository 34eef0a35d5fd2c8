"""Corrections by several processes, and by one that is killed: whole or not at all."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from carrel.core.errors import CarrelError
from carrel.core.progress import NoProgress
from carrel.rooms.papers.building.models import BuildOptions
from carrel.rooms.papers.correction_models import EditPaper
from carrel.stores.sqlite.papers.build_state import SqlitePaperBuildState
from carrel.wiring.papers_build import correct_paper, paper_builder
from tests.rooms.papers.building.conftest import Corpus

pytestmark = pytest.mark.promise("P15")

_SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def one(corpus: Corpus) -> Corpus:
    corpus.write_lines("base.jsonl", {"title": "On whales", "doi": "10.1000/w", "year": 2001})
    corpus.build()
    return corpus


def decisions(corpus: Corpus) -> list[str]:
    with closing(sqlite3.connect(corpus.into / ".carrel-build" / "state.db")) as state:
        rows = state.execute("SELECT action FROM decision WHERE NOT is_pending ORDER BY number")
        return [action for (action,) in rows]


def _die(folder: Path) -> None:
    os._exit(9)


def _edit_and_die_before_the_manifest(into: Path) -> None:
    with paper_builder(into, BuildOptions(before_swap=_die)) as builder:
        builder.decide("ada", lambda desk: desk.edit("10.1000/w", {"title": "New"}), NoProgress())


def _edit_and_die_after_the_manifest(into: Path) -> None:
    confirm = SqlitePaperBuildState.confirm_publication
    calls: list[object] = []

    def confirm_or_die(state: SqlitePaperBuildState, build_id: str | None) -> None:
        calls.append(build_id)
        if len(calls) > 1:
            os._exit(9)
        confirm(state, build_id)

    setattr(SqlitePaperBuildState, "confirm_publication", confirm_or_die)  # noqa: B010
    with paper_builder(into) as builder:
        builder.decide("ada", lambda desk: desk.edit("10.1000/w", {"title": "New"}), NoProgress())


@pytest.mark.parametrize(
    ("work", "title", "kept"),
    [
        (_edit_and_die_before_the_manifest, "On whales", []),
        (_edit_and_die_after_the_manifest, "New", ["edit"]),
    ],
)
def test_a_killed_correction_counts_as_a_whole_or_not_at_all(
    one: Corpus, work: Callable[[Path], None], title: str, kept: list[str]
) -> None:
    process = _SPAWN.Process(target=work, args=(one.into,))
    process.start()
    process.join()
    assert process.exitcode == 9
    assert one.one("SELECT title FROM paper") == title
    one.build()
    assert (one.one("SELECT title FROM paper"), decisions(one)) == (title, kept)
    # And it can be decided again, and undone.
    with paper_builder(one.into) as builder:
        builder.decide("ada", lambda desk: desk.edit("10.1000/w", {"venue": "Sea"}), NoProgress())
        builder.decide("ada", lambda desk: desk.undo(), NoProgress())
    assert one.one("SELECT title FROM paper") == title


def _set_volume(into: Path, volume: str, version: str | None) -> None:
    question = EditPaper.model_validate(
        {
            "action": "edit",
            "paper_id": "10.1000/w",
            "volume": volume,
            "tags": [f"tag {volume}"],
            "expected_version": version,
        }
    )
    try:
        correct_paper(into, question, f"editor {volume}")
    except CarrelError as error:
        os._exit(3 if error.code == "paper_changed" else 4)


def _run_all(into: Path, version: str | None) -> list[int]:
    processes = [
        _SPAWN.Process(target=_set_volume, args=(into, str(at), version)) for at in range(3)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return sorted(process.exitcode or 0 for process in processes)


def test_editors_in_several_processes_wait_for_each_other(one: Corpus) -> None:
    assert _run_all(one.into, None) == [0, 0, 0]
    assert decisions(one) == ["edit"] * 3


def test_of_editors_who_saw_the_same_version_one_wins(one: Corpus) -> None:
    with paper_builder(one.into) as builder:
        version = builder.inspect().find("10.1000/w").version
    assert _run_all(one.into, version) == [0, 3, 3]
    assert decisions(one) == ["edit"]
