"""Mistaken calls are understood where they can mean one thing, else lead to the right one."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any

import orjson
import pytest

from carrel.core.caller import Visit
from carrel.core.errors import InvalidInputError
from carrel.core.lenient_arguments import SYNONYMS
from carrel.core.operation import Effect
from carrel.wiring.desk import Desk, open_desk
from carrel.wiring.mcp import stdio_dispatcher
from carrel.wiring.papers_build import with_demo
from tests.doors.mistaken_calls import REFUSED, UNDERSTOOD, UNKNOWN_TOOLS
from tests.doors.test_desk_prompts import Assistant, settings_at

pytestmark = pytest.mark.promise("Q3")


class SampleDesk:
    """An open desk with a paper, a passage, a reference and a note."""

    def __init__(self, desk: Desk, runner: asyncio.Runner) -> None:
        self.desk = desk
        self._runner = runner
        self._assistant = Assistant(stdio_dispatcher(desk), desk)
        self._ids: dict[bytes, bytes] = {}

    def prepare(self) -> None:
        paper = self._made("search_papers", query="elo")["result"][0]["paper_id"]
        passage = self._made("find_passages", query="elo", within=[paper])["result"][0]
        added = self._made("add_references", input=[paper])["added"][0]["id"]
        note = self._made("save_knowledge", content="a note on ranking")["id"]
        ids = {"PAPER": paper, "PASSAGE": passage["passage_id"], "REFERENCE": added, "NOTE": note}
        self._ids = {name.encode(): value.encode() for name, value in ids.items()}

    def _made(self, tool: str, **arguments: Any) -> Any:
        return self.call(tool, arguments)["result"]["structuredContent"]

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._runner.run(work)

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        raw = orjson.dumps(arguments)
        for name, value in self._ids.items():
            raw = raw.replace(name, value)
        asked = self._assistant.ask("tools/call", name=tool, arguments=orjson.loads(raw))
        return self._runner.run(asked)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SampleDesk]:
    desk = open_desk(with_demo(settings_at(tmp_path_factory.mktemp("home"))))
    with asyncio.Runner() as runner:
        session = desk.session(resumes_jobs=False)
        runner.run(session.__aenter__())
        made = SampleDesk(desk, runner)
        made.prepare()
        yield made
        runner.run(session.__aexit__(None, None, None))


def test_there_are_many() -> None:
    assert len(UNDERSTOOD) + len(REFUSED) + len(UNKNOWN_TOOLS) >= 90


@pytest.mark.parametrize(("tool", "arguments"), UNDERSTOOD, ids=str)
def test_a_harmless_variant_is_understood(
    sample: SampleDesk, tool: str, arguments: dict[str, Any]
) -> None:
    answer = sample.call(tool, arguments)
    assert not answer["result"].get("isError"), answer["result"]["content"][0]["text"]


@pytest.mark.parametrize(("tool", "arguments", "told"), REFUSED, ids=str)
def test_a_refusal_says_what_to_send_instead(
    sample: SampleDesk, tool: str, arguments: dict[str, Any], told: tuple[str, ...]
) -> None:
    result = sample.call(tool, arguments)["result"]
    assert result["isError"]
    error = result["structuredContent"]["error"] if "structuredContent" in result else {}
    text = f"{error.get('message')} {error.get('next_step')}"
    for part in told:
        assert part in text
    assert "constrained-str" not in text and "(whole)" not in error["message"]


@pytest.mark.parametrize(("name", "meant"), UNKNOWN_TOOLS)
def test_an_unknown_tool_names_the_one_that_is_meant(
    sample: SampleDesk, name: str, meant: str
) -> None:
    error = sample.call(name, {})["error"]
    assert error["code"] == -32602
    assert error["message"].startswith(f"Unknown tool: {name}")
    assert meant in error["data"]["near"]


def test_an_example_in_an_error_can_be_sent_as_it_is(sample: SampleDesk) -> None:
    wrong = {"query": "ranking", "limit": 500, "year": 2026}
    example = sample.call("search_papers", wrong)["result"]["structuredContent"]["error"]
    answer = sample.call("search_papers", example["details"]["example"])
    assert answer["result"]["structuredContent"]["result"]


def test_what_confirms_or_destroys_is_never_guessed(sample: SampleDesk) -> None:
    assert "force" not in SYNONYMS
    for name, arguments in (
        ("remove_reference", {"id": "REFERENCE", "confirm": True}),
        ("remove_reference", {"id": "REFERENCE", "force": "yes"}),
        ("remove_reference", {"id": "REFERENCE", "force": 1}),
    ):
        assert sample.desk.catalogue.operations[name].effect is Effect.DESTROYS
        assert sample.call(name, arguments)["result"]["isError"]
    assert sample.call("get_fulltext", {"id": "nope"})["result"]["isError"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_papers", {"query": "ranking", "page": 99}),
        ("search_papers_by_keyword", {"keyword": "ranking", "page": 99}),
        ("find_passages", {"query": "ranking", "page": 50}),
        ("search_references", {"query": "ranking", "page": 7}),
        ("list_references", {"page": 7}),
    ],
    ids=str,
)
def test_a_page_past_the_end_says_so(
    sample: SampleDesk, tool: str, arguments: dict[str, Any]
) -> None:
    told = sample.call(tool, arguments)["result"]["structuredContent"]["explanation"]
    assert "past the end" in told["message"]


def test_a_cut_text_says_beside_it_where_to_read_on(sample: SampleDesk) -> None:
    asked = {"paper_id": "PAPER", "max_chars": 200}
    text, *beside = sample.call("get_paper_source", asked)["result"]["content"]
    assert text["text"].endswith("more chars]")
    told = " ".join(block["text"] for block in beside)
    assert "is not the paper's own" in told and "offset 200" in told
    rest = sample.call("get_paper_source", {**asked, "offset": 200})["result"]["content"][0]
    assert rest["text"][:50] not in text["text"]


def test_the_gateway_stays_exact(sample: SampleDesk) -> None:
    """REST has an OpenAPI document that its callers are generated from."""

    async def invoke() -> None:
        visit = Visit("rest", "test")
        caller = await sample.desk.gate.identify(visit)
        operation = sample.desk.catalogue.operations["search_papers"]
        await sample.desk.gate.call(operation, {"q": "ranking"}, caller, visit)

    with pytest.raises(InvalidInputError, match="query is required"):
        sample.run(invoke())
