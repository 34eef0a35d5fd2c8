"""`carrel watch`: new, changed, renamed and removed files, disks that vanish, and its end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.core.errors import UnavailableError
from carrel.services import folder_watch
from carrel.services.folder_watch import WatchedFile, look_at
from carrel.stores.file_lock import LockHeldError, hold_lock
from carrel.wiring.papers_build import paper_builder
from carrel.wiring.papers_watch import LOCK_NAME, CorpusWatch, ServerWatch
from tests.journeys.doors import ENVIRONMENT, PROGRAM
from tests.processes import warm

pytestmark = pytest.mark.promise("P16")


def text(number: int, words: str = "Some words.") -> str:
    return f"---\ntitle: Paper {number}\ndoi: 10.1000/{number}\n---\n{words}\n"


class Watched:
    """A folder, its corpus, and what the watch said of them."""

    def __init__(self, place: Path) -> None:
        self.folder, self.into = place / "papers", place / "corpus"
        self.folder.mkdir()
        self.said: list[str] = []
        self.complaints: list[str] = []
        self.watch = CorpusWatch(self.into, [self.folder], self.said.append, self.complaints.append)

    def write(self, name: str, content: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def look(self, times: int = 2) -> list[tuple[str, str]]:
        """What the next looks tell: the kind of change and the name of the file."""
        self.said.clear()
        for _ in range(times):
            self.watch.step()
        words = [line.split(maxsplit=1) for line in self.said]
        return sorted((kind, Path(rest.split(" (was")[0]).name) for kind, rest in words)

    def count(self) -> int:
        with paper_builder(self.into) as builder:
            return builder._corpus.paper_count()


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    found = Watched(tmp_path)
    for number in range(3):
        found.write(f"p{number}.md", text(number))
    assert found.look(1) == [("new", f"p{number}.md") for number in range(3)]
    return found


def test_new_changed_renamed_and_removed_files_are_followed(watched: Watched) -> None:
    watched.write("new.md", text(9))
    watched.write("p0.md", text(0, "Other words, more of them."))
    (watched.folder / "p1.md").rename(watched.folder / "moved.md")
    (watched.folder / "p2.md").unlink()
    assert watched.look() == [
        ("changed", "p0.md"),
        ("new", "new.md"),
        ("removed", "p2.md"),
        ("renamed", "moved.md"),
    ]
    assert (watched.look(), watched.count(), watched.complaints) == ([], 3, [])


def test_a_file_that_is_still_written_is_left_until_it_rests(watched: Watched) -> None:
    path = watched.write("long.md", text(7))
    assert watched.look(1) == []
    for at in range(3):
        with path.open("a") as file:
            file.write(f"More words {at}.\n")
        os.utime(path, ns=(at, at))
        assert watched.look(1) == []
    assert watched.look(1) == [("new", "long.md")]


def test_a_file_that_is_emptied_for_a_moment_keeps_its_paper(watched: Watched) -> None:
    path = watched.write("p0.md", "")
    assert watched.look(3) == []
    path.write_text(text(0, "Written anew."))
    assert watched.look() == [("changed", "p0.md")]
    assert watched.count() == 3


def test_a_folder_that_is_renamed_keeps_every_paper(watched: Watched) -> None:
    for number in (10, 11):
        watched.write(f"sub/q{number}.md", text(number))
    watched.look()
    (watched.folder / "sub").rename(watched.folder / "other")
    assert watched.look() == [("renamed", "q10.md"), ("renamed", "q11.md")]
    assert watched.count() == 5


def test_a_vanished_mount_does_not_empty_the_corpus(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside = watched.folder.with_name("aside")
    watched.folder.rename(aside)
    assert (watched.look(3), watched.count()) == ([], 3)
    # The mount point stays behind, empty.
    watched.folder.mkdir()
    assert (watched.look(3), watched.count()) == ([], 3)
    # The same for a watch that begins now, as cron does.
    anew = CorpusWatch(
        watched.into, [watched.folder], watched.said.append, watched.complaints.append
    )
    assert anew.step()
    assert (watched.count(), "disk" in watched.complaints[-1]) == (3, True)
    # Something else is mounted there.
    (watched.folder / "lost+found").mkdir()
    monkeypatch.setattr(folder_watch, "_device", lambda folder: -1)
    assert (watched.look(3), watched.count()) == ([], 3)
    monkeypatch.undo()
    shutil.rmtree(watched.folder)
    aside.rename(watched.folder)
    assert (watched.look(), watched.count()) == ([], 3)


def test_the_last_file_of_a_folder_may_be_removed(watched: Watched) -> None:
    for number in (0, 1, 2):
        (watched.folder / f"p{number}.md").unlink()
        assert watched.look() == [("removed", f"p{number}.md")]
    assert watched.count() == 0


def test_a_bad_file_is_told_and_does_not_stop_the_rest(watched: Watched) -> None:
    (watched.folder / "bad.pdf").write_bytes(b"%PDF-1.4 broken")
    watched.write("good.md", text(5))
    assert ("new", "good.md") in watched.look()
    assert any("bad.pdf" in line for line in watched.complaints)
    assert watched.count() == 4


def test_trouble_is_told_once_and_tried_again(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.write("new.md", text(9))

    def fail(*_: object) -> None:
        raise UnavailableError("The disk is busy", next_step="Wait.")

    monkeypatch.setattr("carrel.wiring.papers_watch.paper_builder", fail)
    assert watched.look(4) == []
    assert watched.complaints == ["The disk is busy. Wait."]
    monkeypatch.undo()
    assert watched.look(1) == [("new", "new.md")]


def test_hidden_unfinished_and_linked_things_are_not_looked_at(watched: Watched) -> None:
    watched.write(".hidden.md", text(20))
    watched.write("download.pdf.part", "x")
    watched.write("note.md~", "x")
    (watched.folder / "loop").symlink_to(watched.folder)
    assert watched.look() == []
    found = look_at([watched.folder]).files
    assert sorted(Path(path).name for path in found) == ["p0.md", "p1.md", "p2.md"]
    assert all(isinstance(state, WatchedFile) for state in found.values())


def test_once_brings_the_corpus_in_step_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.md").write_text(text(1))
    assert main(["watch", str(folder), "--once", "--quiet"]) == 0
    assert capsys.readouterr().out.split() == ["new", str(folder / "a.md")]
    (folder / "a.md").rename(folder / "b.md")
    assert main(["watch", str(folder), "--once", "--quiet"]) == 0
    assert capsys.readouterr().out == f"renamed  {folder / 'b.md'} (was {folder / 'a.md'})\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to handle")
@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(tmp_path: Path, kind: signal.Signals) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.md").write_text(text(1))
    process = warm.start(
        [*PROGRAM, "watch", str(folder), "--every", "0.1", "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**ENVIRONMENT, "CARREL_HOME": str(tmp_path / "home")},
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("new ")
    (folder / "b.md").write_text(text(2))
    assert process.stdout.readline().rstrip().endswith("b.md")
    process.send_signal(kind)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "Stopped" in said


def test_of_several_workers_one_watches_and_another_takes_over(tmp_path: Path) -> None:
    folder, into = tmp_path / "in", tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.md").write_text(text(1))
    first, second = (ServerWatch(into, [folder], 0.05) for _ in range(2))
    published = threading.Event()

    def wait_for_manifest() -> None:
        while not (into / "manifest.json").exists() and not published.is_set():
            published.wait(0.05)
        published.set()

    waiting = threading.Thread(target=wait_for_manifest)
    first.start()
    waiting.start()
    assert published.wait(60)
    with pytest.raises(LockHeldError), hold_lock(into / ".carrel-build" / LOCK_NAME):
        pass
    second.start()
    first.close()
    second.close()
    with hold_lock(into / ".carrel-build" / LOCK_NAME):
        waiting.join()


def test_once_with_a_folder_that_is_not_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    assert main(["watch", str(tmp_path / "none"), "--once", "--quiet"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"carrel: There is no folder {tmp_path / 'none'}. ")
    (tmp_path / "there").mkdir()
    both = [str(tmp_path / "there"), str(tmp_path / "none")]
    assert main(["watch", *both, "--once", "--quiet"]) == 5
    assert f"{tmp_path / 'none'} is not there" in capsys.readouterr().err
