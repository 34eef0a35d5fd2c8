"""Pages of papers and of `carrel find`, as a person at a terminal sees them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from carrel.cli import main
from carrel.cli.page import Page, Verbatim
from carrel.cli.paper_page import draw_summary
from carrel.cli.papers_pages import PAGES
from carrel.core.answer import Blocks, Text
from carrel.settings import read_settings
from carrel.wiring.desk import open_desk
from tests.cli.terminal import read_terminal
from tests.journeys.doors import ENVIRONMENT, PROGRAM

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
# Where tests run side by side, their processes have COLUMNS of their own.
_INHERITED = {name: value for name, value in ENVIRONMENT.items() if name != "COLUMNS"}
TERMINAL = {**_INHERITED, "TERM": "xterm"}
PAPER = """---
title: "{title}"
authors: [Ada Moor, Ben Lind, Cleo Park]
year: {year}
venue: Cold Medicine
doi: 10.1234/cold.{number}
keywords: [viscosity]
---
# {title}

## Results

We found that blood viscosity is raised in Raynaud disease number {number}. Patients came in winter.

See also [red]markup[/red] and 血液粘度 in the same sentence of study {number}.

## References

1. Moor A, Lind B. Cold hands, study 1. Cold Medicine. 1981. doi:10.1234/cold.1
2. Somebody E. Another work that is not here. Elsewhere. 1970. doi:10.9999/elsewhere
"""

at_terminals = pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, home = tmp_path_factory.mktemp("papers"), tmp_path_factory.mktemp("home")
    for number in range(1, 13):
        title = f"Cold hands, study {number}"
        text = PAPER.format(title=title, year=1980 + number, number=number)
        (folder / f"{number}.md").write_text(text, encoding="utf-8")
    assert main(["papers", "build", str(folder), "--home", str(home), "--quiet"]) == 0
    return home


def at_terminal(home: Path, *words: str, width: int = 80) -> str:
    command = [*PROGRAM, *words, "--home", str(home)]
    return ESCAPE.sub("", read_terminal(command, TERMINAL, width=width)).replace("\r\n", "\n")


def piped(home: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main([*words, "--home", str(home)]) == 0
    return capsys.readouterr()


def first_id(home: Path, capsys: pytest.CaptureFixture[str]) -> str:
    found = re.search(r"[0-9a-f]{32}", piped(home, capsys, "papers", "search", "viscosity").out)
    assert found is not None
    return found[0]


@at_terminals
@pytest.mark.parametrize("width", [40, 80, 120])
def test_found_papers_are_a_numbered_list_with_ids_and_the_count(home: Path, width: int) -> None:
    shown = at_terminal(home, "papers", "search", "blood viscosity", width=width)
    lines = shown.split("\n")
    assert re.match(r" 1\. Cold hands, study \d+$", lines[0])
    assert re.match(r"    Ada Moor et al\. · 19\d\d · Cold", lines[1])
    assert "**" not in shown
    assert "12 papers; these are 1 to 10, --page 2 shows more" in " ".join(shown.split())
    [named] = re.findall(r"Next: carrel papers show ([0-9a-f]{32})", shown)
    assert named in shown.replace("Next:", "", 1).split("Next:")[0]
    wide = [line for line in lines if len(line) > width and "Next:" not in line]
    assert not wide


@at_terminals
def test_numbers_go_on_from_page_to_page(home: Path) -> None:
    shown = at_terminal(home, "papers", "search", "viscosity", "--limit", "5", "--page", "3")
    assert shown.startswith("11. ")
    assert "12 papers\n" in shown


@at_terminals
def test_matched_words_are_bold(home: Path) -> None:
    command = [*PROGRAM, "papers", "search", "viscosity", "--limit", "1", "--home", str(home)]
    assert "\x1b[1mviscosity\x1b[0m" in read_terminal(command, TERMINAL)


@pytest.mark.parametrize("command", ["search", "keyword", "passages"])
def test_a_page_past_the_end_says_so_and_nothing_else(
    home: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    said = piped(home, capsys, "papers", command, "viscosity", "--page", "9")
    assert said.out == ""
    assert "Page 9 is past the end" in said.err
    if command == "search":
        assert "there are 2 pages (12 papers, 10 a page)" in said.err
    assert "Next" not in said.err


@pytest.mark.parametrize("words", [("papers", "search"), ("papers", "passages"), ("find",)])
def test_nothing_found_is_told_with_what_to_try_and_no_next_step(
    home: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    said = piped(home, capsys, *words, "zzqxw")
    assert said.out == ""
    assert "Ask with other words" in said.err
    assert "Next" not in said.err


def test_find_prints_commands_to_type_and_never_operations(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = piped(home, capsys, "find", "blood", "viscosity")
    ids = re.findall(r"^ +carrel papers show ([0-9a-f]{32})$", said.out, re.MULTILINE)
    assert len(ids) == 10
    assert "get_paper_metadata" not in said.out
    assert "{" not in said.out
    assert piped(home, capsys, "papers", "show", ids[0]).out.startswith("Cold hands, study")


@at_terminals
def test_a_paper_is_a_title_block_with_fields(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paper = first_id(home, capsys)
    shown = at_terminal(home, "papers", "show", paper)
    head = shown.split("\n")[:3]
    assert head[0].startswith("Cold hands, study")
    assert head[1] == "Ada Moor, Ben Lind, Cleo Park"
    assert re.match(r"Cold Medicine · 19\d\d", head[2])
    assert re.search(rf"^id +{paper}$", shown, re.MULTILINE)
    assert f"carrel papers source {paper}" in shown


@pytest.mark.parametrize("width", [40, 80, 120])
def test_every_page_of_papers_fits_the_terminal(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    paper = first_id(home, capsys)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    commands = (
        ["show", paper], ["summary", paper], ["source", paper], ["facets", "keyword"],
        ["stats"], ["review"], ["history", paper], ["rank"], ["citations", paper],
        ["snowball", paper], ["keyword", "viscosity"],
    )  # fmt: skip
    for words in commands:
        shown = ESCAPE.sub("", piped(home, capsys, "papers", *words).out)
        assert shown or words == ["review"]
        for line in shown.split("\n"):
            assert len(line) <= width or "carrel papers" in line, (words, line)


def test_a_source_in_a_pipe_is_the_text_itself(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paper = first_id(home, capsys)
    said = piped(home, capsys, "papers", "source", paper)
    assert "## Results\n\nWe found that blood viscosity" in said.out
    assert piped(home, capsys, "papers", "source", paper, "--json").out == said.out


def test_passages_stand_word_for_word_with_section_and_id(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = piped(home, capsys, "papers", "passages", "raised in Raynaud disease", "--limit", "1")
    assert re.search(r"^   Ada Moor et al\. · 19\d\d · Results", said.out, re.MULTILINE)
    assert re.search(r"^We found that blood viscosity is raised in", said.out, re.MULTILINE)
    [passage] = re.findall(r"carrel papers passage '?([0-9a-f~]+)'? --before 1", said.err)
    assert "Patients came in winter." in piped(home, capsys, "papers", "passage", passage).out


def test_a_summary_shows_its_text_once_below_the_title() -> None:
    page = draw_summary(
        Text(
            '{"paper_title": "T", "paper_authors": ["A"], "abstract": "Long text.",'
            ' "template_tag": "simple", "summary": "## Abstract\\n\\nLong text."}',
            "application/json",
        )
    )
    assert str(page).count("Long text.") == 1
    assert "simple" not in str(page)
    cut = draw_summary(Text('{"paper_title": "T', "text/plain"))
    assert cut == Page((Verbatim('{"paper_title": "T'),))


def test_every_operation_of_papers_that_answers_with_records_has_a_page_of_its_own() -> None:
    settings = read_settings({("rooms",): ["papers"], ("audit", "enabled"): False})
    operations = open_desk(settings).catalogue.operations.values()
    records = {
        each.name
        for each in operations
        if each.room == "papers" and each.command and each.answer not in (Text, Blocks)
    }
    assert "search_papers" in records
    assert records - set(PAGES) == set()


def test_an_outline_and_a_near_quotation_name_what_a_person_types(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = piped(home, capsys, "papers", "source", "10.1234/cold.1", "--outline")
    assert "--section with a number or a heading shows one part" in shown.out
    assert "carrel papers source 10.1234/cold.1 --section 1" in shown.err
    quoted = "We found that blood viscosity is lowered in Raynaud disease number"
    near = piped(home, capsys, "papers", "quote", quoted).out
    assert near.startswith("Found nearly, with other words; those that differ are shown.\n\n")
    assert near.count("near, with other words") == 3
    titles = [n for n, line in enumerate(near.splitlines()) if line.startswith("Cold hands")]
    assert len(titles) == 3
    assert all(near.splitlines()[n - 1] == "" for n in titles)
