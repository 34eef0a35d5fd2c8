"""One corpus, one server, and every way in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from carrel.settings import Settings
from carrel.wiring.papers_build import with_demo
from tests.journeys.doors import DOORS, MCP_DOORS, Door, opened, serving


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return with_demo(Settings(home=tmp_path_factory.mktemp("home"), rooms=("papers",)))


@pytest.fixture(scope="session")
def port(settings: Settings) -> Iterator[int]:
    with serving(settings) as listening:
        yield listening


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as running:
        yield running


@pytest.fixture(scope="session", params=DOORS)
def ask(
    request: pytest.FixtureRequest, settings: Settings, port: int, portal: BlockingPortal
) -> Iterator[Door]:
    """Every way in, one after the other."""
    yield from opened(request.param, settings, port, portal)


@pytest.fixture(scope="session", params=MCP_DOORS)
def assistant(
    request: pytest.FixtureRequest, settings: Settings, port: int, portal: BlockingPortal
) -> Iterator[Door]:
    """The ways in that assistants use, which have resources too."""
    yield from opened(request.param, settings, port, portal)
