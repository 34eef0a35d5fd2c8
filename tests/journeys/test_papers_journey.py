"""One journey through the papers room, the same at every door."""

from __future__ import annotations

import orjson
import pytest

from carrel.settings import Settings
from carrel.wiring.desk import open_desk
from tests.journeys.doors import Door, Failed, FastMcpDoor, Said, SdkDoor


@pytest.mark.promise("P7")
def test_a_paper_that_is_not_there_is_said_to_be_missing(ask: Door) -> None:
    for tool in ("get_paper_metadata", "get_paper_summary", "get_paper_source", "get_paper_bibtex"):
        answer = ask.ask(tool, paper_id="nobody-wrote-this")
        assert isinstance(answer, Failed)
        assert answer.means("paper_not_found")


@pytest.mark.promise("D7")
def test_a_question_that_does_not_fit_is_refused(ask: Door) -> None:
    for arguments in (
        {"query": "x", "limit": 101},
        {"query": "x", "page": 0},
        {"query": "x", "limit": 100, "page": 102},
    ):
        answer = ask.ask("search_papers", **arguments)
        assert isinstance(answer, Failed)
        assert answer.means("invalid_input")


@pytest.mark.promise("D4")
def test_every_door_offers_the_same_operations(ask: Door, settings: Settings) -> None:
    operations = open_desk(settings).catalogue.operations.values()
    everything = {operation.name for operation in operations}
    listed = {operation.name for operation in operations if operation.is_listed} | {
        "find_operation",
        "run_operation",
    }
    of_papers = {operation.name for operation in operations if operation.room == "papers"}
    for_people = {operation.name for operation in operations if operation.is_for_people}
    # Doors that serve all rooms over MCP list the everyday operations, REST lists all; a room's own
    # door all of the room and what follows its jobs, which on the command line is `carrel jobs`.
    room_alone = of_papers - for_people | {"get_job", "cancel_job"}
    assert ask.tools() in (listed, everything, of_papers, room_alone)


@pytest.mark.promise("P1")
def test_a_search_leads_to_a_paper_and_its_texts(ask: Door) -> None:
    found = ask.ask("search_papers", query="reproducibility", limit=3)
    assert isinstance(found, Said)
    assert 1 <= len(found.value) <= 3
    first = found.value[0]
    assert {"paper_id", "title", "year", "venue", "snippet_markdown"} <= set(first)
    metadata = ask.ask("get_paper_metadata", paper_id=first["paper_id"])
    assert isinstance(metadata, Said)
    assert metadata.value["title"] == first["title"]
    summary = ask.ask("get_paper_summary", paper_id=first["paper_id"])
    assert isinstance(summary, Said)
    assert orjson.loads(summary.value)


@pytest.mark.promise("P5")
def test_resources_are_read_where_assistants_come_in(assistant: Door) -> None:
    assert isinstance(assistant, (SdkDoor, FastMcpDoor))
    assert "paper://{paper_id}/metadata" in assistant.templates()
    found = assistant.ask("search_papers", query="reproducibility", limit=1)
    assert isinstance(found, Said)
    (hit,) = found.value
    metadata = orjson.loads(assistant.read(f"paper://{hit['paper_id']}/metadata"))
    assert metadata["title"] == hit["title"]


@pytest.mark.promise("D3")
def test_the_clients_agreed_on_the_era_they_were_meant_to(
    assistant: Door, request: pytest.FixtureRequest
) -> None:
    if isinstance(assistant, SdkDoor):
        assert assistant.revision == (
            "2025-11-25" if "handshake" in request.node.name else "2026-07-28"
        )
