"""The examples of help, typed one after the other on a desk with papers, references and notes."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from carrel.cli import main
from carrel.cli.command_index import read_index
from carrel.rooms.research.safety import check_goal
from tests.journeys.typed.sample_home import fill
from tests.rooms.research.test_held_goals import IN_DOUBT

# What stands behind it says what is needed; such an example is read and not run.
_NOT_RUN = "  # "
_NODES = '{"name": "Capsules", "node_type": "thing", "description": "d", "content": "c"}\n'
_REFERENCES = (
    "</body><back><ref-list><ref id='r1'><element-citation><article-title>Nanometre-scale "
    "thermometry in a living cell</article-title><year>2013</year><pub-id pub-id-type='doi'>"
    "10.1038/nature12373</pub-id></element-citation></ref></ref-list></back>"
)
_EARLIER = '[{"id": "old-1", "title": "Fish oil eases Raynaud disease", "summary": "By blood."}]'
_GOAL = "Find new treatments for Raynaud disease"


class Desk:
    """A home folder of a person, the ids in it, and what its commands print."""

    def __init__(self, home: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.home, self._capfd, self.ids = home, capfd, dict[str, str]()

    def type(self, line: str, typed: str = "") -> tuple[int, str]:
        """Runs a line as a shell would: `~`, ids, a pipe from echo, and `>` into a file."""
        before, _, line = line.rpartition(" | ") if " | " in line else ("", "", line)
        words = [self._expand(word) for word in shlex.split(line)]
        for sign in (">>", ">"):
            if sign in words:
                del words[words.index(sign) :]
        text = " ".join(shlex.split(before)[1:]) if before else typed
        return self.run(words[1:], text)

    def run(self, words: list[str], typed: str = "") -> tuple[int, str]:
        self._capfd.readouterr()
        stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(typed.encode()))
        try:
            code = main(words)
        except SystemExit as stopped:
            code = int(str(stopped.code))
        finally:
            sys.stdin = stdin
        said = self._capfd.readouterr()
        return code, said.out if code == 0 else said.out + said.err

    def ask(self, *words: str) -> Any:
        code, said = self.run([*words, "--json"])
        assert code == 0, said
        return json.loads(said)

    def _expand(self, word: str) -> str:
        word = str(self.home / word[2:]) if word.startswith("~/") else word
        for name, value in self.ids.items():
            word = word.replace(name, value) if not word.isalpha() else word
        return word


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Desk:
    home = tmp_path / "person"
    fill(home)
    cited = home / "papers" / "fishermen.xml"
    jats = cited.read_text(encoding="utf-8").replace("</body>", _REFERENCES)
    cited.write_text(jats, encoding="utf-8")
    other = jats.replace("10.5555/cold.1", "10.5555/cold.2").replace("Winter", "Summer")
    (cited.parent / "summer.xml").write_text(other, encoding="utf-8")
    for name in list(os.environ):
        if name.startswith(("CARREL_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CARREL_HOME", str(home / "desk"))
    monkeypatch.chdir(home)
    (home / "draft.md").write_text("# A draft\n\nWarm hands, low viscosity.\n", encoding="utf-8")
    (home / "nodes.jsonl").write_text(_NODES, encoding="utf-8")
    (home / "hypotheses.json").write_text(_EARLIER, encoding="utf-8")
    found = Desk(home, capfd)
    for words in (
        ["add", str(home / "papers"), "refs.bib", "--quiet"],
        ["knowledge", "import", str(home / "notes")],
        ["research", "start", _GOAL, "--hypothesis-count", "3", "--watch"],
    ):
        code, said = found.run(words)
        assert code == 0, said
    _collect_ids(found)
    return found


def _choose_held_goal() -> str:
    goals = [
        goal.replace("marine oil", "fish oil").replace("cold finger", "Raynaud")
        for goal in IN_DOUBT
    ]
    return next(goal for goal in goals if check_goal(goal).outcome == "hold")


def _collect_ids(desk: Desk) -> None:
    papers = desk.ask("papers", "search", "viscosity", "--limit", "5")
    passages = desk.ask("papers", "passages", "viscosity")
    notes = desk.ask("knowledge", "search", "*")
    (project,) = desk.ask("research", "list")
    hypotheses = desk.ask("research", "hypotheses", project["id"])
    saved = desk.ask("knowledge", "save", "To be deleted")
    draft = desk.ask("knowledge", "save", "To be shared")
    # Longer names first: PAPER_ID is a part of OTHER_PAPER_ID.
    desk.ids = {
        "OTHER_PAPER_ID": papers[1]["paper_id"],
        "PAPER_TO_REMOVE": papers[2]["paper_id"],
        "PAPER_ID": papers[0]["paper_id"],
        "PASSAGE_ID": passages[0]["passage_id"],
        "NOTE_TO_DELETE": saved["id"],
        "DRAFT_ID": draft["id"],
        "NOTE_ID": next(note["id"] for note in notes if note["title"] == "Capsules"),
        "RESEARCH_ID": project["id"],
        "HYPOTHESIS_ID": hypotheses[0]["id"],
    }


def test_every_example_of_help_works(desk: Desk) -> None:
    failed = []
    for path, command in read_index().items():
        for line in command.examples:
            if _NOT_RUN in line:
                words = shlex.split(line.partition(_NOT_RUN)[0])
                assert words[: 1 + len(path.split())] == ["carrel", *path.split()]
                continue
            if "research pause" in line:
                # An earlier one may be finished by now.
                started = desk.ask("research", "start", _GOAL, "--hypothesis-count", "100")
                desk.ids["STARTED_ID"] = started["research_id"]
            if "HELD_ID" in line:
                # Each decision ends the waiting.
                held = desk.ask("research", "start", _choose_held_goal())
                desk.ids["HELD_ID"] = held["research_id"]
            code, said = desk.type(line)
            if code != 0:
                failed.append(f"{line}\n  exit {code}: {said.strip()[:300]}")
    assert not failed, "\n".join(failed)
