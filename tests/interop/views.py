"""Views judged in the official bridge of MCP Apps, in Chromium, in both eras.

`python -m tests.interop.views [--tools FOLDER]` (`make judge-views`). The folder keeps what npm
installs. The desk is a real `carrel serve --demo`, with more papers and references added to it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as BrowserError
from playwright.sync_api import sync_playwright

from carrel.settings import Settings
from tests.console.checks import AXE_VARIABLE, assert_accessible
from tests.console.conftest import CHROMIUM, open_page
from tests.console.served_desk import ServedDesk
from tests.console.views.host_pages import HostPages, serve_host
from tests.console.views.journeys import CHECKS, DRIVES, GOAL, ViewStage
from tests.journeys.doors import ENVIRONMENT, PROGRAM
from tests.libraries.discovery.small_corpus import small_papers

PACKAGES = (
    "@modelcontextprotocol/ext-apps@2.0.4",
    "@modelcontextprotocol/client@2.4.0",
    "zod@4",
    "esbuild@0.27",
    "axe-core@4.14.0",
)
ERAS = ("legacy", "modern")
# A handshake client asks for a stream of its own, which the doors do not have; Chromium logs it.
_NO_STREAM = "405 (Method Not Allowed)"
_NARROW = (("narrow", "light", 340),)
_HOST = Path(__file__).parents[1] / "console" / "views" / "official_host.mjs"
_SHOWN: dict[str, Callable[[ViewStage], dict[str, object]]] = {
    "search_papers": lambda stage: {"query": "cold finger disease"},
    "check_claim": lambda stage: {"text": "Marine oil lowers blood viscosity."},
    "cite_references": lambda stage: {"ids": ["cold1", "cold2"]},
    "list_hypotheses": lambda stage: {"research_id": stage.research_id},
    "get_research_status": lambda stage: {"research_id": stage.research_id},
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=Path, default=Path(".run/views"))
    parser.add_argument("--screens", type=Path, help="folder for a picture of every view")
    options = parser.parse_args()
    tools = options.tools.resolve()
    script = bundle_host(tools)
    os.environ[AXE_VARIABLE] = str(tools / "node_modules" / "axe-core" / "axe.min.js")
    if CHROMIUM is None:
        print("FAIL  no chromium on the path")
        return 1
    failures = 0
    with (
        serve_host(script) as host,
        tempfile.TemporaryDirectory() as home,
        serve_demo(Path(home), host.origin) as desk,
        sync_playwright() as playwright,
    ):
        add_material(desk)
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        for name, era, judge in judges():
            failures += not judge_one(browser, host, desk, name, era, judge)
        if options.screens is not None:
            take_pictures(browser, host, desk, options.screens)
        browser.close()
    return 1 if failures else 0


def judges() -> Iterator[tuple[str, str, Callable[[ViewStage], None]]]:
    """Every journey and every check, in both eras."""
    for era in ERAS:
        yield "negotiation", era, check_negotiation
        for name, journey in (*DRIVES.items(), *CHECKS.items()):
            yield name, era, journey
    for theme in ("light", "dark"):
        yield f"axe in {theme}", "modern", partial(check_axe, theme=theme)


def judge_one(
    browser: Any,
    host: HostPages,
    desk: ServedDesk,
    name: str,
    era: str,
    judge: Callable[[ViewStage], None],
) -> bool:
    problems: list[str] = []
    options = {"viewport": {"width": 700, "height": 700}, "bypass_csp": name.startswith("axe")}
    page = open_page(browser, problems, **options)
    try:
        judge(ViewStage(page, host, desk, era))
        left = [problem for problem in problems if _NO_STREAM not in problem]
        assert not left, left
    except (AssertionError, BrowserError) as error:
        print(f"FAIL  {era} {name}: {error}", flush=True)
        return False
    finally:
        page.context.close()
    print(f"ok    {era} {name}", flush=True)
    return True


def check_negotiation(stage: ViewStage) -> None:
    """The official client reads that the server has the extension, and its resource."""
    view = stage.open("search_papers", {"query": "marine oil"})
    view.locator("tbody tr").first.wait_for()
    extensions = stage.find_messages("capabilities")[0]["extensions"]
    assert "io.modelcontextprotocol/ui" in extensions, extensions
    resource = stage.find_messages("resource")[0]
    assert resource["mimeType"] == "text/html;profile=mcp-app", resource
    assert resource["bytes"] < 60_000, resource
    assert stage.find_messages("app")[0]["name"] == "carrel-papers"


def check_axe(stage: ViewStage, theme: str) -> None:
    for tool, arguments in _SHOWN.items():
        view = stage.open(tool, arguments(stage), context={"theme": theme})
        view.locator("main[data-state=drawn]").wait_for()
        assert_accessible(stage.page.frames[-1])


def take_pictures(browser: Any, host: HostPages, desk: ServedDesk, folder: Path) -> None:
    """Every view in light, in dark and as narrow as a phone, as tall as it makes itself."""
    for tool, arguments in _SHOWN.items():
        for name, theme, width in (("light", "light", 700), ("dark", "dark", 700), *_NARROW):
            page = open_page(browser, [], viewport={"width": width, "height": 700})
            stage = ViewStage(page, host, desk, "modern")
            view = stage.open(tool, arguments(stage), context={"theme": theme})
            view.locator("main[data-state=drawn]").wait_for()
            stage.wait_for("ui/notifications/size-changed")
            height = view.locator("html").evaluate("node => node.offsetHeight")
            page.set_viewport_size({"width": width, "height": height})
            uri = stage.find_messages("resource")[0]["uri"]
            page.screenshot(path=folder / f"chat-{uri.rpartition('/')[2]}-{name}.png")
            page.context.close()


def bundle_host(tools: Path) -> Path:
    """Installs what is missing and bundles the host page of the official bridge."""
    tools.mkdir(parents=True, exist_ok=True)
    if not (tools / "node_modules" / "axe-core").is_dir():
        command = ["npm", "install", "--silent", "--no-fund", "--no-audit", *PACKAGES]
        subprocess.run(command, cwd=tools, check=True, timeout=600)
    shutil.copy(_HOST, tools / _HOST.name)
    command = ["npx", "esbuild", _HOST.name, "--bundle", "--format=esm", "--outfile=host.js"]
    subprocess.run([*command, "--log-level=error"], cwd=tools, check=True, timeout=120)
    return tools / "host.js"


@contextlib.contextmanager
def serve_demo(home: Path, origin: str) -> Iterator[ServedDesk]:
    """`carrel serve --demo` as a person starts it, with leave for the host page to call it."""
    words = [*PROGRAM, "serve", "--demo", "--port", "0", "--home", str(home)]
    environment = {**ENVIRONMENT, "CARREL_SERVER_ALLOWED_ORIGINS": json.dumps([origin])}
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stderr is not None
            found = next(
                found
                for line in process.stderr
                if (found := re.search(r"http://127\.0\.0\.1:\d+", line))
            )
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield ServedDesk(found[0], Settings(home=home))
        finally:
            process.terminate()
            process.wait(timeout=30)


def add_material(desk: ServedDesk) -> None:
    """Papers with a hidden connection, references, and a finished research run."""
    for paper in small_papers():
        head = {"title": paper.title, "authors": [f"Ann {paper.id}"], "year": paper.year}
        lines = "\n".join(f"{name}: {json.dumps(value)}" for name, value in head.items())
        keywords = f"keywords: {json.dumps(list(paper.keywords))}"
        markdown = f"---\n{lines}\n{keywords}\n---\n\n# Abstract\n\n{paper.abstract}\n"
        desk.call("add_paper", markdown=markdown)
    entries = [
        f"@article{{cold{at}, title = {{Cold fingers in winter {at}}}, author = {{Winter, Ann}}, "
        f"journal = {{Cold}}, year = {{{1990 + at}}}}}"
        for at in range(1, 6)
    ]
    desk.call("add_references", input="\n".join(entries))
    started = desk.call("start_research", goal=GOAL, hypothesis_count=3)
    desk.call("get_research_status", research_id=started["research_id"], wait_seconds=60)


if __name__ == "__main__":
    sys.exit(main())
