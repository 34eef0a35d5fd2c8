"""At the MCP doors a long answer comes in pages that add up to what REST gives at once."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import fastmcp
import jsonschema_rs
import orjson
import pytest

from carrel.core.answer import Binary, Blocks, Text
from carrel.core.answer_pages import WrongPositionError, cut_text, cut_value, json_length
from carrel.core.caller import Call
from carrel.core.catalogue import Room
from carrel.core.clock import SystemClock
from carrel.core.cursors import Cursor, InvalidCursorError
from carrel.core.decorators import operation
from carrel.core.operation import Answer, Effect, Question
from carrel.core.room import RoomDeclaration
from carrel.doors.mcp.dispatcher import Dispatcher
from carrel.doors.mcp.fastmcp_server import fastmcp_server
from carrel.doors.mcp.stdio import serve_stdio
from carrel.stores.kept_answers import KeptAnswerFiles
from carrel.wiring.desk import OpenRoom
from carrel.wiring.mcp import desk_endpoints
from tests.doors.house import House, TokenTable, build_house, modern
from tests.doors.pages import page_facts, text_length, walk

pytestmark = pytest.mark.promise("D12")

READ = frozenset({"papers:read"})
BUDGET = 32_000
ERAS = ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
WORDS = 'Long ärgerliche "words" of \\ a text.\nWith 漢字 and 🙂 lines. '


class Amount(Question):
    """How much."""

    many: int = 0
    note: str = ""


class PagedAmount(Amount):
    page: int = 1
    limit: int = 10_000


class Row(Answer):
    number: int
    title: str
    body: str


class Several(Answer):
    """An answer with several long fields, one of them nested."""

    name: str
    rows: list[Row]
    middle: dict[str, Any]
    text: str
    took: int
    last: list[str]


class Ledger(Answer):
    lines: list[str]


class LongOperations:
    """Answers as long as one asks for, of every kind."""

    def __init__(self) -> None:
        self.written = 0
        self.seen = 0

    @operation(title="List", description="A long list.", scopes=READ)
    async def long_list(self, question: Amount, call: Call) -> list[Row]:
        return [Row(number=at, title=f"Row {at}", body=WORDS * 5) for at in range(question.many)]

    @operation(title="Huge items", description="Items longer than a page.", scopes=READ)
    async def huge_items(self, question: Amount, call: Call) -> list[Row]:
        return [
            Row(number=at, title=f"Row {at}", body=WORDS * (1500 if at % 2 else 1))
            for at in range(question.many)
        ]

    @operation(title="Text", description="A long text.", scopes=READ)
    async def long_text(self, question: Amount, call: Call) -> Text:
        return Text(
            f"# Beginning\n\n{WORDS * question.many}\n\n## The end\n\nEnd.", "text/markdown"
        )

    @operation(title="Export", description="A long export, also page by page.", scopes=READ)
    async def long_export(self, question: PagedAmount, call: Call) -> Text:
        return Text("".join(f"entry {at}\n" for at in range(question.many)))

    @operation(title="Several", description="Several long fields.", scopes=READ)
    async def several(self, question: Amount, call: Call) -> Several:
        self.seen += 1
        return Several(
            name="several",
            rows=await self.long_list(question, call),
            middle={"facts": {"of": [{"n": at} for at in range(question.many * 20)], "n": 1}},
            text=WORDS * question.many * 4,
            took=self.seen,
            last=[f"line {at} {WORDS}" for at in range(question.many)],
        )

    @operation(title="Map", description="Very many entries.", scopes=READ)
    async def long_map(self, question: Amount, call: Call) -> dict[str, int]:
        return {f"key {at}": at for at in range(question.many)}

    @operation(title="Picture", description="A picture and a text.", scopes=READ)
    async def long_blocks(self, question: Amount, call: Call) -> Blocks:
        return Blocks((Text("First."), Text(WORDS * question.many), Binary(b"x", "image/png")))

    @operation(title="Write", description="Writes.", scopes=READ, effect=Effect.WRITES)
    async def write_lines(self, question: Amount, call: Call) -> Ledger:
        self.written += 1
        return Ledger(lines=[f"{self.written}: {at} {WORDS}" for at in range(question.many)])

    @operation(title="Whole", description="Never cut.", scopes=READ, is_whole=True)
    async def whole_text(self, question: Amount, call: Call) -> Text:
        return Text(WORDS * question.many)

    @operation(title="Changes", description="Another answer each time.", scopes=READ)
    async def changing(self, question: Amount, call: Call) -> list[str]:
        self.seen += 1
        return [f"{self.seen} {at} {WORDS}" for at in range(question.many if self.seen == 1 else 2)]


DECLARATION = RoomDeclaration("long", "Long", "Long answers.")


@pytest.fixture
def operations() -> LongOperations:
    return LongOperations()


@pytest.fixture
def house(operations: LongOperations, tmp_path: Path) -> House:
    return build_house(home=tmp_path, extra_rooms=[OpenRoom(Room.collect(DECLARATION, operations))])


def call(
    house: House, era: str, name: str, arguments: dict[str, Any], **more: Any
) -> dict[str, Any]:
    result: dict[str, Any] = house.ask(
        era, "tools/call", {"name": name, "arguments": arguments}, **more
    ).json["result"]
    return result


def told(house: House, name: str, arguments: dict[str, Any], era: str = ERAS[-1]) -> dict[str, Any]:
    result = call(house, era, name, arguments)
    assert not result.get("isError"), result
    return result


def by_rest(house: House, name: str, arguments: dict[str, Any]) -> Any:
    return house.post("/mcp/invoke", {"tool_name": name, "params": arguments}).json["result"]


CASES = (
    ("long_list", 900),
    ("huge_items", 5),
    ("long_text", 4_000),
    ("several", 120),
    ("long_map", 9_000),
)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("name", "many"), CASES)
def test_the_pages_add_up_to_the_whole_and_none_is_above_the_budget(
    house: House, era: str, name: str, many: int
) -> None:
    tools = {row["name"]: row for row in house.ask(era, "tools/list", {}).json["result"]["tools"]}
    whole, pages = walk(lambda arguments: told(house, name, arguments, era), {"many": many})
    expected = by_rest(house, name, {"many": many})
    if name == "several":
        whole["took"] = expected["took"]
    assert whole == expected
    assert len(pages) > 2
    for page in pages:
        assert text_length(page) <= BUDGET
        if "structuredContent" in page:
            assert json_length(page["structuredContent"]) <= BUDGET
            jsonschema_rs.validate(tools[name]["outputSchema"], page["structuredContent"])
        kinds = {block["type"] for block in page["content"]}
        assert ("resource_link" in kinds) is (era not in ("2024-11-05", "2025-03-26"))


@pytest.mark.parametrize(("name", "many"), CASES)
def test_the_link_of_a_page_gives_the_whole(house: House, name: str, many: int) -> None:
    page = told(house, name, {"many": many})
    (link,) = [block for block in page["content"] if block["type"] == "resource_link"]
    assert link["uri"] == page_facts(page)["cut"]["whole"]
    read = house.ask(ERAS[-1], "resources/read", {"uri": link["uri"]}).json["result"]["contents"]
    expected = by_rest(house, name, {"many": many})
    text = read[0]["text"]
    found = text if isinstance(expected, str) else orjson.loads(text)
    if name == "several":
        found["took"] = expected["took"]
    assert found == expected


def test_a_short_answer_is_given_as_it_is(house: House) -> None:
    result = told(house, "long_list", {"many": 3})
    assert set(result["structuredContent"]) == {"result"}
    assert len(result["content"]) == 1


def test_the_first_page_of_a_long_text_has_its_outline_and_a_marker(house: House) -> None:
    result = told(house, "long_text", {"many": 2_000})
    texts = [block["text"] for block in result["content"] if block["type"] == "text"]
    whole = by_rest(house, "long_text", {"many": 2_000})
    cut = page_facts(result)["cut"]["shown"]["text"]
    assert texts[0] == whole[: cut["to"]] + f"\n[truncated: {len(whole) - cut['to']} more chars]"
    assert "1.1 The end" in texts[-1] or "1 The end" in texts[-1]


def test_pieces_beside_a_long_text_are_on_every_page(house: House) -> None:
    first = told(house, "long_blocks", {"many": 1_000})
    assert [block["type"] for block in first["content"]][:3] == ["text", "text", "image"]
    assert text_length(first) <= BUDGET


@pytest.mark.parametrize("limit", [900, 5_000, 100_000])
@pytest.mark.parametrize(
    ("name", "many"), [("long_list", 900), ("several", 120), ("long_text", 4000)]
)
def test_an_explicit_max_chars_is_obeyed(house: House, name: str, many: int, limit: int) -> None:
    result = told(house, name, {"many": many, "max_chars": limit})
    length = len(result["content"][0]["text"])
    assert limit * 0.5 < length <= limit
    following = told(house, name, {"cursor": page_facts(result)["next_cursor"]})
    assert 200 < len(following["content"][0]["text"]) <= limit


def test_the_cursor_alone_is_enough_and_binds_its_arguments(house: House) -> None:
    cursor = page_facts(told(house, "long_list", {"many": 900}))["next_cursor"]
    alone = told(house, "long_list", {"cursor": cursor})
    assert alone == told(house, "long_list", {"many": 900, "cursor": cursor})
    assert alone["structuredContent"]["result"][0]["number"] > 0


def test_long_arguments_are_sent_again_and_must_be_the_same(house: House) -> None:
    question = {"many": 900, "note": "x" * 5_000}
    page = told(house, "long_list", question)
    cursor = page_facts(page)["next_cursor"]
    assert len(cursor) < 500
    assert "whole" not in page_facts(page)["cut"]
    assert told(house, "long_list", {**question, "cursor": cursor})
    for other in ({}, {"many": 900}, {**question, "many": 901}):
        assert _error(call(house, ERAS[-1], "long_list", {**other, "cursor": cursor}))


@pytest.mark.parametrize("era", ERAS)
def test_a_wrong_or_foreign_cursor_is_a_clear_error(house: House, era: str) -> None:
    cursor = page_facts(told(house, "long_list", {"many": 900}))["next_cursor"]
    foreign = _error(call(house, era, "huge_items", {"many": 900, "cursor": cursor}))
    assert foreign == "This cursor belongs to long_list, not to huge_items"
    other = _error(call(house, era, "long_list", {"many": 800, "cursor": cursor}))
    assert other == "This cursor belongs to another question to long_list"
    mangled = (cursor[:-3] + "AAA", cursor[:40], "", "x", "🙂", "=", 7, None, {"a": 1}, "A" * 9_000)
    for wrong in mangled:
        problem = _error(call(house, era, "long_list", {"many": 900, "cursor": wrong}))
        assert problem.startswith("This is no cursor of this server"), wrong


def _error(result: dict[str, Any]) -> str:
    assert result["isError"], result
    facts = orjson.loads(result["content"][0]["text"])["error"]
    assert facts["code"] == "invalid_input"
    return str(facts["message"])


def test_a_place_that_is_gone_is_told(house: House) -> None:
    cursor = page_facts(told(house, "changing", {"many": 900}))["next_cursor"]
    problem = _error(call(house, ERAS[-1], "changing", {"cursor": cursor}))
    assert "has changed" in problem


def test_an_answer_that_has_changed_says_so(house: House, operations: LongOperations) -> None:
    first = told(house, "changing", {"many": 900})
    operations.seen = 0
    same = told(house, "changing", {"cursor": page_facts(first)["next_cursor"]})
    assert "has_changed" not in page_facts(same)["cut"]
    cursor = Cursor.decode(page_facts(first)["next_cursor"])
    operations.seen = 0
    other = Cursor(cursor.operation, (1,), "another", cursor.digest, cursor.arguments).encode()
    changed = told(house, "changing", {"cursor": other})
    assert page_facts(changed)["cut"]["has_changed"] is True
    assert any("has changed" in block.get("text", "") for block in changed["content"])


def test_a_refused_cursor_is_in_the_audit_log(house: House) -> None:
    call(house, ERAS[-1], "long_list", {"many": 900, "cursor": "x"})
    last = house.audit.records[-1]
    assert (last.action, last.error_code) == ("tool:long_list", "invalid_input")


@pytest.mark.parametrize("wrong", [0, -1, "many", 1.5, True, None])
def test_a_max_chars_that_is_no_number_is_refused(house: House, wrong: Any) -> None:
    assert "max_chars" in _error(
        call(house, ERAS[-1], "long_list", {"many": 3, "max_chars": wrong})
    )


def test_reading_on_in_the_answer_of_a_change_changes_nothing(
    house: House, operations: LongOperations, tmp_path: Path
) -> None:
    whole, pages = walk(lambda arguments: told(house, "write_lines", arguments), {"many": 900})
    assert operations.written == 1
    assert len(pages) > 2
    assert whole == {"lines": [f"1: {at} {WORDS}" for at in range(900)]}
    link = page_facts(pages[0])["cut"]["whole"]
    read = house.ask(ERAS[-1], "resources/read", {"uri": link}).json["result"]["contents"]
    assert orjson.loads(read[0]["text"]) == whole
    assert operations.written == 1
    restarted = build_house(
        home=tmp_path, extra_rooms=[OpenRoom(Room.collect(DECLARATION, operations))]
    )
    again = told(restarted, "write_lines", {"cursor": page_facts(pages[0])["next_cursor"]})
    assert again == pages[1]
    assert operations.written == 1


def test_the_answer_of_a_change_is_only_for_its_caller(
    operations: LongOperations, tmp_path: Path
) -> None:
    house = build_house(
        home=tmp_path,
        identity=TokenTable({"one": ["papers:read"], "two": ["papers:read"]}),
        extra_rooms=[OpenRoom(Room.collect(DECLARATION, operations))],
    )
    mine = call(house, ERAS[-1], "write_lines", {"many": 900}, authorization="Bearer one")
    cursor = page_facts(mine)["next_cursor"]
    theirs = call(house, ERAS[-1], "write_lines", {"cursor": cursor}, authorization="Bearer two")
    assert theirs["isError"]
    assert operations.written == 1


def test_an_address_never_runs_an_operation_that_changes_something(
    house: House, operations: LongOperations
) -> None:
    forged = Cursor.of("write_lines", {"many": 3}, (), "").encode()
    answer = house.ask(ERAS[-1], "resources/read", {"uri": f"answer://{forged}"})
    assert "error" in answer.json
    assert operations.written == 0


def test_an_operation_that_is_whole_is_not_cut(house: House) -> None:
    assert told(house, "whole_text", {"many": 3_000})["content"] == [
        {"type": "text", "text": WORDS * 3_000}
    ]


@pytest.mark.parametrize(("name", "many"), CASES)
def test_run_operation_cuts_as_the_operation_itself(house: House, name: str, many: int) -> None:
    def ask(arguments: dict[str, Any]) -> dict[str, Any]:
        result = told(house, "run_operation", {"name": name, "arguments": arguments})
        assert text_length(result) <= BUDGET
        return result

    first = ask({"many": many})
    assert first["content"][0]["text"]
    told_cursor = next(
        block["text"].split('"cursor": "')[1].split('"')[0]
        for block in first["content"]
        if '"cursor": "' in block.get("text", "")
    )
    assert Cursor.decode(told_cursor).operation == name
    second = ask({"many": many, "cursor": told_cursor})
    assert second["content"][0]["text"] != first["content"][0]["text"]


def test_every_mcp_door_gives_the_same_page(house: House) -> None:
    name, arguments = "several", {"many": 120}
    endpoint = desk_endpoints(house.desk).common(has_everything=True)

    async def over_fastmcp() -> Any:
        async with fastmcp.Client(fastmcp_server(endpoint, house.desk.gate)) as client:
            first = await client.call_tool_mcp(name, arguments)
            cursor = first.structured_content["next_cursor"]
            second = await client.call_tool_mcp(name, {"cursor": cursor})
            link = next(block for block in first.content if block.type == "resource_link")
            whole = await client.read_resource(str(link.uri))
            return first, second, whole[0].text

    async def over_stdio(asked: dict[str, Any]) -> Any:
        reading, writing = os.pipe()
        message = modern("tools/call", {"name": name, "arguments": asked})
        os.write(writing, orjson.dumps(message) + b"\n")
        os.close(writing)
        answers: list[bytes] = []
        dispatcher = Dispatcher(endpoint, house.desk.gate)
        await serve_stdio(dispatcher, house.desk.gate, reading, answers.append)
        os.close(reading)
        return orjson.loads(b"".join(answers))["result"]

    first, second, whole = asyncio.run(over_fastmcp())
    one = asyncio.run(over_stdio(arguments))
    two = asyncio.run(over_stdio({"cursor": one["structuredContent"]["next_cursor"]}))
    for theirs, ours in ((first, one), (second, two)):
        shown = {**theirs.structured_content, "took": 0}
        assert shown == {**ours["structuredContent"], "took": 0}
    assert len(orjson.loads(whole)["rows"]) == 120


def test_a_cut_text_keeps_every_character() -> None:
    text = "".join(chr(0x20 + at % 90) for at in range(3_000)) + "\n\n" + "🙂" * 500
    position: tuple[str | int, ...] | None = ()
    found = ""
    while position is not None:
        page = cut_text(text, position, 300)
        found += str(page.value).partition("\n[truncated: ")[0]
        assert len(str(page.value)) <= 300
        position = page.next
    assert found == text


@pytest.mark.parametrize(
    "position", [("x",), (99,), (-1,), (True,), (1, "number", 0), (0, "body", "x"), (0, 0)]
)
def test_a_position_that_does_not_exist_is_refused(position: tuple[str | int, ...]) -> None:
    with pytest.raises(WrongPositionError):
        cut_value([{"number": 1, "body": "x" * 900}] * 3, position, 1_000)


def test_a_cursor_is_read_as_it_was_written() -> None:
    cursor = Cursor.of("search", {"query": "ä", "n": [1, None]}, ("rows", 3, "text", 17), "abc")
    assert Cursor.decode(cursor.encode()) == cursor
    with pytest.raises(InvalidCursorError):
        Cursor.decode(cursor.encode()[:-1] + "!")


def test_kept_answers_are_found_by_their_owner_and_swept(tmp_path: Path) -> None:
    kept = KeptAnswerFiles(tmp_path, SystemClock())
    name = kept.keep("me", b"content")
    assert kept.find("me", name) == b"content"
    assert kept.find("you", name) is None
    assert kept.find("me", "../" + name) is None
    for at in range(40):
        kept.keep("me", str(at).encode())
    assert sum(1 for path in tmp_path.rglob("*") if path.is_file()) == 32


def test_finding_12_a_cut_export_says_how_to_go_on(house: House) -> None:
    result = told(house, "long_export", {"many": 9_000})
    shown = result["content"][0]["text"]
    assert shown.endswith(
        " more chars; call again with the cursor named below, or with a smaller limit, page by "
        "page]"
    )
    following = told(house, "long_export", {"cursor": page_facts(result)["next_cursor"]})
    assert following["content"][0]["text"].startswith("entry ")
