"""The tool list stays small; what is not in it is found by plain sentences and run through the same
gate.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from carrel.core.caller import Call, Caller, Visit
from carrel.core.operation_search import OperationSearch
from carrel.core.sentence_kinds import recognize_kinds
from carrel.core.unoffered_tasks import advise_unoffered
from carrel.doors.mcp.endpoint import Endpoint
from carrel.doors.mcp.operation_tools import _parameter_words
from carrel.policy.scopes import ALL_SCOPES, expand_scopes
from carrel.settings import Settings
from carrel.wiring.desk import Desk, open_desk
from carrel.wiring.mcp import desk_endpoints
from tests.doors.house import MODERN, Answer, House, TokenTable, build_house

pytestmark = pytest.mark.promise("D10")

_MOST_BYTES = 24_000
# With the fields of answers and the hints: half of what it was when answers had whole schemas.
_MOST_BYTES_WITH_ANSWERS = 44_500
_SPECIFIED = (
    "search_papers search_papers_by_keyword get_paper_metadata get_paper_summary get_paper_source "
    "list_top_facets "
    "search_references list_references add_references remove_reference cite_references "
    "attach_fulltext get_fulltext "
    "detach_fulltext save_knowledge search_knowledge delete_knowledge propose_knowledge "
    "promote_knowledge "
    "node_knowledge_retriever elasticsearch start_research get_research_status "
    "list_research_projects generate_hypotheses "
    "evolve_hypothesis list_hypotheses review_hypothesis rank_hypotheses get_results"
)


@pytest.fixture
def house() -> House:
    return build_house(
        identity=TokenTable({"reader": ["papers:read"]}),
        server={"unlisted_tools": ["add_numbers", "write_note"]},
    )


def call(house: House, tool: str, **arguments: Any) -> Answer:
    return house.ask(
        MODERN, "tools/call", {"name": tool, "arguments": arguments}, authorization="Bearer reader"
    )


def text(answer: Answer) -> Any:
    return orjson.loads(answer.json["result"]["content"][0]["text"])


def listed(house: House) -> set[str]:
    tools = house.ask(MODERN, "tools/list", authorization="Bearer reader").json["result"]["tools"]
    return {tool["name"] for tool in tools}


def desk_at(home: Path, **server: Any) -> Desk:
    return open_desk(
        Settings.model_validate({"home": home, "audit": {"enabled": False}, "server": server})
    )


def test_what_a_caller_may_not_do_is_neither_found_nor_run(house: House) -> None:
    refused = call(house, "run_operation", name="write_note", arguments={"text": "milk"})
    assert (refused.status, refused.json["error"]["message"]) == (
        403,
        "knowledge:write scope required",
    )
    assert "write_note" not in {
        row["name"]
        for row in text(call(house, "find_operation", what="write a note"))["operations"]
    }


def test_an_unlisted_tool_is_found_run_and_called_by_its_name(house: House) -> None:
    assert "add_numbers" not in listed(house)
    assert {"find_operation", "run_operation"} <= listed(house)
    found = text(call(house, "find_operation", what="add two numbers"))["operations"][0]
    assert (found["name"], found["parameters"]["required"]) == ("add_numbers", ["a", "b"])
    assert text(call(house, "run_operation", name="add_numbers", arguments={"a": 2, "b": 40})) == {
        "total": 42
    }
    assert call(house, "add_numbers", a=2, b=40).json["result"]["structuredContent"] == {
        "total": 42
    }


def test_only_the_best_finds_have_parameters_and_listed_tools_have_none(tmp_path: Path) -> None:
    endpoints = {
        is_compact: desk_endpoints(desk_at(tmp_path / str(is_compact), compact=is_compact)).common(
            has_everything=True
        )
        for is_compact in (False, True)
    }
    listed_names = {tool.name for tool in endpoints[False].listed_tools}
    for is_compact, endpoint in endpoints.items():
        rows = find(endpoint, "find passages about fish oil", is_compact=is_compact)["operations"]
        assert len(rows) == 5 and rows[0]["name"] == "find_passages"
        for row in rows:
            is_listed = not is_compact and row["name"] in listed_names
            assert row["description"] and row.get("is_listed", False) is is_listed
            assert not (is_listed and "parameters" in row)
        unlisted = [row for row in rows if not row.get("is_listed")]
        assert all("parameters" in row for row in unlisted[:2])
        assert any("parameters" not in row for row in unlisted) is is_compact


def test_every_unlisted_operation_is_found_by_its_name_with_its_parameters(tmp_path: Path) -> None:
    desk = desk_at(tmp_path)
    endpoint = desk_endpoints(desk).common(has_everything=True)
    for name, operation in desk.catalogue.operations.items():
        if operation.is_for_people:
            assert name not in {row["name"] for row in find(endpoint, name)["operations"]}
            continue
        row = find(endpoint, name)["operations"][0]
        assert row["name"] == name
        assert row.get("is_listed") or "properties" in row["parameters"]


def find(endpoint: Endpoint, sentence: str, *, is_compact: bool = False) -> Any:
    """What the tool that finds operations answers."""
    tool, argument = ("carrel", "find") if is_compact else ("find_operation", "what")
    operation = endpoint.tools[tool].operation
    call = Call(Caller("ada", expand_scopes(ALL_SCOPES)), Visit("test", "1"))
    return orjson.loads(
        asyncio.run(operation.run(operation.question(**{argument: sentence}), call)).body
    )


def test_a_wrong_name_says_which_are_near(house: House) -> None:
    error = call(house, "run_operation", name="add_number").json["result"]["structuredContent"][
        "error"
    ]
    assert error["code"] == "invalid_input"
    assert "add_numbers" in error["next_step"]


def test_words_that_mean_nothing_here_find_nothing_and_say_what_to_do(house: House) -> None:
    answer = text(call(house, "find_operation", what="zzz qqq"))
    assert answer["operations"] == []
    assert "next_step" in answer


def test_the_lists_are_small_and_lose_no_specified_tool(tmp_path: Path) -> None:
    desk = desk_at(tmp_path)
    for has_everything in (False, True):
        tools = desk_endpoints(desk).common(has_everything=has_everything).listed_tools
        listings = [orjson.loads(tool.listing) for tool in tools]
        rows = [
            {name: row[name] for name in ("name", "title", "description", "inputSchema")}
            for row in listings
        ]
        assert len(orjson.dumps(rows)) <= _MOST_BYTES
        assert len(orjson.dumps(listings)) <= _MOST_BYTES_WITH_ANSWERS
        assert set(_SPECIFIED.split()) <= {tool.name for tool in tools}
        assert {"search_desk", "find_passages"} <= {tool.name for tool in tools}


def test_the_list_names_the_fields_of_answers_and_no_null_parameters(tmp_path: Path) -> None:
    tools = desk_endpoints(desk_at(tmp_path)).common(has_everything=True).listed_tools
    listings = {tool.name: orjson.loads(tool.listing) for tool in tools}
    found = listings["search_papers"]["outputSchema"]["properties"]["result"]
    assert found["type"] == "array" and found["description"].startswith("paper_id, title, year")
    assert "rationale" in listings["get_hypothesis"]["outputSchema"]["properties"]
    assert b'"null"' not in orjson.dumps([row["inputSchema"] for row in listings.values()])
    template = listings["get_paper_summary"]["inputSchema"]["properties"]["template"]
    assert template["type"] == "string"


def test_a_setting_changes_what_is_listed(tmp_path: Path) -> None:
    desk = desk_at(tmp_path, listed_tools=["export_papers"], unlisted_tools=["search_papers"])
    listed_names = {
        tool.name for tool in desk_endpoints(desk).common(has_everything=True).listed_tools
    }
    assert "export_papers" in listed_names
    assert "search_papers" not in listed_names


# Measured once when the ranking was settled: 93.7 and 98.4. Weights, groups and phrases were chosen
# on the other half, by the
# author of both halves.
_HELD_OUT_FIRST, _HELD_OUT_AMONG_THREE = 0.90, 0.97


def sentences(file: str) -> list[tuple[set[str], str]]:
    rows = (Path(__file__).parent / file).read_text(encoding="utf-8").splitlines()
    return [
        (set(names.split("|")), sentence)
        for names, _, sentence in (row.partition("\t") for row in rows)
        if sentence
    ]


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> OperationSearch:
    operations = desk_at(tmp_path_factory.mktemp("search")).catalogue.operations.values()
    return OperationSearch(
        operations, {operation.name: _parameter_words(operation) for operation in operations}
    )


def names(search: OperationSearch, sentence: str, count: int = 5) -> list[str]:
    return [operation.name for operation in search.find(sentence, ALL_SCOPES, count)]


@pytest.mark.promise("D13")
def test_plain_sentences_find_the_right_operation_first(search: OperationSearch) -> None:
    asked = sentences("plain_sentences.tsv")
    wrong = [
        (sentence, right)
        for right, sentence in asked
        if not right & set(names(search, sentence, 1))
    ]
    assert not wrong
    assert len(asked) >= 120


@pytest.mark.promise("D13")
def test_sentences_that_the_ranking_was_not_fitted_to_find_the_right_operation(
    search: OperationSearch,
) -> None:
    asked = sentences("held_out_sentences.tsv")
    first = sum(bool(right & set(names(search, sentence, 1))) for right, sentence in asked) / len(
        asked
    )
    among_three = sum(
        bool(right & set(names(search, sentence, 3))) for right, sentence in asked
    ) / len(asked)
    assert len(asked) >= 60
    assert first >= _HELD_OUT_FIRST
    assert among_three >= _HELD_OUT_AMONG_THREE


# Split by the sentences' hashes; phrases, groups and weights were chosen on the even halves. The
# author of the phrases had written researcher_sentences.tsv before them, later_sentences.tsv after:
# its odd half is the one that nothing was fitted to. Measured first and among three, before and
# after: even 41.3 and 70.7, 100 and 100; odd 42.3 and 62.0, 91.5 and 98.6; later, odd: 48.7 and
# 64.1, 56.4 and 82.1.
@pytest.mark.promise("D13")
@pytest.mark.parametrize(
    ("file", "is_odd", "least_first", "least_among_three"),
    [
        ("researcher_sentences.tsv", False, 0.98, 1.0),
        ("researcher_sentences.tsv", True, 0.88, 0.95),
        ("later_sentences.tsv", False, 0.90, 0.95),
        ("later_sentences.tsv", True, 0.50, 0.75),
    ],
)
def test_the_words_of_researchers_find_the_right_operation(
    search: OperationSearch, file: str, is_odd: bool, least_first: float, least_among_three: float
) -> None:
    asked = [
        (right, sentence)
        for right, sentence in sentences(file)
        if hashlib.sha256(sentence.encode()).digest()[0] % 2 == is_odd
    ]
    assert len(asked) >= 25
    for count, least in ((1, least_first), (3, least_among_three)):
        found = [
            sentence for right, sentence in asked if right & set(names(search, sentence, count))
        ]
        missed = [sentence for _, sentence in asked if sentence not in found]
        assert len(found) / len(asked) >= least, missed


@pytest.mark.parametrize(
    "sentence",
    [
        "mark a paper as read",
        "set the reading status of an article",
        "send this summary by e-mail to my colleague",
        "remind me tomorrow to read this",
        "translate the whole paper into French",
        "plot a histogram of publication years",
        "what is the impact factor of this journal",
        "how often is this paper cited in Google Scholar",
        "search Web of Science for new trials",
        "download the PDF from the publisher's site",
        "create a user account for my student",
        "make a backup of the desk",
    ],
)
def test_what_no_operation_does_is_said(tmp_path: Path, sentence: str) -> None:
    advice = advise_unoffered(sentence)
    assert advice is not None and advice.startswith("No operation ")
    operations = desk_at(tmp_path).catalogue.operations
    named = {word for word in re.findall(r"\b[a-z]+_[a-z_]+\b", advice) if word in operations}
    assert named or "carrel " in advice


def test_what_an_operation_does_is_not_refused() -> None:
    files = ("plain_sentences", "held_out_sentences", "researcher_sentences", "later_sentences")
    for file in files:
        for _, sentence in sentences(f"{file}.tsv"):
            assert advise_unoffered(sentence) is None, sentence


def test_a_find_says_first_that_nothing_does_it(house: House) -> None:
    answer = text(call(house, "find_operation", what="mark two numbers as read"))
    assert answer["message"].startswith("No operation keeps whether a paper was read")
    assert answer["operations"][0] == {"name": "add_numbers", "title": "Add numbers"}


@pytest.mark.parametrize(
    ("sentence", "is_question", "wants_change", "rooms"),
    [
        ("which tags does this paper have", True, False, {"papers"}),
        ("how do I tag a paper", False, True, {"papers"}),
        ("Please fix the year of two studies", False, True, {"papers"}),
        ("link a note to an article", False, False, {"knowledge", "papers"}),
        ("undo it", False, True, set()),
    ],
)
def test_what_a_sentence_asks_for_is_read_off_its_first_words_and_nouns(
    sentence: str, is_question: bool, wants_change: bool, rooms: set[str]
) -> None:
    kinds = recognize_kinds(sentence)
    assert (kinds.is_question, kinds.wants_change, set(kinds.rooms)) == (
        is_question,
        wants_change,
        rooms,
    )


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("resume the reserach", "resume_research"),
        ("exprot my refrences", "export_references"),
        ("put the project on hold", "pause_research"),
        ("detach the file but keep the reference", "detach_file"),
    ],
)
def test_typing_errors_verbs_of_two_words_and_exceptions_are_understood(
    search: OperationSearch, sentence: str, name: str
) -> None:
    assert names(search, sentence, 1) == [name]


def test_a_topic_alone_finds_nothing(search: OperationSearch) -> None:
    assert names(search, "perovskite photovoltaics") == []
