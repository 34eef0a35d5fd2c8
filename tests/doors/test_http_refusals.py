"""What HTTP turns away before any operation is known: wrong pages, wrong names, wrong methods,
bodies too large or too slow.
"""

from __future__ import annotations

import pytest

from carrel.core.health import Health
from carrel.policy.limits import Rate
from tests.doors.house import House, TokenTable, build_house

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
ROOMS = ("/mcp", "/sample/mcp")


@pytest.mark.promise("D5")
@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://127.0.0.1.evil.example",
        "http://[::2]",
        "file://x",
        "",
    ],
)
@pytest.mark.parametrize(
    "path", ["/mcp", "/sample/mcp", "/mcp/tools", "/mcp/invoke", "/docs", "/nowhere"]
)
def test_a_page_from_elsewhere_is_refused(house: House, origin: str, path: str) -> None:
    answer = house.send("POST", path, PING, [("origin", origin)])
    assert answer.status == 403
    assert answer.json["error_type"] == "origin_not_allowed"
    assert answer.header("access-control-allow-origin") is None
    assert answer.header("www-authenticate") is None
    assert house.audit.records[-1].error_code == "origin_not_allowed"


@pytest.mark.promise("D5")
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8080",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "",
        "[::2]:80",
        None,
    ],
)
def test_a_name_that_is_not_ours_is_refused(house: House, host: str | None) -> None:
    answer = house.send("POST", "/mcp", PING, host=host)
    assert answer.status == 421
    assert answer.json["error_type"] == "host_not_allowed"
    assert house.audit.records[-1].error_code == "host_not_allowed"


@pytest.mark.promise("D5")
@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:9", "127.0.0.1:8080", "127.8.8.8", "[::1]:8080", "desk.localhost"],
)
def test_loopback_names_are_let_in(house: House, host: str) -> None:
    assert house.send("POST", "/mcp", PING, host=host).status == 200


@pytest.mark.promise("D5")
@pytest.mark.promise("D11")
def test_configured_names_and_the_public_address_are_let_in() -> None:
    server = {
        "allowed_hosts": ("desk.example",),
        "allowed_origins": ("https://app.example/",),
        "public_url": "https://carrel.example/",
    }
    house = build_house(server=server)
    for host in ("desk.example", "desk.example:443", "carrel.example"):
        assert house.send("POST", "/mcp", PING, host=host).status == 200
    for origin in ("https://app.example", "https://carrel.example"):
        answer = house.send("POST", "/mcp", PING, [("origin", origin), JSON])
        assert answer.status == 200
        assert answer.header("access-control-allow-origin") == origin
        assert answer.header("vary") == "origin"
    assert house.send("POST", "/mcp", PING, [("origin", "http://app.example"), JSON]).status == 403


SAY = b'{"tool_name":"say","params":{"text":"hi"}}'
JSON = ("content-type", "application/json")


@pytest.mark.promise("D14")
@pytest.mark.parametrize("path", ["/mcp", "/sample/mcp", "/mcp/invoke"])
@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:3000",
        "http://127.0.0.1:6274",
        "http://127.0.0.2:8080",
        "http://[::1]:9",
        "https://localhost:8080",
    ],
)
def test_a_page_on_another_port_of_this_machine_cannot_write_and_is_told_what_to_set(
    house: House, path: str, origin: str
) -> None:
    for body_type in (JSON, ("content-type", "text/plain")):
        answer = house.send("POST", path, SAY, [("origin", origin), body_type])
        assert answer.status == 403
        assert f'add "{origin}" to server.allowed_origins' in answer.json["recovery_suggestions"][0]
        assert not [name for name, _ in answer.headers if name.startswith("access-control")]
    preflight = house.send(
        "OPTIONS", path, headers=[("origin", origin), ("access-control-request-method", "POST")]
    )
    assert preflight.status == 403
    assert not [name for name, _ in preflight.headers if name.startswith("access-control")]


@pytest.mark.promise("D14")
def test_loopback_pages_may_only_look_in_local_mode_and_cannot_read_the_answer(
    house: House,
) -> None:
    looked = house.send("GET", "/docs", headers=[("origin", "http://localhost:3000")])
    assert looked.status == 200
    assert not [name for name, _ in looked.headers if name.startswith("access-control")]
    guarded = build_house(mode="tokens")
    assert guarded.send("GET", "/docs", headers=[("origin", "http://localhost:3000")]).status == 403
    assert guarded.send("GET", "/docs", headers=[("origin", "http://localhost:8080")]).status == 403
    own = [("origin", "http://127.0.0.1:8080")]
    assert guarded.send("GET", "/docs", headers=own).status == 200, (
        "the very address that is called"
    )


@pytest.mark.promise("D14")
@pytest.mark.parametrize(
    "origin", ["http://127.0.0.1:8080", "http://localhost:8080", "HTTP://LocalHost:8080"]
)
def test_our_own_pages_may_write(house: House, origin: str) -> None:
    answer = house.send(
        "POST", "/mcp/invoke", SAY, [("origin", origin), JSON], host=origin.split("/")[2]
    )
    assert answer.status == 200
    assert answer.header("access-control-allow-origin") is None, (
        "our own pages need no permission to read"
    )


@pytest.mark.promise("D14")
@pytest.mark.parametrize(
    ("host", "origin"),
    [("127.0.0.1:8080", "http://localhost:8080"), ("localhost:8080", "http://127.0.0.1:8080")],
)
def test_localhost_and_its_address_are_two_servers(house: House, host: str, origin: str) -> None:
    """Browsers ask [::1] first for localhost, and there, on the same port, may be somebody else's
    server.
    """
    answer = house.send("POST", "/mcp/invoke", SAY, [("origin", origin), JSON], host=host)
    assert answer.status == 403


@pytest.mark.promise("D14")
def test_a_listed_page_may_write_and_read() -> None:
    house = build_house(server={"allowed_origins": ("http://localhost:6274",)})
    answer = house.send(
        "POST",
        "/mcp/invoke",
        SAY,
        [("origin", "http://localhost:6274"), ("sec-fetch-site", "same-site"), JSON],
    )
    assert answer.status == 200
    assert answer.header("access-control-allow-origin") == "http://localhost:6274"
    assert (
        house.send("POST", "/mcp/invoke", SAY, [("origin", "http://localhost:6275"), JSON]).status
        == 403
    )


@pytest.mark.promise("D14")
@pytest.mark.parametrize("site", ["cross-site", "same-site", "CROSS-SITE", "", "anything"])
def test_a_form_of_another_site_is_refused_even_without_an_origin(house: House, site: str) -> None:
    assert house.send("POST", "/mcp/invoke", SAY, [("sec-fetch-site", site), JSON]).status == 403
    assert house.send("GET", "/docs", headers=[("sec-fetch-site", site)]).status == 200, (
        "following a link changes nothing"
    )


@pytest.mark.promise("D14")
def test_what_a_page_can_send_without_permission_is_no_call(house: House) -> None:
    own = ("origin", "http://127.0.0.1:8080")
    for path in ("/mcp", "/mcp/invoke"):
        for more in (
            (),
            (("content-type", "text/plain"),),
            (("content-type", "application/x-www-form-urlencoded"),),
        ):
            assert house.send("POST", path, SAY, [own, *more]).status == 415
    assert house.send("POST", "/mcp/invoke", SAY).status == 200, (
        "programs send no origin and may leave the type out"
    )


@pytest.mark.promise("D14")
@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("host", "127.0.0.1:8080", "127.0.0.1:8080"),
        ("host", "evil.example", "127.0.0.1:8080"),
        ("authorization", "Bearer a", "Bearer b"),
        ("origin", "http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("content-type", "application/json", "text/plain"),
    ],
)
def test_a_header_that_decides_something_is_sent_once(
    house: House, name: str, first: str, second: str
) -> None:
    host = None if name == "host" else "127.0.0.1:8080"
    answer = house.send("POST", "/mcp/invoke", SAY, [(name, first), (name, second)], host=host)
    assert (answer.status, answer.json["error_type"]) == (400, "malformed_request")
    assert house.audit.records[-1].error_code == "malformed_request"


@pytest.mark.promise("D14")
@pytest.mark.parametrize("path", ["/mcp", "/sample/mcp", "/mcp/invoke"])
def test_a_stranger_is_refused_before_their_body_is_read(path: str) -> None:
    house = build_house(identity=TokenTable({}), server={"body_timeout_seconds": 600})
    answer = house.send("POST", path, [], [("content-length", "4000000"), JSON])
    assert answer.status == 401
    assert house.audit.records[-1].error_code == "unauthenticated"


@pytest.mark.promise("D14")
def test_a_caller_with_no_calls_left_is_refused_before_a_large_body_is_read() -> None:
    house = build_house(identity=TokenTable({"ada": ["admin"]}), rate=Rate(per_minute=1, burst=1))
    ada = [("authorization", "Bearer ada"), JSON]
    assert house.send("POST", "/mcp/invoke", SAY, ada).status == 200
    large = house.send("POST", "/mcp/invoke", [], [*ada, ("content-length", "4000000")])
    endless = house.send("POST", "/mcp/invoke", [], [*ada, ("transfer-encoding", "chunked")])
    assert [answer.status for answer in (large, endless)] == [429, 429]
    assert large.header("retry-after") is not None


@pytest.mark.promise("D14")
def test_what_a_stranger_says_of_itself_is_cut_before_it_is_written_down(house: House) -> None:
    house.send(
        "POST",
        "/x" * 5000,
        SAY,
        [("user-agent", "a\x9b" * 20_000), ("origin", "https://evil.example")],
    )
    record = house.audit.records[-1]
    assert (len(record.user_agent), len(record.resource)) == (200, 200)
    assert record.user_agent.isprintable()


@pytest.mark.promise("D2")
@pytest.mark.parametrize("path", ROOMS)
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH"])
def test_only_post_reaches_mcp_and_that_is_said_before_anybody_is_asked_who_they_are(
    path: str, method: str
) -> None:
    house = build_house(identity=TokenTable({}))
    answer = house.send(method, path)
    assert answer.status == 405
    assert answer.header("allow") == "POST"
    assert answer.header("www-authenticate") is None
    assert house.send("POST", path, PING).status == 401


@pytest.mark.promise("D8")
def test_health_and_readiness_skip_host_origin_and_authentication() -> None:
    house = build_house(identity=TokenTable({}))
    stranger = [("origin", "https://evil.example")]
    answer = house.send("GET", "/health", headers=stranger, host="evil.example")
    assert (answer.status, answer.json) == (200, {"status": "healthy"})
    assert house.send("GET", "/ready", headers=stranger, host=None).status == 200
    assert house.send("HEAD", "/health").body == b""


@pytest.mark.promise("D8")
def test_readiness_says_which_store_is_not_reachable() -> None:
    async def well() -> Health:
        return Health(True, "12 papers")

    async def ill() -> Health:
        return Health(False, "snapshot is missing", "Run carrel papers build.")

    house = build_house(checks={"papers": well, "notes": ill})
    answer = house.send("GET", "/ready")
    assert answer.status == 503
    assert answer.json == {
        "status": "not ready",
        "checks": {"papers": {"ok": True}, "notes": {"ok": False}},
    }


@pytest.mark.promise("D5")
@pytest.mark.parametrize("path", ["/mcp", "/mcp/invoke"])
def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not(path: str) -> None:
    house = build_house(server={"max_body_bytes": 1024})
    declared = house.send("POST", path, b"", [("content-length", "1025")])
    chunked = house.send("POST", path, [b"x" * 600, b"x" * 600])
    whole = house.send("POST", path, b"x" * 1025)
    absurd = house.send("POST", path, b"", [("content-length", "9" * 5000)])
    assert [answer.status for answer in (declared, chunked, whole, absurd)] == [413, 413, 413, 413]
    assert {record.error_code for record in house.audit.records} == {"body_too_large"}


@pytest.mark.promise("D5")
def test_a_body_of_exactly_the_limit_is_taken() -> None:
    house = build_house(server={"max_body_bytes": 1024})
    assert house.send("POST", "/mcp", PING + b" " * (1024 - len(PING))).status == 200


@pytest.mark.promise("D5")
def test_a_body_that_does_not_arrive_is_given_up() -> None:
    house = build_house(server={"body_timeout_seconds": 0.01})
    answer = house.send("POST", "/mcp", [], [("content-length", "100")])
    assert answer.status == 408
    assert answer.json["error_type"] == "body_too_slow"
    assert house.audit.records[-1].error_code == "body_too_slow"


def test_preflight_says_what_a_listed_page_may_send() -> None:
    house = build_house(server={"allowed_origins": ("http://localhost:3000",)})
    answer = house.send(
        "OPTIONS",
        "/mcp",
        headers=[("origin", "http://localhost:3000"), ("access-control-request-method", "POST")],
    )
    assert answer.status == 204
    assert answer.header("access-control-allow-methods") == "POST"
    assert "mcp-protocol-version" in (answer.header("access-control-allow-headers") or "")


def test_nothing_there_is_404_in_the_common_error_form(house: House) -> None:
    answer = house.send("GET", "/no/such/place")
    assert answer.status == 404
    assert answer.json["error_type"] == "not_found"


@pytest.mark.promise("D11")
def test_a_forwarded_address_counts_only_from_a_proxy_that_is_named() -> None:
    forwarded = [("x-forwarded-for", "203.0.113.9, 127.0.0.1")]
    body = b'{"tool_name":"say","params":{"text":"hi"}}'
    trusting = build_house(server={"trusted_proxies": ("127.0.0.1",)})
    trusting.send("POST", "/mcp/invoke", body, forwarded)
    wary = build_house()
    wary.send("POST", "/mcp/invoke", body, forwarded)
    trusting.send(
        "POST",
        "/mcp/invoke",
        body,
        [("x-forwarded-for", "203.0.113.9"), ("x-forwarded-for", "127.0.0.1")],
    )
    assert {record.ip_address for record in trusting.audit.records} == {"203.0.113.9"}
    assert {record.ip_address for record in wary.audit.records} == {"127.0.0.1"}
