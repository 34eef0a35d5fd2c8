"""One corpus, one server, and every way in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from carrel.settings import Settings
from carrel.wiring.papers_build import with_demo
from tests.journeys.doors import DOORS, MCP_DOORS, Door, opened, serving
from tests.journeys.installed import build_wheel, install_wheel


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def installed_carrel(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program `carrel`, installed from the wheel with its base packages and no others."""
    return install_wheel(wheel, tmp_path_factory.mktemp("installed") / "carrel")


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
