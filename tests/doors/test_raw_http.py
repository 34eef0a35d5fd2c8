"""What strangers can do to a served process with a socket: every part of a request is bounded in
size, time and number.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.doors.raw_http import PING, Server, post, read_response, read_to_end, served, status_of

SMALL_TIMES = {
    "CARREL_SERVER_HEADER_TIMEOUT_SECONDS": "0.4",
    "CARREL_SERVER_KEEP_ALIVE_SECONDS": "0.4",
    "CARREL_SERVER_BODY_TIMEOUT_SECONDS": "0.4",
    "CARREL_SERVER_SEND_TIMEOUT_SECONDS": "0.4",
}
MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with the limits as they are shipped."""
    with served(tmp_path_factory.mktemp("desk")) as running:
        yield running


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that waits for nobody."""
    with served(tmp_path_factory.mktemp("hasty"), **SMALL_TIMES) as running:
        yield running


def pour(server: Server, first: bytes, piece: bytes, total: int) -> tuple[int, int]:
    """Sends until the server has had enough; how much it took, and the status it answered."""
    sent = 0
    with server.connect() as connection:
        with suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(first)
            while sent < total:
                connection.sendall(piece)
                sent += len(piece)
        return sent, status_of(read_to_end(connection))


@pytest.mark.promise("D14")
@pytest.mark.parametrize(
    ("first", "piece"),
    [
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: ", b"a" * 65536),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\n", b"X-Many: a\r\n" * 6000),
        (b"GET /", b"a" * 65536),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX", b"a" * 65536),
    ],
    ids=["one long header", "many headers", "long address", "long header name"],
)
def test_a_hundred_megabytes_of_headers_are_refused_and_not_kept(
    server: Server, first: bytes, piece: bytes
) -> None:
    before = server.resident_bytes()
    sent, status = pour(server, first, piece, 100 * MEGABYTE)
    assert sent < 40 * MEGABYTE, "the server stopped reading"
    assert status in {414, 431, 0}
    assert server.resident_bytes() - before < 24 * MEGABYTE
    assert server.ping_status() == 200


@pytest.mark.promise("D14")
def test_headers_that_are_too_large_are_told_so(server: Server) -> None:
    long_header = (
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"a" * 40_000 + b"\r\n\r\n"
    )
    many = b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"X-A: b\r\n" * 101 + b"\r\n"
    long_address = b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert [status_of(server.ask(request)) for request in (long_header, many, long_address)] == [
        431,
        431,
        414,
    ]
    fits = (
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Long: "
        + b"a" * 30_000
        + b"\r\n\r\n"
    )
    assert status_of(server.ask(fits)) == 200


@pytest.mark.promise("D14")
@pytest.mark.parametrize(
    "request_text",
    [
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: "
        b"chunked\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: "
        b"4\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: "
        b"5\r\n\r\nabcd",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: "
        b"4\r\n\r\nabcd",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4, 4\r\n\r\nabcd",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: +4\r\n\r\nabcd",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\nabcd",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0x4\r\n\r\nabcd",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
        b"99999999999999999999999\r\n\r\nabcd",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, "
        b"identity\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, "
        b"chunked\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
        b"chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
        b"chunked\r\n\r\nzz\r\nabcd\r\n0\r\n\r\n",
        b"GET http://evil.example/mcp/tools HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET ftp://localhost/mcp/tools HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /mcp/tools HTTP/1.1\r\nHost: localhost\r\nX-Folded: a\r\n Host: evil.example\r\n\r\n",
        b"GET /mcp/tools HTTP/1.1\r\nHost: localhost\r\nX-Null: a\x00b\r\n\r\n",
        b"GET /mcp/tools HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n",
        b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /mcp/tools\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_a_request_that_servers_could_read_differently_is_refused(
    server: Server, request_text: bytes
) -> None:
    said = server.ask(request_text)
    assert status_of(said) in {400, 505}, said
    assert said.count(b"content-length: ") == 1
    assert b"connection: close" in said


@pytest.mark.promise("D14")
def test_two_hosts_or_two_authorizations_are_refused(server: Server) -> None:
    hosts = (
        b"GET /mcp/tools HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: "
        b"close\r\n\r\n"
    )
    tokens = (
        b"GET /mcp/tools HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
        b"a\r\nauthorization: Bearer b\r\nConnection: close\r\n\r\n"
    )
    assert [status_of(server.ask(request)) for request in (hosts, tokens)] == [400, 400]


@pytest.mark.promise("D14")
def test_the_absolute_form_is_taken_when_it_names_the_same_host(server: Server) -> None:
    said = server.ask(
        b"GET http://LOCALHOST/mcp/tools HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    assert status_of(said) == 200


@pytest.mark.promise("D14")
def test_trailers_do_not_become_headers(server: Server) -> None:
    head = (
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: "
        b"chunked\r\n"
    )
    chunks = b"Content-Type: application/json\r\n\r\n28\r\n" + PING + b"\r\n0\r\n"
    assert (
        status_of(
            server.ask(
                head + chunks + b"Host: evil.example\r\nOrigin: https://evil.example\r\n\r\n"
            )
        )
        == 200
    )
    sent, _ = pour(server, head + chunks + b"X-Trailer: ", b"a" * 65536, 100 * MEGABYTE)
    assert sent < 40 * MEGABYTE
    sent, _ = pour(server, head + b"\r\n1;x=", b"a" * 65536, 100 * MEGABYTE)
    assert sent < 60 * MEGABYTE, "an endless chunk extension is cut"
    assert server.ping_status() == 200


@pytest.mark.promise("D14")
@pytest.mark.parametrize(
    "half",
    [b"", b"G", b"POST /mcp HTTP/1.1\r\nHost: loc", b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"],
    ids=["nothing", "a letter", "half a header", "no end of headers"],
)
def test_a_request_that_stays_half_sent_is_closed(hasty: Server, half: bytes) -> None:
    said = hasty.ask(half)
    assert status_of(said) == (408 if half else 0)


@pytest.mark.promise("D14")
def test_a_second_request_that_stays_half_sent_is_closed_and_so_is_an_idle_connection(
    hasty: Server,
) -> None:
    whole = post("/mcp", PING)
    with hasty.connect() as connection:
        connection.sendall(whole)
        assert status_of(read_response(connection)) == 200
        connection.sendall(b"POST /mcp HTTP/1.1\r\nHo")
        assert status_of(read_to_end(connection)) == 408
    with hasty.connect() as connection:
        connection.sendall(whole)
        assert status_of(read_response(connection)) == 200
        assert read_to_end(connection) == b"", "idle, and closed without a word"


@pytest.mark.promise("D14")
def test_a_body_that_does_not_come_is_given_up_and_its_connection_closed(hasty: Server) -> None:
    declared = (
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        b"application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    chunked = (
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
        b"application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"
    )
    for request in (declared, chunked):
        said = hasty.ask(request)
        assert status_of(said) == 408
        assert b"body_too_slow" in said
        assert b"connection: close" in said


@pytest.mark.promise("D14")
def test_an_answer_nobody_reads_is_given_up(hasty: Server) -> None:
    ask_much = b"GET /mcp/tools HTTP/1.1\r\nHost: localhost\r\n\r\n" * 8
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(60)
        connection.connect(("127.0.0.1", hasty.port))
        with suppress(ConnectionResetError, BrokenPipeError):
            while True:
                connection.sendall(ask_much)
    assert hasty.ping_status() == 200


@pytest.mark.promise("D14")
def test_a_go_ahead_is_given_only_after_the_checks(server: Server, tmp_path: Path) -> None:
    head = (
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: "
        "100-continue\r\n"
    )
    with server.connect() as connection:
        connection.sendall(f"{head}Content-Length: {len(PING)}\r\n\r\n".encode())
        assert connection.recv(1000).startswith(b"HTTP/1.1 100 ")
        connection.sendall(PING)
        assert status_of(read_to_end(connection)) == 200
    for more, status in (
        ("Origin: https://evil.example\r\n", 403),
        ("Content-Length: 99999999\r\n", 413),
    ):
        length = "" if "Length" in more else "Content-Length: 40\r\n"
        said = server.ask(f"{head}{length}{more}\r\n".encode())
        assert status_of(said) == status
        assert b"connection: close" in said
    with served(tmp_path, CARREL_AUTH_MODE="tokens") as guarded:
        said = guarded.ask(f"{head}Content-Length: 4000000\r\n\r\n".encode())
        assert status_of(said) == 401
        assert b"100 Continue" not in said


@pytest.mark.promise("D14")
def test_a_stranger_sees_the_refusal_while_still_sending_and_is_cut_off(tmp_path: Path) -> None:
    with served(tmp_path, CARREL_AUTH_MODE="tokens") as guarded:
        head = (
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
            b"application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        with guarded.connect() as connection:
            connection.sendall(head)
            said = read_response(connection)
            assert status_of(said) == 401
            sent = 0
            with suppress(ConnectionResetError, BrokenPipeError):
                while sent < 200 * MEGABYTE:
                    connection.sendall(b"10000\r\n" + b"a" * 65536 + b"\r\n")
                    sent += 65536
            assert sent < 100 * MEGABYTE, "the rest of a refused body is not read for ever"
        with guarded.connect() as connection:
            for _ in range(3):
                connection.sendall(post("/mcp", PING))
                assert status_of(read_response(connection)) == 401, (
                    "a small body is passed over and the connection kept"
                )


@pytest.mark.promise("D14")
def test_requests_sent_without_waiting_are_answered_in_order_up_to_a_number(server: Server) -> None:
    one = post("/mcp", PING)
    last = post("/mcp", PING, "Connection: close")
    assert server.ask(one * 9 + last).count(b"HTTP/1.1 200") == 10
    before = server.resident_bytes()
    flood = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n" * 100_000
    with ExitStack() as stack:
        for _ in range(10):
            connection = stack.enter_context(server.connect())
            with suppress(ConnectionResetError, BrokenPipeError):
                connection.sendall(flood)
    assert server.resident_bytes() - before < 24 * MEGABYTE
    assert server.ping_status() == 200


@pytest.mark.promise("D14")
def test_a_bad_request_behind_a_good_one_does_not_speak_into_its_answer(server: Server) -> None:
    said = server.ask(post("/mcp", PING) + b"NONSENSE\r\n\r\n")
    assert status_of(said) == 200
    assert said.count(b"content-length: ") in {1, 2}
    assert said.split(b"\r\n\r\n", 1)[1].startswith(b'{"jsonrpc"')


@pytest.mark.promise("D14")
@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{",
    ],
    ids=["silent", "half a header", "half a body"],
)
def test_a_thousand_half_open_connections_do_not_stop_a_good_client(
    server: Server, half: bytes
) -> None:
    with ExitStack() as stack:
        for _ in range(1000):
            connection = stack.enter_context(server.connect())
            with suppress(ConnectionResetError, BrokenPipeError):
                connection.sendall(half)
        for _ in range(20):
            assert server.ping_status() == 200, "from the same address"
            assert server.ping_status("127.0.0.9") == 200, "from another address"


@pytest.mark.promise("D14")
def test_connections_of_one_address_are_capped_and_the_oldest_that_does_nothing_goes(
    tmp_path: Path,
) -> None:
    settings = {
        "CARREL_SERVER_MAX_CONNECTIONS_PER_ADDRESS": "3",
        "CARREL_SERVER_HEADER_TIMEOUT_SECONDS": "600",
    }
    with served(tmp_path, **settings) as server, ExitStack() as stack:
        held = [stack.enter_context(server.connect()) for _ in range(3)]
        other = stack.enter_context(server.connect("127.0.0.9"))
        fourth = stack.enter_context(server.connect())
        assert read_to_end(held[0]) == b"", "the oldest is closed"
        for connection in (held[1], held[2], fourth, other):
            connection.sendall(post("/mcp", PING))
            assert status_of(read_response(connection)) == 200


@pytest.mark.promise("D14")
def test_all_connections_together_are_capped(tmp_path: Path) -> None:
    settings = {"CARREL_SERVER_MAX_CONNECTIONS": "4", "CARREL_SERVER_HEADER_TIMEOUT_SECONDS": "600"}
    with served(tmp_path, **settings) as server, ExitStack() as stack:
        crowd = [stack.enter_context(server.connect("127.0.0.8")) for _ in range(3)]
        quiet = stack.enter_context(server.connect("127.0.0.9"))
        late = stack.enter_context(server.connect("127.0.0.10"))
        assert read_to_end(crowd[0]) == b"", "whoever has the most gives one up"
        for connection in (quiet, late, crowd[1]):
            connection.sendall(post("/mcp", PING))
            assert status_of(read_response(connection)) == 200


@pytest.mark.promise("D14")
def test_an_address_cannot_be_forged(tmp_path: Path) -> None:
    forged = (
        "X-Forwarded-For: 203.0.113.9",
        "Forwarded: for=203.0.113.9",
        "X-Real-IP: 203.0.113.9",
        "Connection: close",
    )
    for workers in ("1", "2"):
        home = tmp_path / workers
        with served(home, "--workers", workers, CARREL_AUTH_MODE="tokens") as server:
            assert status_of(server.ask(post("/mcp", PING, *forged))) == 401
        refused = [record for record in server.audit_records() if record["action"] == "identify"]
        assert [record["ip_address"] for record in refused] == ["127.0.0.1"]


@pytest.mark.promise("D14")
def test_a_named_proxy_tells_addresses_and_its_clients_are_counted_one_by_one(
    tmp_path: Path,
) -> None:
    settings = {
        "CARREL_SERVER_TRUSTED_PROXIES": "127.0.0.1",
        "CARREL_SERVER_MAX_CONNECTIONS_PER_ADDRESS": "1",
    }
    with served(tmp_path, CARREL_AUTH_MODE="tokens", **settings) as server, ExitStack() as stack:
        connections = [stack.enter_context(server.connect()) for _ in range(5)]
        for number, connection in enumerate(connections):
            connection.sendall(
                post("/mcp", PING, f"X-Forwarded-For: 198.51.100.7, 203.0.113.{number}")
            )
            assert status_of(read_response(connection)) == 401, (
                "the proxy itself has as many as it needs"
            )
    refused = [record for record in server.audit_records() if record["action"] == "identify"]
    assert [record["ip_address"] for record in refused] == [
        f"203.0.113.{number}" for number in range(5)
    ]


@pytest.mark.promise("D14")
def test_two_workers_have_the_same_bounds(tmp_path: Path) -> None:
    with served(
        tmp_path, "--workers", "2", CARREL_SERVER_MAX_HEADER_BYTES="2048", **SMALL_TIMES
    ) as server:
        for _ in range(6):
            large = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 3000 + b"\r\n\r\n"
            assert status_of(server.ask(large)) == 431
            assert status_of(server.ask(b"GET /health HTTP/1.1\r\nHost: lo")) == 408
            assert server.ping_status() == 200
