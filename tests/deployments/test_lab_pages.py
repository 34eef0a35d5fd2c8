"""The pages for whoever looks after a desk: they are typed, and name files that are there."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.access.test_uploads import PDF
from tests.deployments.units import PROGRAM, ROOT, places_in, run
from tests.upgrades.asking import ask_all
from tests.upgrades.test_earlier_homes import _missing as missing_facts

pytestmark = pytest.mark.timeout(500)
DOCS = ROOT / "docs"
LAB, UPGRADING, DEPLOYING = DOCS / "for-a-lab.md", DOCS / "upgrading.md", DOCS / "deploying.md"


def blocks(page: Path, kind: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def typed_lines(page: Path) -> Iterator[str]:
    for block in blocks(page, "console"):
        yield from block.splitlines()


class Terminal:
    """Types lines of a page with the places moved below a folder."""

    def __init__(self, folder: Path) -> None:
        self.places = places_in(folder)
        self._folder = folder
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "CARREL_HOME": self.places["/var/lib/carrel"],
        }
        self.token = ""

    def type(self, line: str) -> subprocess.CompletedProcess[str]:
        for place, target in self.places.items():
            line = line.replace(place, target)
        words = shlex.split(line.replace("TOKEN", self.token or "TOKEN"))
        assert words[0] == "carrel"
        return run(
            [self.places[PROGRAM], *words[1:]], self.places,
            env=self._environment, cwd=self._folder, capture_output=True,
            timeout=240, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip


def test_the_page_for_a_lab_is_typed_from_top_to_bottom(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    (Path(terminal.places["/srv/papers"]) / "whales.pdf").write_bytes(PDF)
    notes = tmp_path / "srv-notes"
    notes.mkdir()
    (notes / "whales.md").write_text("# Recordings\n\nThe whales were recorded in 1971.\n")
    terminal.places["/srv/notes"] = str(notes)
    printed = {}
    for line in typed_lines(LAB):
        done = terminal.type(line)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr
        printed[line] = done.stdout + done.stderr
        if line.startswith("carrel tokens create"):
            terminal.token = done.stdout.strip()
    clients = {line.split()[2] for line in printed if line.startswith("carrel connect")}
    assert len(clients - {"--list"}) == 11
    listed = next(text for line, text in printed.items() if line == "carrel connect --list")
    assert listed.count("https://desk.example.org/desk/mcp") == 10
    codex = (tmp_path / ".codex" / "config.toml").read_text()
    assert terminal.token and terminal.token in codex
    assert "On the songs of whales" in next(
        text for line, text in printed.items() if line.startswith("carrel papers search")
    )
    assert "1971" in next(
        text for line, text in printed.items() if line.startswith("carrel knowledge search")
    )


def test_an_earlier_home_is_upgraded_and_brought_back_as_the_page_says(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    home = Path(terminal.places["/var/lib/carrel"])
    with tarfile.open(ROOT / "tests" / "upgrades" / "before-true-records.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    (tmp_path / "home").rename(home.with_name("kept"))
    home.rmdir()
    home.with_name("kept").rename(home)
    told = json.loads((tmp_path / "told.json").read_text())
    lines = list(typed_lines(UPGRADING))
    assert lines[-2:] == ["carrel restore before-upgrade.tar.gz --force", "carrel doctor"]
    for line in lines:
        done = terminal.type(line)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    assert list(home.glob("before-restore-*")), "what stood there was moved aside"
    answered = ask_all(home)
    lost = [fact for room in answered for fact in missing_facts(told[room], answered[room], room)]
    assert not lost


@pytest.mark.parametrize("page", [LAB, UPGRADING, DEPLOYING], ids=lambda page: page.name)
def test_lines_for_root_are_shell_and_name_files_that_are_there(page: Path) -> None:
    for block in blocks(page, "sh"):
        subprocess.run(["sh", "-n"], input=block, text=True, check=True)
    text = page.read_text(encoding="utf-8")
    made = set(re.findall(r"> (deployments/[\w./-]+\w)", text))  # written by a line of the page
    for named in set(re.findall(r"(?<!tests/)deployments/[\w./-]+\w", text)) - made:
        assert (ROOT / named).exists(), named


def test_every_deployment_file_is_told_of_and_none_is_pasted() -> None:
    said = "".join(page.read_text(encoding="utf-8") for page in (LAB, UPGRADING, DEPLOYING))
    for folder in ("systemd", "nginx", "caddy"):
        for file in (ROOT / "deployments" / folder).iterdir():
            assert file.name in said, file.name
    for pasted in ("proxy_pass", "reverse_proxy 127", "ExecStart="):
        assert pasted not in said
