"""Views in the chat (MCP Apps): which doors offer them, to whom, and what the documents hold."""

from __future__ import annotations

import asyncio
import html
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from carrel.core.caller import Caller, Visit
from carrel.doors.mcp import views
from carrel.doors.mcp.handshake import handshake_dispatcher
from carrel.doors.mcp.json_rpc import UI_EXTENSION
from carrel.doors.mcp.views.declarations import VIEWS
from carrel.policy.scopes import ALL_SCOPES, expand_scopes
from carrel.rooms import declared_rooms
from carrel.settings import AuditSettings, Settings
from carrel.wiring.desk import Desk, open_desk
from carrel.wiring.http import http_app
from carrel.wiring.mcp import desk_endpoints, stdio_dispatcher
from tests.doors.house import HANDSHAKES, MODERN, House, Notebook, TokenTable, build_house, modern

pytestmark = pytest.mark.promise("V2")

FOLDER = Path(views.__file__).parent
ANNOUNCED = {UI_EXTENSION: {"mimeTypes": ["text/html;profile=mcp-app"]}}
ROOM_DOORS = ("/papers/mcp", "/references/mcp", "/literature/mcp", "/research/mcp")
DOORS = ("/desk/mcp", *ROOM_DOORS)
_MOST_BYTES_OF_A_DOCUMENT = 60_000
# Half of what the tools of a desk took when answers had whole schemas, and a line for each view.
_MOST_BYTES_OF_THE_LIST = 45_500


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    home = tmp_path_factory.mktemp("views")
    return open_desk(Settings(home=home, audit=AuditSettings(enabled=False)))


@pytest.fixture(scope="module")
def house(desk: Desk) -> House:
    return House(http_app(desk), desk, Notebook())


def ask_announced(house: House, method: str, path: str, **params: Any) -> Any:
    """A request of 2026-07-28 by a client that announces the extension."""
    message = modern(method, params)
    capabilities = {"extensions": ANNOUNCED}
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities
    named = params.get("name") or params.get("uri")
    routing = {"mcp_method": method, **({"mcp_name": named} if named else {})}
    return house.post(path, message, MODERN, **routing)


def initialize(house: House, path: str, version: str) -> dict[str, Any]:
    params = {
        "protocolVersion": version,
        "capabilities": {"extensions": ANNOUNCED},
        "clientInfo": {"name": "test", "version": "1"},
    }
    return dict(house.ask(version, "initialize", params, path).json["result"])


def views_of(listed: dict[str, Any]) -> dict[str, str]:
    return {
        tool["name"]: tool["_meta"]["ui"]["resourceUri"]
        for tool in listed["result"]["tools"]
        if "_meta" in tool
    }


def read_document(house: House, path: str, uri: str) -> str:
    contents = ask_announced(house, "resources/read", path, uri=uri).json["result"]["contents"]
    return str(contents[0]["text"])


def settings_of(document: str) -> dict[str, Any]:
    found = re.search(r'id="settings">(.*?)</script>', document, re.DOTALL)
    assert found is not None
    return dict(orjson.loads(found[1]))


def test_the_common_address_has_nothing_of_views(house: House) -> None:
    for era in (*HANDSHAKES, MODERN):
        for method in ("tools/list", "resources/list", "resources/templates/list"):
            body = house.ask(era, method, path="/mcp").body
            assert b'"_meta":{"ui"' not in body and b"ui://" not in body
    for version in HANDSHAKES:
        capabilities = initialize(house, "/mcp", version)["capabilities"]
        assert capabilities == {"tools": {}, "resources": {}}
    discovered = ask_announced(house, "server/discover", "/mcp").json["result"]
    assert discovered["capabilities"] == {"tools": {}, "resources": {}}
    for method in ("tools/list", "resources/list"):
        silent = house.ask(MODERN, method, path="/mcp").body
        assert ask_announced(house, method, "/mcp").body == silent


def test_a_view_is_unknown_at_the_common_address_like_any_other_name(house: House) -> None:
    for era in ("2025-11-25", MODERN):
        unknown = house.ask(era, "resources/read", {"uri": "ui://carrel/nothing"}, "/mcp").json
        view = house.ask(era, "resources/read", {"uri": "ui://carrel/papers"}, "/mcp").json
        assert view["error"]["code"] == unknown["error"]["code"]
        assert view["error"]["message"] == "Unknown resource: ui://carrel/papers"


def test_a_stranger_reads_no_view() -> None:
    house = build_house(identity=TokenTable({"reader": ["papers:read"]}), mode="tokens")
    answer = house.ask(MODERN, "resources/read", {"uri": "ui://carrel/papers"}, "/desk/mcp")
    assert answer.status == 401


def test_a_view_that_does_not_exist_is_not_found(house: House) -> None:
    for path in DOORS:
        answer = ask_announced(house, "resources/read", path, uri="ui://carrel/nothing")
        assert answer.json["error"]["message"] == "Unknown resource: ui://carrel/nothing"


def test_a_client_that_says_nothing_of_views_is_shown_none(house: House) -> None:
    for path in DOORS:
        silent = house.ask(MODERN, "tools/list", path=path).json
        assert views_of(silent) == {}
        announced = ask_announced(house, "tools/list", path).json
        assert views_of(announced) != {}
        # Two clients get two lists, so nobody between them may keep one for the other.
        assert announced["result"]["cacheScope"] == silent["result"]["cacheScope"] == "private"


def test_a_compact_desk_has_one_tool_and_no_view(tmp_path: Path) -> None:
    settings = Settings.model_validate({"home": tmp_path, "server": {"compact": True}})
    endpoint = desk_endpoints(open_desk(settings)).stdio()
    assert endpoint.views is None and endpoint.extensions == {}
    assert b"ui://" not in endpoint.listed("tools", ALL_SCOPES, is_modern=False, names_views=True)


def test_a_room_without_views_does_not_declare_them(house: House) -> None:
    capabilities = initialize(house, "/knowledge/mcp", "2025-11-25")["capabilities"]
    assert "extensions" not in capabilities


@pytest.mark.parametrize("path", DOORS)
def test_a_door_declares_the_extension_in_both_eras(house: House, path: str) -> None:
    for version in HANDSHAKES:
        extensions = initialize(house, path, version)["capabilities"].get("extensions")
        assert extensions == ({UI_EXTENSION: {}} if version >= "2025-06-18" else None)
    discovered = ask_announced(house, "server/discover", path).json["result"]
    assert discovered["capabilities"]["extensions"][UI_EXTENSION] == {}


def test_the_greeting_before_the_rooms_are_open_declares_the_same(desk: Desk) -> None:
    chosen = [declared_rooms()[room.name] for room in desk.catalogue.rooms]
    early = handshake_dispatcher(chosen, desk.settings.server).endpoint
    late = stdio_dispatcher(desk).endpoint
    assert early.extensions == late.extensions
    assert early.offers_views is late.offers_views is True


@pytest.mark.parametrize("path", DOORS)
def test_every_view_that_a_tool_names_is_read_at_the_same_door(house: House, path: str) -> None:
    for answer in (
        house.ask("2025-11-25", "tools/list", path=path).json,
        ask_announced(house, "tools/list", path).json,
    ):
        named = views_of(answer)
        names = {tool["name"] for tool in answer["result"]["tools"]}
        assert named
        for uri in named.values():
            given = ask_announced(house, "resources/read", path, uri=uri).json["result"]
            content = given["contents"][0]
            assert given["cacheScope"] == "private"
            assert content["uri"] == uri
            assert content["mimeType"] == "text/html;profile=mcp-app"
            assert content["_meta"]["ui"]["csp"] == {}
            called = settings_of(content["text"])["tools"]
            assert called and {each.get("through", each["name"]) for each in called.values()} <= (
                names
            )


def test_views_are_of_the_tools_that_they_draw(house: House) -> None:
    named = views_of(ask_announced(house, "tools/list", "/desk/mcp").json)
    listed = {tool["name"] for tool in _tools(house, "/desk/mcp")}
    drawn = {name: view.uri for view in VIEWS for name in view.draws if name in listed}
    assert named == drawn
    assert set(drawn.values()) == {view.uri for view in VIEWS}
    assert views_of(ask_announced(house, "tools/list", "/references/mcp").json) == {
        "cite": "ui://carrel/bibliography"
    }


def test_a_view_knows_the_names_of_its_door(house: House) -> None:
    alone = settings_of(read_document(house, "/references/mcp", "ui://carrel/bibliography"))
    assert alone["tools"] == {
        "cite_references": {"name": "cite"},
        "list_citation_styles": {"name": "styles"},
        "list_references": {"name": "list"},
    }
    assert alone["opened"] == {"cite": "cite_references"}
    # What the list of a desk leaves out is run by the tool that is there for it.
    common = settings_of(read_document(house, "/desk/mcp", "ui://carrel/tournament"))
    assert common["tools"]["approve_hypothesis"] == {
        "name": "approve_hypothesis",
        "through": "run_operation",
    }
    papers = settings_of(read_document(house, "/papers/mcp", "ui://carrel/papers"))
    assert set(papers["tools"]) == {"search_papers"}


def test_a_view_offers_a_caller_only_what_the_caller_may_do(desk: Desk) -> None:
    endpoint = desk_endpoints(desk).common(has_everything=True)

    def offered(*scopes: str) -> set[str]:
        found = endpoint.find_resource("ui://carrel/papers")
        assert found is not None
        caller = Caller("somebody", expand_scopes(scopes))
        content = asyncio.run(desk.gate.read(found[0], {}, caller, Visit("test", "request-1")))
        return set(settings_of(content.body)["tools"])

    assert offered() == set()
    assert offered("papers:read") == {"search_papers"}
    assert "add_references" in offered("papers:read", "references:write")


def test_views_are_left_out_of_the_list_of_resources(house: House) -> None:
    for path in DOORS:
        assert b"ui://" not in ask_announced(house, "resources/list", path).body


def test_the_list_of_tools_stays_short_with_views(house: House) -> None:
    body = orjson.dumps(_tools(house, "/desk/mcp"))
    assert len(body) <= _MOST_BYTES_OF_THE_LIST


def _documents(house: House) -> Iterator[tuple[str, str]]:
    for view in VIEWS:
        yield view.name, read_document(house, "/desk/mcp", view.uri)


def _tools(house: House, path: str) -> list[dict[str, Any]]:
    return list(ask_announced(house, "tools/list", path).json["result"]["tools"])


def test_a_document_is_whole_and_reaches_for_nothing(house: House) -> None:
    for name, document in _documents(house):
        assert document.startswith("<!doctype html>") and document.endswith("</html>\n")
        assert len(document.encode()) <= _MOST_BYTES_OF_A_DOCUMENT
        # The name of SVG, and where a host is asked to open a work; neither is loaded.
        addresses = set(re.findall(r"https?://[\w./]+", document))
        assert addresses <= {"http://www.w3.org/2000/svg", "https://doi.org/"}
        assert re.findall(r"\bsrc=|srcset=|@import|url\(", document) == [], name
        assert "--surface: light-dark(" in document


def test_a_document_allows_its_own_script_and_style_alone(house: House) -> None:
    for _, document in _documents(house):
        found = re.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', document)
        assert found is not None
        policy = html.unescape(found[1])
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        assert "unsafe" not in policy
        assert len(re.findall(r'<script type="module">', document)) == 1
        assert not re.search(r"<[^>]+\son\w+=", document.split("<script", maxsplit=1)[0])


def test_hostile_settings_cannot_end_their_element(house: House) -> None:
    for _, document in _documents(house):
        for data in re.findall(r'application/json" id="\w+">(.*?)</script>', document, re.DOTALL):
            assert "<" not in data


def test_modules_are_joined_without_import_and_without_two_of_a_name(house: House) -> None:
    for name, document in _documents(house):
        script = document.split('<script type="module">')[1]
        assert not re.search(r"^(?:import|export)\b", script, re.MULTILINE)
        declared = re.findall(
            r"^(?:async )?(?:function|class|const|let) (\w+)", script, re.MULTILINE
        )
        assert len(declared) == len(set(declared)), name


def test_modules_write_text_and_never_markup() -> None:
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|fetch\("
        r"|localStorage|XMLHttpRequest"
    )
    for module in sorted((FOLDER / "modules").glob("*.js")):
        assert not forbidden.search(module.read_text("utf-8")), module.name


def test_every_message_is_there_in_every_language() -> None:
    tables = {
        path.stem: tomllib.loads(path.read_text("utf-8"))
        for path in sorted((FOLDER / "messages").glob("*.toml"))
    }
    assert set(tables) == {"en", "de"}
    for table in tables.values():
        assert set(table) == set(tables["en"])
    for key, text in tables["en"].items():
        names = re.findall(r"\{(\w+)\}", str(text))
        assert set(re.findall(r"\{(\w+)\}", str(tables["de"][key]))) <= set(names), key
    script = "".join(path.read_text("utf-8") for path in (FOLDER / "modules").glob("*.js"))
    used = set(re.findall(r'\bt\(\s*"([a-z_.]+)"', script))
    assert used and used <= set(tables["en"])


def test_views_are_offered_over_stdio_too(desk: Desk) -> None:
    dispatcher = stdio_dispatcher(desk)
    caller, visit = Caller("somebody", ALL_SCOPES), Visit("stdio", "request-1")

    def ask(method: str, **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        reply = asyncio.run(dispatcher.answer(message, caller, visit, is_modern=False))
        assert reply is not None
        return orjson.loads(reply.body)

    named = views_of(ask("tools/list"))
    assert set(named.values()) == {view.uri for view in VIEWS}
    for uri in named.values():
        content = ask("resources/read", uri=uri)["result"]["contents"][0]
        assert content["mimeType"] == "text/html;profile=mcp-app"
