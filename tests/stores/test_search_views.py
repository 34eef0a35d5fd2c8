"""Parts and views of the search index: a union scores as one index built from everything."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import tantivy
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.stores.search import views
from carrel.stores.search.errors import UnusablePartError
from carrel.stores.search.parts import PartWriter, has_part
from carrel.stores.search.schema import IndexedDocument, index_schema
from carrel.stores.search.views import View, name_view, open_view, sweep_views
from tests.processes import warm

WORDS = [
    "gene",
    "cell",
    "protein",
    "of",
    "the",
    "neuron",
    "in",
    "model",
    "expression",
    "知識",
    "管理",
    "rare",
]


def make_documents(count: int, seed: int = 1) -> list[IndexedDocument]:
    chance = random.Random(seed)
    return [
        IndexedDocument(
            row=row,
            title=" ".join(chance.choices(WORDS, k=chance.randint(1, 4))),
            text=" ".join(chance.choices(WORDS, k=chance.randint(1, 40))),
            year=chance.randint(1990, 2025),
            keys=[f"id:{row}"],
        )
        for row in range(1, count + 1)
    ]


def write_part(folder: Path, documents: Sequence[IndexedDocument]) -> Path:
    with PartWriter(folder) as writer:
        for document in documents:
            writer.add(document)
    return folder


def score_all(view: View, *words: str) -> dict[int, float]:
    """Every matching row with its score."""
    query = tantivy.Query.boolean_query(
        [
            (tantivy.Occur.Should, tantivy.Query.term_query(index_schema(), "text", word, "freq"))
            for word in words
        ]
    )
    hits = view.searcher.search(query, 10_000).hits
    found = view.searcher.fast_field_values("row", [address for _, address in hits])
    return {int(row or 0): score for row, (score, _) in zip(found, hits, strict=True)}


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 60),
    st.lists(st.integers(0, 60), max_size=5),
    st.lists(st.sampled_from(["gene", "cell", "neuron", "rare", "知識"]), min_size=1, max_size=4),
)
def test_a_union_of_any_split_scores_as_one_index(
    tmp_path_factory: pytest.TempPathFactory, count: int, cuts: list[int], words: list[str]
) -> None:
    home = tmp_path_factory.mktemp("split")
    documents = make_documents(count, seed=count)
    borders = [0, *sorted(min(cut, count) for cut in cuts), count]
    parts = [
        write_part(home / f"part{at}", documents[start:end])
        for at, (start, end) in enumerate(itertools.pairwise(borders))
    ]
    whole = open_view([write_part(home / "whole", documents)], home / "views")
    union = open_view(parts, home / "views")
    assert union.document_count == whole.document_count == count
    assert score_all(union, *words) == score_all(whole, *words)


def test_a_view_is_made_once_and_named_by_what_it_shows(tmp_path: Path) -> None:
    parts = [write_part(tmp_path / name, make_documents(3)) for name in ("a", "b")]
    first = open_view(parts, tmp_path / "views")
    again = open_view(parts, tmp_path / "views")
    assert first.name == again.name == name_view(parts)
    assert [folder.name for folder in (tmp_path / "views").iterdir()] == [first.name]
    with PartWriter(parts[1]) as writer:
        writer.add(IndexedDocument(9, "another"))
    assert open_view(parts, tmp_path / "views").document_count == 7
    assert first.document_count == 6


def test_a_view_follows_removals_in_a_part_and_older_views_keep_theirs(tmp_path: Path) -> None:
    part = write_part(tmp_path / "notes", make_documents(20))
    before = open_view([part], tmp_path / "views")
    with PartWriter(part) as writer:
        writer.remove_key("id:4")
        writer.remove_key("id:absent")
    after = open_view([part], tmp_path / "views")
    assert (before.document_count, after.document_count) == (20, 19)


def test_views_outlive_the_parts_they_were_made_of(tmp_path: Path) -> None:
    part = write_part(tmp_path / "part", make_documents(20))
    view = open_view([part], tmp_path / "views")
    shutil.rmtree(part)
    shutil.rmtree(tmp_path / "views")
    assert score_all(view, "gene")


def test_no_parts_and_empty_parts_are_an_empty_view(tmp_path: Path) -> None:
    assert open_view([], tmp_path / "views").document_count == 0
    empty = write_part(tmp_path / "empty", [])
    assert open_view([empty], tmp_path / "views").document_count == 0


def test_where_nothing_can_be_written_a_folder_of_the_process_serves(tmp_path: Path) -> None:
    part = write_part(tmp_path / "part", make_documents(5))
    (tmp_path / "file").write_text("no folder")
    assert open_view([part], tmp_path / "file" / "views").document_count == 5


def test_without_hard_links_symbolic_links_serve_and_without_both_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = write_part(tmp_path / "part", make_documents(5))

    def refuse(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    view = open_view([part], tmp_path / "symbolic")
    assert view.document_count == 5
    assert any(file.is_symlink() for file in (tmp_path / "symbolic" / view.name).iterdir())
    monkeypatch.setattr(os, "symlink", refuse)
    assert open_view([part], tmp_path / "copied").document_count == 5


@pytest.mark.parametrize("harm", ["meta.json", "format.json", "segment", "all"])
def test_a_damaged_part_is_said_to_be_unusable(tmp_path: Path, harm: str) -> None:
    part = write_part(tmp_path / "part", make_documents(5))
    if harm == "all":
        shutil.rmtree(part)
    elif harm == "segment":
        for file in part.glob("*.term"):
            file.unlink()
    else:
        (part / harm).write_text('{"format": 0}')
    with pytest.raises(UnusablePartError):
        open_view([part], tmp_path / "views")


def test_a_damaged_view_is_made_again(tmp_path: Path) -> None:
    part = write_part(tmp_path / "part", make_documents(5))
    name = open_view([part], tmp_path / "views").name
    (tmp_path / "views" / name / "meta.json").write_text("{")
    assert open_view([part], tmp_path / "views").document_count == 5


def test_a_part_of_another_format_is_written_anew(tmp_path: Path) -> None:
    part = write_part(tmp_path / "part", make_documents(5))
    (part / "format.json").write_text('{"format": 0}')
    write_part(part, make_documents(2))
    assert open_view([part], tmp_path / "views").document_count == 2


def test_what_was_not_committed_is_not_there(tmp_path: Path) -> None:
    part = tmp_path / "part"
    with pytest.raises(RuntimeError), PartWriter(part) as writer:
        writer.add(IndexedDocument(1, "half"))
        raise RuntimeError("stopped")
    assert not has_part(part)
    write_part(part, make_documents(2))
    assert open_view([part], tmp_path / "views").document_count == 2


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    with PartWriter(tmp_path / "part") as writer:
        writer.add(IndexedDocument(1, "one"))
        with pytest.raises(UnusablePartError):
            PartWriter(tmp_path / "part")


def test_old_views_and_leftovers_of_killed_processes_are_swept(tmp_path: Path) -> None:
    folder = tmp_path / "views"
    parts = [write_part(tmp_path / str(at), make_documents(2, seed=at)) for at in range(3)]
    old, kept, fresh = (open_view([part], folder) for part in parts)
    leftover = folder / "abc.1-2.part"
    leftover.mkdir()
    long_ago = time.time() - 2 * views.SWEEP_AFTER_SECONDS
    for name in (old.name, kept.name, leftover.name):
        os.utime(folder / name, (long_ago, long_ago))
    sweep_views(folder, but=[kept.name])
    assert {found.name for found in folder.iterdir()} == {kept.name, fresh.name}


def test_many_processes_may_open_and_change_at_once(tmp_path: Path) -> None:
    """Eight processes open the same union while one commits to a part of it."""
    parts = [write_part(tmp_path / name, make_documents(30)) for name in ("still", "moving")]
    script = (
        "import sys; from pathlib import Path; from carrel.stores.search.views import open_view\n"
        "parts = [Path(part) for part in sys.argv[2:]]\n"
        "for _ in range(15): assert open_view(parts, Path(sys.argv[1])).document_count >= 60\n"
    )
    arguments = [sys.executable, "-c", script, str(tmp_path / "views"), *map(str, parts)]
    readers = [warm.start(arguments) for _ in range(4)]
    for row in range(100, 130):
        with PartWriter(parts[1]) as writer:
            writer.add(IndexedDocument(row, "gene"))
    assert [reader.wait(60) for reader in readers] == [0] * 4
    assert open_view(parts, tmp_path / "views").document_count == 90


def test_a_writer_killed_at_work_leaves_what_was_committed(tmp_path: Path) -> None:
    part = write_part(tmp_path / "part", make_documents(10))
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from carrel.stores.search.parts import PartWriter\n"
        "from carrel.stores.search.schema import IndexedDocument\n"
        "writer = PartWriter(Path(sys.argv[1]))\n"
        "for row in range(100, 600): writer.add(IndexedDocument(row, 'gene ' * 200))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = warm.run([sys.executable, "-c", script, str(part)], check=False)
    assert killed.returncode == -9
    assert open_view([part], tmp_path / "views").document_count == 10
    with PartWriter(part) as writer:
        writer.add(IndexedDocument(11, "gene"))
    assert open_view([part], tmp_path / "views").document_count == 11
