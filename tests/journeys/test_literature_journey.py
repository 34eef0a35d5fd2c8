"""One journey through the literature room, the same at every door, over the recorded services."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from anyio.from_thread import BlockingPortal

from carrel.settings import Settings
from tests.journeys.doors import ROOM_DOORS, Door, opened, serving
from tests.journeys.rooms import failed, said, until
from tests.rooms.literature.outside import CHEMCROW, XGEN, Outside
from tests.services.literature.recorded import needs_recordings

pytestmark = needs_recordings


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    with Outside() as opened_outside:
        yield opened_outside


@pytest.fixture(scope="module")
def home(outside: Outside, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A desk that settings of its home point to the recorded services, for every process."""
    folder = tmp_path_factory.mktemp("literature")
    settings = outside.settings(folder, services=("openalex", "crossref"))
    addresses = settings.literature.addresses.model_dump(exclude_none=True)
    lines = ["[audit]", "enabled = false", "[literature]", 'services = ["openalex", "crossref"]']
    lines += ['contact = "me@example.org"', "[literature.addresses]"]
    lines += [f'{name} = "{url}"' for name, url in addresses.items()]
    (folder / "carrel.toml").write_text("\n".join(lines))
    return settings


@pytest.fixture(scope="module")
def home_port(home: Settings) -> Iterator[int]:
    with serving(home) as listening:
        yield listening


@pytest.fixture(scope="module", params=ROOM_DOORS)
def door(
    request: pytest.FixtureRequest, home: Settings, home_port: int, portal: BlockingPortal
) -> Iterator[Door]:
    yield from opened(request.param, home, home_port, portal, "literature")


@pytest.mark.promise("W1")
def test_what_cannot_be_asked_is_refused(door: Door) -> None:
    failed(door.ask("search_literature", query="x", services=["scihub"]), "invalid_input")
    failed(door.ask("search_literature", query="x", limit=0), "invalid_input")
    failed(door.ask("get_work", identifier="nonsense"), "invalid_input")


@pytest.mark.promise("W1")
@pytest.mark.promise("W2")
def test_works_are_found_looked_up_and_kept(door: Door, home: Settings) -> None:
    found = said(door.ask("search_literature", query="language models chemistry", limit=5))
    assert found["outcome"] == "found"
    assert found["works"][0]["id"] == f"doi:{CHEMCROW}"
    asked = {line["service"] for line in found["coverage"] if line["state"] == "answered"}
    assert asked == {"openalex", "crossref"}
    assert all(line["sent"] for line in found["coverage"] if line["state"] == "answered")
    work = said(door.ask("get_work", identifier=XGEN))
    assert work["origins"]["title"] == "crossref"
    added = said(door.ask("add_works", identifiers=[XGEN], into="both"))
    if "job_id" in added:
        job = until(
            door,
            "get_job",
            lambda job: job["state"] != "running",
            job_id=added["job_id"],
            wait_seconds=10,
        )
        added = job["result"]
    (kept,) = added["works"]
    assert kept["outcome"] in {"added", "known"}
    # The same work at every door: whoever came first added it.
    assert kept["paper_id"] and kept["reference_id"]
