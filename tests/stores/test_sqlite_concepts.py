"""A concept index kept in a file comes back as it was, and one read the old way is made again."""

import sqlite3
from pathlib import Path

from carrel.libraries.discovery import ConceptIndex, Paper
from carrel.stores.sqlite.concepts import ConceptFile

PAPERS = [
    Paper(
        "1",
        "On rest",
        "Basal ganglion rest (BGR) in E. coli and mice.",
        ("rest of the brain",),
        year=2001,
    ),
    Paper("2", "On sleep", "Basal ganglion rest (BGR) and a rest of the brain."),
]


def test_an_index_comes_back_and_goes_on_growing(tmp_path: Path) -> None:
    index = ConceptIndex.build(PAPERS)
    kept = ConceptFile(tmp_path / "concepts.db")
    kept.save(index, {"1": "a", "2": "b"})
    loaded = kept.load(None)
    assert loaded is not None
    again, fingerprints = loaded
    assert fingerprints == {"1": "a", "2": "b"}
    assert again.holdings() == index.holdings()
    further = Paper(
        "3", "BGR of mice", "A rest of the brain in Escherichia coli.", ("Escherichia coli",)
    )
    for one in (index, again):
        one.add([further])
        one.remove("1")
    assert (
        again.holdings() == index.holdings() == ConceptIndex.build([PAPERS[1], further]).holdings()
    )


def test_an_index_read_the_old_way_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "concepts.db"
    ConceptFile(file).save(ConceptIndex.build(PAPERS), {"1": "a", "2": "b"})
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE about SET reading = reading - 1")
    assert ConceptFile(file).load(None) is None
    assert ConceptFile(file, "another vocabulary").load(None) is None
