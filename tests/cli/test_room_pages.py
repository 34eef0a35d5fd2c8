"""What the commands of the rooms show: at a real terminal of two widths, and in a pipe."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.cli import main
from tests.cli.terminal import read_terminal
from tests.journeys.doors import ENVIRONMENT, PROGRAM
from tests.libraries.discovery.small_corpus import GOAL
from tests.rooms.research.house import build_snapshot

at_terminals = pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")

LONG_TITLE = (
    "A title so very long that no terminal of eighty columns could ever show the whole of it on "
    "one line of a table, or two"
)
LIBRARY = f"""
@article{{swanson1986, title={{Fish oil and <i>Raynaud</i> syndrome}}, author={{Swanson, Don}},
  journal={{Perspectives}}, year={{1986}}, doi={{10.1353/pbm.1986.0087}}}}
@book{{knuth, title={{{LONG_TITLE}}}, author={{Knuth, D. and Two, B. and Three, C.}},
  year={{1997}}}}
@article{{tanaka, title={{血液粘度の測定方法}}, author={{田中, 太郎}}, journal={{学会誌}},
  year={{2020}}}}
"""
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def library(home: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    (home / "refs.bib").write_text(LIBRARY, encoding="utf-8")
    assert main(["references", "add", "refs.bib"]) == 0
    capsys.readouterr()
    return home


def type_at(home: Path, width: int, *words: str) -> list[str]:
    """The lines that a terminal shows, none wider than it."""
    environment = {
        **{name: value for name, value in ENVIRONMENT.items() if name != "COLUMNS"},
        "CARREL_HOME": str(home / "home"),
        "TERM": "xterm",
        "NO_COLOR": "1",
    }
    said = read_terminal([*PROGRAM, *words], environment, width=width)
    lines = [_ESCAPE.sub("", line).rstrip() for line in said.replace("\r", "").split("\n")]
    drawn = [line for line in lines if not line.startswith("Next: ")]
    assert all(_cells(line) <= width for line in drawn), said
    return lines


def _cells(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(mark) in "WF" else 1 for mark in line)


def pipe(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> tuple[str, str]:
    assert main(list(words)) == status
    return capsys.readouterr()


@at_terminals
def test_a_library_is_a_table_and_at_a_narrow_terminal_a_list(library: Path) -> None:
    wide = type_at(library, 80, "references", "list")
    assert wide[0].split() == ["key", "authors", "year", "title"]
    assert any(line.startswith("swanson1986   Swanson") for line in wide)
    assert any("Knuth et al." in line for line in wide)
    assert "3 references" in wide
    assert LONG_TITLE in " ".join(" ".join(line[33:].split()) for line in wide)
    narrow = type_at(library, 40, "references", "list")
    assert "key: swanson1986" in narrow
    assert "title: Fish oil and Raynaud syndrome ·" in narrow


def test_a_library_in_a_pipe_is_a_line_of_tabs_for_each(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = pipe(capsys, "references", "list")
    assert out.splitlines() == [
        "swanson1986\tSwanson\t1986\tFish oil and Raynaud syndrome\tPerspectives",
        f"knuth\tKnuth et al.\t1997\t{LONG_TITLE}\t",
        "tanaka\t田中\t2020\t血液粘度の測定方法\t学会誌",
    ]
    assert err == ""
    out, err = pipe(capsys, "references", "list", "--limit", "2")
    assert len(out.splitlines()) == 2
    assert err == "1 to 2 of 3 references; --page 2 shows the next\n"
    everything, _ = pipe(capsys, "references", "search", "*")
    assert len(everything.splitlines()) == 3
    found, err = pipe(capsys, "references", "search", "fish", "oil")
    assert found.startswith("swanson1986\t")
    assert err == "Next: carrel references cite swanson1986 cites it.\n"


def test_nothing_found_is_said_in_a_sentence_and_no_next_step(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (("references", "search", "zzzz"), ("knowledge", "search", "zzzz")):
        out, err = pipe(capsys, *words)
        assert out == ""
        assert err.count("\n") == 1 and "Next:" not in err
    out, err = pipe(capsys, "knowledge", "show", "none", status=3)
    assert (out, err.count("\n")) == ("", 1)


def test_an_empty_home_says_what_to_type(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = {
        "references list": "No references yet: carrel references add FILE|DOI",
        "research list": 'No projects yet: carrel research start "GOAL" --watch',
        "jobs list": "No jobs: work that a call began and that goes on after it is listed here.",
        "users list": "No users yet: carrel users add NAME",
        "tokens list": "No tokens yet: carrel tokens create NAME --scopes SCOPES",
    }
    for command, sentence in told.items():
        assert pipe(capsys, *command.split()) == ("", f"{sentence}\n")


def test_adding_counts_first_and_names_what_became_of_each(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (library / "more.bib").write_text(
        "@article{swanson1986, title={Fish oil}, doi={10.1353/pbm.1986.0087}}\n"
        "@article{new, title={A new one}, year={2020}}\n@article{open, title={not closed\n",
        encoding="utf-8",
    )
    out, err = pipe(capsys, "references", "add", "more.bib", "10.1/")
    first, _, rest = out.partition("\n\n")
    assert first == "2 added, 1 skipped as duplicates, 1 failed"
    rows = [line.split("\t") for line in rest.splitlines()]
    assert ["added", "new", "A new one"] in rows
    assert ["skipped", "swanson1986", "Fish oil is there already (same DOI)"] in rows
    assert [row[0] for row in rows] == ["added", "added", "skipped", "failed", *["check"] * 2]
    assert "Next: carrel references cite new --style vancouver" in err
    _, err = pipe(capsys, "references", "remove", "new", status=2)
    assert "--force" in err and "force: true" not in err
    out, err = pipe(capsys, "references", "add", "10.1/", status=1)
    assert out.startswith("1 failed\n")
    assert "Next:" not in err


def test_a_list_in_a_file_is_named_behind_an_at_sign(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = library / "dois.txt"
    listed.write_text("10.1000/one\n10.1000/two\n", "utf-8")
    entries = "@misc{one, doi={10.1000/one}}@misc{two, title={Two}, doi={10.1000/two}}"
    out, _ = pipe(capsys, "references", "add", entries)
    assert "added\tone\t(no title)" in out
    for name in (f"@{listed}", str(listed)):
        out, _ = pipe(capsys, "references", "add", name)
        assert out.startswith("2 skipped as duplicates")
    _, err = pipe(capsys, "references", "add", "@nowhere.txt", status=2)
    assert "nowhere.txt cannot be read" in err


def test_what_is_pasted_stands_alone_on_standard_output(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = pipe(capsys, "references", "cite", "swanson1986")
    assert (
        out == "Swanson, D. (1986). Fish oil and Raynaud syndrome. Perspectives. "
        "https://doi.org/10.1353/pbm.1986.0087\n"
    )
    out, _ = pipe(capsys, "references", "export", "--query", "swanson")
    assert out.startswith("@article{swanson1986,") and out.rstrip().endswith("}")
    assert pipe(capsys, "references", "export", "--query", "zzzz") == ("", "No reference fits.\n")
    out, _ = pipe(capsys, "references", "list", "--format", "bibtex", "--limit", "1")
    assert out.startswith("@article{swanson1986,") and out.rstrip().endswith("}")
    (library / "text.md").write_text("# Fish oil\n\nIt *lowers* viscosity.\n", encoding="utf-8")
    _, err = pipe(capsys, "references", "attach", "swanson1986", "text.md")
    assert err == "Next: carrel references fulltext swanson1986 reads it back.\n"
    assert pipe(capsys, "references", "fulltext", "swanson1986")[0] == (
        "# Fish oil\n\nIt *lowers* viscosity.\n"
    )
    shown, _ = pipe(capsys, "references", "show", "swanson1986")
    assert shown.startswith("Fish oil and Raynaud syndrome\nkey: swanson1986\n")
    assert "authors: Don Swanson\n" in shown and "full text: markdown" in shown
    found, _ = pipe(capsys, "references", "search", "viscosity")
    assert "In their texts\nswanson1986" in found


@at_terminals
def test_the_history_names_the_number_that_restore_takes(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe(capsys, "references", "edit", "swanson1986", "volume=31")
    out, err = pipe(capsys, "references", "remove", "swanson1986", "--force")
    assert out == "Removed swanson1986: Fish oil and Raynaud syndrome\n"
    assert err == "Next: carrel references restore swanson1986 brings it back.\n"
    piped, err = pipe(capsys, "references", "history")
    assert piped.splitlines()[0].split("\t")[::3] == ["3", "removed swanson1986"]
    assert _ISO.search(piped)
    assert "carrel references restore --version 2" in err
    at_terminal = type_at(library, 80, "references", "history")
    assert "just now" in "\n".join(at_terminal)
    assert not _ISO.search("\n".join(at_terminal))
    of_one = type_at(library, 80, "references", "history", "swanson1986")
    assert "volume: nothing → 31" in of_one
    _, err = pipe(capsys, "references", "restore", "1", status=3)
    assert "restore --version 1" in err
    out, _ = pipe(capsys, "references", "restore", "--version", "2")
    assert out == "The library is version 2 again: 3 references.\n"
    listed, _ = pipe(capsys, "references", "history", "--json")
    assert json.loads(listed)["changes"][0]["written"]


@at_terminals
def test_what_changed_in_a_reference_is_told_in_words(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = '[{"family": "Swanson", "given": "Don R."}, {"literal": "WHO"}]'
    pipe(capsys, "references", "edit", "swanson1986", f"author:={names}", "issued=1987-03")
    sorting = ["--add-tags", "oil", "--add-collections", "Thesis/One", "--read-state", "read"]
    pipe(capsys, "references", "organize", "swanson1986", *sorting)
    told = type_at(library, 100, "references", "history", "swanson1986")
    for line in (
        "author: Swanson, Don → Swanson, Don R.; WHO",
        "issued: 1986 → 1987-03",
        "tags: nothing → oil",
        "collections: nothing → Thesis/One",
        "read: nothing → read",
    ):
        assert line in told
    assert not any("uuid" in line for line in told if "→" in line)
    shown = type_at(library, 80, "references", "show", "swanson1986")
    assert [line.split(None, 1) for line in shown if line.startswith(("collections", "read"))] == [
        ["collections", "Thesis/One"],
        ["read", "read"],
    ]
    merged = "\n".join(type_at(library, 120, "references", "merge", "swanson1986", "knuth"))
    assert "Knuth, D.; Two, B.; Three, C." in merged and '"family"' not in merged


@at_terminals
def test_notes_are_found_read_and_followed_with_their_ids(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "Fish oil lowers **blood viscosity**.\n\n- one\n- two, see [[Winter]]"
    saved, err = pipe(capsys, "knowledge", "save", text, "--title", "Viscosity", "--tags", "blood")
    note_id = re.match(r"Saved note ([\w-]{20}): Viscosity\n", saved)
    assert "tags: #blood\n" in saved
    assert note_id is not None
    assert f"carrel knowledge show {note_id[1]}" in err
    found = type_at(home, 80, "knowledge", "search", "viscosity")
    assert found[0] == "1. Viscosity"
    assert found[1].split() == [note_id[1], "·", "#blood"]
    assert found[2].strip().startswith("Fish oil lowers blood viscosity.")
    shown = type_at(home, 40, "knowledge", "show", note_id[1])
    assert shown[0] == "Viscosity"
    assert "• one" in shown
    assert any("just now" in line for line in shown)
    assert any("nothing of that name" in line for line in shown)
    (moment,) = re.findall(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", "".join(map(str.strip, shown)))
    change = ("--id", note_id[1], "--updated-at", moment)
    out, _ = pipe(capsys, "knowledge", "save", "Other words", *change)
    assert out.startswith(f"Changed note {note_id[1]}: ")
    history, _ = pipe(capsys, "knowledge", "history", note_id[1])
    assert "+Other words" in history and "-- one" in history
    _, err = pipe(capsys, "knowledge", "propose", note_id[1])
    assert err == f"Next: carrel knowledge promote {note_id[1]} shares it with the team.\n"
    promoted, err = pipe(capsys, "knowledge", "promote", note_id[1])
    assert re.search(r"is the team's note [\w-]{20} now\.", promoted)
    nodes, _ = pipe(capsys, "knowledge", "nodes", "Nothing so called")
    assert "not known" in nodes


def test_styles_are_found_by_words_and_a_wrong_one_names_the_command(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = pipe(capsys, "references", "styles", "american", "medical", "association")
    assert "american-medical-association\tAMA Manual of Style" in out
    assert "--style american-medical-association" in err
    assert pipe(capsys, "references", "styles", "zzzz")[0] == ""
    _, err = pipe(capsys, "references", "cite", "knuth", "--style", "zzzz", status=3)
    assert "carrel references styles '*' lists all" in err
    assert "2d-materials" in pipe(capsys, "references", "styles", "*", "--limit", "2")[0]


def test_a_key_of_others_is_one_word_of_the_next_command(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = json.dumps([{"id": "a; touch owned", "type": "book", "title": "Fluid"}])
    _, err = pipe(capsys, "references", "add", odd)
    assert "carrel references cite 'a; touch owned' --style" in err
    _, err = pipe(capsys, "references", "search", "fluid")
    assert err == "Next: carrel references cite 'a; touch owned' cites it.\n"
    odd = json.dumps([{"id": "FLUID2020", "type": "book", "title": "Another"}])
    pipe(capsys, "references", "add", odd)
    (library / "text.md").write_text("text", encoding="utf-8")
    _, err = pipe(capsys, "references", "attach", "FLUID2020", "text.md")
    assert err == "Next: carrel references fulltext FLUID2020 reads it back.\n"


def test_words_need_no_quotes(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe(capsys, "knowledge", "save", "cold", "hands", "in", "winter", "--tags", "a", "b")
    out, _ = pipe(capsys, "knowledge", "search", "cold", "hands", "--limit", "1")
    assert out.startswith("1. cold hands in winter\n")
    assert "#a #b" in out


@at_terminals
def test_secrets_stand_alone_and_lists_of_access_are_tables(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token, err = pipe(capsys, "tokens", "create", "ci", "--scopes", "papers:read")
    assert re.fullmatch(r"carrel_\S+\n", token)
    assert token.strip() not in err
    password, err = pipe(capsys, "users", "add", "ada", "--generate")
    assert re.fullmatch(r"\S+\n", password)
    assert "--user ada" in err
    assert pipe(capsys, "tokens", "list")[0].startswith("ci\tactive\tuntil 20")
    tokens = type_at(home, 80, "tokens", "list")
    assert tokens[0].split() == ["token", "state", "ends", "acts", "for", "scopes"]
    assert re.match(r"ci +active +\d{4}-\d\d-\d\d, in 89 days +token:ci +papers:read", tokens[2])
    users = type_at(home, 80, "users", "list")
    assert re.match(r"ada +active +\d{4}-\d\d-\d\d +everything but admin", users[2])
    log = type_at(home, 80, "audit", "list")
    assert [line.split()[:1] for line in log[:1]] == [["time"]]
    calls = [line for line in log if re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ", line)]
    assert ["tokens:create" in calls[0], "users:add" in calls[1], len(calls)] == [True, True, 2]
    assert "No record fits." in type_at(home, 80, "audit", "list", "--action", "nothing")


@pytest.fixture(scope="module")
def run_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[str]]]:
    folder = tmp_path_factory.mktemp("run")
    places = ["--home", str(folder / "home"), "--snapshot", str(build_snapshot(folder))]
    assert main(["research", "start", GOAL, "--hypothesis-count", "3", "--watch", *places]) == 0
    yield folder, places


@at_terminals
def test_a_run_is_read_at_a_terminal(
    run_home: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, places = run_home
    capsys.readouterr()
    listed, err = pipe(capsys, "research", "list", *places)
    research_id, status, count, begun, goal, read_as = listed.rstrip("\n").split("\t")
    assert (status, goal, read_as) == ("completed", GOAL, "cold finger disease")
    assert _ISO.match(begun) and int(count) > 0
    assert err == f"Next: carrel research results {research_id} says what it found.\n"
    status_lines = type_at(folder, 80, "research", "status", research_id, *places)
    assert f"{'━' * 30} 100% completed" in status_lines
    ranked = type_at(folder, 80, "research", "hypotheses", research_id, *places)
    assert ranked[0].split() == ["#", "Elo", "hypothesis", "won-lost", "id"]
    piped, _ = pipe(capsys, "research", "hypotheses", research_id, *places)
    first = piped.splitlines()[0].split("\t")[1]
    page = type_at(folder, 40, "research", "hypothesis", first, *places)
    assert "Sentences it rests on" in page and "Matches" in page
    results, err = pipe(capsys, "research", "results", research_id, *places)
    assert results.startswith("# ")
    assert f"carrel research export {research_id}" in err
    _, err = pipe(capsys, "research", "status", "none", *places, status=3)
    assert err.count("\n") == 1


def test_lists_name_people_with_their_particles_and_say_where_names_go_on(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = """[{"id": "a", "type": "book", "title": "A", "author": [
        {"family": "Berg", "given": "Kees", "non-dropping-particle": "van der"},
        {"family": "Humboldt", "given": "Alexander", "dropping-particle": "von"}]},
      {"id": "b", "type": "book", "title": "B", "author": [{"family": "Doe"}],
       "custom": {"et_al": ["author"]}}]"""
    pipe(capsys, "references", "add", names)
    out, _ = pipe(capsys, "references", "list")
    assert [line.split("\t")[1] for line in out.splitlines()][3:] == [
        "van der Berg & Humboldt",
        "Doe et al.",
    ]
