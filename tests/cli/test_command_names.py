"""Messages that name operations are shown with commands, and the commands are real."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import carrel
from carrel.cli.command_names import command_line, find_command, in_commands
from carrel.core.operation import Operation
from carrel.doors.schemas import input_schema
from carrel.rooms import declared_rooms
from carrel.settings import Settings
from carrel.wiring.desk import open_desk

SOURCES = Path(carrel.__file__).parent


@pytest.fixture(scope="module")
def operations() -> dict[str, Operation[Any]]:
    settings = Settings.model_validate({"audit": {"enabled": False}})
    return dict(open_desk(settings).catalogue.operations)


def test_every_operation_of_the_catalogue_has_its_own_command(
    operations: dict[str, Operation[Any]],
) -> None:
    for operation in operations.values():
        command = find_command(operation.name)
        if operation.command:
            room = "" if operation.room == "desk" else f"{operation.room} "
            assert command == f"carrel {room}{operation.command}"
        else:
            _, room, word = str(command).split()
            assert word in declared_rooms()[room].commands


def test_arguments_by_place_are_those_the_command_requires(
    operations: dict[str, Operation[Any]],
) -> None:
    own = {"import_hypotheses", "paper_history"}
    for name, operation in operations.items():
        if name in own:
            continue
        required = input_schema(operation).get("required", [])
        placeholders = command_line(name, {}).removeprefix(str(find_command(name))).split()
        assert placeholders == [field.upper() for field in required], name


@pytest.mark.parametrize(
    ("operation", "arguments", "expected"),
    [
        ("get_paper_metadata", {"paper_id": "doi:10.1/x"}, "carrel papers show doi:10.1/x"),
        ("get_paper_metadata", {}, "carrel papers show PAPER_ID"),
        ("search_papers", {"query": "fish oil"}, "carrel papers search 'fish oil'"),
        ("search_papers", {"query": "it's $HOME"}, "carrel papers search 'it'\"'\"'s $HOME'"),
        ("get_knowledge", {"id": "-x"}, "carrel knowledge show -- -x"),
        (
            "cite_references",
            {"ids": ["a", "b c"], "style": "vancouver"},
            "carrel references cite a 'b c' --style vancouver",
        ),
        (
            "edit_reference",
            {"id": "a", "changes": {"title": "Ä"}},
            'carrel references edit a \'{"title": "Ä"}\'',
        ),
        ("remove_reference", {"id": "a", "force": True}, "carrel references remove a --force"),
        ("remove_reference", {"id": "a", "force": False}, "carrel references remove a"),
        ("edit_paper", {"action": "undo", "number": 3}, "carrel papers undo 3"),
        ("edit_paper", {"action": "undo", "paper_id": "p"}, "carrel papers undo --paper p"),
        ("edit_paper", {"action": "merge", "paper_id": "p", "papers": ["q"]},
         "carrel papers merge p q"),
        (
            "edit_paper",
            {"action": "edit", "paper_id": "p", "authors": ["Ada L", "-b"], "year": 1843},
            "carrel papers edit p '--author=Ada L' --author=-b --year 1843",
        ),
        ("paper_history", {}, "carrel papers history"),
        ("search_desk", {"query": "a b"}, "carrel find 'a b'"),
    ],
)  # fmt: skip
def test_a_command_line_is_as_a_shell_reads_it(
    operation: str, arguments: dict[str, object], expected: str
) -> None:
    assert command_line(operation, arguments) == expected
    assert shlex.split(expected)[0] == "carrel"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Find the paper_id with search_papers.", "Find the paper id with carrel papers search."),
        (
            "Call get_paper_metadata first with paper_id.",
            "Run carrel papers show first with paper id.",
        ),
        (
            "get_job with this job_id tells when it is done.",
            "carrel jobs get JOB_ID tells when it is done.",
        ),
        (
            "edit_paper(action=undo, number=7), or carrel papers undo 7, undoes it.",
            "carrel papers undo 7 undoes it.",
        ),
        (
            "joined: same title. edit_paper with action merge joins them.",
            "joined: same title. carrel papers merge joins them.",
        ),
        (
            "Correct what is wrong and call add_paper again.",
            "Correct what is wrong and run carrel papers add again.",
        ),
        ("resume_research goes on.", "carrel research resume goes on."),
        ("search_papers_by_keyword finds it.", "carrel papers keyword finds it."),
    ],
)
def test_a_message_names_commands_instead_of_operations(message: str, expected: str) -> None:
    assert in_commands(message) == expected


@pytest.mark.parametrize(
    "text",
    [
        "plain words stay",
        "Set elasticsearch.url, or tool:search_papers",
        "my_search_papers.pdf cannot be read",
        "/data/search_papers/x.pdf: no such file",
        "search_papers_of_2019.bib is not BibTeX",
        "",
    ],
)
def test_what_only_looks_like_an_operation_stays_as_it_is(text: str) -> None:
    assert in_commands(text) == text


def test_no_next_step_in_the_sources_keeps_an_operation_name(
    operations: dict[str, Operation[Any]],
) -> None:
    """Every string of the sources that is a next step reads well after the replacement."""
    names = re.compile(rf"(?<![\w/:.-])({'|'.join(n for n in operations if '_' in n)})\b")
    steps = [
        step
        for file in SOURCES.rglob("*.py")
        for step in re.findall(r'next_step=f?"([^"]+)"', file.read_text(encoding="utf-8"))
    ]
    assert any(names.search(step) for step in steps)
    assert [step for step in steps if names.search(in_commands(step))] == []
