"""Files that are renamed, touched, copied and removed, in builds and one by one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from carrel.core.progress import NoProgress
from carrel.rooms.papers.building.build_reports import BuildReport
from carrel.rooms.papers.building.intake import Intake
from carrel.rooms.papers.building.models import BuildOptions
from carrel.wiring.papers_build import paper_builder, remove_paper, take_paper_files
from tests.rooms.papers.building.conftest import Corpus

pytestmark = pytest.mark.promise("P16")

PAPER = "---\ntitle: On whales\nauthors: [Ann Lee]\ndoi: 10.1000/whales\n---\nWhales sing.\n"
ONE_WORKER = BuildOptions(workers=1)


def changes(report: BuildReport | Intake) -> list[tuple[str, str, str | None]]:
    return [
        (change.kind, Path(change.path).name, change.before and Path(change.before).name)
        for change in report.changes
    ]


def take(corpus: Corpus, *sources: Path) -> Intake:
    return take_paper_files(corpus.into, sources, ONE_WORKER)


def follow(corpus: Corpus, *paths: Path) -> Intake:
    with paper_builder(corpus.into, ONE_WORKER) as builder:
        return builder.follow(paths, NoProgress())


def test_a_renamed_file_stays_the_same_source_and_is_not_read_again(corpus: Corpus) -> None:
    path = corpus.write("a.md", PAPER)
    corpus.build()
    manifest = corpus.manifest
    path.rename(path.with_name("b.md"))
    report = corpus.build()
    assert changes(report) == [("renamed", "b.md", "a.md")]
    assert (report.sources_read, report.papers, report.is_changed) == (0, 1, False)
    assert corpus.manifest == manifest


def test_a_renamed_and_edited_file_leaves_and_comes(corpus: Corpus) -> None:
    path = corpus.write("a.md", PAPER)
    corpus.build()
    path.unlink()
    corpus.write("b.md", PAPER + "And dive.\n")
    report = corpus.build()
    assert changes(report) == [("new", "b.md", None), ("removed", "a.md", None)]
    assert report.papers == 1


def test_a_copy_is_another_source_of_the_same_paper(corpus: Corpus) -> None:
    corpus.write("a.md", PAPER)
    corpus.build()
    corpus.write("b.md", PAPER)
    assert changes(corpus.build()) == [("new", "b.md", None)]
    assert corpus.one("SELECT count(*) FROM paper") == 1


def test_two_files_of_the_same_bytes_swap_names_with_one_gone(corpus: Corpus) -> None:
    first, second = corpus.write("a.md", PAPER), corpus.write("b.md", PAPER)
    corpus.build()
    first.unlink()
    second.rename(second.with_name("c.md"))
    report = corpus.build()
    assert sorted(changes(report)) == [("removed", "b.md", None), ("renamed", "c.md", "a.md")]
    assert report.papers == 1


def test_a_file_with_another_time_and_the_same_bytes_is_not_read_again(corpus: Corpus) -> None:
    path = corpus.write("a.md", PAPER)
    corpus.build()
    os.utime(path, ns=(1, 1))
    report = corpus.build()
    assert (changes(report), report.sources_read) == ([], 0)
    assert (changes(corpus.build()), corpus.build().sources_unchanged) == ([], 1)


def test_a_renamed_pair_of_text_and_print_keeps_both(corpus: Corpus) -> None:
    for name, content in (("a.md", PAPER), ("a.pdf", "%PDF-1.4 not really")):
        corpus.write(name, content)
    corpus.build()
    for name in ("md", "pdf"):
        (corpus.sources / f"a.{name}").rename(corpus.sources / f"b.{name}")
    assert changes(corpus.build()) == [("renamed", "b.md", "a.md")]


def test_taken_files_are_told_by_paper_and_stay_where_they_lie(corpus: Corpus) -> None:
    path = corpus.write("a.md", PAPER)
    corpus.write_lines("list.jsonl", {"title": "On whales", "doi": "10.1000/whales"})
    taken = take(corpus, corpus.sources)
    [paper] = taken.papers
    assert (paper.title, paper.is_new, paper.is_joined, paper.is_stated) == (
        "On whales", True, True, True,
    )  # fmt: skip
    assert (taken.total, taken.unchanged, path.exists()) == (1, 0, True)
    again = take(corpus, corpus.sources)
    assert (again.papers, again.changes, again.unchanged) == ((), (), 2)


def test_a_file_that_gives_no_paper_is_never_deleted(corpus: Corpus) -> None:
    broken = corpus.write("broken.pdf", "%PDF-1.4 broken")
    taken = take(corpus, broken)
    assert taken.papers == ()
    assert [Path(line.source).name for line in taken.skipped] == ["broken.pdf"]
    assert broken.read_bytes() == b"%PDF-1.4 broken"


def test_a_removed_paper_comes_back_by_its_file_but_not_by_its_folder(corpus: Corpus) -> None:
    path = corpus.write("a.md", PAPER)
    [paper] = take(corpus, path).papers
    remove_paper(corpus.into, paper.paper_id)
    assert take(corpus, corpus.sources).total == 0
    again = take(corpus, path)
    assert [(each.paper_id, each.is_new) for each in again.papers] == [(paper.paper_id, True)]
    assert again.total == 1


def test_a_folder_that_was_moved_is_taken_without_reading_it_again(corpus: Corpus) -> None:
    corpus.write("in/a.md", PAPER)
    take(corpus, corpus.sources / "in")
    (corpus.sources / "in").rename(corpus.sources / "out")
    assert changes(take(corpus, corpus.sources / "out")) == [("renamed", "a.md", "a.md")]


def test_following_one_file_costs_no_look_at_the_others(corpus: Corpus) -> None:
    for at in range(30):
        corpus.write(f"p{at}.md", f"---\ntitle: Paper {at}\ndoi: 10.1000/{at}\n---\nText.\n")
    corpus.build()
    new = corpus.write("new.md", PAPER)
    renamed = (corpus.sources / "p1.md").rename(corpus.sources / "q1.md")
    gone = corpus.sources / "p2.md"
    gone.unlink()
    corpus.write("p3.md", "---\ntitle: Paper three\ndoi: 10.1000/3\n---\nOther text.\n")
    # Changed as well, but not named: it must not be looked at.
    corpus.write("p4.md", "---\ntitle: Paper four\ndoi: 10.1000/4\n---\nOther text.\n")
    followed = follow(
        corpus, new, corpus.sources / "p1.md", renamed, gone, corpus.sources / "p3.md"
    )
    assert sorted(changes(followed)) == [
        ("changed", "p3.md", None),
        ("new", "new.md", None),
        ("removed", "p2.md", None),
        ("renamed", "q1.md", "p1.md"),
    ]
    assert followed.total == 30
    assert corpus.one("SELECT title FROM paper WHERE doi = '10.1000/4'") == "Paper 4"


def test_a_print_that_gets_its_text_and_loses_it_again_is_followed(corpus: Corpus) -> None:
    text = corpus.write("a.md", PAPER)
    corpus.write("a.zh.md", "鲸鱼。\n")
    follow(corpus, text)
    assert corpus.one("SELECT count(*) FROM paper") == 1
    text.unlink()
    followed = follow(corpus, text)
    assert ("removed", "a.md", None) in changes(followed)
    assert ("new", "a.zh.md", None) in changes(followed)
