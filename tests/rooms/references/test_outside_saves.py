"""Outside saves as callers meet them: at the gate, over MCP on standard input, and at the command
line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carrel.cli import main
from carrel.core.errors import CarrelError
from tests.rooms.references.desk import Reader, Stage
from tests.rooms.references.test_alone import call, talk

pytestmark = pytest.mark.promise("L9")
FIRST = [
    {"id": "first", "type": "book", "title": "First"},
    {"id": "second", "type": "book", "title": "Second"},
]


def entry(number: int) -> str:
    return (
        f"@book{{new{number}, title={{Work number {number}}}, author={{Doe, Jane}}, "
        f"year={1800 + number}}}"
    )


async def add_some(reader: Reader, count: int) -> list[str]:
    found = []
    for number in range(count):
        answer = await reader.ask("add_references", input=entry(number))
        found += [added["id"] for added in answer["added"]]
    return found


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    made = Stage(tmp_path)
    made.library.write_text(json.dumps(FIRST), encoding="utf-8")
    return made


def save_stale(path: Path) -> None:
    path.write_text(
        json.dumps([{**FIRST[0], "note": "edited"}, FIRST[1]], indent=4), encoding="utf-8"
    )


def test_forty_acknowledged_references_survive_and_the_next_answer_says_so_once(
    stage: Stage,
) -> None:
    async def scene(reader: Reader) -> tuple[list[str], list[Any]]:
        promised = await add_some(reader, 40)
        save_stale(stage.library)
        return promised, [await reader.ask("list_references", limit=500) for _ in range(2)]

    promised, (first, second) = stage.play(scene)
    assert len(promised) == 40
    found = {item["id"]: item for item in first["references"]}
    assert set(found) == {"first", "second", *promised}
    assert found["first"]["note"] == "edited"
    assert len(first["notices"]) == 1
    assert "40 references were kept" in first["notices"][0]
    assert "notices" not in second


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search_references", {"query": "first"}),
        ("list_references", {}),
        ("add_references", {"input": entry(77)}),
        ("edit_reference", {"id": "first", "changes": {"volume": "3"}}),
        ("remove_reference", {"id": "second", "force": True}),
        ("cite_references", {"ids": ["first"]}),
    ],
)
def test_every_answer_can_say_it(stage: Stage, name: str, arguments: dict[str, Any]) -> None:
    async def scene(reader: Reader) -> Any:
        await add_some(reader, 2)
        save_stale(stage.library)
        return await reader.ask(name, **arguments)

    assert "2 references were kept" in stage.play(scene)["notices"][0]


def test_it_is_said_over_mcp(stage: Stage) -> None:
    stage.play(lambda reader: add_some(reader, 3))
    save_stale(stage.library)
    answers = talk(
        stage.home, call(1, "search", query="first"), arguments=("--library", str(stage.library))
    )
    assert "3 references were kept" in answers[1]["result"]["structuredContent"]["notices"][0]


def test_it_is_said_at_the_command_line_and_an_intended_return_is_a_command(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CARREL_HOME", str(stage.home / "home"))

    def run(*words: str) -> str:
        assert main(["references", *words, "--library", str(stage.library)]) == 0
        said = capsys.readouterr()
        return said.out + said.err

    stage.play(lambda reader: add_some(reader, 3))
    save_stale(stage.library)
    shown = run("search", "first")
    assert "Notice: " in shown
    assert "3 references were kept (new0, new1, new2)" in shown
    past = run("history")
    assert "outside\twrote first; kept new0, new1, new2" in past
    (version,) = [line for line in past.splitlines() if "another program" in line]
    run("restore", "--version", version.split("\t")[0])
    assert [item["id"] for item in json.loads(stage.library.read_text(encoding="utf-8"))] == [
        "first",
        "second",
    ]
    run("restore", "new1")
    assert [item["id"] for item in json.loads(stage.library.read_text(encoding="utf-8"))] == [
        "first",
        "second",
        "new1",
    ]
    run("restore", "first")
    assert "note" not in json.loads(stage.library.read_text(encoding="utf-8"))[0]
    assert "restore first --revision NUMBER" in run("history", "first")


def test_restoring_what_is_not_kept_is_refused(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_HOME", str(stage.home / "home"))
    before = stage.library.read_bytes()
    assert main(["references", "restore", "nothing", "--library", str(stage.library)]) == 3
    assert main(["references", "restore", "--version", "999", "--library", str(stage.library)]) == 3
    assert main(["references", "restore", "--library", str(stage.library)]) == 2
    assert stage.library.read_bytes() == before


@pytest.mark.parametrize("is_relative", [True, False])
def test_a_library_behind_a_link_is_changed_where_it_is(stage: Stage, is_relative: bool) -> None:
    target = stage.home / "elsewhere" / "real.json"
    target.parent.mkdir()
    stage.library.replace(target)
    stage.library.symlink_to(Path("elsewhere") / "real.json" if is_relative else target)
    stage.play(lambda reader: add_some(reader, 2))
    assert stage.library.is_symlink()
    assert [item["id"] for item in json.loads(target.read_text(encoding="utf-8"))] == [
        "first",
        "second",
        "new0",
        "new1",
    ]


def test_a_loop_of_links_is_an_error_that_says_so(stage: Stage) -> None:
    stage.library.unlink()
    stage.library.symlink_to(stage.library.name)

    async def scene(reader: Reader) -> CarrelError:
        with pytest.raises(CarrelError) as error:
            await reader.ask("add_references", input=entry(1))
        return error.value

    refusal = stage.play(scene)
    assert refusal.code == "library_unavailable"
    assert "loop" in refusal.message


def test_changes_name_an_item_without_an_id_by_the_key_that_finds_it(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    stage.library.write_text(json.dumps(FIRST), encoding="utf-8")
    unnamed = {"type": "book", "title": "Nameless", "author": [{"family": "Doe"}]}

    async def scene(reader: Reader) -> None:
        await reader.ask("organize_references", ids=["first"], add_tags=["a"])
        saved = json.loads(stage.library.read_text(encoding="utf-8"))
        stage.library.write_text(json.dumps([*saved, unnamed]), encoding="utf-8")
        (change,) = (await reader.ask("list_library_changes", limit=1))["changes"]
        (key,) = change["written"]
        assert (await reader.ask("get_reference", id=key))["reference"]["title"] == "Nameless"
        await reader.ask("organize_references", ids=[key], add_tags=["b"])
        named, added = (await reader.ask("list_library_changes", limit=2))["changes"]
        assert (named["written"], named["removed"], added["written"]) == ([key], [], [key])
        with pytest.raises(CarrelError) as refused:
            await reader.ask("undo_library_change", revision=added["revision"])
        assert (refused.value.details or {})["ids"] == [key]
        await reader.ask("undo_library_change", revision=named["revision"])
        await reader.ask("undo_library_change", revision=added["revision"])
        assert (await reader.ask("list_references"))["total"] == len(FIRST)

    stage.play(scene)
