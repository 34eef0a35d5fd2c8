"""What the room answers: pages, lines, quotations, refusals of paths, and the library's past."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from carrel.cli.page import Page, make_page
from carrel.cli.page_text import list_notes, write_page_text
from carrel.cli.references_pages import PAGES
from carrel.core.answer_encoding import quoted_sources
from carrel.core.caller import Call, Caller, Visit
from carrel.core.errors import CarrelError, InvalidInputError
from carrel.rooms.references.additions import describe_source, not_added
from carrel.rooms.references.local_operations import (
    LibraryPastOperations,
    RestoreLibrary,
    ShowHistory,
)
from carrel.rooms.references.ports import KeptVersion, PastChange, PastText
from carrel.rooms.references.resources import reference_source
from carrel.stores.csl_json.library_history import LibraryHistory
from tests.rooms.references.desk import Reader, Stage

ITEMS: list[dict[str, Any]] = [
    {
        "id": "a",
        "type": "book",
        "title": "First",
        "author": [{"family": "Smith", "given": "Ann"}],
        "issued": {"date-parts": [[2024]]},
        "container-title": "Cell",
    },
    {"id": "b", "type": "book"},
    {"id": "c", "type": "book", "title": "Third"},
]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    stage = Stage(tmp_path)
    stage.library.write_text(json.dumps(ITEMS), encoding="utf-8")
    return stage


def ask(stage: Stage, name: str, door: str = "stdio", **arguments: Any) -> Any:
    async def scene(reader: Reader) -> Any:
        try:
            return await reader.ask(name, **arguments)
        except CarrelError as error:
            return error

    return stage.play(scene, door=door)


def test_pages_begin_at_one_and_the_last_may_be_short_or_empty(stage: Stage) -> None:
    for name, more in (("list_references", {}), ("search_references", {"query": "book"})):
        pages = [ask(stage, name, page=page, limit=2, **more) for page in (1, 2, 3)]
        assert [[item["id"] for item in page["references"]] for page in pages] == [
            ["a", "b"],
            ["c"],
            [],
        ]
        assert {(page["total"], page["limit"]) for page in pages} == {(3, 2)}
        assert [page["page"] for page in pages] == [1, 2, 3]


def test_a_readable_line_says_what_is_missing(stage: Stage) -> None:
    assert ask(stage, "list_references", format="pretty")["text"].splitlines() == [
        "[a] Ann Smith (2024). First. Cell",
        "[b] anonymous (n.d.). untitled",
        "[c] anonymous (n.d.). Third",
    ]
    assert ask(stage, "list_references", format="bibtex")["text"].count("@") == 3


def test_an_export_holds_what_the_query_finds_or_everything(stage: Stage) -> None:
    assert len(json.loads(ask(stage, "export_references", format="csl-json"))) == 3
    found = json.loads(ask(stage, "export_references", format="csl-json", query="third"))
    assert [item["id"] for item in found] == ["c"]
    named = json.loads(ask(stage, "export_references", format="csl-json", ids=["c", "a", "c"]))
    assert [item["id"] for item in named] == ["c", "a"]
    missing = ask(stage, "export_references", ids=["a", "x"])
    assert "x" in missing.message
    both = ask(stage, "export_references", ids=["a"], query="third")
    assert both.message == "Give either query or ids"


def test_every_missing_reference_of_a_citation_is_named(stage: Stage) -> None:
    error = ask(stage, "cite_references", ids=["a", "x", "c", "y"])
    assert "x" in error.message and "y" in error.message
    cited = ask(stage, "cite_references", ids=["c", "a"], kind="bibliography")
    assert sorted(entry["id"] for entry in cited["entries"]) == ["a", "c"]
    assert cited["text"] == "\n".join(entry["text"] for entry in cited["entries"])
    in_text = ask(stage, "cite_references", ids=["a"], kind="in_text")
    assert in_text["entries"] == [] and in_text["text"] == "(Smith, 2024)"


def test_a_style_that_is_unknown_names_some_that_are_alike_or_the_usual_ones(
    stage: Stage,
) -> None:
    alike = ask(stage, "cite_references", ids=["a"], style="chicago-nothing-such")
    assert alike.code == "style_not_found"
    usual = ask(stage, "cite_references", ids=["a"], style="zzzqqq")
    assert "apa" in json.dumps(usual.to_facts())


@pytest.mark.parametrize(
    ("element", "is_a_path"),
    [
        ("absent.bib", True),
        ("folder/absent", True),
        ("folder\\absent", True),
        ("absent", False),
        ("a\nb.bib", False),
        ("x" * 4097 + ".bib", False),
        ("  ", False),
    ],
)
def test_what_looks_like_a_path_is_one_and_anything_else_is_not(
    stage: Stage, element: str, is_a_path: bool
) -> None:
    (failed,) = ask(stage, "add_references", input=[element])["failed"]
    assert ("There is no file" in failed["reason"]) is is_a_path
    (refused,) = ask(stage, "add_references", door="http", input=[element])["failed"]
    assert (refused["code"] == "permission_denied") is is_a_path


def test_a_folder_is_no_file_and_a_path_of_no_file_is_said(stage: Stage) -> None:
    (stage.home / "dir.bib").mkdir()
    (failed,) = ask(stage, "add_references", input=[str(stage.home / "dir.bib")])["failed"]
    assert "There is no file" in failed["reason"]
    error = ask(stage, "attach_fulltext", id="a", path="a\x00b.pdf")
    assert error.message == "The path names no file"


def test_over_http_a_file_of_a_named_folder_is_read_and_its_neighbour_is_not(
    stage: Stage,
) -> None:
    for name in ("open", "open-not"):
        (stage.home / name).mkdir()
        (stage.home / name / "x.bib").write_text("@book{x, title={X}, author={A, B}, year=2000}")
    stage.references["allowed_folders"] = [stage.home / "open"]
    path = str(stage.home / "open-not" / "x.bib")
    (failed,) = ask(stage, "add_references", door="http", input=[path])["failed"]
    assert failed["code"] == "permission_denied"
    path = str(stage.home / "open" / "x.bib")
    assert len(ask(stage, "add_references", door="http", input=[path])["added"]) == 1


def test_answers_quote_what_they_hold_of_the_library(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("text")

    async def scene(reader: Reader) -> dict[str, Any]:
        found = {}
        for name, arguments in (
            ("list_references", {"limit": 2}),
            ("list_references", {"format": "pretty"}),
            ("search_references", {"query": "third"}),
            ("add_references", {"input": "@book{n, title={New}, author={A, B}, year=2000}"}),
            ("get_reference", {"id": "b"}),
            ("edit_reference", {"id": "b", "changes": {"title": "Second"}}),
            ("cite_references", {"ids": ["a", "c"]}),
            ("export_references", {"format": "csl-json"}),
            ("attach_fulltext", {"id": "a", "path": str(tmp_path / "x.md")}),
            ("get_fulltext", {"id": "a"}),
            ("remove_reference", {"id": "c", "force": True}),
        ):
            operation = reader.desk.catalogue.operations[name]
            caller = Caller("local", frozenset({"references:read", "references:write"}))
            visit = Visit("stdio", "test")
            answer = await reader.desk.gate.call(operation, arguments, caller, visit)
            sources = quoted_sources(operation.quotes, arguments, answer, caller)
            found[f"{name} {next(iter(arguments))}"] = [(one.kind, one.id) for one in sources]
        return found

    assert stage.play(scene) == {
        "list_references limit": [("reference", "a"), ("reference", "b")],
        "list_references format": [("library", "references")],
        "search_references query": [("reference", "c")],
        "add_references input": [("reference", "n")],
        "get_reference id": [("reference", "b")],
        "edit_reference id": [("reference", "b")],
        "cite_references ids": [("reference", "a"), ("reference", "c")],
        "export_references format": [("library", "references")],
        "attach_fulltext id": [],
        "get_fulltext id": [("reference", "a")],
        "remove_reference id": [("reference", "c")],
    }
    assert reference_source({"id": 1, "title": ["odd"]}).title is None
    assert reference_source({"id": 1, "title": "T"}).title == "T"


def test_an_element_is_described_in_one_line_that_is_cut(stage: Stage) -> None:
    assert describe_source("a\n  b") == "a b"
    assert describe_source("x" * 60) == "x" * 60
    assert describe_source("x" * 61) == "x" * 60 + "…"
    assert describe_source(7) == "(int)"
    assert describe_source("a\ud800") == "a?"
    plain = not_added("s", InvalidInputError("It is wrong"), 3)
    assert plain.line == 3 and plain.reason.startswith("It is wrong")
    told = not_added("s", InvalidInputError("It is wrong.", next_step="Mend it."))
    assert (told.reason, told.code) == ("It is wrong. Mend it.", "invalid_input")


class Past:
    """A past that a test wrote."""

    def __init__(self, changes: int = 0) -> None:
        self.changes = [
            PastChange(number, "then", "carrel", ["a"], [], []) for number in range(changes, 0, -1)
        ]
        self.restored: list[object] = []

    def list_changes(self, reference_id: str | None = None) -> list[PastChange]:
        return self.changes

    def list_versions(self) -> list[KeptVersion]:
        return [
            KeptVersion(2, Path("/two"), True, 20),
            KeptVersion(1, Path("/one"), False, 10),
        ]

    def list_texts(self, reference_id: str) -> list[PastText]:
        return [
            PastText(0, "{}", True),
            PastText(1, None, True),
            PastText(2, None, False),
        ]

    def restore_version(self, number: int) -> int:
        self.restored.append(number)
        return 7

    def restore_reference(self, reference_id: str, revision: int | None = None) -> None:
        self.restored.append((reference_id, revision))


def tell(past: Past, question: ShowHistory | RestoreLibrary) -> list[str]:
    call = Call(Caller("local", frozenset()), Visit("cli", "test"))
    operations = LibraryPastOperations(lambda user, shared_library: past)

    async def run() -> Any:
        if isinstance(question, ShowHistory):
            return await operations.show_library_history(question, call)
        return await operations.restore_library(question, call)

    name = "show_library_history" if isinstance(question, ShowHistory) else "restore_library"
    page = make_page(PAGES[name], asyncio.run(run()), {})
    assert isinstance(page, Page)
    return [*write_page_text(page).split("\n"), *list_notes(page.parts)]


def test_a_history_is_cut_where_it_is_said_and_versions_say_what_they_are() -> None:
    versions = [
        "",
        "Versions of the whole library",
        "2\tthen\tanother program\t20\t/two",
        "1\tthen\tcarrel\t10\t/one",
    ]
    two = ["2\tthen\tcarrel\twrote a", "1\tthen\tcarrel\twrote a"]
    assert tell(Past(2), ShowHistory(limit=2)) == [*two, *versions]
    more = tell(Past(3), ShowHistory(limit=2))
    assert more[-1] == "… and 1 earlier change (--limit)"
    one = tell(Past(0), ShowHistory(id="a"))
    assert [line for line in one if line] == [
        *("From revision 0", "{}"),
        *("From revision 1", "a text that is not kept"),
        *("From revision 2", "absent"),
    ]
    many = Past(1)
    ids = [str(number) for number in range(9)]
    many.changes = [PastChange(1, "then", "carrel", ids[:8], ids, ["k"])]
    assert tell(many, ShowHistory())[0] == (
        "1\tthen\tcarrel\twrote 0, 1, 2, 3, 4, 5, 6, 7; "
        "removed 0, 1, 2, 3, 4, 5, 6, 7 and 1 more; kept k"
    )


def test_a_restore_names_one_reference_or_one_version_and_not_both() -> None:
    past = Past()
    for wrong in (RestoreLibrary(), RestoreLibrary(id="a", version=1)):
        with pytest.raises(InvalidInputError, match="either a reference or --version"):
            tell(past, wrong)
    assert past.restored == []
    assert tell(past, RestoreLibrary(version=0)) == [
        "The library is version 0 again: 7 references."
    ]
    assert tell(past, RestoreLibrary(id="a", revision=3)) == ["a is restored."]
    assert past.restored == [0, ("a", 3)]


def test_the_past_of_a_library_is_listed_and_brought_back(stage: Stage) -> None:
    ask(stage, "edit_reference", id="a", changes={"title": "Changed"})
    ask(stage, "edit_reference", id="a", changes={"title": "Changed again"})
    ask(stage, "remove_reference", id="b", force=True)
    past = LibraryHistory(stage.library)
    newest = past.list_changes()
    assert newest[0].removed == ["b"] and newest[1].written == ["a"]
    assert {tuple(change.written) for change in past.list_changes("a")} == {("a",)}
    texts = past.list_texts("a")
    titles = [json.loads(text.text)["title"] for text in texts if text.text]
    assert titles[-3:] == ["First", "Changed", "Changed again"]
    past.restore_reference("a", texts[-2].revision)
    assert json.loads(LibraryHistory(stage.library).list_texts("a")[-1].text or "")["title"] == (
        "Changed"
    )
    past.restore_reference("b")
    found = ask(stage, "list_references")["references"]
    assert {item["id"] for item in found} == {"a", "b", "c"}
    for wrong in (lambda: past.restore_reference("nobody"), lambda: past.restore_version(999)):
        with pytest.raises(CarrelError) as refused:
            wrong()
        assert refused.value.code == "resource_not_found"
    numbers = [version.number for version in past.list_versions()]
    assert numbers == sorted(numbers, reverse=True) and numbers
