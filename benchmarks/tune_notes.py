"""Tries weights of the ranking of notes on our own questions and on half A of the blind ones.

python -m benchmarks.tune_notes [--data ../shared/data]
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path

from benchmarks.retrieval import data
from benchmarks.retrieval.__main__ import SHARED, Place, note_folder
from benchmarks.retrieval.carrel_desk import fill
from carrel.core.caller import LOCAL_USER
from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.knowledge.notes import Mine, MineAndTeam
from carrel.stores.search.notes import ranking
from carrel.stores.search.notes.index import NoteIndex
from carrel.stores.search.notes.ranking import NoteCondition, NoteRanking
from carrel.stores.search.views import View
from carrel.stores.sqlite.knowledge import sqlite_knowledge

QUESTIONS = Path(__file__).parent / "tuning" / "note_questions.tsv"
Asked = Sequence[tuple[str, str]]


def own_questions() -> Asked:
    lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    return [(line.split("\t")[0], line.split("\t")[1]) for line in lines]


def blind_questions() -> Asked:
    return [(each.text, next(iter(each.right))) for each in data.note_questions("a")]


def share_first(asked: Asked, paths: dict[str, str], view: View | None) -> float:
    """How often the right note comes first."""
    assert view is not None
    ranks, first = NoteRanking(view), 0
    for question, right in asked:
        found = ranks.search(NoteCondition(parse_paper_query(question)), "best", 1)
        first += bool(found) and paths[found[0].id].endswith(right.removeprefix("_pathways/"))
    return first / len(asked)


async def tune(home: Path) -> None:
    stores = sqlite_knowledge(home / "knowledge.sqlite")
    index = NoteIndex(stores.notes.note_changes, home / "cache", build_seconds=3600)
    paths = {
        note.id: note.origin.path
        async for note in stores.notes.everything(Mine(LOCAL_USER))
        if note.origin is not None
    }
    shelf, own, blind = MineAndTeam(LOCAL_USER), own_questions(), blind_questions()
    print("coverage   near  property   own questions   half A")
    for weights in product((0.0, 0.75, 1.25, 2.0), (0.0, 0.1, 0.5), (0.0, 0.2, 0.5)):
        ranking.COVERAGE, ranking.NEAR, ranking.PROPERTY = weights
        figures = [
            await index.search(shelf, partial(share_first, asked, paths)) for asked in (own, blind)
        ]
        print("".join(f"{each:8.2f}" for each in (*weights, *figures)), flush=True)
    await index.close()
    await stores.notes.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=SHARED)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="carrel-tune-") as work:
        place = Place(given.data, given.data, Path(work), False)
        folder = note_folder(place)
        home = Path(work) / "home"
        fill(home, 1, home, "knowledge", "import", folder)
        asyncio.run(tune(home))


if __name__ == "__main__":
    main()
