"""What is written into a library is CSL-JSON; lists that go on say so; exports are what other
programs expect.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import CarrelError
from carrel.rooms.references.validation import (
    MAX_DEPTH,
    NotStorableError,
    check_storable,
    conform_item,
    is_usable_key,
)
from tests.rooms.references.desk import Reader, Stage

TWO_AND_OTHERS = (
    "@article{two, title={On cells}, author={Smith, Ann and Jones, Bo and others}, "
    "journal={Cell}, year=2020}"
)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def ask(stage: Stage, name: str, **arguments: Any) -> Any:
    async def scene(reader: Reader) -> Any:
        return await reader.ask(name, **arguments)

    return stage.play(scene)


def refused(stage: Stage, name: str, **arguments: Any) -> CarrelError:
    async def scene(reader: Reader) -> CarrelError:
        with pytest.raises(CarrelError) as error:
            await reader.ask(name, **arguments)
        return error.value

    return stage.play(scene)


def stored(stage: Stage) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(stage.library.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"author": "not a list"}, "author"),
        ({"author": ["Ann Smith"]}, "author[0]"),
        ({"type": "journal-paper"}, "type"),
        ({"type": None}, "type"),
        ({"issued": "the day before yesterday"}, "issued"),
        ({"issued": {"date-parts": [[2020, 99]]}}, "issued.date-parts[0][1]"),
        ({"issued": {"date-parts": [[2020, 13]]}}, "issued.date-parts[0][1]"),
        ({"accessed": {"date-parts": [[2020, 1], [2021, 2, 29]]}}, "accessed.date-parts[1][2]"),
        ({"issued": "2020-02-31"}, "issued.date-parts[0][2]"),
        ({"issued": {"date-parts": [[2020]], "season": 9}}, "issued.season"),
        ({"title": "fine", "volume": {"x": 1}}, "volume"),
        ({"titel": "x"}, "titel"),
        ({"id": "other"}, "id"),
        ({"custom": {}}, "custom"),
    ],
)
def test_an_edit_that_is_not_csl_json_is_refused_by_field_and_changes_nothing(
    stage: Stage, changes: dict[str, Any], field: str
) -> None:
    ask(stage, "add_references", input=TWO_AND_OTHERS)
    before = stage.library.read_bytes()
    error = refused(stage, "edit_reference", id="two", changes=changes)
    assert (error.code, error.details["field"]) == ("invalid_input", field)
    assert field in error.message
    assert error.next_step
    assert stage.library.read_bytes() == before


def test_an_edit_that_is_csl_json_is_taken_and_odd_fields_can_be_removed(stage: Stage) -> None:
    stage.library.write_text(
        json.dumps([{"id": "odd", "type": "my-own", "titel": "T", "author": "Ann"}]),
        encoding="utf-8",
    )
    changed = ask(
        stage,
        "edit_reference",
        id="odd",
        changes={"titel": None, "title": "T", "issued": "2020-05", "volume": 7, "type": "book"},
    )
    assert changed["reference"]["issued"] == {"date-parts": [[2020, 5]]}
    assert stored(stage)[0]["author"] == "Ann", "what an edit does not name stays as it was"
    assert stored(stage)[0]["volume"] == 7
    assert "titel" not in stored(stage)[0]


def test_a_library_of_odd_items_is_still_read_and_exported(stage: Stage) -> None:
    odd = [
        {
            "id": "odd",
            "type": "my-own",
            "titel": "T",
            "title": "Odd",
            "author": "Ann",
            "issued": {"date-parts": [["2020"]]},
        }
    ]
    stage.library.write_text(json.dumps(odd), encoding="utf-8")
    assert ask(stage, "list_references")["references"] == odd
    assert "year = {2020}" in ask(stage, "export_references", format="bibtex")
    assert json.loads(ask(stage, "export_references", format="csl-json")) == odd


def test_csl_json_that_is_added_is_brought_into_shape_or_named(stage: Stage) -> None:
    answer = ask(
        stage,
        "add_references",
        input=json.dumps(
            [
                {
                    "id": "good",
                    "type": "book",
                    "title": "Good",
                    "PMID": 77,
                    "author": [{"family": "A", "ORCID": "0000-0001"}],
                },
                {"id": "type", "type": "no-such-type", "title": "Bad type"},
                {"id": "name", "type": "book", "title": "Bad name", "author": [{"family": ["A"]}]},
                {
                    "id": "date",
                    "type": "book",
                    "title": "Bad date",
                    "issued": {"date-parts": [["soon"]]},
                },
                {
                    "id": "else",
                    "type": "book",
                    "title": "Other",
                    "score": 1.5,
                    "editor": [{"family": "B"}, {"literal": "others"}],
                },
            ]
        ),
    )
    assert [each["id"] for each in answer["added"]] == ["good", "else"]
    assert [each["reason"].split(" must be ")[0] for each in answer["failed"]] == [
        "type",
        "author[0]",
        "issued.date-parts[0]",
    ]
    good, other = stored(stage)
    assert (good["PMID"], good["author"]) == ("77", [{"family": "A"}])
    assert good["custom"]["fields"] == {"author-details": [{"family": "A", "ORCID": "0000-0001"}]}
    assert (other["custom"]["fields"], other["editor"], other["custom"]["et_al"]) == (
        {"score": 1.5},
        [{"family": "B"}],
        ["editor"],
    )
    assert any("score" in warning["message"] for warning in answer["warnings"])


@pytest.mark.parametrize(
    "source",
    [
        TWO_AND_OTHERS,
        TWO_AND_OTHERS.replace("and others", "and et al."),
        TWO_AND_OTHERS.replace("Jones, Bo and others", "Jones, Bo et al."),
        "TY  - JOUR\nID  - two\nAU  - Smith, Ann\nAU  - Jones, Bo\nAU  - et al.,\nTI  - On "
        "cells\nJO  - Cell\nPY  - 2020\nER  - \n",
        "%0 Journal Article\n%F two\n%A Smith, Ann\n%A Jones, Bo\n%A et al.\n%T On cells\n%J "
        "Cell\n%D 2020\n",
        json.dumps(
            [
                {
                    "id": "two",
                    "type": "article-journal",
                    "title": "On cells",
                    "container-title": "Cell",
                    "issued": {"date-parts": [[2020]]},
                    "author": [
                        {"family": "Smith", "given": "Ann"},
                        {"family": "Jones", "given": "Bo"},
                        {"literal": "others"},
                    ],
                }
            ]
        ),
    ],
)
def test_and_others_is_no_author_is_cited_as_et_al_and_exported_as_it_came(
    stage: Stage, source: str
) -> None:
    ask(stage, "add_references", input=source)
    (item,) = stored(stage)
    assert item["author"] == [
        {"family": "Smith", "given": "Ann"},
        {"family": "Jones", "given": "Bo"},
    ]
    cited = ask(stage, "cite_references", ids=[item["id"]])["text"]
    assert "et al." in cited and "thers" not in cited and "Jones" in cited
    assert "author = {Smith, Ann and Jones, Bo and others}" in ask(
        stage, "export_references", format="bibtex"
    )
    assert "AU  - et al.,\r\n" in ask(stage, "export_references", format="ris")
    assert ask(stage, "search_references", query="author:others")["total"] == 0


def test_a_new_list_of_authors_is_complete_unless_it_says_otherwise(stage: Stage) -> None:
    ask(stage, "add_references", input=TWO_AND_OTHERS)
    ask(stage, "edit_reference", id="two", changes={"author": [{"family": "Lee"}]})
    assert "et_al" not in stored(stage)[0]["custom"]
    ask(
        stage,
        "edit_reference",
        id="two",
        changes={"author": [{"family": "Lee"}, {"literal": "others"}]},
    )
    assert (stored(stage)[0]["author"], stored(stage)[0]["custom"]["et_al"]) == (
        [{"family": "Lee"}],
        ["author"],
    )
    assert "uuid" in stored(stage)[0]["custom"]


def test_an_older_library_with_an_author_called_others_is_cited_as_et_al(stage: Stage) -> None:
    old = {
        "id": "old",
        "type": "book",
        "title": "T",
        "author": [{"family": "Lee", "given": "A"}, {"literal": "others"}],
    }
    stage.library.write_text(json.dumps([old]), encoding="utf-8")
    assert "Lee, A. et al." in ask(stage, "cite_references", ids=["old"])["text"]
    assert "author = {Lee, A and others}" in ask(stage, "export_references")


def test_an_institution_called_others_in_braces_is_one(stage: Stage) -> None:
    ask(
        stage,
        "add_references",
        input="@book{b, title={T}, author={Lee, A and {Others}}, year=2020}",
    )
    assert stored(stage)[0]["author"][-1] == {"literal": "Others"}
    assert "{Others}" in ask(stage, "export_references")


def test_the_default_style_is_used_where_none_is_asked_for(tmp_path: Path) -> None:
    stage = Stage(tmp_path, references={"default_style": "nature"})
    ask(stage, "add_references", input=TWO_AND_OTHERS)
    default = ask(stage, "cite_references", ids=["two"])
    assert default == ask(stage, "cite_references", ids=["two"], style="nature")
    assert default["style"] == "nature"
    assert default["text"] != ask(stage, "cite_references", ids=["two"], style="apa")["text"]
    assert ask(stage, "cite_references", ids=["two"], kind="in_text")["style"] == "nature"


def test_exports_are_plain_unless_asked_to_be_lossless(stage: Stage) -> None:
    speech = {
        "id": "talk",
        "type": "speech",
        "title": "A talk",
        "note": "mine",
        "custom": {"uuid": "u", "tags": ["a"]},
    }
    stage.library.write_text(json.dumps([speech]), encoding="utf-8")
    for form in ("bibtex", "biblatex", "ris"):
        assert "carrel" not in ask(stage, "export_references", format=form)
        text = ask(stage, "export_references", format=form, lossless=True)
        assert "carrel-csl" in text
        again = Stage(stage.home / form)
        again.home.mkdir()
        ask(again, "add_references", input=text)
        assert stored(again)[0] | {"custom": None} == speech | {"custom": None}
        assert stored(again)[0]["custom"]["tags"] == ["a"]
    assert "carrel" not in ask(stage, "list_references", format="bibtex")["text"]


@pytest.mark.parametrize(
    "issued",
    [
        {"date-parts": [[2020, 2, 29]]},
        {"date-parts": [["2020", "12", "31"]]},
        {"date-parts": [[-44, 3, 15]]},
        {"date-parts": [[2020, 21]]},
        {"date-parts": [[2020]], "season": "2"},
        {"season": "Trinity term", "date-parts": [[2020]]},
        "2020-05/2020-07",
        "2020-21",
    ],
)
def test_dates_that_a_calendar_has_are_taken(stage: Stage, issued: object) -> None:
    ask(stage, "add_references", input=TWO_AND_OTHERS)
    edited = ask(stage, "edit_reference", id="two", changes={"issued": issued})
    assert edited["reference"]["issued"] == issued or isinstance(issued, str)


def test_a_date_that_no_calendar_has_is_kept_as_it_came_in(stage: Stage) -> None:
    answer = ask(
        stage, "add_references", input="@article{feb, title={F}, year=2000, month=feb, day=31}"
    )
    assert answer["failed"] == [] and stored(stage)[0]["issued"] == {"date-parts": [[2000, 2, 31]]}


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ({"volume": 2**63}, "volume holds a number of more than 18 digits"),
        ({"volume": -(2**63)}, "volume holds a number of more than 18 digits"),
        ({"a": {"b": float("nan")}}, "a.b holds a number that is not finite"),
        ({"a": [float("inf")]}, "a holds a number that is not finite"),
        ({"a": "\ud800"}, "a holds a lone surrogate"),
        ({"\ud800": 1}, "a field's name holds a lone surrogate"),
        ({"a": (1, 2)}, "a holds a tuple"),
    ],
)
def test_what_no_library_file_can_hold_is_named_with_its_place(
    item: dict[str, Any], problem: str
) -> None:
    with pytest.raises(NotStorableError, match=problem):
        check_storable(item)


def test_the_largest_and_the_deepest_that_a_library_file_can_hold_are_kept() -> None:
    check_storable({"a": 2**63 - 1, "b": -(2**63 - 1), "c": 1.5, "d": None, "e": [True, {}]})

    def nested(depth: int) -> dict[str, Any]:
        inner: Any = "x"
        for _ in range(depth):
            inner = [inner]
        return {"deep": inner}

    check_storable(nested(MAX_DEPTH - 1))
    with pytest.raises(NotStorableError, match="deep is nested more than 200 deep"):
        check_storable(nested(MAX_DEPTH))


@pytest.mark.parametrize(
    ("key", "is_usable"),
    [
        ("a", True),
        ("x" * 500, True),
        ("x" * 501, False),
        (" ", False),
        ("a\nb", False),
        ("é", True),
    ],
)
def test_a_key_is_visible_and_not_too_long(key: str, is_usable: bool) -> None:
    assert is_usable_key(key) is is_usable


def test_an_imported_item_is_brought_into_shape_and_loses_nothing() -> None:
    conformed = conform_item(
        {
            "type": "book",
            "title": 1984,
            "note": None,
            "keyword": [" a ", "", 3],
            "author": [
                {"family": "Smith", "given": None, "ORCID": "0000", "affiliation": []},
                {},
                "",
            ],
            "foreign": {"x": 1},
            "custom": {"fields": {"old": 1}, "uuid": "u"},
        }
    )
    assert conformed.problems == ()
    assert conformed.item == {
        "type": "book",
        "title": "1984",
        "keyword": "a; 3",
        "author": [{"family": "Smith"}],
        "custom": {
            "fields": {
                "old": 1,
                "author-details": [{"family": "Smith", "given": None, "ORCID": "0000"}],
                "foreign": {"x": 1},
            },
            "uuid": "u",
        },
    }
    assert conformed.notices == (
        "Not CSL variables, kept under custom.fields: author-details, foreign",
    )
    plain = {"type": "book", "title": "T"}
    assert conform_item(plain).item == plain and conform_item(plain).notices == ()
    odd = conform_item({"type": "book", "title": True, "x": 1, "custom": {"fields": "odd"}})
    assert odd.item["title"] is True and [each.field for each in odd.problems] == ["title"]
    assert odd.item["custom"]["fields"] == {"x": 1}


@pytest.mark.parametrize(("count", "end"), [(5, "e"), (6, "e …")])
def test_a_notice_names_five_fields_and_says_when_there_are_more(count: int, end: str) -> None:
    item = {"type": "book", **dict.fromkeys("abcdefgh"[:count], 1)}
    (notice,) = conform_item(item).notices
    assert notice == f"Not CSL variables, kept under custom.fields: a, b, c, d, {end}"


def test_an_edit_says_which_lists_go_on_and_removes_the_mark_with_the_last(stage: Stage) -> None:
    ask(stage, "add_references", input=TWO_AND_OTHERS)

    def edited(**changes: Any) -> dict[str, Any]:
        found: dict[str, Any] = ask(stage, "edit_reference", id="two", changes=changes)
        return dict(found["reference"])

    uuid = stored(stage)[0]["custom"]["uuid"]
    mark = next(name for name in stored(stage)[0]["custom"] if "et" in name and "al" in name)
    others = {"literal": "others"}
    both = edited(editor=[{"family": "Ed"}, others])
    assert both["editor"] == [{"family": "Ed"}]
    assert both["custom"][mark] == ["author", "editor"] and both["custom"]["uuid"] == uuid
    assert edited(title="Kept")["custom"][mark] == ["author", "editor"]
    assert edited(author=[{"family": "Smith"}])["custom"][mark] == ["editor"]
    assert mark not in edited(editor=None)["custom"]
    alone = edited(author=[others])
    assert "author" not in alone and alone["custom"][mark] == ["author"]
