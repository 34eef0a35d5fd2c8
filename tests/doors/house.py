"""A desk with the sample room, the application over it, and a way to put one request to it without
a socket.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import orjson

from carrel.core.caller import Caller, Visit
from carrel.core.catalogue import Catalogue
from carrel.core.clock import SystemClock
from carrel.core.errors import UnauthenticatedError
from carrel.core.health import Check
from carrel.doors.http import HttpApp
from carrel.doors.mcp.json_rpc import META_CAPABILITIES, META_VERSION
from carrel.policy.audit import AuditRecord
from carrel.policy.gate import Gate
from carrel.policy.identity import Identity, LocalIdentity
from carrel.policy.limits import InProcessLimits, Rate
from carrel.policy.scopes import expand_scopes
from carrel.settings import AuditSettings, AuthSettings, ServerSettings, Settings
from carrel.wiring.access import Access
from carrel.wiring.desk import Desk, OpenRoom
from carrel.wiring.http import http_app
from tests.sample_room import Held, sample_room

MODERN = "2026-07-28"
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class TokenTable:
    """Recognises callers by bearer token, from a table."""

    def __init__(self, scopes_by_token: Mapping[str, Iterable[str]]) -> None:
        self._callers = {
            f"Bearer {token}": Caller(user_id=token, scopes=expand_scopes(scopes))
            for token, scopes in scopes_by_token.items()
        }

    async def identify(self, visit: Visit) -> Caller:
        try:
            return self._callers[visit.authorization or ""]
        except KeyError:
            raise UnauthenticatedError(
                "A token is required", next_step="Send Authorization: Bearer …"
            ) from None


class Notebook:
    """Keeps audit records in a list."""

    def __init__(self) -> None:
        self.records: list[AuditRecord] = []

    def write(self, record: AuditRecord) -> None:
        self.records.append(record)

    async def write_durably(self, record: AuditRecord) -> None:
        self.records.append(record)


@dataclass(slots=True)
class Answer:
    """What came back over HTTP."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


@dataclass(slots=True)
class House:
    """The application with everything a test may want to look at."""

    app: HttpApp
    desk: Desk
    audit: Notebook
    held: Held = field(default_factory=Held)

    def send(
        self,
        method: str,
        path: str,
        body: bytes | list[bytes] = b"",
        headers: Iterable[tuple[str, str]] = (),
        *,
        host: str | None = "127.0.0.1:8080",
    ) -> Answer:
        """One request, start to end."""
        return asyncio.run(self.request(method, path, body, headers, host=host))

    async def request(
        self,
        method: str,
        path: str,
        body: bytes | list[bytes] = b"",
        headers: Iterable[tuple[str, str]] = (),
        *,
        host: str | None = "127.0.0.1:8080",
    ) -> Answer:
        chunks = [body] if isinstance(body, bytes) else list(body)
        raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        if host is not None:
            raw.append((b"host", host.encode("latin-1")))
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": raw,
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8080),
        }
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if not chunks:
                await asyncio.Event().wait()
            return {"type": "http.request", "body": chunks.pop(0), "more_body": bool(chunks)}

        async def send(message: Any) -> None:
            sent.append(dict(message))

        await self.app(scope, receive, send)
        start = next(message for message in sent if message["type"] == "http.response.start")
        shown = [
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]
        ]
        whole = b"".join(
            message.get("body", b"") for message in sent if message["type"] == "http.response.body"
        )
        return Answer(start["status"], shown, whole)

    def post(
        self, path: str, message: object, version: str | None = None, **headers: str
    ) -> Answer:
        """One JSON-RPC message of a handshake revision, or anything else as JSON."""
        given = [
            ("content-type", "application/json"),
            *((name.replace("_", "-"), value) for name, value in headers.items()),
        ]
        if version is not None:
            given.append(("mcp-protocol-version", version))
        return self.send("POST", path, orjson.dumps(message), given)

    def ask(
        self,
        era: str,
        method: str,
        params: Mapping[str, Any] | None = None,
        path: str = "/mcp",
        **headers: str,
    ) -> Answer:
        """One well-formed request in the era's own form."""
        if era == MODERN:
            return self.ask_modern(method, params, path, **headers)
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params or {})}
        return self.post(path, message, era, **headers)

    def ask_modern(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        path: str = "/mcp",
        **headers: str,
    ) -> Answer:
        name = (params or {}).get(NAMED_BY.get(method, ""))
        routing = {
            "mcp_method": method,
            **({"mcp_name": name} if isinstance(name, str) else {}),
            **headers,
        }
        return self.post(path, modern(method, params), MODERN, **routing)


def modern(
    method: str, params: Mapping[str, Any] | None = None, request_id: object = 1
) -> dict[str, Any]:
    """A request in the envelope of 2026-07-28."""
    meta = {META_VERSION: MODERN, META_CAPABILITIES: {}}
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": method,
        "params": {**(params or {}), "_meta": meta},
    }


def build_house(
    *,
    identity: Identity | None = None,
    rate: Rate | None = None,
    server: Mapping[str, Any] | None = None,
    checks: dict[str, Check] | None = None,
    mode: Literal["local", "tokens"] = "local",
    home: Path | None = None,
    extra_rooms: Iterable[OpenRoom] = (),
) -> House:
    """A house to the test's taste; by default the one local user lives there."""
    settings = Settings(
        rooms=(),
        audit=AuditSettings(enabled=False),
        server=ServerSettings(**(server or {})),
        auth=AuthSettings(mode=mode),
    )
    if home is not None:
        settings = settings.model_copy(update={"home": home})
    held = Held()
    room = OpenRoom(sample_room(held), checks or {})
    clock = SystemClock()
    audit = Notebook()
    access = Access(
        identity or LocalIdentity(), InProcessLimits(rate or Rate(), clock), audit, mode
    )
    gate = Gate(access.identity, access.limits, audit, clock)
    rooms = [room, *extra_rooms]
    desk = Desk(settings, Catalogue(each.room for each in rooms), gate, clock, rooms, access)
    return House(http_app(desk), desk, audit, held)
