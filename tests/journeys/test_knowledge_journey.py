"""One journey through the knowledge room, the same at every door."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from anyio.from_thread import BlockingPortal

from carrel.settings import Settings
from tests.journeys.doors import ROOM_DOORS, Door, opened, serving
from tests.journeys.rooms import failed, said


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(home=tmp_path_factory.mktemp("knowledge"), rooms=("knowledge",))


@pytest.fixture(scope="module")
def home_port(home: Settings) -> Iterator[int]:
    with serving(home) as listening:
        yield listening


@pytest.fixture(scope="module", params=ROOM_DOORS)
def door(
    request: pytest.FixtureRequest, home: Settings, home_port: int, portal: BlockingPortal
) -> Iterator[Door]:
    yield from opened(request.param, home, home_port, portal, "knowledge")


@pytest.mark.promise("K1")
def test_what_cannot_be_done_is_refused(door: Door) -> None:
    for tool in ("get_knowledge", "delete_knowledge", "propose_knowledge", "promote_knowledge"):
        failed(door.ask(tool, id="nobody"), "resource_not_found")
    failed(door.ask("save_knowledge", content=" "), "invalid_input")
    failed(door.ask("search_knowledge", query="tides", limit=0), "invalid_input")


@pytest.mark.promise("K1")
def test_a_note_is_saved_found_proposed_promoted_and_deleted(
    door: Door, request: pytest.FixtureRequest
) -> None:
    word = f"spectrometer{ROOM_DOORS.index(request.node.callspec.params['door'])}"
    saved = said(
        door.ask(
            "save_knowledge", content=f"The {word} drifts after an hour.", title=f"{word} drifts"
        )
    )
    note_id = saved["id"]
    found = said(door.ask("search_knowledge", query=word))
    assert [row["id"] for row in found] == [note_id]
    changed = said(
        door.ask(
            "save_knowledge",
            content=f"The {word} drifts after two hours.",
            id=note_id,
            updated_at=saved["updated_at"],
        )
    )
    assert changed["id"] == note_id
    assert "two hours" in str(said(door.ask("get_knowledge", id=note_id)))
    assert "an hour" in str(said(door.ask("get_knowledge_history", id=note_id)))
    said(door.ask("propose_knowledge", id=note_id))
    promoted = said(door.ask("promote_knowledge", id=note_id))
    team = said(door.ask("search_knowledge", query=word, whose="team"))
    assert [row["id"] for row in team] == [promoted["id"]]
    for own in (promoted["id"], note_id):
        said(door.ask("delete_knowledge", id=own))
        failed(door.ask("get_knowledge", id=own), "resource_not_found")
    assert said(door.ask("search_knowledge", query=word)) == []
