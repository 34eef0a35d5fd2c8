"""`carrel connect`: a client's configuration for this desk, printed or written into its file."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import platformdirs

from carrel.cli.options import add_home_options, home_settings
from carrel.core.errors import CarrelError
from carrel.policy.origin import is_loopback
from carrel.settings import Settings, read_settings
from carrel.wiring.audit import record_command
from carrel.wiring.home import read_local_secret


class ConfigurationUnreadableError(CarrelError):
    """A client's own file is not what it should be, so it is left alone."""

    code = "invalid_settings"


@dataclass(frozen=True, slots=True)
class Http:
    """A running server, and the secret it requires, if any."""

    url: str
    secret: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}"} if self.secret else {}


@dataclass(frozen=True, slots=True)
class Stdio:
    """A command that the client starts itself."""

    command: str
    arguments: tuple[str, ...]


Way = Http | Stdio
CLIENTS = ("claude-code", "claude-desktop", "cursor", "codex", "gemini")


def run(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="carrel connect", description="Print or write a client's configuration."
    )
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument(
        "--url",
        help="address of a running server, such as http://127.0.0.1:8080/desk/mcp; without it the "
        "client starts carrel itself",
    )
    parser.add_argument("--name", default="carrel", help="name of the server in the client")
    parser.add_argument(
        "--write", action="store_true", help="write it into the client's own file, keeping a backup"
    )
    parser.epilog = (
        "What follows -- is handed to carrel mcp, such as: carrel connect cursor "
        "--write -- --rooms papers"
    )
    given = words[1:]
    split = given.index("--") if "--" in given else len(given)
    options, rest = parser.parse_args(given[:split]), given[split + 1 :]
    if rest and options.url:
        parser.error(
            "what follows -- is for a client that starts Carrel itself; a running server (--url) "
            "has its own options"
        )
    way: Way = (
        Http(options.url, _secret_for(options.url))
        if options.url
        else Stdio(own_command(), ("mcp", *_mcp_options(rest)))
    )
    if not options.write:
        print(snippet(options.client, options.name, way))
        return 0
    facts = {"file": str(configuration_file(options.client)), "name": options.name}
    with record_command(_settings_of(rest), "connect:write", f"client:{options.client}", facts):
        file = write(options.client, options.name, way)
    print(f"Written to {file}. Restart {options.client} to use it.", file=sys.stderr)
    return 0


def _mcp_options(rest: list[str]) -> tuple[str, ...]:
    """Checked options for `carrel mcp`, complete for a client in another folder."""
    from carrel.cli.mcp import mcp_parser

    options = mcp_parser().parse_args(rest)
    home = options.home or os.environ.get("CARREL_HOME")
    settings = read_settings(
        {("home",): home}, config=Path(options.config) if options.config else None
    )
    named = {
        "--home": settings.home if home else None,
        "--config": settings.source
        if settings.source and not _is_found_anywhere(settings)
        else None,
        "--rooms": options.rooms,
        "--snapshot": _absolute(options.snapshot),
        "--static": _absolute(options.static),
        "--library": _absolute(options.library),
        "--log-level": options.log_level,
    }
    words = [
        word for name, value in named.items() if value is not None for word in (name, str(value))
    ]
    return (*words, "--compact") if options.compact else tuple(words)


def _secret_for(url: str) -> str | None:
    """The secret of the desk in this home, for a server on this machine; never sent to another."""
    if not is_loopback(urlsplit(url).hostname or ""):
        return None
    return read_local_secret(read_settings().home)


def _is_found_anywhere(settings: Settings) -> bool:
    """Whether `carrel mcp` finds the settings file from any working directory."""
    places = (settings.home, platformdirs.user_config_path("carrel"))
    return settings.source is not None and settings.source.parent in [
        place.resolve() for place in places
    ]


def _absolute(place: str | None) -> str | None:
    if place is None or "://" in place:
        return place
    return str(Path(place).expanduser().absolute())


def _settings_of(rest: list[str]) -> Settings:
    """The settings of the desk that the client will start, from the options of `carrel mcp`."""
    parser = argparse.ArgumentParser(add_help=False)
    add_home_options(parser)
    options, _ = parser.parse_known_args(rest)
    return home_settings(options)


def own_command() -> str:
    """The full path of this program, because desktop clients start with a poor PATH."""
    started = Path(sys.argv[0])
    if started.name == "carrel" and started.exists():
        return str(started.absolute())
    return shutil.which("carrel") or "carrel"


def lines_to_paste(url: str, secret: str | None = None) -> str:
    """What the server prints when it starts."""
    way = Http(f"{url}/desk/mcp", secret)
    return "\n".join(
        (
            f"Claude Code:     {snippet('claude-code', 'carrel', way)}",
            f"Claude Desktop:  {json.dumps(_json_entry('claude-desktop', 'carrel', way))}",
            "                 (or let it start Carrel itself: carrel connect claude-desktop "
            "--write)",
            f"Cursor:          {json.dumps(_json_entry('cursor', 'carrel', way))}",
        )
    )


def snippet(client: str, name: str, way: Way) -> str:
    """The text to paste: a command for Claude Code, else a part of the client's file."""
    if client == "claude-code":
        match way:
            case Http(url):
                headers = "".join(
                    f" --header {shlex.quote(f'{key}: {value}')}"
                    for key, value in way.headers.items()
                )
                return (
                    f"claude mcp add --transport http {shlex.quote(name)} "
                    f"{shlex.quote(url)}{headers}"
                )
            case Stdio(command, arguments):
                return f"claude mcp add {shlex.quote(name)} -- {shlex.join((command, *arguments))}"
    if client == "codex":
        return _toml_entry(name, way)
    return json.dumps(_json_entry(client, name, way), indent=2)


def write(client: str, name: str, way: Way) -> Path:
    """Add the entry to the client's file atomically, changing nothing else."""
    file = configuration_file(client)
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    if client == "codex":
        after = _toml_with(before, name, way, file)
    else:
        after = (
            json.dumps(
                _merged(_parsed(before, file), _json_entry(client, name, way)),
                indent=2,
                ensure_ascii=False,
            )
            + "\n"
        )
    file.parent.mkdir(parents=True, exist_ok=True)
    kept = file.with_name(file.name + ".before-carrel")
    if before and not kept.exists():
        shutil.copy2(file, kept)
    with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as fresh:
        fresh.write(after)
        fresh.flush()
        os.fsync(fresh.fileno())
    if file.exists():
        shutil.copymode(file, fresh.name)
    Path(fresh.name).replace(file.resolve())
    return file


def configuration_file(client: str) -> Path:
    """The path of a client's configuration of servers."""
    match client:
        case "claude-code":
            return Path(".mcp.json").absolute()
        case "claude-desktop":
            return (
                platformdirs.user_config_path("Claude", appauthor=False, roaming=True)
                / "claude_desktop_config.json"
            )
        case "cursor":
            return Path.home() / ".cursor" / "mcp.json"
        case "codex":
            return Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "config.toml"
        case _:
            return Path.home() / ".gemini" / "settings.json"


def _json_entry(client: str, name: str, way: Way) -> dict[str, object]:
    entry: dict[str, object]
    match way:
        case Http(url) if client == "claude-desktop":
            # Its file takes commands only; the bridge needs Node.js.
            plain = ("--allow-http",) if url.startswith("http://") else ()
            entry = {"command": "npx", "args": ["-y", "mcp-remote", url, *plain]}
            if way.secret:
                # Arguments with spaces fail on some systems, so the value goes through a variable.
                header = ["--header", "Authorization:${CARREL_AUTHORIZATION}"]
                entry = {"command": "npx", "args": ["-y", "mcp-remote", url, *plain, *header]}
                entry["env"] = {"CARREL_AUTHORIZATION": f"Bearer {way.secret}"}
        case Stdio(command, arguments):
            entry = {"command": command, "args": list(arguments)}
        case Http(url):
            entry = (
                {"httpUrl": url}
                if client == "gemini"
                else {"type": "http", "url": url}
                if client == "claude-code"
                else {"url": url}
            )
            if way.headers:
                entry["headers"] = way.headers
    return {"mcpServers": {name: entry}}


def _toml_entry(name: str, way: Way) -> str:
    key = (
        name
        if name.replace("-", "").replace("_", "").isalnum() and name.isascii()
        else json.dumps(name)
    )
    match way:
        case Stdio(command, arguments):
            return (
                f"[mcp_servers.{key}]\ncommand = {json.dumps(command)}\nargs = "
                f"{json.dumps(list(arguments))}"
            )
        case Http(url):
            headers = ", ".join(
                f"{name} = {json.dumps(value)}" for name, value in way.headers.items()
            )
            return f"[mcp_servers.{key}]\nurl = {json.dumps(url)}" + (
                f"\nhttp_headers = {{ {headers} }}" if headers else ""
            )


def _toml_with(before: str, name: str, way: Way, file: Path) -> str:
    try:
        servers = tomllib.loads(before).get("mcp_servers", {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationUnreadableError(
            f"{file} is not TOML: {error}", next_step="Mend it, then run again."
        ) from None
    if name in servers:
        raise ConfigurationUnreadableError(
            f"{file} already has a server called {name}",
            next_step="Remove that table, or choose another with --name.",
        )
    return f"{before.rstrip()}\n\n{_toml_entry(name, way)}\n".lstrip()


def _parsed(text: str, file: Path) -> dict[str, object]:
    if not text.strip():
        return {}
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigurationUnreadableError(
            f"{file} is not JSON: {error}", next_step="Mend it, then run again."
        ) from None
    if not isinstance(values, dict) or not isinstance(values.get("mcpServers", {}), dict):
        raise ConfigurationUnreadableError(
            f"{file} does not hold servers as expected", next_step="Add the printed lines by hand."
        )
    return values


def _merged(values: dict[str, object], entry: dict[str, object]) -> dict[str, object]:
    servers = values.get("mcpServers")
    added = entry["mcpServers"]
    known = servers if isinstance(servers, dict) else {}
    return {**values, "mcpServers": {**known, **(added if isinstance(added, dict) else {})}}
