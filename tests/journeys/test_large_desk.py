"""On a large desk no answer at an MCP door is above its budget, and its pages are the whole.

Every operation of the catalogue is called, with arguments made from its own schema: an operation
that is added later is covered without a word here.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from carrel.core.answer import Blocks
from carrel.core.answer_pages import json_length
from carrel.core.operation import Effect, Operation
from carrel.doors.schemas import input_schema
from carrel.rooms.papers.building.models import BuildOptions
from carrel.settings import Settings
from carrel.wiring.desk import open_desk
from carrel.wiring.papers_build import build_papers
from tests.doors.pages import page_facts, strip_marker, text_length, walk
from tests.journeys.doors import serving

pytestmark = pytest.mark.promise("D12")

BUDGET = 32_000
PAPERS, LONG_TEXTS, REFERENCES, NOTES, HYPOTHESES = 400, 6, 600, 200, 60
CITING = 40
SENTENCE = "This study of kinase signalling in the liver found that vessels sleep at night. "
# Walks of more pages than this are compared as far as they go: an export has hundreds.
MOST_PAGES = 5
VOLATILE = {"took", "processing_time_ms", "estimated_completion_minutes", "last_update"}
MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
# Not worth a call here: it would wait for the network.
REACHES_THE_NETWORK = {"add_references"}


@dataclass(frozen=True, slots=True)
class LargeDesk:
    """A served desk and the ids that questions about it need."""

    port: int
    operations: dict[str, Operation[Any]]
    known: dict[str, Any]

    def rest(self, name: str, arguments: dict[str, Any]) -> Any:
        return self._post("/mcp/invoke", {"tool_name": name, "params": arguments}, {})

    def mcp(
        self, name: str, arguments: dict[str, Any], path: str = "/desk/mcp", is_modern: bool = False
    ) -> dict[str, Any]:
        params: dict[str, Any] = {"name": name, "arguments": arguments}
        headers = {"mcp-protocol-version": "2025-11-25"}
        if is_modern:
            params["_meta"] = MODERN_META
            headers = {
                "mcp-protocol-version": "2026-07-28",
                "mcp-method": "tools/call",
                "mcp-name": name,
            }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = self._post(path, message, headers)
        return dict(answer["result"])

    def read(self, uri: str) -> str:
        params = {"uri": uri}
        message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params}
        answer = self._post("/mcp", message, {"mcp-protocol-version": "2025-11-25"})
        return str(answer["result"]["contents"][0]["text"])

    def _post(self, path: str, body: Any, headers: dict[str, str]) -> Any:
        sent = {"content-type": "application/json", "accept": "application/json", **headers}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)) as talk:
            talk.request("POST", path, json.dumps(body), sent)
            return json.loads(talk.getresponse().read())


def _write_sources(folder: Path) -> None:
    folder.mkdir()
    with (folder / "papers.jsonl").open("w") as lines:
        for at in range(PAPERS):
            paper = {
                "title": f"Paper {at} on kinase signalling",
                "abstract": f"Abstract {at}. " + SENTENCE * 25,
                "authors": [f"Author {at % 97}, A.", f"Writer {at % 31}, B."],
                "keywords": ["kinase", f"topic {at % 211}"],
                "venue": f"Journal {at % 13}",
                "year": 1990 + at % 35,
            }
            lines.write(json.dumps(paper) + "\n")
    for at in range(LONG_TEXTS):
        sections = "\n\n".join(f"## Section {number}\n\n{SENTENCE * 60}" for number in range(1, 31))
        front = f"---\ntitle: Long paper {at} on kinase\nyear: 2020\n---\n"
        rows = "\n".join(f"| {number} | {SENTENCE.strip()} |" for number in range(1_500))
        table = f"Table 1: Findings of the study.\n\n| number | finding |\n|---|---|\n{rows}"
        (folder / f"long{at}.md").write_text(
            f"{front}# Long paper {at}\n\n{sections}\n\n## Findings\n\n{table}\n"
        )
    for at in range(CITING):
        (folder / f"citing{at}.xml").write_text(_write_article(at))


def _write_article(at: int) -> str:
    """An article that cites all others of its kind, and as many works outside."""
    references = "".join(
        f"<ref><element-citation><article-title>{SENTENCE}{SENTENCE}</article-title>"
        f'<pub-id pub-id-type="doi">10.1000/c{cited}</pub-id></element-citation></ref>'
        for cited in range(2 * CITING)
    )
    return (
        '<article><front><article-meta><article-id pub-id-type="doi">'
        f"10.1000/c{at}</article-id><title-group><article-title>Citing paper {at} on kinase "
        f"{SENTENCE}</article-title></title-group></article-meta></front><body><p>Text.</p></body>"
        f"<back><ref-list>{references}</ref-list></back></article>"
    )


def _write_library(path: Path) -> None:
    items = [
        {
            "id": f"ref{at}",
            "type": "article-journal",
            "title": f"Reference {at} on kinase signalling",
            "author": [{"family": f"Family{at % 53}", "given": "A."}],
            "issued": {"date-parts": [[1990 + at % 35]]},
            "abstract": f"Abstract {at}. " + SENTENCE * 15,
            "DOI": f"10.1234/x{at}",
        }
        for at in range(REFERENCES)
    ]
    path.write_text(json.dumps(items))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LargeDesk]:
    folder = tmp_path_factory.mktemp("large")
    _write_sources(folder / "source")
    home = folder / "home"
    (home / "references").mkdir(parents=True)
    _write_library(folder / "library.json")
    build_papers([folder / "source"], folder / "corpus", BuildOptions(workers=1))
    settings = Settings.model_validate(
        {
            "home": home,
            "papers": {"snapshot": folder / "corpus" / "paper_snapshot.db"},
            "references": {"library": folder / "library.json", "allowed_folders": [folder]},
            "audit": {"enabled": False},
        }
    )
    operations = dict(open_desk(settings).catalogue.operations)
    with serving(settings) as port:
        served = LargeDesk(port, operations, {})
        (folder / "text.md").write_text(f"# Text\n\n{SENTENCE * 1_200}")
        _fill(served)
        attached = served.rest("attach_fulltext", {"id": "ref7", "path": str(folder / "text.md")})
        assert attached["success"], attached
        yield served


def _fill(desk: LargeDesk) -> None:
    ids = [
        desk.rest(
            "save_knowledge",
            {
                "title": f"Note {at} on kinase",
                "content": f"Note {at}. " + SENTENCE * (150 if at % 10 else 1_000),
                "tags": ["kinase"],
            },
        )["result"]["id"]
        for at in range(NOTES)
    ]
    hypotheses = [
        {
            "id": f"h{at}",
            "summary": f"Hypothesis {at}: kinase {at} calms vessels. " + SENTENCE * 3,
            "full_description": SENTENCE * 30,
            "category": "mechanistic",
            "novelty_claim": SENTENCE * 5,
            "experimental_protocol": {"objective": SENTENCE * 3, "methodology": SENTENCE * 20},
        }
        for at in range(HYPOTHESES)
    ]
    imported = desk.rest(
        "import_hypotheses",
        {"hypotheses": json.dumps(hypotheses), "goal": "What calms the vessels of the liver"},
    )["result"]
    research = imported["research_id"]
    rows = desk.rest("list_hypotheses", {"research_id": research})["result"]
    papers = desk.rest("search_papers", {"query": "Long paper"})["result"]
    passages = desk.rest("find_passages", {"query": "kinase"})["result"]
    desk.known.update(
        {
            "paper_id": papers[0]["paper_id"],
            "passage_id": passages[0]["passage_id"],
            "note": ids[0],
            "reference": "ref7",
            "ids": [f"ref{at}" for at in range(400)],
            "query": "kinase",
            "keyword": "kinase",
            "text": SENTENCE * 2,
            "research_id": research,
            "hypothesis_id": rows[0]["id"],
            "node_names": [f"node {at}" for at in range(100)],
            "what": "export",
            "figure": "Table 1",
            "papers": ["10.1000/c1"],
            "seeds": ["10.1000/c1"],
            "from_paper": "10.1000/c1",
            "to_paper": "10.1000/c2",
        }
    )


def _value(name: str, facts: dict[str, Any], operation: Operation[Any], known: Any) -> Any:
    if name == "id":
        return known["reference" if operation.room == "references" else "note"]
    if operation.name == "elasticsearch":
        return "papers" if name == "index" else {"query": {"match_all": {}}, "size": 100}
    if name in known:
        return known[name]
    if "enum" in facts:
        return facts["enum"][0]
    kinds = facts.get("type", "string")
    kind = kinds[0] if isinstance(kinds, list) else kinds
    made = {
        "string": (SENTENCE * 2)[: facts.get("maxLength", 100)],
        "integer": facts.get("minimum", 1),
        "number": facts.get("minimum", 0),
        "boolean": True,
        "array": ["kinase"],
        "object": {},
    }
    return made.get(kind, "kinase")


def _questions(operation: Operation[Any], known: Any) -> list[dict[str, Any]]:
    """The least arguments, the widest ones, and each choice of an optional field."""
    schema = input_schema(operation)
    properties = schema.get("properties", {})
    least = {
        name: _value(name, properties[name], operation, known)
        for name in schema.get("required", ())
    }
    widest = {
        name: facts["maximum"]
        for name, facts in properties.items()
        if name in {"limit", "top_n", "count", "before", "after"} and "maximum" in facts
    }
    optional = {name: facts for name, facts in properties.items() if name not in least}
    if "query" in optional:
        widest = {**widest, "query": known["query"]}
    choices = [
        {**least, **widest, name: choice}
        for name, facts in optional.items()
        for choice in facts.get("enum", ())
        if operation.effect is Effect.READS
    ]
    return [least, {**least, **widest}, *choices] if widest else [least, *choices]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items() if name not in VOLATILE}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _check_bounds(result: dict[str, Any], asked: object) -> None:
    assert text_length(result) <= BUDGET, asked
    if "structuredContent" in result:
        assert json_length(result["structuredContent"]) <= BUDGET, asked


def _is_beginning(part: Any, whole: Any) -> bool:
    """Whether a part that was read so far is how the whole begins."""
    if isinstance(part, str):
        return isinstance(whole, str) and whole.startswith(strip_marker(part))
    if isinstance(part, list):
        shown = part[:-1]
        return bool(whole[: len(shown)] == shown)
    if isinstance(part, dict):
        return all(
            name in whole and (not each or _is_beginning(each, whole[name]))
            for name, each in part.items()
        )
    return bool(part == whole)


def _walk_some(desk: LargeDesk, name: str, asked: dict[str, Any]) -> tuple[Any, bool]:
    """The answer from its pages, as far as MOST_PAGES of them go; whether that is all of it."""
    pages = 0

    def ask(arguments: dict[str, Any]) -> dict[str, Any]:
        nonlocal pages
        pages += 1
        result = desk.mcp(name, arguments, is_modern=bool(pages % 2))
        assert not result.get("isError"), (name, asked, result)
        _check_bounds(result, (name, asked))
        if pages == MOST_PAGES and "structuredContent" in result:
            result["structuredContent"].pop("next_cursor", None)
        elif pages == MOST_PAGES:
            for block in result["content"]:
                block.get("_meta", {}).pop("next_cursor", None)
        return result

    whole, _ = walk(ask, asked)
    return whole, pages < MOST_PAGES


CATALOGUE = open_desk(
    Settings.model_validate({"home": Path("unopened"), "audit": {"enabled": False}})
).catalogue
# Operations for people are at no MCP door, where answers have a budget.
READING = sorted(
    name
    for name, each in CATALOGUE.operations.items()
    if each.effect is Effect.READS and not each.is_for_people
)
# What no desk that is not at work can answer, and what may still be filling its index.
# Services outside, or a table that is not here; their answers have tests of their own.
OUTSIDE = {"search_literature", "get_work", "check_retractions"}
NEEDS_MORE = {"get_job", "elasticsearch", "list_library_members", *OUTSIDE}


@pytest.mark.parametrize("name", READING)
def test_a_reading_operation_keeps_to_its_budget_and_its_pages_are_the_whole(
    desk: LargeDesk, name: str
) -> None:
    operation, answered, refusals = desk.operations[name], 0, list[Any]()
    for asked in _questions(operation, desk.known):
        by_rest = desk.rest(name, asked)
        if not by_rest["success"]:
            _check_bounds(desk.mcp(name, asked), asked)
            refusals.append((asked, by_rest["error"]))
            continue
        answered += 1
        if operation.is_whole:
            continue
        if operation.answer is Blocks:
            # Blocks differ in form at each door; what must hold is the budget.
            _check_bounds(desk.mcp(name, asked), asked)
            continue
        expected = _plain(by_rest["result"])
        found, is_all = _walk_some(desk, name, asked)
        found = _plain(found)
        assert found == expected if is_all else _is_beginning(found, expected), asked
    assert answered or name in NEEDS_MORE, f"give it other arguments above: {refusals}"


@pytest.mark.parametrize("name", READING)
def test_a_size_that_is_asked_for_is_obeyed(desk: LargeDesk, name: str) -> None:
    operation = desk.operations[name]
    asked = _questions(operation, desk.known)[:2][-1]
    if not desk.rest(name, asked)["success"]:
        return
    for limit in (3_000, 60_000):
        result = desk.mcp(name, {**asked, "max_chars": limit})
        assert not result.get("isError"), asked
        text = result["content"][0]["text"].partition("\n[truncated: ")[0]
        if "max_chars" not in operation.question.model_fields or "structuredContent" not in result:
            assert len(text) <= limit, asked


def test_every_writing_operation_keeps_to_its_budget(desk: LargeDesk) -> None:
    for operation in desk.operations.values():
        if operation.effect is Effect.READS or operation.name in REACHES_THE_NETWORK:
            continue
        if operation.is_for_people:  # at no MCP door
            continue
        asked = _questions(operation, desk.known)[0]
        if operation.effect is Effect.DESTROYS:
            asked = {**asked, "id": "nothing"} if "id" in asked else asked
        _check_bounds(desk.mcp(operation.name, asked), (operation.name, asked))


def test_a_long_import_is_read_on_without_being_done_again(desk: LargeDesk) -> None:
    entries = "\n".join(
        f"@article{{new{at}, title={{New work {at} on vessels and how they sleep}}, "
        f"author={{Person, Some}}, year={{2021}}}}"
        for at in range(600)
    )
    before = desk.rest("list_references", {"limit": 1})["result"]["total"]
    whole, pages = walk(lambda arguments: desk.mcp("add_references", arguments), {"input": entries})
    assert len(pages) > 1
    assert len({added["id"] for added in whole["added"]}) == len(whole["added"]) == 600
    assert desk.rest("list_references", {"limit": 1})["result"]["total"] == before + 600


@pytest.mark.parametrize("name", ["export_references", "export_papers"])
def test_an_export_comes_with_a_link_to_the_whole(desk: LargeDesk, name: str) -> None:
    asked = {"query": "vessels"}
    first = desk.mcp(name, asked)
    (link,) = [block for block in first["content"] if block["type"] == "resource_link"]
    assert desk.read(link["uri"]) == desk.rest(name, asked)["result"]
    assert page_facts(first)["next_cursor"]


@pytest.mark.parametrize("path", ["/mcp", "/desk/mcp", "/references/mcp"])
def test_every_address_cuts(desk: LargeDesk, path: str) -> None:
    name = "list" if path == "/references/mcp" else "list_references"
    result = desk.mcp(name, {"limit": 500}, path)
    _check_bounds(result, path)
    assert result["structuredContent"]["total"] >= REFERENCES
    assert result["structuredContent"]["next_cursor"]
