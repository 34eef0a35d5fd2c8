"""One search over the desk: ranked across rooms, within the caller's scopes, never bare."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from carrel.core.answer import Explained
from carrel.core.caller import LOCAL_USER, Call, Caller, Visit
from carrel.core.desk_search import (
    DeskAnswer,
    DeskCandidate,
    DeskSearch,
    NothingOnDesk,
    RoomFindings,
    SearchDesk,
)
from carrel.core.errors import InsufficientPermissionsError, UnavailableError
from carrel.policy.scopes import ALL_SCOPES
from carrel.settings import read_settings
from carrel.wiring.desk import Desk, open_desk
from tests.rooms.papers.snapshots import SamplePaper, write_snapshot

pytestmark = pytest.mark.promise("P13")

SLEEP = SamplePaper(
    title="Sleep of small mammals in winter",
    authors=("Ada Doe",),
    year="2020",
    doi="10.1000/sleep.1",
    summaries={"simple": "Shrews sleep for three hours in winter burrows."},
    source="## Results\n\nShrews sleep for three hours in winter burrows under the snow.\n",
)
FOLDING = SamplePaper(
    title="Protein folding in yeast", summaries={"simple": "Chaperones fold proteins."}
)
BIBTEX = """
@article{doe2019owls, title={Owls hunt voles by sound}, author={Doe, Ada}, year={2019},
 journal={J Birds}, doi={10.1000/owls.9}, pmid={12345678}}
@book{roe1990snow, title={A history of snow}, author={Roe, Ben}, year={1990}}
"""
HYPOTHESES = [
    {
        "id": "hyp_1",
        "title": "Magnesium shortens torpor of dormice",
        "summary": "Dormice with more magnesium wake earlier from torpor.",
        "rationale": "Magnesium regulates sleep.",
    }
]


def search_with(tmp_path: Path, ask: Callable[[Desk, Call], Coroutine[Any, Any, None]]) -> None:
    snapshot = write_snapshot(tmp_path, (SLEEP, FOLDING))
    settings = read_settings(
        environment={
            "CARREL_HOME": str(tmp_path / "home"),
            "CARREL_PAPERS_SNAPSHOT": str(snapshot),
            "CARREL_AUDIT_ENABLED": "false",
        }
    )
    call = _call(ALL_SCOPES)

    async def story() -> None:
        async with open_desk(settings).session() as desk:
            await run(desk, call, "add_references", input=BIBTEX)
            for title, content in (
                ("Dormouse torpor", "Dormice sleep through the winter; torpor ends in April."),
                ("Shopping", "Milk and bread."),
            ):
                await run(desk, call, "save_knowledge", title=title, content=content)
            await run(
                desk,
                call,
                "import_hypotheses",
                hypotheses=json.dumps(HYPOTHESES),
                goal="How does magnesium change the sleep of dormice?",
            )
            await ask(desk, call)

    asyncio.run(story())


def _call(scopes: Iterable[str]) -> Call:
    return Call(Caller(LOCAL_USER, frozenset(scopes)), Visit("test", "1"))


async def run(desk: Desk, call: Call, name: str, **arguments: object) -> Any:
    return await desk.gate.call(desk.catalogue.operations[name], arguments, call.caller, call.visit)


def test_every_room_answers_and_each_hit_says_what_to_call(tmp_path: Path) -> None:
    async def ask(desk: Desk, call: Call) -> None:
        for query, room, kind in (
            ("shrews sleep in winter burrows", "papers", "paper"),
            ("owls hunt voles", "references", "reference"),
            ("Dormouse torpor", "knowledge", "note"),
            ("does magnesium shorten torpor of dormice", "research", "hypothesis"),
        ):
            answer = await run(desk, call, "search_desk", query=query)
            hit = answer.hits[0]
            assert (hit.room, hit.kind) == (room, kind), query
            assert hit.snippet
            read = await run(desk, call, hit.next.operation, **hit.next.arguments)
            assert read
            assert {each.room for each in answer.rooms} == {
                "papers",
                "references",
                "knowledge",
                "research",
            }
            assert sum(each.hits for each in answer.rooms) == len(answer.hits)

    search_with(tmp_path, ask)


def test_identifiers_find_their_thing_first(tmp_path: Path) -> None:
    async def ask(desk: Desk, call: Call) -> None:
        note = (await run(desk, call, "search_knowledge", query="Dormouse"))[0]
        project = (await run(desk, call, "list_research_projects"))[0]
        (hypothesis,) = await run(desk, call, "list_hypotheses", research_id=project.id)
        for query, wanted in (
            ("10.1000/sleep.1", SLEEP.paper_id),
            ("https://doi.org/10.1000/SLEEP.1", SLEEP.paper_id),
            (SLEEP.paper_id, SLEEP.paper_id),
            (f"paper://{SLEEP.paper_id}", SLEEP.paper_id),
            ("doe2019owls", "doe2019owls"),
            ("@doe2019owls", "doe2019owls"),
            ("doi:10.1000/owls.9", "doe2019owls"),
            ("PMID: 12345678", "doe2019owls"),
            (note.id, note.id),
            (project.id, project.id),
            (hypothesis.id, hypothesis.id),
        ):
            answer = await run(desk, call, "search_desk", query=query)
            assert answer.hits[0].id == wanted, query

    search_with(tmp_path, ask)


def test_a_room_without_its_scope_is_left_out_and_said(tmp_path: Path) -> None:
    async def ask(desk: Desk, call: Call) -> None:
        reader = _call({"papers:read", "knowledge:read"})
        answer = await run(desk, reader, "search_desk", query="winter sleep of dormice and owls")
        assert {hit.room for hit in answer.hits} <= {"papers", "knowledge"}
        messages = {each.room: each.message for each in answer.rooms}
        assert "references:read" in messages["references"]
        assert "research:read" in messages["research"]
        with pytest.raises(InsufficientPermissionsError):
            await run(desk, _call({"audit:read"}), "search_desk", query="winter")

    search_with(tmp_path, ask)


def test_another_users_notes_and_projects_stay_theirs(tmp_path: Path) -> None:
    async def ask(desk: Desk, call: Call) -> None:
        other = Call(Caller("somebody", frozenset(ALL_SCOPES)), Visit("test", "1"))
        answer = await run(desk, other, "search_desk", query="Dormouse torpor magnesium")
        found = answer.result if isinstance(answer, Explained) else answer
        assert not {hit.kind for hit in found.hits} & {"note", "hypothesis", "project", "reference"}

    search_with(tmp_path, ask)


def test_an_empty_answer_explains_every_room(tmp_path: Path) -> None:
    async def ask(desk: Desk, call: Call) -> None:
        answer = await run(desk, call, "search_desk", query="zzyzx qwertz")
        assert isinstance(answer, Explained)
        assert answer.result.hits == []
        assert isinstance(answer.explanation, NothingOnDesk)
        assert set(answer.explanation.rooms) == {"papers", "references", "knowledge", "research"}
        assert all(answer.explanation.rooms.values())

    search_with(tmp_path, ask)


@pytest.mark.parametrize(
    "arguments", [{"query": ""}, {"query": "x" * 501}, {"query": "x", "limit": 51}]
)
def test_a_question_beyond_the_limits_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SearchDesk.model_validate(arguments)


class _Fixed:
    scopes = frozenset({"papers:read"})

    def __init__(self, found: RoomFindings | Exception) -> None:
        self._found = found

    async def search(self, query: str, call: Call, count: int) -> RoomFindings:
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


def _ask_rooms(*found: RoomFindings | Exception) -> Any:
    rooms = {f"room{at}": _Fixed(each) for at, each in enumerate(found)}
    question = SearchDesk(query="snow")
    return asyncio.run(DeskSearch(rooms).search_desk(question, _call({"papers:read"})))


def test_a_room_that_fails_says_so_and_the_others_answer() -> None:
    snow = DeskCandidate("note", "n1", "Snow", "It is cold.", "get_knowledge", {"id": "n1"})
    answer = _ask_rooms(UnavailableError("It is gone.", next_step="Wait."), RoomFindings([snow]))
    assert isinstance(answer, DeskAnswer)
    assert [hit.id for hit in answer.hits] == ["n1"]
    assert [each.message for each in answer.rooms if each.room == "room0"] == ["It is gone. Wait."]


def test_where_every_room_fails_the_error_is_told() -> None:
    with pytest.raises(UnavailableError, match="gone"):
        _ask_rooms(UnavailableError("It is gone."), UnavailableError("This too."))


def test_a_fault_of_ours_is_not_taken_for_an_empty_room() -> None:
    with pytest.raises(RuntimeError):
        _ask_rooms(RuntimeError("a bug"), RoomFindings())


def test_one_room_alone_has_no_search_over_the_desk(tmp_path: Path) -> None:
    for rooms, is_offered in ((["papers"], False), (["papers", "knowledge"], True)):
        settings = read_settings(
            {("rooms",): rooms, ("audit", "enabled"): False},
            environment={"CARREL_HOME": str(tmp_path)},
        )
        catalogue = open_desk(settings).catalogue
        assert ("search_desk" in catalogue.operations) is is_offered
        assert all(
            (room.search is not None) is room.declaration.is_searched for room in catalogue.rooms
        )
