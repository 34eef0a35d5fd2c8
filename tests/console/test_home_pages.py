"""The first page, the search over the desk, and the tray for dropped files."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.core.errors import UnavailableError
from carrel.core.pages import HomeShare, NavigationEntry, NewItem, RoomPages, WaitingItem
from carrel.doors.web.home.first_page import FirstPage
from carrel.doors.web.messages import read_messages
from carrel.settings import Settings
from carrel.wiring.console_connections import console_connections
from tests.access.support import PASSWORD
from tests.access.test_uploads import PDF
from tests.console.checks import assert_accessible, assert_fits, tab_through
from tests.console.client import ConsoleClient
from tests.console.served_desk import HOSTILE, ServedDesk, desk_settings, run_apart, serve_desk

pytestmark = pytest.mark.promise("V1")


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedDesk]:
    """A desk on which nothing lies yet."""
    settings = desk_settings(tmp_path_factory.mktemp("empty") / "home")
    with serve_desk(settings) as url:
        yield ServedDesk(url, settings)


def test_a_stranger_sees_nothing_and_who_may_nothing_is_told_so(institute: ServedDesk) -> None:
    stranger = ConsoleClient(institute.url)
    for path in ("/", "/find?q=cold", "/add", "/add/words"):
        assert stranger.get(path).response.url.path == "/login", path
    eve = ConsoleClient(institute.url)
    eve.log_in("eve", PASSWORD)
    page = eve.get("/")
    assert page.status == 200
    assert "No room of this desk is open to you" in page.text
    assert "data-add-files" not in page.html
    assert eve.get("/find?q=cold").status in {400, 403}


def test_a_reader_sees_their_rooms_and_is_told_which_were_not_searched(
    institute: ServedDesk,
) -> None:
    ben = ConsoleClient(institute.url)
    ben.log_in("ben", PASSWORD)
    page = ben.get("/")
    assert 'href="/papers"' in page.html
    assert "references" not in re.sub(r"(?s)<header.*?</header>|<form.*?</form>", "", page.html)
    found = ben.get("/find?q=cold+finger")
    assert "Not searched: Library." in found.text
    assert "references:read" in found.text


def test_a_paper_found_on_the_desk_opens_with_the_words_marked(client: ConsoleClient) -> None:
    found = re.findall(r'<a href="(/papers/paper/[^"]+)"', client.get("/find?q=cold+finger").html)
    assert found
    assert all(path.endswith("?q=cold+finger") for path in found)


def test_hits_that_are_the_best_of_more_are_not_told_as_all(client: ConsoleClient) -> None:
    assert "hits; there may be more." in client.get("/find?q=cold+fingers+winter").text
    assert "may be more" not in client.get("/find?q=hostile").text


@pytest.mark.parametrize("language", ["en", "de"])
def test_on_a_phone_every_room_and_the_person_are_in_reach(
    phone: Any, console: ServedDesk, language: str
) -> None:
    phone.set_extra_http_headers({"accept-language": language})
    phone.goto(console.url + "/admin")
    bar = phone.locator(".rooms ul")
    assert bar.evaluate("bar => bar.scrollWidth <= bar.clientWidth")
    name, person = phone.locator(".shell-name"), phone.locator(".person summary")
    assert name.bounding_box()["y"] + 40 > person.bounding_box()["y"]
    person.tap()
    assert phone.locator(".person-menu").bounding_box()["x"] >= 0


def test_an_account_without_a_home_folder_is_told_how_to_connect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", staticmethod(refuse))
    settings = Settings.model_validate({"home": tmp_path, "auth": {"mode": "tokens"}})
    assert [each.place for each in console_connections(settings) if each.place] == []


def test_the_secret_of_a_desk_is_in_no_connection(tmp_path: Path) -> None:
    settings = Settings.model_validate({"home": tmp_path, "auth": {"local_secret": True}})
    shown = console_connections(settings)
    assert [each.client for each in shown] == [
        "claude-code", "claude-desktop", "cursor", "codex", "gemini", "vscode", "http",
    ]  # fmt: skip
    commands = [each for each in shown if each.client != "http"]
    assert all(each.text.startswith("carrel connect ") for each in commands)
    assert "Bearer" not in "".join(each.text for each in shown)


def test_hostile_titles_notes_and_queries_stay_text(page: Any, console: ServedDesk) -> None:
    for path in ("/", "/find?q=hostile", "/find?q=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E"):
        page.goto(console.url + path)
        assert page.title() != "broken"
        assert page.locator("main img, main script").count() == 0
    page.goto(console.url + "/find?q=hostile")
    page.get_by_text("<script>document.title").first.wait_for()


class TestSharesThatFail:
    """A room that cannot be read is named, and never counted as empty."""

    def draw(self, *rooms: RoomPages) -> Any:
        texts = read_messages(["carrel.doors.web", "carrel.doors.web.home"])["en"]

        class Asked:
            def offers(self, operation: str) -> bool:
                return True

            def translate(self, key: str, **values: object) -> str:
                return texts.text(key, **values) if texts.has(key) else f"{key} {values}"

        page = FirstPage(rooms, ())
        view = run_apart(lambda: asyncio.run(page.draw(Asked())))  # type: ignore[arg-type]
        return view.facts["gathered"]

    def room(self, name: str, share: Any) -> RoomPages:
        entry = NavigationEntry(f"/{name}", f"{name}.title", "info", "x")
        return RoomPages(name, "x", (), navigation=(entry,), share=share)

    def test_its_reason_is_shown_and_the_others_are_there(self) -> None:
        async def fail(request: object) -> HomeShare:
            raise UnavailableError("The store does not answer", next_step="Try again.")

        async def break_down(request: object) -> HomeShare:
            raise RuntimeError("a bug")

        async def tell(request: object) -> HomeShare:
            return HomeShare(
                facts=[("good.count", 3, "/good")],
                waiting=[WaitingItem("good.waits", 2, "/w"), WaitingItem("good.none", 0, "/n")],
                new=[
                    NewItem(f"2026-01-{day:02d}T00:00:00+00:00", f"t{day}", "good.new", "/t")
                    for day in range(1, 15)
                ],
            )

        gathered = self.draw(
            self.room("bad", fail), self.room("worse", break_down), self.room("good", tell)
        )
        bad, worse, good = gathered.rooms
        assert (bad.problem, bad.facts) == ("The store does not answer. Try again.", ())
        assert "unexpectedly" in worse.problem
        assert [fact.count for fact in good.facts] == [3]
        assert [each.count for each in gathered.waiting] == [2]
        assert [item.title for item, _ in gathered.new][:2] == ["t14", "t13"]
        assert len(gathered.new) == 10
        assert not gathered.is_empty

    def test_an_empty_desk_is_one_whose_every_room_could_be_read(self) -> None:
        async def tell(request: object) -> HomeShare:
            return HomeShare(facts=[("good.count", 0, "/good")])

        async def fail(request: object) -> HomeShare:
            raise UnavailableError("No")

        assert self.draw(self.room("good", tell)).is_empty
        assert not self.draw(self.room("good", tell), self.room("bad", fail)).is_empty


def test_an_empty_desk_says_what_to_do_first(empty: ServedDesk) -> None:
    page = ConsoleClient(empty.url).get("/")
    assert "This desk is empty. Where to begin:" in page.text
    assert "carrel add ~/Papers" in page.text
    assert 'href="/literature"' in page.html
    assert "Waits for you" not in page.text


def test_the_first_page_counts_tells_news_and_what_waits(client: ConsoleClient) -> None:
    page = client.get("/")
    assert page.status == 200
    assert re.search(r"\d+ references", page.text)
    assert re.search(r"\d+ papers", page.text)
    assert "Cold fingers, first thoughts" in page.text
    assert "could not be read" not in page.text
    assert page.text.index("Waits for you") < page.text.index("Connect your assistant")


def test_everything_is_found_by_one_search_without_script(
    no_script: Any, console: ServedDesk
) -> None:
    no_script.goto(console.url)
    no_script.get_by_label("Search the whole desk").fill("cold finger")
    no_script.keyboard.press("Enter")
    no_script.wait_for_url("**/find?q=cold+finger")
    rooms = no_script.locator("main nav li").all_inner_texts()
    assert [text.split()[0] for text in rooms] == ["All", "Papers", "Library", "Notes", "Research"]
    no_script.locator("main nav").get_by_role("link", name="Notes").click()
    no_script.get_by_role("link", name="Cold fingers, first thoughts").click()
    assert "/knowledge/" in no_script.url


def test_an_identifier_and_nothing_are_both_answered(client: ConsoleClient) -> None:
    page = client.get("/find?q=10.5555/cold.3")
    assert "Cold fingers and the 3th winter" in page.text
    nothing = client.get("/find?q=zzzzqqqqxxxx")
    assert "Nothing on the desk" in nothing.text
    assert 'href="/literature?q=zzzzqqqqxxxx"' in nothing.html
    assert client.get("/find").status == 200
    assert client.get("/find?q=" + "x" * 3000).status == 200


def test_an_assistant_is_connected_with_the_keyboard_alone(page: Any, console: ServedDesk) -> None:
    page.goto(console.url)
    page.keyboard.press("/")
    assert page.evaluate("() => document.activeElement.name") == "q"
    cursor = page.locator("details[data-client=cursor]")
    cursor.locator("summary").focus()
    page.keyboard.press("Enter")
    cursor.get_by_role("button", name="Copy: Cursor").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Copied").wait_for()
    assert f"{console.url}/desk/mcp" in page.evaluate("() => navigator.clipboard.readText()")
    page.reload()
    assert cursor.evaluate("(node) => node.open")


def test_the_tab_key_reaches_search_rooms_and_copying(page: Any, console: ServedDesk) -> None:
    page.goto(console.url)
    stops = " ".join(tab_through(page))
    for words in ("Skip to the content", "Add files", "Search", "Claude Code", "Copy: Claude Code"):
        assert words in stops


def test_on_a_phone_what_waits_comes_first(phone: Any, console: ServedDesk) -> None:
    phone.goto(console.url)
    waits = phone.locator(".home-waits").bounding_box()
    here = phone.locator(".home-here").bounding_box()
    assert waits["y"] < here["y"]
    phone.set_viewport_size({"width": 1280, "height": 800})
    waits, here = (phone.locator(each).bounding_box() for each in (".home-waits", ".home-here"))
    assert waits["x"] > here["x"]


def _head(text: bytes) -> str:
    return base64.b64encode(text).decode()


@pytest.mark.parametrize(
    ("name", "head", "target"),
    [
        ("a.pdf", b"%PDF-1.7", "papers"),
        ("a.dat", b"@article{a, title={X}, year=2001}\n", "references"),
        ("a.ris", b"TY  - JOUR\nTI  - X\nER  - \n", "references"),
        ("a.md", b"# Idea\n\nsee [[other]]\n", "notes"),
        ("a.md", b"---\ndoi: 10.1/x\n---\n# Paper\n", "papers"),
        ("a.md", b"# T\n\n## Abstract\n\nx\n\n## References\n\n1. y\n", "papers"),
        ("a.txt", b"plain words\n", "ask"),
        ("a.zip", b"PK\x03\x04", "none"),
        ("a.png", b"\x89PNG\r\n\x1a\n", "none"),
        ("a.bin", b"\x00\x01", "none"),
    ],
)
def test_files_are_told_apart_by_their_content(
    client: ConsoleClient, name: str, head: bytes, target: str
) -> None:
    page = client.post("/add/kind", name=name, head=_head(head))
    told = page.response.json()
    assert told["target"] == target
    assert bool(told["reason"]) == (target == "none")


def test_what_is_no_base64_is_refused(client: ConsoleClient) -> None:
    assert client.post("/add/kind", name="a", head="%%%").status == 400
    assert client.send("/add/kind", {"name": "a", "head": ""}).status == 403


def test_identifiers_that_could_not_be_added_stay_in_their_field(client: ConsoleClient) -> None:
    page = client.post("/add", identifiers="not-an-identifier\n", references="")
    assert "1 failed" in page.text
    field = page.html.split('name="identifiers"')[1].split("</textarea>")[0]
    assert "not-an-identifier" in field


def test_who_may_only_read_is_told_so_where_files_are_added(institute: ServedDesk) -> None:
    ben = ConsoleClient(institute.url)
    ben.log_in("ben", PASSWORD)
    assert "may read here and add nothing" in ben.get("/add").text


def test_references_are_added_without_script(no_script: Any, empty: ServedDesk) -> None:
    no_script.goto(empty.url + "/add")
    assert "Choosing files needs JavaScript" in no_script.content()
    no_script.get_by_label("A list of references").fill(
        f"@article{{typed, title={{Typed <b>in</b> {HOSTILE}}}, year=2020}}"
    )
    no_script.get_by_role("button", name="Add to the library").click()
    assert "1 reference added" in no_script.locator("main").inner_text()
    assert no_script.locator("main img").count() == 0
    no_script.get_by_role("button", name="Add to the library").click()
    assert "nothing was added" in no_script.locator("main").inner_text()


def _write_files(folder: Path) -> list[str]:
    files = {
        "paper.pdf": PDF,
        "list.bib": b"@article{dropped, title={A dropped reference}, year=2020}",
        "idea.md": b"# An idea\n\nsee [[Second note]]\n",
        "picture.png": b"\x89PNG\r\n\x1a\n",
        f"plain {HOSTILE[:30].replace('/', '')}.txt": b"plain words\n",
        "empty.md": b"",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [str(folder / name) for name in files]


def test_dropped_files_go_where_they_belong_and_say_so(
    page: Any, empty: ServedDesk, tmp_path: Path
) -> None:
    page.goto(empty.url + "/add")
    page.locator("input[data-tray-files]").set_input_files(_write_files(tmp_path))
    tray = page.get_by_role("region", name="Files")
    tray.get_by_text("6 done").wait_for()
    lines = tray.locator("li").all_inner_texts()
    assert [re.sub(r"\s+", " ", line).split(" ", 1)[1] for line in lines[:4]] == [
        "On the songs of whales · added to the papers Open",
        "added to the library: 1 Open",
        "saved as a note Open",
        "a picture, which is not read",
    ]
    assert "it is empty" in lines[5]
    # Plain text is what the person says it is.
    tray.get_by_role("button", name="Keep as a note").click()
    tray.locator("li").nth(4).get_by_text("saved as a note").wait_for()
    assert page.locator("main img, .tray img").count() == 0
    assert empty.call("search_references", query="dropped")["total"] == 1
    tray.locator("li").first.get_by_role("link", name="Open").click()
    page.get_by_role("heading", name="On the songs of whales").first.wait_for()


def test_files_may_be_dropped_on_every_page(page: Any, empty: ServedDesk) -> None:
    page.goto(empty.url + "/literature")
    data = page.evaluate_handle(
        "() => { const data = new DataTransfer();"
        " data.items.add(new File(['# Dropped\\n\\nsee [[x]]\\n'], 'dropped.md')); return data; }"
    )
    page.dispatch_event("main", "dragover", {"dataTransfer": data})
    page.dispatch_event("main", "drop", {"dataTransfer": data})
    tray = page.get_by_role("region", name="Files")
    tray.get_by_text("saved as a note").wait_for()
    # Dropped once more, it is known.
    page.dispatch_event("main", "drop", {"dataTransfer": data})
    tray.get_by_text("is a note already").wait_for()
    tray.get_by_role("button", name="Close").click()
    assert page.locator(".tray").count() == 0


def test_a_broken_connection_is_taken_up_again_where_it_stopped(
    page: Any, empty: ServedDesk, tmp_path: Path
) -> None:
    """Nine mebibytes go in three pieces; the second is cut off once."""
    offsets: list[str] = []

    def cut_once(route: Any) -> None:
        if route.request.method == "PATCH":
            offsets.append(route.request.headers["upload-offset"])
            if len(offsets) == 2:
                route.abort("connectionreset")
                return
        route.continue_()

    page.route("**/console/uploads/*", cut_once)
    words = b"---\ntitle: A long paper\ndoi: 10.5555/long\n---\n" + b"Words of it.\n" * 700_000
    file = tmp_path / "long.md"
    file.write_bytes(words[: 9 * 1024 * 1024])
    page.goto(empty.url + "/add")
    page.locator("input[data-tray-files]").set_input_files(str(file))
    tray = page.get_by_role("region", name="Files")
    tray.locator("li.tray-good, li.tray-bad").wait_for(timeout=120_000)
    piece = 4 * 1024 * 1024
    assert offsets == ["0", str(piece), str(piece), str(2 * piece)]
    page.problems.clear()


def test_the_same_file_goes_on_after_the_page_was_closed(
    page: Any, empty: ServedDesk, tmp_path: Path
) -> None:
    offsets: list[str] = []

    def cut_after_the_first(route: Any) -> None:
        if route.request.method == "PATCH":
            offsets.append(route.request.headers["upload-offset"])
            if len(offsets) == 2:
                route.abort("connectionreset")
                return
        route.continue_()

    page.route("**/console/uploads/*", cut_after_the_first)
    file = tmp_path / "closed.pdf"
    file.write_bytes(b"%PDF-1.4 no paper " * 300_000)
    page.goto(empty.url + "/add")
    page.locator("input[data-tray-files]").set_input_files(str(file))
    page.get_by_text("connection lost; going on in a moment").wait_for()
    page.close(run_before_unload=False)
    again = page.context.new_page()
    again.route("**/console/uploads/*", cut_after_the_first)
    again.goto(empty.url + "/add")
    again.locator("input[data-tray-files]").set_input_files(str(file))
    again.locator("li.tray-good, li.tray-bad").wait_for()
    piece = str(4 * 1024 * 1024)
    assert offsets[:3] == ["0", piece, piece]
    page.problems.clear()


def test_a_paper_that_takes_long_is_followed_as_a_job(page: Any, tmp_path: Path) -> None:
    settings = desk_settings(tmp_path / "home", papers={"add_wait_seconds": 0.001})
    file = tmp_path / "paper.pdf"
    file.write_bytes(PDF)
    with serve_desk(settings) as url:
        page.goto(url + "/add")
        page.locator("input[data-tray-files]").set_input_files(str(file))
        line = page.locator("li.tray-good, li.tray-bad")
        line.wait_for()
        assert "On the songs of whales · added to the papers" in line.inner_text()
        page.close()


def test_who_may_not_add_is_told_so_and_nothing_is_sent(
    page: Any, institute: ServedDesk, tmp_path: Path
) -> None:
    page.goto(institute.url + "/login")
    page.get_by_label("User name").fill("ben")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.goto(institute.url + "/papers")
    assert page.get_by_role("link", name="Add files").count() == 0
    data = page.evaluate_handle(
        "() => { const data = new DataTransfer();"
        " data.items.add(new File(['%PDF-1.4 x'], 'a.pdf')); return data; }"
    )
    page.dispatch_event("main", "drop", {"dataTransfer": data})
    page.get_by_text("you may not add this here").wait_for()


@pytest.mark.parametrize("path", ["/", "/find?q=cold+finger", "/find?q=zzqqxx", "/add"])
def test_every_page_fits_and_is_accessible(inspected: Any, console: ServedDesk, path: str) -> None:
    inspected.goto(console.url + path)
    assert_fits(inspected)
    for scheme in ("light", "dark"):
        inspected.emulate_media(color_scheme=scheme)
        assert_accessible(inspected)


def test_the_empty_desk_and_the_tray_are_accessible(
    inspected: Any, empty: ServedDesk, tmp_path: Path
) -> None:
    inspected.goto(empty.url)
    assert_fits(inspected)
    inspected.goto(empty.url + "/add")
    inspected.locator("input[data-tray-files]").set_input_files(_write_files(tmp_path)[3:])
    inspected.get_by_text("3 done").wait_for()
    assert_fits(inspected)
    assert_accessible(inspected)
