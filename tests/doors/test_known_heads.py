"""A head that came before is not parsed again, and nothing else changes by that."""

from __future__ import annotations

import asyncio
import gc
import random
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
from uvicorn.server import ServerState

from carrel.doors.http.exchange import Exchange
from carrel.doors.http.known_heads import KnownHeads
from carrel.doors.http.protocol import GuardedProtocol, GuardedProtocolFactory
from carrel.doors.http.server import server_config
from carrel.policy.http_limits import ConnectionLimits
from tests.doors.raw_http import PING, post, read_response, served, status_of

LIMITS = ConnectionLimits(max_header_bytes=1500, max_headers=12, max_target_bytes=200)
BODY = b'{"a": "\r\n\r\n", "b": [1, 2]}'
PLAIN = post("/mcp?a=b", BODY, "User-Agent: test", "X-One: 1")


class Wire(asyncio.Transport):
    """A connection that keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.is_closed = False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_closed = True

    def write_eof(self) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return {"peername": ("127.0.0.1", 5), "sockname": ("127.0.0.1", 80)}.get(name, default)


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers what it was told of the request, and the body."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    own = {"carrel.exchange", "state", "asgi", "headers", "server", "client"}
    facts = {name: str(each) for name, each in scope.items() if name not in own}
    exchange = scope["carrel.exchange"]
    told = [
        facts,
        scope["server"][1],
        scope["client"][1],
        sorted(map(str, scope["headers"])),
        [str(name) for name, _ in scope["headers"]],
        sorted(map(str, exchange.headers.items())),
        sorted(map(str, exchange.repeated)),
        str(body),
    ]
    answer = orjson.dumps(told)
    headers = [(b"content-length", b"%d" % len(answer))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


CONFIG = server_config(echo, LIMITS)
CONFIG.load()


class Desk:
    """The protocol of a served process, without a socket."""

    def __init__(self) -> None:
        self._factory = GuardedProtocolFactory(LIMITS)

    def connect(self) -> tuple[GuardedProtocol, Wire]:
        loop = asyncio.get_running_loop()
        protocol, wire = self._factory(CONFIG, ServerState(), {}, loop), Wire()
        protocol.connection_made(wire)
        return protocol, wire

    async def ask(self, *pieces: bytes) -> tuple[bytes, bool]:
        """What a new connection answers to these bytes, and whether it is closed then."""
        protocol, wire = self.connect()
        answer = await self.say(protocol, wire, *pieces)
        protocol.connection_lost(None)
        return answer, wire.is_closed

    async def say(self, protocol: GuardedProtocol, wire: Wire, *pieces: bytes) -> bytes:
        before = len(wire.written)
        loop = asyncio.get_running_loop()
        for piece in pieces:
            # By the loop, as from a socket: not inside the task of a test.
            loop.call_soon(protocol.data_received, piece)
            for _ in range(8):
                await asyncio.sleep(0)
        return wire.written[before:]

    async def know(self, *requests: bytes) -> None:
        for request in requests * 3:
            await self.ask(request)

    @property
    def heads(self) -> KnownHeads:
        shared = self._factory._shared
        assert shared is not None
        return shared.heads


def test_a_head_is_known_when_it_came_twice_whatever_the_length_of_the_body() -> None:
    async def main() -> None:
        desk = Desk()
        await desk.ask(PLAIN)
        assert desk.heads.find(PLAIN) is None
        await desk.ask(PLAIN)
        assert desk.heads.find(PLAIN) is not None
        longer = post("/mcp?a=b", BODY * 9, "User-Agent: test", "X-One: 1")
        found = desk.heads.find(longer)
        assert found is not None
        assert found.digits == b"%d" % len(BODY * 9)
        assert desk.heads.find(longer[:-1]) is None
        assert desk.heads.find(longer + b"P") is None
        assert desk.heads.find(longer.replace(b"X-One: 1", b"X-One: 2")) is None

    asyncio.run(main())


LENGTH = b"Content-Length: %d\r\n" % len(BODY)
VARIANTS = [
    PLAIN,
    PLAIN.replace(b"Content-Length", b"content-length"),
    PLAIN.replace(b"Content-Length", b"CONTENT-LENGTH"),
    post("/mcp?a=b", BODY * 20, "User-Agent: test", "X-One: 1"),
    post("/mcp?a=b", b"", "User-Agent: test", "X-One: 1"),
    post("/a%20b", BODY, "X-One: 1", "X-One: 2"),
    PLAIN.replace(LENGTH, LENGTH + LENGTH),
    PLAIN.replace(LENGTH, LENGTH + LENGTH.lower()),
    PLAIN.replace(LENGTH, LENGTH + b"Transfer-Encoding: chunked\r\n"),
    PLAIN.replace(LENGTH, b"Content-Length: +%d\r\n" % len(BODY)),
    PLAIN.replace(LENGTH, b"Content-Length: 0%d\r\n" % len(BODY)),
    PLAIN.replace(LENGTH, b"Content-Length: %d \r\n" % len(BODY)),
    PLAIN.replace(LENGTH, b"Content-Length: %d\r\n 1\r\n" % len(BODY)),
    PLAIN.replace(LENGTH, b"Content-Length: 1%d\r\n" % len(BODY)),
    PLAIN.replace(LENGTH, b"Content-Length: 1\r\n"),
    PLAIN.replace(LENGTH, b"X-A: Content-Length: %d\r\n" % len(BODY) + LENGTH),
    PLAIN.replace(LENGTH, LENGTH + b"Expect: 100-continue\r\n"),
    PLAIN.replace(LENGTH, LENGTH + b"Connection: close\r\n"),
    PLAIN.replace(LENGTH, LENGTH + b"Connection: Upgrade\r\nUpgrade: websocket\r\n"),
    PLAIN.replace(b"HTTP/1.1", b"HTTP/1.0"),
    PLAIN.replace(b"HTTP/1.1", b"HTTP/2.0"),
    PLAIN.replace(b"POST", b"DELETE"),
    PLAIN.replace(b"POST", b"HEAD"),
    PLAIN.replace(b"POST", b"NONSENSE"),
    PLAIN.replace(b"/mcp", b"http://elsewhere/mcp"),
    PLAIN.replace(b"/mcp", b"/" + b"a" * 300),
    PLAIN.replace(b"X-One: 1", b"X-One: " + b"a" * 1600),
    PLAIN.replace(b"X-One: 1\r\n", b"X-One: 1\r\n" * 12),
    PLAIN.replace(b"\r\nX-One", b"\nX-One"),
    b"\r\n" + PLAIN,
    PLAIN + PLAIN,
    PLAIN + b"GET /next HTTP/1.1\r\nHost: localhost\r\n\r\n",
    PLAIN + b"rubbish",
    PLAIN[:-1],
]


def test_every_kind_of_request_is_answered_as_if_it_were_new() -> None:
    async def main() -> None:
        desk = Desk()
        await desk.know(*VARIANTS)
        for request in VARIANTS:
            assert await desk.ask(request) == await Desk().ask(request), request
            # On a connection that is used already, too.
            assert await desk.ask(PLAIN, request) == await Desk().ask(PLAIN, request), request
            assert await desk.ask(request, PLAIN) == await Desk().ask(request, PLAIN), request

    asyncio.run(main())


def test_a_request_in_two_pieces_is_answered_as_if_it_were_new() -> None:
    async def main() -> None:
        desk = Desk()
        await desk.know(PLAIN)
        expected = await Desk().ask(PLAIN)
        for at in range(1, len(PLAIN)):
            assert await desk.ask(PLAIN[:at], PLAIN[at:]) == expected, at

    asyncio.run(main())


@pytest.mark.parametrize("seed", range(3))
def test_a_request_with_some_bytes_changed_is_answered_as_if_it_were_new(seed: int) -> None:
    chance = random.Random(seed)
    signs = b"\r\n :0159a\x00\xff,;=+-"

    async def main() -> None:
        desk = Desk()
        await desk.know(PLAIN)
        for _ in range(60):
            changed = bytearray(PLAIN)
            for _ in range(chance.randint(1, 3)):
                at = chance.randrange(len(changed))
                if chance.random() < 0.3:
                    del changed[at]
                elif chance.random() < 0.3:
                    changed.insert(at, chance.choice(signs))
                else:
                    changed[at] = chance.choice(signs)
            request = bytes(changed)
            for _ in range(3):
                assert await desk.ask(request) == await Desk().ask(request), request
            assert await desk.ask(PLAIN, request) == await Desk().ask(PLAIN, request), request

    asyncio.run(main())


def test_what_is_kept_is_bounded_and_holds_no_request() -> None:
    async def main() -> None:
        desk = Desk()
        for number in range(700):
            await desk.know(PLAIN.replace(b"X-One: 1", b"X-One: %d" % number))
        known = desk.heads._known
        assert len(known) == 512
        for head in known.values():
            assert not {"carrel.exchange", "state", "client"} & set(head._scope)
            for sender in range(100):
                head.note(f"10.0.0.{sender}", object())
            assert len(head.findings) <= 64

    asyncio.run(main())


def test_an_answered_request_is_let_go_without_the_garbage_collector() -> None:
    async def main() -> None:
        desk = Desk()
        protocol, wire = desk.connect()
        gc.collect()
        gc.disable()
        try:
            await desk.say(protocol, wire, *[PLAIN] * 20)
            exchanges = [each for each in gc.get_objects() if isinstance(each, Exchange)]
        finally:
            gc.enable()
        mine = [each for each in exchanges if each.transport is protocol.transport]
        # The connection keeps the last one, without what was sent.
        assert len(mine) == 1
        assert not mine[0].scope
        assert not mine[0].headers

    asyncio.run(main())


def test_a_client_that_goes_away_during_a_known_request_is_noticed() -> None:
    seen: list[str] = []
    begun = asyncio.Event()

    async def waiting(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        begun.set()
        seen.append((await receive())["type"])

    async def main() -> None:
        desk = Desk()
        await desk.know(PLAIN)
        protocol, wire = desk.connect()
        protocol.app = cast(Any, waiting)
        await desk.say(protocol, wire, PLAIN)
        await begun.wait()
        assert protocol.tasks
        protocol.connection_lost(None)
        while protocol.tasks:
            await asyncio.sleep(0)
        assert seen == ["http.disconnect"]

    asyncio.run(main())


def test_a_refused_head_is_refused_and_recorded_each_time(tmp_path: Path) -> None:
    wrong_host = post("/mcp", PING, host="elsewhere.example")
    foreign_page = post("/mcp", PING, "Origin: https://elsewhere.example")
    stranger = post("/mcp", PING)
    with served(tmp_path / "desk", CARREL_AUTH_MODE="tokens") as server:
        with server.connect() as connection:
            statuses = []
            for _ in range(4):
                for request in (wrong_host, foreign_page, stranger):
                    connection.sendall(request)
                    statuses.append(status_of(read_response(connection)))
        assert statuses == [421, 403, 401] * 4
        home = server
    records = [record for record in home.audit_records() if record["phase"] == "refused"]
    codes = [str(record["error_code"]) for record in records]
    assert codes.count("host_not_allowed") == 4
    assert codes.count("origin_not_allowed") == 4
    assert codes.count("unauthenticated") == 4
