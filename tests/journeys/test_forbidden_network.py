"""`network = false`: at every door, nothing that an operation does leaves this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from carrel.settings import Settings
from carrel.settings.rooms import (
    LiteratureAddresses,
    LiteratureSettings,
    LookupServices,
    ReferencesSettings,
)
from tests.journeys.doors import Door, Failed, Said, opened, serving
from tests.services.literature.recorded import RecordedServices

DOI = "10.1038/nature12373"
SERVICES = tuple(LiteratureAddresses.model_fields)
# What leaves, by operation; each of it would ask a service.
LEAVING: dict[str, dict[str, Any]] = {
    "search_literature": {"query": "sea ice"},
    "get_work": {"identifier": DOI},
    "find_fulltext": {"identifier": DOI},
    "add_paper": {"identifier": DOI},
}


@dataclass(frozen=True, slots=True)
class ClosedDesk:
    settings: Settings
    port: int
    portal: BlockingPortal
    outside: RecordedServices


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClosedDesk]:
    folder = tmp_path_factory.mktemp("closed")
    with (
        RecordedServices(folder=Path(folder) / "none") as outside,
        start_blocking_portal() as portal,
    ):
        lookups = {name: outside.url(name) for name in LookupServices.model_fields}
        settings = Settings(
            home=folder / "home",
            network=False,
            literature=LiteratureSettings(
                addresses=LiteratureAddresses(**{name: outside.url(name) for name in SERVICES}),
                contact="me@uni-example.org",
            ),
            references=ReferencesSettings(services=LookupServices(**lookups)),
        )
        with serving(settings) as port:
            yield ClosedDesk(settings, port, portal, outside)


@pytest.fixture(params=["REST", "SDK over HTTP", "FastMCP in memory"])
def door(request: pytest.FixtureRequest, desk: ClosedDesk) -> Iterator[Door]:
    yield from opened(str(request.param), desk.settings, desk.port, desk.portal)


@pytest.mark.promise("W1")
@pytest.mark.parametrize("operation", LEAVING)
def test_what_would_leave_is_refused_and_nothing_was_asked(
    door: Door, desk: ClosedDesk, operation: str
) -> None:
    found = door.ask(operation, **LEAVING[operation])
    assert isinstance(found, Failed)
    assert found.code == "network_forbidden"
    assert desk.outside.asked == []


def test_references_by_identifier_are_refused_one_by_one(door: Door, desk: ClosedDesk) -> None:
    found = door.ask("add_references", input=[DOI, "@book{a, title={A book}, year=2001}"])
    assert isinstance(found, Said)
    assert [failure["code"] for failure in found.value["failed"]] == ["network_forbidden"]
    assert len(found.value["added"]) + len(found.value["skipped"]) == 1
    assert desk.outside.asked == []
