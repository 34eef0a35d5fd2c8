"""`carrel connect`: a client's configuration for this desk, printed, written, checked, removed."""

from __future__ import annotations

import argparse
import getpass
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

from carrel.cli.connect.readers import warn_of_readers
from carrel.cli.json_output import add_json_option, show_json
from carrel.cli.output import show
from carrel.cli.parsers import CommandParser
from carrel.core.errors import InvalidInputError
from carrel.policy.origin import is_loopback
from carrel.services.mcp_clients.clients import CLIENTS, NAMES, WITHOUT_FILE, Client
from carrel.services.mcp_clients.places import Machine, this_machine
from carrel.services.mcp_clients.snippets import lines_to_paste, make_snippet, open_webui_text
from carrel.services.mcp_clients.ways import Http, Way, read_way
from carrel.wiring.clients import Change, open_client_file

__all__ = ["lines_to_paste", "run"]

_DESK_PATH = "/desk/mcp"
_LOCAL_SERVER = f"http://127.0.0.1:8080{_DESK_PATH}"
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_MAX_NAME = 64
_CLAUDE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


def run(words: list[str]) -> int:
    given = words[1:]
    split = given.index("--") if "--" in given else len(given)
    parser = _parser()
    options, rest = parser.parse_args(given[:split]), given[split + 1 :]
    _check_options(parser, options, rest)
    if options.home:
        rest = ["--home", str(Path(options.home).expanduser().absolute()), *rest]
    machine = this_machine()
    if options.list:
        from carrel.cli.connect.listing import list_clients

        return list_clients(machine, options.name, is_json=options.json)
    if options.client == WITHOUT_FILE:
        return _show_open_webui(parser, options, machine)
    client = CLIENTS[options.client]
    file = Path(options.file).expanduser() if options.file else client.file(machine, options.scope)
    if options.remove:
        return _remove(client, file.absolute(), options)
    facts: dict[str, object] = {
        "client": client.name,
        "name": options.name,
        "file": file.absolute(),
    }
    is_only_check = options.check and not options.write
    if not is_only_check:
        way = _way(parser, options, rest)
        if not options.write:
            snippet = make_snippet(client, options.name, way, options.scope)
            if options.json:
                show_json({**facts, "snippet": snippet})
            else:
                print(snippet)
            return 0
        facts["change"] = _write(client, file.absolute(), options, way, rest)
    if options.check:
        from carrel.cli.connect.checking import check_file, show_check

        checked = check_file(client, file.absolute(), options.name, machine)
        facts["check"] = checked.to_facts()
        if not options.json:
            show_check(checked)
    if options.json:
        show_json(facts)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="carrel connect",
        description="Give the desk to an AI assistant: print what to paste into a client, write it "
        "into the client's own file, check it, or take it out.",
    )
    parser.add_argument("client", nargs="?", choices=NAMES, help="the client")
    parser.add_argument(
        "--url",
        help="address of a running server, such as http://127.0.0.1:8080/desk/mcp; without it the "
        "client starts carrel itself",
    )
    parser.add_argument(
        "--token", help="token for that server, as carrel tokens create prints it; - reads it"
    )
    parser.add_argument(
        "--header", action="append", default=[], metavar="'NAME: VALUE'", help="sent to that server"
    )
    parser.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="set for carrel"
    )
    parser.add_argument(
        "--home", metavar="DIR", help="the desk that the client starts, where it is not the usual"
    )
    parser.add_argument("--name", default="carrel", help="name of the server in the client")
    parser.add_argument(
        "--scope", help="user (usual) or project, where a client has both; cli for Cline's program"
    )
    parser.add_argument("--file", help="another file of the client, such as that of a profile")
    parser.add_argument(
        "--write", action="store_true", help="write it into the client's own file, keeping a backup"
    )
    parser.add_argument(
        "--replace", action="store_true", help="with --write: replace a different entry"
    )
    parser.add_argument("--remove", action="store_true", help="take it out of the client's file")
    parser.add_argument(
        "--check", action="store_true", help="start or open what the file says, list the tools"
    )
    parser.add_argument(
        "--list", action="store_true", help="which clients are here, connected to which desk"
    )
    add_json_option(parser)
    return parser


def _check_options(
    parser: argparse.ArgumentParser, options: argparse.Namespace, rest: list[str]
) -> None:
    if options.client is None and not options.list:
        parser.error(f"name a client: {', '.join(NAMES)}; or ask with --list")
    if options.list and (options.client or options.write or options.remove or options.check):
        parser.error("--list stands alone")
    if options.remove and (options.write or options.check or options.url or rest):
        parser.error("--remove stands alone; --name, --scope and --file say which entry")
    if options.replace and not options.write:
        parser.error("--replace needs --write")
    if rest and options.url:
        parser.error(
            "what follows -- is for a client that starts Carrel itself; a running server (--url) "
            "has its own options"
        )
    if not options.url and (options.token or options.header):
        parser.error("--token and --header are for a running server; name it with --url")
    if options.url and options.home:
        parser.error("--home is for a client that starts Carrel itself, not for --url")
    if options.url and options.env:
        parser.error("--env is for a client that starts Carrel itself, not for --url")
    _check_name(parser, options)
    client = CLIENTS.get(options.client or "")
    if options.scope and (client is None or options.scope not in client.scopes):
        known = ", ".join(client.scopes) if client else "none"
        parser.error(f"--scope {options.scope}: {options.client} has {known}")


def _check_name(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    name = options.name
    if not name.strip() or len(name) > _MAX_NAME or not name.isprintable():
        parser.error(f"--name must be 1 to {_MAX_NAME} printable characters")
    if options.client == "claude-code" and not _CLAUDE_NAME.fullmatch(name):
        parser.error("Claude Code takes letters, digits, - and _ in --name")


def _way(parser: argparse.ArgumentParser, options: argparse.Namespace, rest: list[str]) -> Way:
    if options.url:
        return _address(parser, options)
    from carrel.cli.connect.own_program import is_passing, own_way

    way = own_way(
        rest, dict(_pair(parser, "--env", text, "=", _VARIABLE_NAME) for text in options.env)
    )
    if is_passing(way.command):
        show(
            f"carrel: {way.command} is where uvx keeps programs for a while. Install Carrel for "
            f"good (uv tool install) before a client relies on it.",
            file=sys.stderr,
        )
    return way


def _address(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Http:
    """The address with the headers it needs; the root of a server stands for its desk."""
    url = options.url.strip()
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    # Some clients read \ as /, so that the host would be another than the one checked here.
    if not is_address or not url.isprintable() or set(url) & {" ", "\\"}:
        parser.error(f"--url must be an http or https address, not {options.url!r}")
    if parts.path in {"", "/"}:
        url = f"{parts.scheme}://{parts.netloc}{_DESK_PATH}"
        show(f"The desk of that server is at {url}.", file=sys.stderr)
    headers = dict(_pair(parser, "--header", text, ":", _HEADER_NAME) for text in options.header)
    if not "".join(headers.values()).isascii():
        parser.error("--header takes letters, digits and signs of ASCII only")
    is_typed = options.token == "-"  # noqa: S105 - it means that standard input has the token
    token = _read_token() if is_typed else options.token
    is_token = bool(token) and token.isascii() and token.isprintable() and " " not in token
    if options.token is not None and not is_token:
        parser.error("--token must be a token, as carrel tokens create prints it")
    if token:
        headers["Authorization"] = f"Bearer {token}"
    is_local = is_loopback(parts.hostname or "")
    if is_local and not any(name.lower() == "authorization" for name in headers):
        # The secret of the desk in this home is for this machine only, never sent to another.
        from carrel.settings import read_settings
        from carrel.wiring.home import read_local_secret

        secret = read_local_secret(read_settings().home)
        headers |= {"Authorization": f"Bearer {secret}"} if secret else {}
    if headers and not is_local and parts.scheme == "http":
        show(
            f"carrel: {url} is not encrypted, so others on the way can read what is sent there.",
            file=sys.stderr,
        )
    return Http(url, headers)


def _read_token() -> str:
    """A token from standard input; not shown where it is typed."""
    if sys.stdin.isatty():
        return getpass.getpass("Token: ").strip()
    return sys.stdin.readline().strip()


def _pair(
    parser: argparse.ArgumentParser, option: str, text: str, mark: str, names: re.Pattern[str]
) -> tuple[str, str]:
    name, found, value = text.partition(mark)
    if not found or not names.fullmatch(name.strip()) or not value.strip().isprintable():
        parser.error(f"{option} must be NAME{mark}VALUE, not {text!r}")
    return name.strip(), value.strip()


def _write(
    client: Client, file: Path, options: argparse.Namespace, way: Way, rest: list[str]
) -> str:
    """Write the entry into the client's file; what became of it."""
    entry = client.make_entry(options.name, way)
    facts = {"file": str(file), "name": options.name}
    from carrel.cli.connect.own_program import settings_of
    from carrel.wiring.audit import record_command

    with record_command(settings_of(rest), "connect:write", f"client:{client.name}", facts):
        outcome = open_client_file(file, client.format).put_entry(
            (*client.keys, options.name),
            entry,
            replace=options.replace,
            is_same=lambda found: read_way(found) == read_way(entry),
            describe=_describe,
        )
    warn_of_readers(file, options.scope, way)
    if not options.json:
        _say_written(client, file, outcome)
    return outcome.value


def _say_written(client: Client, file: Path, outcome: Change) -> None:
    match outcome:
        case Change.ALREADY_THERE:
            print(f"Already there: {file}.", file=sys.stderr)
        case _:
            print(f"Written to {file}. {client.refresh}", file=sys.stderr)


def _describe(entry: object) -> str:
    way = read_way(entry)
    return way.describe() if way else "something that is no MCP server"


def _remove(client: Client, file: Path, options: argparse.Namespace) -> int:
    name = options.name
    facts = {"file": str(file), "name": name}
    from carrel.cli.connect.own_program import settings_of
    from carrel.wiring.audit import record_command

    with record_command(settings_of([]), "connect:remove", f"client:{client.name}", facts):
        open_client_file(file, client.format).take((*client.keys, name))
    if options.json:
        show_json({"client": client.name, **facts, "change": "removed"})
    else:
        print(f"Removed from {file}.", file=sys.stderr)
    return 0


def _show_open_webui(
    parser: argparse.ArgumentParser, options: argparse.Namespace, machine: Machine
) -> int:
    if options.write or options.remove:
        raise InvalidInputError(
            "Open WebUI keeps its settings in a database, so there is no file to change",
            next_step="Run carrel connect open-webui --url ADDRESS and enter what it prints.",
        )
    options.url = options.url or _LOCAL_SERVER
    way = _address(parser, options)
    if options.check:
        from carrel.cli.connect.checking import check_way, show_check

        checked = check_way(way, "carrel connect open-webui", machine, "what was given")
        if options.json:
            facts = {"client": WITHOUT_FILE, "name": options.name}
            show_json({**facts, "check": checked.to_facts()})
        else:
            show_check(checked)
        return 0
    text = open_webui_text(options.name, way)
    if options.json:
        show_json({"client": WITHOUT_FILE, "name": options.name, "snippet": text})
    else:
        print(text)
    return 0
