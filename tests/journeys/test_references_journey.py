"""One journey through the references room, the same at every door."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
import pytest
from anyio.from_thread import BlockingPortal

from carrel.settings import Settings
from tests.journeys.doors import ROOM_DOORS, Door, opened, serving
from tests.journeys.rooms import failed, said

ENTRY = """@article{{{key}, title={{Tides of {key}}}, author={{Nakamura, Aiko and Weiß, Jörg}}, journal={{Journal of Tides}}, year={{2019}}}}"""  # noqa: E501


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(home=tmp_path_factory.mktemp("references"), rooms=("references",))


@pytest.fixture(scope="module")
def home_port(home: Settings) -> Iterator[int]:
    with serving(home) as listening:
        yield listening


@pytest.fixture(scope="module", params=ROOM_DOORS)
def door(
    request: pytest.FixtureRequest, home: Settings, home_port: int, portal: BlockingPortal
) -> Iterator[Door]:
    yield from opened(request.param, home, home_port, portal, "references")


@pytest.mark.promise("L2")
def test_what_cannot_be_done_is_refused(door: Door) -> None:
    failed(door.ask("remove_reference", id="nobody", force=True), "resource_not_found")
    failed(door.ask("edit_reference", id="nobody", changes={"title": "x"}), "resource_not_found")
    failed(door.ask("cite_references", ids=["nobody"]), "resource_not_found")
    failed(door.ask("search_references", query="tides", limit=0), "invalid_input")
    failed(door.ask("get_job", job_id="job_none"), "resource_not_found")
    failed(door.ask("cancel_job", job_id="job_none"), "resource_not_found")


@pytest.mark.promise("L2")
def test_a_reference_is_added_found_cited_exported_edited_and_removed(
    door: Door, request: pytest.FixtureRequest
) -> None:
    # Every door has a work of its own, so that none meets the duplicates of another.
    key = f"door{ROOM_DOORS.index(request.node.callspec.params['door'])}"
    added = said(door.ask("add_references", input=[ENTRY.format(key=key)]))
    (row,) = added["added"]
    reference_id = row["id"]
    again = said(door.ask("add_references", input=[ENTRY.format(key=key)]))
    assert [each["duplicate_of"] for each in again["skipped"]] == [reference_id]
    found = said(door.ask("search_references", query=f"tides of {key}"))
    assert reference_id in [each["id"] for each in found["references"]]
    cited = said(door.ask("cite_references", ids=[reference_id], style="apa"))
    assert "Nakamura" in cited["text"] and "2019" in cited["text"]
    assert key in str(said(door.ask("export_references", format="bibtex", query=f"tides of {key}")))
    one = said(door.ask("get_reference", id=reference_id))
    assert (one["reference"]["id"], one["reference"]["issued"]) == (
        reference_id,
        found["references"][0]["issued"],
    )
    edited = said(door.ask("edit_reference", id=reference_id, changes={"title": f"Ebb of {key}"}))
    assert edited["reference"]["title"] == f"Ebb of {key}"
    assert f"Ebb of {key}" in said(door.ask("cite_references", ids=[reference_id]))["text"]
    failed(door.ask("remove_reference", id=reference_id), "invalid_input")
    assert (
        said(door.ask("remove_reference", id=reference_id, force=True))["removed"]["id"]
        == reference_id
    )
    failed(door.ask("cite_references", ids=[reference_id]), "resource_not_found")


def test_what_one_door_saves_another_finds(
    home: Settings, home_port: int, portal: BlockingPortal
) -> None:
    written = next(opened("REST", home, home_port, portal, "references"))
    reference_id = said(written.ask("add_references", input=[ENTRY.format(key="shared")]))["added"][
        0
    ]["id"]
    typed = next(opened("command line", home, home_port, portal, "references"))
    listed = said(typed.ask("list_references"))
    assert reference_id in [each["id"] for each in listed["references"]]
    assert orjson.dumps(listed)
    said(typed.ask("remove_reference", id=reference_id, force=True))
    failed(written.ask("cite_references", ids=[reference_id]), "resource_not_found")
