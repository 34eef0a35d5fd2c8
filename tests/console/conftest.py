"""A served desk with something in every room, and browsers that forgive nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.console.client import ConsoleClient
from tests.console.served_desk import (
    ServedDesk,
    add_user,
    desk_settings,
    fill_home,
    fill_rooms,
    serve_desk,
)

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
_WATCH = """
document.addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI));
"""


@pytest.fixture(scope="session")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedDesk]:
    """A local desk with papers, references, notes and a finished research run."""
    folder = tmp_path_factory.mktemp("console")
    fill_home(folder / "home", folder / "files")
    settings = desk_settings(folder / "home")
    with serve_desk(settings) as url:
        desk = ServedDesk(url, settings)
        fill_rooms(desk)
        yield desk


@pytest.fixture(scope="session")
def institute(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedDesk]:
    """A desk where people log in: ada may do everything, ben only read papers, eve nothing."""
    folder = tmp_path_factory.mktemp("institute")
    fill_home(folder / "home", folder / "files")
    settings = desk_settings(folder / "home", auth={"mode": "builtin"})
    add_user(settings, "ada", frozenset({"admin"}))
    add_user(settings, "ben", frozenset({"papers:read"}))
    add_user(settings, "eve", frozenset())
    with serve_desk(settings) as url:
        yield ServedDesk(url, settings)


@pytest.fixture
def client(console: ServedDesk) -> ConsoleClient:
    return ConsoleClient(console.url)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """As root, Chromium runs only without its sandbox.

    It ends with the file that uses it: Playwright keeps an event loop running in its thread, where
    `asyncio.run` of later tests would fail.
    """
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no chromium on the path")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield started
        started.close()


def open_page(browser: Any, problems: list[str], **options: Any) -> Any:
    """A page in a fresh browser context that writes down what goes wrong in it."""
    context = browser.new_context(**options)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on(
        "console",
        lambda said: problems.append(f"console: {said.text}") if said.type == "error" else None,
    )
    if options.get("java_script_enabled", True):
        page.add_init_script(_WATCH)
    return page


def _page(browser: Any, **options: Any) -> Iterator[Any]:
    problems: list[str] = []
    page = open_page(browser, problems, **options)
    # A test that makes the server refuse something empties this list itself.
    page.problems = problems
    yield page
    page.context.close()
    assert not problems, problems


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A desktop browser; the test fails on any error or policy violation in it."""
    yield from _page(browser, viewport={"width": 1280, "height": 800}, bypass_csp=False)


@pytest.fixture
def phone(browser: Any) -> Iterator[Any]:
    yield from _page(browser, viewport={"width": 390, "height": 800}, has_touch=True)


@pytest.fixture
def no_script(browser: Any) -> Iterator[Any]:
    yield from _page(browser, java_script_enabled=False)


@pytest.fixture
def inspected(browser: Any) -> Iterator[Any]:
    """A page into which axe may be put; the policy does not hold in this one."""
    yield from _page(browser, viewport={"width": 1280, "height": 800}, bypass_csp=True)
