"""Every page of the console, looked at: in light, dark and narrow, by axe, by edge and by key.

`make judge-console` serves a large desk, and one where people log in, opens every page that the
console's parts declare, fails on any violation, error or overflow, and writes the pictures of
`docs/screens`. Where a page stands for many (a paper, a reference …), one of the desk is taken.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from carrel.core.pages import RoomPages, local_address
from carrel.core.room import load
from carrel.doors.web.admin import admin_pages
from carrel.policy.scopes import ALL_SCOPES
from carrel.rooms import declared_rooms
from tests.access.support import PASSWORD
from tests.console.checks import AXE_VARIABLE, axe_source, find_overflow, find_violations
from tests.console.client import ConsoleClient
from tests.console.conftest import CHROMIUM, open_page
from tests.console.large_desk import add_real_papers
from tests.console.served_desk import (
    ServedDesk,
    add_user,
    desk_settings,
    fill_home,
    fill_rooms,
    run_apart,
    serve_desk,
)
from tests.console.test_admin_pages import fill_access, with_store

SCREENS = Path("docs/screens")
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
# What is no page to look at: files, parts of pages, and addresses that only take forms.
_NOT_LOOKED_AT = (
    "/export", "/figure/", "/page/", "/file/", "/text/", "/tile", "/download", "/add/words",
    "/attached/",
)  # fmt: skip
# Pages that need a question to show anything.
_QUERIES = {
    "/papers": "q=cold+finger",
    "/find": "q=cold",
    "/references/cite": "id=cold1&id=cold2",
    "/references/keys": "pattern={author}-{title}-{year}",
    "/references/merge": "keep=cold1&other=cold29",
    "/references/organize": "id=cold1&id=cold2",
    "/research/claim": "text=Marine+oil+lowers+blood+viscosity",
    "/research/contradictions": "q=marine+oil",
    "/research/project/{research_id}": "view=tournament",
    "/research/start": "goal=Find+new+treatments+for+cold+finger+disease",
}
# Whose {id} is not that of a reference: the name of its picture, and of the id.
_OWN_IDS = {"/references/libraries/{id}": ("references-library", "library_id")}
# What says something else where people log in.
_INSTITUTE_PAGES = {
    "institute-account": "/account",
    "institute-quotas": "/admin/quotas",
    "institute-tokens": "/admin/tokens",
    "institute-users": "/admin/users",
    "institute-user": "/admin/users/dora",
    "institute-leaving": "/admin/users/dora/leave",
}


@dataclass(slots=True)
class TourReport:
    """What was found, page by page."""

    pages: int = 0
    problems: list[str] = field(default_factory=list)
    bytes_of_first_view: dict[str, int] = field(default_factory=dict)


def console_parts() -> list[RoomPages]:
    from carrel.doors.web.home import home_pages

    rooms = [load(room.console) for room in declared_rooms().values()]
    return [home_pages(rooms, ()), *rooms, admin_pages()]


def list_addresses(ids: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The name of a picture and the address of every page that can be looked at."""
    for part in console_parts():
        for page in part.pages:
            if page.draw is None or any(mark in page.path for mark in _NOT_LOOKED_AT):
                continue
            path = page.path
            name = page.path.split("/{")[0].strip("/").replace("/", "-") or "home"
            if path in _OWN_IDS:
                name, own = _OWN_IDS[path]
                path = path.replace("{id}", ids[own])
            for variable in ("paper_id", "research_id", "hypothesis_id", "note_id", "id"):
                if f"{{{variable}}}" in path and variable in ids:
                    path = local_address(path.replace(f"/{{{variable}}}", ""), ids[variable])
            if "{" in path:
                continue
            yield name, path
            if page.path in _QUERIES:
                yield f"{name}-asked", f"{path}?{_QUERIES[page.path]}"


def visit_all(
    browser: Any,
    url: str,
    addresses: Iterable[tuple[str, str]],
    screens: Path | None,
    report: TourReport,
    cookies: Sequence[dict[str, str]] = (),
) -> None:
    for name, path in addresses:
        report.pages += 1
        for look, viewport, scheme in (
            ("light", WIDE, "light"),
            ("dark", WIDE, "dark"),
            ("narrow", NARROW, "light"),
        ):
            problems: list[str] = []
            page = open_page(browser, problems, viewport=viewport, color_scheme=scheme,
                             bypass_csp=True, reduced_motion="reduce")  # fmt: skip
            page.context.add_cookies(list(cookies))
            answer = page.goto(url + path)
            page.wait_for_load_state("networkidle")
            if answer is None or answer.status >= 400:
                problems.append(f"answered {answer.status if answer else 'nothing'}")
            if screens is not None:
                file = screens / f"{name}.{look}.jpg"
                page.screenshot(path=file, type="jpeg", quality=72)
            if axe_source() is not None:
                # All of it in sight: what the bar at the foot of a phone covers can be scrolled.
                page.set_viewport_size({**viewport, "height": 5_000})
                problems += [f"axe: {each}" for each in find_violations(page)]
            widths = (390, 320) if look == "narrow" else (1280, 900, 640)
            for width in widths:
                page.set_viewport_size({"width": width, "height": 800})
                problems += [f"over the edge at {width}: {each}" for each in find_overflow(page)]
            report.problems += [f"{path} ({look}): {each}" for each in problems]
            page.context.close()


def add_shared_library(desk: ServedDesk) -> None:
    """One with members and references of long names, and one work that is there twice."""
    made = desk.call("create_library", name="Papers of the laboratory for cold fingers")
    for member, role in (("bob", "reader"), ("carla.long-name@institute.example", "writer")):
        desk.call("set_library_member", library=made["id"], member=member, role=role)
    item = {"type": "book", "title": "Polyunsaturated acids in winter " * 4, "id": "winter" * 5}
    desk.call("add_references", input=json.dumps([item]), shared_library=made["id"])
    same = desk.call("get_reference", id="cold1")["reference"]["DOI"]
    desk.call("edit_reference", id="cold29", changes={"DOI": same})
    desk.ids["library_id"] = made["id"]


@contextmanager
def serve_institute(folder: Path) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Where people log in and quotas are counted; with the cookies of an administrator."""
    settings = desk_settings(
        folder / "home",
        auth={"mode": "builtin"},
        quotas={"calls_per_day": 2500},
        rooms=["knowledge", "references"],
    )
    add_user(settings, "ada", frozenset({"admin"}))
    add_user(settings, "ben", frozenset({"papers:read"}))
    add_user(settings, "dora", frozenset(ALL_SCOPES - {"admin"}))
    run_apart(lambda: with_store(settings, fill_access))
    with serve_desk(settings) as url:
        ada, dora = ConsoleClient(url), ConsoleClient(url)
        for person, name in ((ada, "ada"), (dora, "dora")):
            person.log_in(name, PASSWORD)
        dora.call("save_knowledge", title="Hers", content="What dora thought")
        quota = {"name": "dora", "is_group": False, "calls": 1000, "cost": 12.5}
        ada.call("set_quota", **quota)
        ada.call("set_quota", **{**quota, "name": "students", "is_group": True, "cost": None})
        kept = ada.session.cookies.jar
        yield url, [{"name": each.name, "value": each.value or "", "url": url} for each in kept]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--screens", type=Path, default=None, help="write the pictures there")
    parser.add_argument("--data", type=Path, default=None, help="real papers to add to the desk")
    options = parser.parse_args()
    if axe_source() is None:
        print(f"{AXE_VARIABLE} names no axe-core: accessibility is not judged", file=sys.stderr)
    if options.screens is not None:
        options.screens.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        fill_home(home, Path(folder) / "files")
        if options.data is not None:
            add_real_papers(home, options.data, Path(folder) / "real")
        settings = desk_settings(home)
        with serve_desk(settings) as url, sync_playwright() as playwright:
            desk = ServedDesk(url, settings)
            fill_rooms(desk)
            add_shared_library(desk)
            arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
            report = TourReport()
            visit_all(browser, url, list_addresses(desk.ids), options.screens, report)
            with serve_institute(Path(folder) / "institute") as (institute, cookies):
                pages = _INSTITUTE_PAGES.items()
                visit_all(browser, institute, pages, options.screens, report, cookies)
            browser.close()
    print(json.dumps({"pages": report.pages, "problems": report.problems}, indent=1))
    if report.problems:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
