"""Every operation has a command, and every parameter of it can be given there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carrel.cli import main
from carrel.cli.calls import local_operations
from carrel.cli.command_index import read_index
from carrel.cli.operation_arguments import read_operation_arguments
from carrel.cli.rooms import room_parser
from carrel.core.catalogue import Catalogue
from carrel.core.operation import Operation
from carrel.doors.schemas import input_schema
from carrel.rooms import declared_rooms
from carrel.settings import Settings
from carrel.wiring.desk import open_desk

SETTINGS = Settings.model_validate({"audit": {"enabled": False}})
# Where a command calls a field otherwise, or reads it from a file.
OTHER_NAMES = {
    "import_hypotheses": {"hypotheses": "file"},
    "search_desk": {},
}
COMMANDS_OF = {"import_hypotheses": "research import", "search_desk": "find"}


def catalogue() -> Catalogue:
    return open_desk(SETTINGS).catalogue


def everything() -> list[Operation[Any]]:
    local = [
        each for room in declared_rooms() for each in local_operations(SETTINGS, room).values()
    ]
    return [*catalogue().operations.values(), *local]


@pytest.mark.promise("D18")
@pytest.mark.parametrize("operation", everything(), ids=lambda each: each.name)
def test_every_operation_has_a_command_that_takes_every_parameter(
    operation: Operation[Any],
) -> None:
    path = COMMANDS_OF.get(operation.name, f"{operation.room} {operation.command}")
    command = read_index().get(path)
    assert command is not None, f"{operation.name} has no command"
    names = OTHER_NAMES.get(operation.name, {})
    taken = {argument.field for argument in command.arguments}
    fields = input_schema(operation).get("properties", {})
    assert {names.get(field, field) for field in fields} <= taken


def test_no_two_operations_have_one_name() -> None:
    """Pages, access and the audit log know an operation by its name."""
    names = [each.name for each in everything()]
    assert sorted(set(names)) == sorted(names)


def read(room: str, *words: str) -> dict[str, object]:
    """The arguments that a command would call its operation with."""
    parser = room_parser(room)
    options = parser.parse_args(list(words))
    (operation,) = [each for each in everything() if (each.room, each.command) == (room, words[0])]
    return read_operation_arguments(operation, options)


def test_lists_are_repeated_or_follow_one_option() -> None:
    expected = {"content": "Text", "tags": ["a", "b", "c"]}
    assert read("knowledge", "save", "Text", "--tags", "a", "b", "--tags", "c") == expected
    assert read("knowledge", "save", "Text", "--tags=-a", "--tags", "b", "c")["tags"] == [
        "-a",
        "b",
        "c",
    ]


def test_numbers_null_and_values_with_a_dash_are_taken() -> None:
    assert read("research", "hypotheses", "r1", "--min-elo", "-12.5")["min_elo"] == -12.5
    assert read("research", "hypotheses", "r1", "--min-elo", "null")["min_elo"] is None
    assert read("knowledge", "save", "--", "-ase") == {"content": "-ase"}
    assert read("knowledge", "save", "x", "--title", "-ase")["title"] == "-ase"
    assert read("knowledge", "save", "x", "--title=--two")["title"] == "--two"
    assert read("research", "rate", "h1", "0.5", "--comment", "- a list")["comment"] == "- a list"


def test_numbers_that_json_does_not_have_stay_text_and_are_refused() -> None:
    assert read("research", "hypotheses", "r1", "--min-elo", "NaN")["min_elo"] == "NaN"


def test_objects_are_json_or_pairs() -> None:
    expected = {"id": "one", "changes": {"title": "New = title", "volume": 3, "note": None}}
    pairs = ["title=New = title", "volume:=3", "note:=null"]
    assert read("references", "edit", "one", *pairs) == expected
    assert read("references", "edit", "one", json.dumps(expected["changes"])) == expected
    cited = '{"id": "one", "locator": "5"}'
    ids = read("references", "cite", cited, "two")["ids"]
    assert ids == [{"id": "one", "locator": "5"}, "two"]
    records = read("papers", "correct", "split", "--records", "2", "a.bib")["records"]
    assert records == [2, "a.bib"]


@pytest.mark.parametrize("words", ["title", "{", "[1]", "=x", "note:={"])
def test_what_is_no_object_is_refused_with_how_to_write_one(
    words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["references", "edit", "one", words, "--home", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "KEY=TEXT" in said


def test_long_texts_come_from_files_and_from_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "note.md"
    file.write_text("\ufeffFünf Gramm\n", encoding="utf-8")
    assert read("knowledge", "save", f"@{file}")["content"] == "Fünf Gramm\n"
    assert read("knowledge", "save", "@@home")["content"] == "@home"
    pdf = tmp_path / "one.pdf"
    pdf.write_bytes(b"%PDF-1.7 \xff")
    assert read("papers", "add", "--pdf-base64", f"@{pdf}")["pdf_base64"] == "JVBERi0xLjcg/w=="
    changes = tmp_path / "changes.json"
    changes.write_text('{"volume": "4"}', encoding="utf-8")
    assert read("references", "edit", "one", f"@{changes}", "issue=2")["changes"] == {
        "volume": "4",
        "issue": "2",
    }
    with file.open("rb") as stream:
        monkeypatch.setattr("sys.stdin", _Input(stream))
        assert read("knowledge", "save", "-")["content"] == "Fünf Gramm\n"
    # A bibliography begins with @, and paths of references are read as they are.
    assert read("references", "add", "@book{a}")["input"] == ["@book{a}"]


class _Input:
    """Standard input, as far as it is read here."""

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer


def test_a_text_that_cannot_be_read_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    (tmp_path / "long.md").write_bytes(b"x" * 900_000)
    for name, problem in {
        "nothing.md": "cannot be read",
        "latin.md": "not UTF-8",
        "long.md": "longer than",
    }.items():
        assert main(["knowledge", "save", f"@{tmp_path / name}", "--home", str(tmp_path)]) == 2
        said = capsys.readouterr().err
        assert problem in said and said.count("\n") == 1


def test_operations_resources_and_prompts_are_reached_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    assert main(["call", "add_references", "input=@book{one, title = {First}}"]) == 0
    capsys.readouterr()
    assert main(["call", "list_references", "limit:=5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 1
    assert main(["read", "library://reference/one"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "First"
    assert main(["read"]) == 0
    listed = capsys.readouterr().out
    assert all(uri in listed for uri in catalogue().resources)
    assert main(["prompt"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in catalogue().prompts)
    assert main(["prompt", "literature-review", "question=Does fish oil help?"]) == 0
    assert "Does fish oil help?" in capsys.readouterr().out
    assert main(["operations", "export", "my", "bibliography"]) == 0
    assert capsys.readouterr().out.startswith("export_references\tcarrel references export")


@pytest.mark.parametrize(
    "words",
    [
        ["call", "no_such_operation"],
        ["call", "search_papers", "{"],
        ["read", "library://reference/nothing"],
        ["read", "file:///etc/passwd"],
        ["read", "paper://../../etc/passwd"],
        ["prompt", "nothing"],
        ["prompt", "hypothesis-analysis"],
        ["prompt", "hypothesis-analysis", "odd=1"],
    ],
)
def test_what_is_not_there_is_one_line_with_the_next_step(
    words: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    assert main(words) in {2, 3}
    said = capsys.readouterr()
    assert not said.out and said.err.startswith("carrel: ") and said.err.count("\n") == 1


def test_an_operation_that_is_not_there_is_named_with_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    assert main(["call", "save_knowlege", "content=x"]) == 3
    said = capsys.readouterr().err
    assert "save_knowlege" in said and "Did you mean" in said and "carrel operations" in said
