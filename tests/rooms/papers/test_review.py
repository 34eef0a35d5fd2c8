"""What is doubtful is listed, most useful to correct first, and said at the end of a build."""

from __future__ import annotations

import asyncio
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from carrel.cli import main
from carrel.cli.papers_build import run
from carrel.core.caller import Visit
from carrel.core.errors import CarrelError
from carrel.rooms.papers.building.doubts import DOUBT_KINDS, find_doubts, read_mark
from carrel.rooms.papers.building.paper_records import (
    FieldOrigin,
    PaperRecord,
    PossibleTwin,
    mark_guesses,
)
from carrel.rooms.papers.building.papers import PublishedPaper, collect_summaries
from carrel.settings import Settings
from carrel.stores.corpus.records import decode_paper, encode_paper
from carrel.wiring.desk import open_desk
from tests.rooms.papers.test_bibliography import ask

pytestmark = pytest.mark.promise("P14")

_TEXT = "---\ntitle: On engines\nauthors: [Ann Smith, Bo Lee]\n{}---\n# On engines\n\n{} text.\n"
SOURCES = {
    "engines.md": _TEXT.format("journal: Science\nyear: 2018\ndoi: 10.1000/x\n", "First"),
    "engines_again.md": _TEXT.format("doi: 10.1000/x\n", "Second"),
    "engines.bib": (
        "@article{smith, title={On engines}, author={Smith, Ann and Lee, Bo}, year=2019, "
        "journal={J. Tests}, volume=3, doi={10.1000/x}}\n"
        "@article{roe, title={Another thing}, author={Roe, Cy}, journal={Nature}, year=2001, "
        "pmid={23239625}, pages={e00031}}\n"
    ),
    "scan_0001.md": "Only text without a heading. It has a second sentence, too.\n",
    "nobody.md": "---\ntitle: Nobody wrote this\n---\nText.\n",
    "claims.bib": (
        "@article{other, title={Wholly different whales}, author={Fox, Di}, year=2001, "
        "doi={10.1000/x}}"
    ),
    "nothing.md": "",
    "blank.md": "  \n\n",
    "comments.bib": "% nothing here\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    (home / "sources").mkdir()
    for name, text in SOURCES.items():
        (home / "sources" / name).write_text(text, encoding="utf-8")
    assert run(["build", str(home / "sources"), "--into", str(home / "papers")]) == 0
    return home


def build(home: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    words = ["build", str(home / "sources"), "--into", str(home / "papers"), "--report", "json"]
    assert run(words) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def review(home: Path, **asked: Any) -> list[dict[str, Any]]:
    """The papers; an empty list comes with an explanation around it."""
    answer = ask(home, "review_papers", **asked)
    papers: list[dict[str, Any]] = answer["result"] if isinstance(answer, dict) else answer
    return papers


def test_a_snapshot_cannot_be_reviewed_and_says_so(tmp_path: Path, home: Path) -> None:
    assert main(["papers", "export-snapshot", str(tmp_path / "shared"), "--home", str(home)]) == 0
    settings = Settings.model_validate(
        {
            "home": tmp_path / "empty",
            "rooms": ("papers",),
            "audit": {"enabled": False},
            "papers": {"snapshot": tmp_path / "shared" / "paper_snapshot.db"},
        }
    )

    async def scene() -> None:
        async with open_desk(settings).session() as desk:
            visit = Visit("cli", "test")
            caller = await desk.gate.identify(visit)
            await desk.gate.call(desk.catalogue.operations["review_papers"], {}, caller, visit)

    with pytest.raises(CarrelError) as refused:
        asyncio.run(scene())
    assert refused.value.code == "review_not_available"


def test_doubtful_papers_come_in_the_order_of_use_with_the_command_that_settles_them(
    home: Path,
) -> None:
    papers = ask(home, "review_papers")
    assert [paper["title"] for paper in papers] == [
        "scan 0001",
        "Wholly different whales",
        "On engines",
        "Nobody wrote this",
    ]
    assert {paper["total"] for paper in papers} == {4}
    scan, whales, engines, nobody = papers
    [doi] = whales["fields"]
    assert (doi["field"], doi["kind"]) == ("doi", "identifier")
    assert doi["note"] == ("claims.bib claims doi:10.1000/x, which engines.md has for another work")
    assert scan["sources"] == ["scan_0001.md"]
    title = scan["fields"][0]
    assert (title["field"], title["kind"], title["origin"]) == ("title", "guess", "guess")
    assert title["command"] == f"carrel papers edit {scan['paper_id']} --title 'scan 0001'"
    assert [(field["field"], field["kind"]) for field in engines["fields"]] == [
        ("publication_date", "differs"),
        ("venue", "differs"),
    ]
    year = engines["fields"][0]
    assert (year["value"], year["origin"]) == ("2018", "list")
    assert year["alternatives"] == [{"value": "2019", "origin": "list", "confidence": 1.0}]
    assert {field["kind"] for field in nobody["fields"]} == {"missing"}


def test_the_list_can_be_narrowed_and_paged(home: Path) -> None:
    def titles(**asked: Any) -> list[str]:
        return [paper["title"] for paper in review(home, **asked)]

    assert titles(kind="guess") == ["scan 0001"]
    assert titles(kind="missing", field="authors") == ["Nobody wrote this", "scan 0001"]
    assert titles(field="venue") == ["On engines"]
    assert titles(limit=1, page=3) == ["On engines"]
    assert titles(kind="unsure") == []
    assert titles(page=9) == []


def test_no_path_of_the_machine_is_shown(home: Path) -> None:
    assert str(home) not in json.dumps(ask(home, "review_papers"))


def test_the_terminal_shows_the_list_and_marks_guesses(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["papers", "review", "--home", str(home)]) == 0
    said = capsys.readouterr()
    assert "On engines\n   engines.md, engines_again.md, engines.bib\n" in said.out
    assert "publication date: 2018 (list) — sources disagree" in said.out
    assert "     or: 2019 (list)" in said.out
    assert "4 papers with doubtful fields" in said.err
    assert main(["papers", "search", "heading", "--home", str(home)]) == 0
    said = capsys.readouterr()
    assert "scan 0001 ?" in said.out
    assert "? marks what no source states" in said.err


def test_a_paper_is_found_and_named_by_its_pubmed_number(home: Path) -> None:
    [hit] = ask(home, "search_papers", query="PMID: 23239625")
    assert hit["title"] == "Another thing"
    for name in ("pmid:23239625", "23239625", "https://pubmed.ncbi.nlm.nih.gov/23239625/"):
        assert ask(home, "get_paper_metadata", paper_id=name)["paper_id"] == hit["paper_id"]


def test_names_keep_their_capitals_in_lists_of_facets(home: Path) -> None:
    authors = ask(home, "list_top_facets", category="author", limit=10)
    assert {"Ann Smith", "Cy Roe"} <= {author["value"] for author in authors}
    venues = ask(home, "list_top_facets", category="venue", limit=10)
    assert "Nature" in {venue["value"] for venue in venues}


def test_passages_mark_guesses(home: Path) -> None:
    [passage] = ask(home, "find_passages", query="without a heading", limit=1)
    assert passage["inferred"] == ["title"]


def test_a_build_says_what_is_empty_held_back_or_not_shown(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    again = build(home, capsys)
    assert again["papers"]["in_doubt"] == len(review(home)) == 4
    codes = {Path(line["source"]).name: line["code"] for line in again["lines"]}
    assert {
        name: codes[name] for name in ("nothing.md", "blank.md", "comments.bib")
    } == dict.fromkeys(("nothing.md", "blank.md", "comments.bib"), "empty")
    (home / "sources" / "engines_again.md").write_text(
        _TEXT.format("doi: 10.1000/x\n", "Third"), encoding="utf-8"
    )
    changed = build(home, capsys)
    [kept] = [line for line in changed["lines"] if line["code"] == "text_not_shown"]
    assert Path(kept["source"]).name == "engines_again.md"
    [scan] = ask(home, "review_papers", kind="guess")
    ask(home, "remove_paper", paper_id=scan["paper_id"])
    removed = build(home, capsys)
    [held_back] = [line for line in removed["lines"] if line["code"] == "removed"]
    assert Path(held_back["source"]).name == "scan_0001.md"
    assert not held_back["skipped"]
    assert review(home, kind="guess") == []
    assert run(["build", str(home / "sources"), "--into", str(home / "papers")]) == 0
    assert "3 papers have doubtful fields: carrel papers review" in capsys.readouterr().out


def test_every_command_of_the_list_is_one_that_can_be_typed(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = {
        "--year …": "--year 2001",
        "--author …": "--author 'Ada Lovelace'",
        "--doi …": "--doi 10.1000/own",
    }
    for paper in review(home):
        for field in paper["fields"]:
            command = field["command"]
            for gap, value in values.items():
                command = command.replace(gap, value)
            words = shlex.split(command)[1:]
            assert main([*words, "--home", str(home)]) == 0, command
    capsys.readouterr()
    assert review(home) == []


def test_what_a_person_has_set_or_cleared_is_in_doubt_no_more() -> None:
    person = (FieldOrigin("title", "person", 1.0), FieldOrigin("authors", "person", 1.0))
    record = PaperRecord("T", publication_date="2001", origin="layout", confidence=0.9)
    settled = PaperRecord("T", publication_date="2001", origins=person)
    assert [each.mark for each in find_doubts(record)] == ["missing:authors"]
    assert find_doubts(settled) == ()
    guess = PaperRecord(
        "T", ("A",), origins=mark_guesses("title", "authors"), publication_date="2001"
    )
    assert [each.mark for each in find_doubts(guess)] == ["guess:title", "guess:authors"]


def test_a_paper_that_may_be_another_one_is_kept_with_its_mark() -> None:
    record = PaperRecord("T", ("A",), publication_date="2001")
    twins = (PossibleTwin("1" * 32, "b.pdf", "the same title"),)
    paper = PublishedPaper("0" * 32, 1, (), record, collect_summaries(record), twins=twins)
    assert decode_paper(encode_paper(paper)).twins == twins
    assert [each.mark for each in find_doubts(record, (), twins)] == ["twin:paper"]


def test_papers_that_may_be_one_are_listed_until_somebody_merges_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sources").mkdir()
    for name in ("one", "two"):
        text = f"# The measurement of whales in the sea\n\n{name}.\n"
        (tmp_path / "sources" / f"{name}.md").write_text(text, encoding="utf-8")
    assert run(["build", str(tmp_path / "sources"), "--into", str(tmp_path / "papers")]) == 0
    twins = review(tmp_path, kind="twin")
    command = twins[0]["fields"][0]["command"]
    assert command.startswith(f"carrel papers merge {twins[0]['paper_id']} ")
    assert main([*shlex.split(command)[1:], "--home", str(tmp_path)]) == 0
    assert review(tmp_path, kind="twin") == []


def test_marks_of_later_versions_are_passed_over() -> None:
    assert read_mark("rumour:title") is None
    for kind in DOUBT_KINDS:
        found = read_mark(f"{kind}:title")
        assert found is not None
        assert (found.kind, found.field) == (kind, "title")
