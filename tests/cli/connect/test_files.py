"""Clients' files: where they are, what is written, what stays, and what is refused."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from carrel.libraries.configuration import file_format
from carrel.services.mcp_clients.clients import CLIENTS, NAMES
from carrel.services.mcp_clients.places import Machine, System
from carrel.services.mcp_clients.ways import Http, Stdio, read_way
from tests.cli.connect.conftest import Connect

URL = "https://desk.example.org/desk/mcp"
HEADERS = {"Authorization": "Bearer carrel_abc"}
STDIO = Stdio("/opt/carrel", ("mcp", "--home", "/srv/desk"), {"A": "b"})
LINUX = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "cline": ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/"
    "cline_mcp_settings.json",
    "zed": ".config/zed/settings.json",
    "goose": ".config/goose/config.yaml",
}
MACOS = {
    **LINUX,
    "claude-desktop": "Library/Application Support/Claude/claude_desktop_config.json",
    "vscode": "Library/Application Support/Code/User/mcp.json",
    "cline": LINUX["cline"].replace(".config", "Library/Application Support"),
}
WINDOWS = {
    **LINUX,
    "claude-desktop": "AppData/Roaming/Claude/claude_desktop_config.json",
    "vscode": "AppData/Roaming/Code/User/mcp.json",
    "cline": LINUX["cline"].replace(".config", "AppData/Roaming"),
    "zed": "AppData/Roaming/Zed/settings.json",
    "goose": "AppData/Roaming/Block/goose/config/config.yaml",
}
ADDRESS_ENTRIES: dict[str, dict[str, Any]] = {
    "claude-code": {"type": "http", "url": URL, "headers": HEADERS},
    "claude-desktop": {
        "command": "npx",
        "args": ["-y", "mcp-remote", URL, "--header", "Authorization:${CARREL_AUTHORIZATION}"],
        "env": {"CARREL_AUTHORIZATION": "Bearer carrel_abc"},
    },
    "cursor": {"url": URL, "headers": HEADERS},
    "vscode": {"type": "http", "url": URL, "headers": HEADERS},
    "codex": {"url": URL, "http_headers": HEADERS},
    "gemini": {"httpUrl": URL, "headers": HEADERS},
    "windsurf": {"serverUrl": URL, "headers": HEADERS},
    "cline": {"type": "streamableHttp", "url": URL, "headers": HEADERS},
    "zed": {"url": URL, "headers": HEADERS},
}


def read_file(client: str, file: Path) -> dict[str, Any]:
    """The file as a parser that is not ours reads it."""
    text = file.read_text(encoding="utf-8-sig")
    if client == "codex":
        return tomllib.loads(text)
    return dict(yaml.safe_load(text)) if client == "goose" else dict(json.loads(text))


def servers_of(client: str, file: Path) -> dict[str, Any]:
    return dict(read_file(client, file)[CLIENTS[client].keys[0]])


@pytest.mark.promise("D11")
@pytest.mark.parametrize(
    ("system", "expected"), [("linux", LINUX), ("macos", MACOS), ("windows", WINDOWS)]
)
def test_every_client_has_its_file_on_every_system(
    system: System, expected: dict[str, str]
) -> None:
    machine = Machine(system, Path("/people/ada"), Path("/project"), {})
    found = {name: str(client.file(machine)) for name, client in CLIENTS.items()}
    assert found == {name: f"/people/ada/{place}" for name, place in expected.items()}
    assert set(NAMES) == {*expected, "open-webui"}


def test_the_environment_moves_files_as_it_moves_them_for_the_clients() -> None:
    environment = {
        "XDG_CONFIG_HOME": "/x",
        "CODEX_HOME": "/codex",
        "CLAUDE_CONFIG_DIR": "/claude",
        "CLINE_MCP_SETTINGS_PATH": "/cline.json",
    }
    machine = Machine("linux", Path("/people/ada"), Path("/project"), environment)
    assert CLIENTS["vscode"].file(machine) == Path("/x/Code/User/mcp.json")
    assert CLIENTS["goose"].file(machine) == Path("/x/goose/config.yaml")
    assert CLIENTS["codex"].file(machine) == Path("/codex/config.toml")
    assert CLIENTS["claude-code"].file(machine) == Path("/claude/.claude.json")
    assert CLIENTS["claude-code"].file(machine, "project") == Path("/project/.mcp.json")
    assert CLIENTS["cline"].file(machine, "cli") == Path("/cline.json")


@pytest.mark.promise("D11")
@pytest.mark.parametrize("client", CLIENTS)
def test_an_entry_reads_back_as_what_was_meant(client: str) -> None:
    make_entry = CLIENTS[client].make_entry
    assert read_way(make_entry("carrel", STDIO)) == STDIO
    address = Http(URL, HEADERS)
    entry = make_entry("carrel", address)
    if client in ADDRESS_ENTRIES:
        assert entry == ADDRESS_ENTRIES[client]
    if client != "claude-desktop":
        assert read_way(entry) == address


def test_goose_gets_all_that_its_versions_ask_for() -> None:
    entry = CLIENTS["goose"].make_entry("carrel", Http(URL, HEADERS))
    assert entry["type"] == "streamable_http"
    assert (entry["uri"], entry["headers"], entry["enabled"]) == (URL, HEADERS, True)
    assert {"name", "description", "timeout", "envs", "env_keys"} <= set(entry)


@pytest.mark.promise("D11")
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_is_connected_and_disconnected_and_nothing_is_left(
    connect: Connect, home: Path, client: str
) -> None:
    file = home / LINUX[client]
    done = connect(client, "--write")
    assert done.code == 0, done.err
    assert str(file) in done.err
    entry = servers_of(client, file)["carrel"]
    way = read_way(entry)
    assert isinstance(way, Stdio)
    assert way.arguments == ("mcp", "--home", str(home / "desk"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_bytes()
    again = connect(client, "--write")
    assert again.code == 0
    assert "Already there" in again.err
    assert file.read_bytes() == before
    assert connect(client, "--remove").code == 0
    assert not file.exists()


ORIGINALS = {
    "claude-code": '{"numStartups": 3, "mcpServers": {"o": {"command": "x"}}, "projects": {}}',
    "claude-desktop": '{\n    "globalShortcut": "",\n    "mcpServers": {\n    }\n}',
    "cursor": '{\r\n\t"mcpServers": {\r\n\t\t"o": {"url": "http://x"}, // mine\r\n\t},\r\n}\r\n',
    "vscode": '// mine\n{\n  "inputs": [], /* k */\n  "servers": {"o": {"url": "x"}}\n}',
    "codex": '# mine\nmodel = "o3"\n\n[mcp_servers.o]\ncommand = "x" # why\n\n'
    '[tui]\ntheme = """\n[a]\n"""',
    "gemini": '{\n  // mine\n  "theme": "Default"\n}\n',
    "windsurf": "{}",
    "cline": '{\n  "mcpServers": {}\n}\n',
    "zed": '// Zed settings\n{\n  "vim_mode": true,\n  // "context_servers": {},\n}\n',
    "goose": "# mine\nGOOSE_MODEL: x\nextensions:\n  developer:\n    enabled: true # k\n"
    "    args: []\n\n# end\n",
}


@pytest.mark.promise("D11")
@pytest.mark.parametrize("bom", ["", "\ufeff"], ids=["plain", "bom"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_file_comes_back_byte_for_byte_and_its_first_original_is_kept(
    connect: Connect, home: Path, client: str, bom: str
) -> None:
    file = home / LINUX[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    original = (bom + ORIGINALS[client]).encode()
    file.write_bytes(original)
    file.chmod(0o640)
    spec = file_format(CLIENTS[client].format)
    before = spec.parse(ORIGINALS[client])
    for name in ("carrel", "second"):
        done = connect(client, "--write", "--name", name, "--url", URL)
        assert done.code == 0, done.err
    text = file.read_bytes().decode()
    assert text.startswith(bom)
    assert ("\r\n" in text) == ("\r\n" in ORIGINALS[client])
    for comment in ("mine", "why", "/* k */", "# end", '// "context_servers"'):
        assert (comment in text) == (comment in ORIGINALS[client])
    values = spec.parse(text.removeprefix(bom))
    key = CLIENTS[client].keys[0]
    assert {**values, key: before.get(key)} == {**before, key: before.get(key)}
    assert list(values[key]) == [*before.get(key, {}), "carrel", "second"]
    kept = file.with_name(file.name + ".before-carrel")
    assert kept.read_bytes() == original
    assert stat.S_IMODE(kept.stat().st_mode) == stat.S_IMODE(file.stat().st_mode) == 0o640
    for name in ("second", "carrel"):
        assert connect(client, "--remove", "--name", name).code == 0
    assert file.read_bytes() == original
    assert kept.read_bytes() == original


def test_what_a_person_changed_meanwhile_stays_when_the_entry_goes(
    connect: Connect, home: Path
) -> None:
    file = home / LINUX["vscode"]
    file.parent.mkdir(parents=True)
    file.write_text('{\n  "servers": {}\n}\n')
    connect("vscode", "--write")
    file.write_text(
        file.read_text().replace('{\n  "servers"', '{\n  "inputs": [], // new\n  "servers"')
    )
    assert connect("vscode", "--remove").code == 0
    assert file.read_text() == '{\n  "inputs": [], // new\n  "servers": {}\n}\n'


def test_a_different_entry_is_replaced_only_when_asked(connect: Connect, home: Path) -> None:
    file = home / LINUX["codex"]
    file.parent.mkdir()
    ours = '[mcp_servers.carrel]\ncommand = "/old/carrel"\nargs = ["mcp"]\n'
    original = ours + '\n[mcp_servers.z]\nurl = "u"\n'
    file.write_text(original)
    refused = connect("codex", "--write")
    assert refused.code == 6
    assert "/old/carrel mcp" in refused.err
    assert "--replace" in refused.err
    assert file.read_text() == original
    assert connect("codex", "--write", "--replace", "--url", URL).code == 0
    assert servers_of("codex", file) == {"carrel": {"url": URL}, "z": {"url": "u"}}


def test_fields_that_a_client_added_do_not_make_an_entry_different(
    connect: Connect, home: Path
) -> None:
    file = home / LINUX["cline"]
    connect("cline", "--write")
    values = json.loads(file.read_text())
    values["mcpServers"]["carrel"] |= {"disabled": True, "autoApprove": ["search_papers"]}
    file.write_text(json.dumps(values))
    before = file.read_bytes()
    assert "Already there" in connect("cline", "--write").err
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("client", "content", "words"),
    [
        ("claude-desktop", b'{"a": 1, // comments are not read by it\n}', "is not JSON"),
        ("claude-desktop", b'{"mcpServers": []}', "does not hold servers as expected"),
        ("cursor", b"{broken", "is not JSON"),
        ("zed", "{}".encode("utf-16"), "is not UTF-8"),
        ("codex", b"a = = 1", "is not TOML"),
        ("codex", b"mcp_servers = { o = { command = 'x' } }", "by hand"),
        ("goose", b"extensions: [a", "is not YAML"),
        ("goose", b"extensions:\n- a\n", "does not hold servers as expected"),
    ],
)
def test_a_file_that_cannot_be_changed_is_left_alone(
    connect: Connect, home: Path, client: str, content: bytes, words: str
) -> None:
    file = home / LINUX[client]
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    done = connect(client, "--write")
    assert done.code == 2
    assert words in done.err
    assert "Traceback" not in done.err
    assert file.read_bytes() == content
    assert [found.name for found in file.parent.iterdir()] == [file.name]


def test_a_link_is_followed_and_stays_a_link(connect: Connect, home: Path) -> None:
    real = home / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o600)
    link = home / LINUX["cursor"]
    link.parent.mkdir()
    link.symlink_to(real)
    assert connect("cursor", "--write").code == 0
    assert link.is_symlink()
    assert "carrel" in json.loads(real.read_text())["mcpServers"]
    assert [found.name for found in real.parent.iterdir()] == ["mcp.json"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_named(connect: Connect, home: Path) -> None:
    folder = home / ".cursor"
    folder.mkdir(mode=0o500)
    done = connect("cursor", "--write")
    assert done.code == 5
    assert str(folder) in done.err


def _write_one(home: str, name: str) -> None:
    os.environ.update(HOME=home, CARREL_HOME=f"{home}/desk-{name}")
    from carrel.cli import main

    raise SystemExit(main(["connect", "cursor", "--write", "--name", name]))


def test_two_writers_do_not_lose_each_others_entry(home: Path) -> None:
    names = [f"desk-{number}" for number in range(6)]
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write_one, args=(str(home), name)) for name in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * len(names)
    assert set(servers_of("cursor", home / LINUX["cursor"])) == set(names)


def test_a_project_and_another_file_can_be_named(connect: Connect, home: Path) -> None:
    assert connect("claude-code", "--write", "--scope", "project").code == 0
    assert "carrel" in servers_of("claude-code", home / "project" / ".mcp.json")
    other = home / "profile" / "mcp.json"
    assert connect("vscode", "--write", "--file", str(other)).code == 0
    assert servers_of("vscode", other)["carrel"]["type"] == "stdio"
    assert not (home / LINUX["claude-code"]).exists()
    assert not (home / LINUX["vscode"]).exists()
