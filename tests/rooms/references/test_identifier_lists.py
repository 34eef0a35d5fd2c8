"""Lists of identifiers are read as a person keeps them, and identifiers name what is here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import CarrelError
from carrel.rooms.references.identifier_lists import split_identifiers
from tests.rooms.references.desk import Reader, Stage

_KNOWN = (
    "@article{one, title={First}, doi={10.1000/one}}"
    "@article{two, title={Second}, eprint={1706.03762}, archiveprefix={arXiv}}"
    "@book{three, title={Third}, isbn={978-0-262-03384-8}}"
)
_MIXED = "10.1000/one\n\nno identifier at all\narXiv:1706.03762, 9780262033848;\n"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def add(stage: Stage, given: object) -> dict[str, Any]:
    async def scene(reader: Reader) -> Any:
        await reader.ask("add_references", input=_KNOWN)
        return await reader.ask("add_references", input=given)

    return dict(stage.play(scene))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "swanson-1986",
        "Fish oil, Raynaud's syndrome, and undiscovered public knowledge",
        "Notes\n\nOf a day in\n1986\nand nothing else",
        "@book{a, doi={10.1000/one}}\n10.1000/two",
        "TY  - JOUR\nDO  - 10.1000/one\nER  - ",
    ],
)
def test_other_texts_are_no_lists(text: str) -> None:
    assert split_identifiers(text) == []


@pytest.mark.parametrize("text", ["10.1000/one, arXiv:1706.03762", "10.1000/one 1706.03762"])
def test_identifiers_on_one_line_are_a_list(stage: Stage, text: str) -> None:
    answer = add(stage, text)
    assert [each["duplicate_of"] for each in answer["skipped"]] == ["one", "two"]
    assert not answer["failed"]


@pytest.mark.parametrize("from_file", [True, False])
def test_a_list_names_works_and_says_which_line_is_none(stage: Stage, from_file: bool) -> None:
    path = stage.home / "mixed.txt"
    path.write_text(_MIXED, "utf-8")
    answer = add(stage, str(path) if from_file else _MIXED)
    assert [each["duplicate_of"] for each in answer["skipped"]] == ["one", "two", "three"]
    [failed] = answer["failed"]
    assert failed["line"] == 3 and "no identifier at all" in failed["reason"]
    if from_file:
        assert failed["source"] == "mixed.txt"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "It is empty"),
        (b" \r\n", "It is empty"),
        (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3", "It is a PDF"),
        (b"PK\x07\x00\x00\xff", "It is not text"),
    ],
)
def test_a_file_that_is_no_list_of_references_is_called_what_it_is(
    stage: Stage, content: bytes, said: str
) -> None:
    path = stage.home / "odd.bib"
    path.write_bytes(content)
    [failed] = add(stage, str(path))["failed"]
    assert failed["reason"].startswith(said)


def test_a_reference_is_cited_and_shown_by_its_identifiers(stage: Stage) -> None:
    async def scene(reader: Reader) -> None:
        await reader.ask("add_references", input=_KNOWN)
        named = ["https://doi.org/10.1000/ONE", "arXiv:1706.03762", "978-0-262-03384-8"]
        cited = await reader.ask("cite_references", ids=named)
        assert sorted(each["id"] for each in cited["entries"]) == ["one", "three", "two"]
        assert not cited.get("notices")
        within = await reader.ask("cite_references", ids=["10.1000/one, p. 5"], kind="in_text")
        assert "p. 5" in within["text"]
        shown = await reader.ask("get_reference", id="10.1000/one")
        assert shown["reference"]["id"] == "one"
        with pytest.raises(CarrelError, match="not found"):
            await reader.ask("cite_references", ids=["10.1000/other"])
        # What is removed is named by its key alone.
        with pytest.raises(CarrelError) as caught:
            await reader.ask("remove_reference", id="10.1000/one", force=True)
        assert "one" in str(caught.value.details)

    stage.play(scene)
