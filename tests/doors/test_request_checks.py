"""What a request says of itself before it is read: sizes, hosts, pages and foreign text."""

from __future__ import annotations

import pytest

from carrel.doors.http.messages import (
    BodyTooLargeError,
    HostNotAllowedError,
    OriginNotAllowedError,
    RepeatedHeaderError,
)
from carrel.doors.http.request_checks import (
    HeaderChecks,
    check_declared_size,
    is_from_browser,
    may_be_large,
    printable,
)
from carrel.policy.origin import OriginPolicy, TrustedProxies


def sized(value: bytes) -> dict[bytes, bytes]:
    return {b"content-length": value}


@pytest.mark.promise("D14")
def test_a_body_may_say_that_it_is_as_large_as_the_limit_and_no_larger() -> None:
    for value in (b"0", b"100", b"x", b"0" * 15 + b"100"):
        check_declared_size(sized(value), 100)
    check_declared_size({}, 100)
    for value in (b"101", b"9" * 18, b"0" * 19):
        with pytest.raises(BodyTooLargeError):
            check_declared_size(sized(value), 100)


@pytest.mark.promise("D14")
def test_a_body_is_counted_from_five_digits_or_without_a_size() -> None:
    assert not may_be_large(sized(b"9999"))
    assert may_be_large(sized(b"10000"))
    assert may_be_large({b"transfer-encoding": b"chunked"})
    assert not may_be_large({})


def test_foreign_text_is_cut_and_shows_no_control_signs() -> None:
    assert printable("plain", 5) == "plain"
    assert printable("plain!", 5) == "plain"
    assert printable("a\r\nb\x00", 9) == "a??b?"


def test_only_browsers_say_where_a_page_came_from() -> None:
    assert is_from_browser({b"origin": b"x"})
    assert is_from_browser({b"sec-fetch-site": b"x"})
    assert not is_from_browser({b"host": b"x"})


@pytest.mark.promise("D14")
def test_headers_decide_who_is_let_in() -> None:
    policy = OriginPolicy.of(
        ["desk.example"], ["https://app.example"], loopback_pages_may_read=True
    )
    checks = HeaderChecks(policy, TrustedProxies(["10.0.0.0/8"]))
    host = {b"host": b" desk.example\t"}

    def check(method: str = "POST", peer: str = "192.0.2.1", **headers: str) -> bool:
        given = {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}
        return checks.check(method, {**host, **given}, frozenset(), peer)

    for _ in range(2):
        assert check() is False
        with pytest.raises(HostNotAllowedError):
            check(host="evil.example")
        with pytest.raises(HostNotAllowedError):
            check(host="desk..example")
    with pytest.raises(HostNotAllowedError):
        checks.check("GET", {}, frozenset(), "192.0.2.1")
    with pytest.raises(RepeatedHeaderError, match="host"):
        checks.check("GET", host, {b"host", b"x-other"}, "192.0.2.1")
    assert checks.check("GET", host, {b"x-other"}, "192.0.2.1") is False
    assert check(sec_fetch_site="same-origin") is check(sec_fetch_site=" none ") is False
    assert check("GET", sec_fetch_site="cross-site") is False
    with pytest.raises(OriginNotAllowedError):
        check(sec_fetch_site="cross-site")
    assert check(origin="https://app.example") is True
    assert check(origin="http://desk.example") is False
    assert check("GET", origin="http://localhost:5") is False
    assert check("HEAD", origin="http://localhost:5") is False
    proxied = {"origin": "https://desk.example", "x_forwarded_proto": "https"}
    assert check(peer="10.0.0.1", **proxied) is False
    for refused in (
        {"origin": "null"},
        {"origin": "http://localhost:5"},
        {"origin": "https://evil.example"},
        proxied,
    ):
        with pytest.raises(OriginNotAllowedError):
            check(**refused)
    with pytest.raises(OriginNotAllowedError):
        check("GET", origin="https://evil.example")
