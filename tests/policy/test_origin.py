"""Which names the server answers to, and which pages may call it: read strictly."""

from __future__ import annotations

import pytest

from carrel.core.caller import address_group
from carrel.policy.origin import Authority, MalformedAuthorityError, Origin, OriginPolicy

MALFORMED = [
    "", " ", ":", ":80", "localhost:", "localhost:0", "localhost:65536", "localhost:99999",
    "localhost:080", "localhost:+80",
    "localhost:8o", "localhost:80:80", "user@localhost", "user:password@localhost:80", "localhost/",
    "localhost?x", "localhost#x",
    "localhost.", "localhost.:80", ".localhost", "local..host", "-a.example", "a-.example",
    "loc%61lhost", "löcalhost",
    "ⓛocalhost", "localhost\x00", "local host", "localhost,evil.example", "127.1", "0x7f.0.0.1",
    "2130706433", "0177.0.0.1",
    "127.0.0.1.", "127.0.0.256", "127.0.0.0x1", "::1", "[::1", "::1]", "[::1%lo]", "[::1%25lo]",
    "[v1.x]", "[127.0.0.1]", "[]",
    "[::1]80", "[::1]:", "[:::1]", "a" * 64 + ".example", "a." * 130 + "a", "localhost:80\r\nx: y",
    "１２７.0.0.1",
]  # fmt: skip


@pytest.mark.promise("D14")
@pytest.mark.parametrize("text", MALFORMED)
def test_a_host_that_two_readers_could_read_differently_is_none(text: str) -> None:
    with pytest.raises(MalformedAuthorityError):
        Authority.parse(text)
    with pytest.raises(MalformedAuthorityError):
        Origin.parse(f"http://{text}")


@pytest.mark.promise("D14")
@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("localhost", "localhost", None),
        ("LOCALHOST:9", "localhost", 9),
        ("desk.example:65535", "desk.example", 65535),
        ("xn--bcher-kva.example", "xn--bcher-kva.example", None),
        ("my_host", "my_host", None),
        ("127.0.0.1:8080", "127.0.0.1", 8080),
        ("[0:0:0:0:0:0:0:1]:80", "[::1]", 80),
    ],
)
def test_a_host_has_one_form(text: str, host: str, port: int | None) -> None:
    assert Authority.parse(text) == Authority(host, port)


@pytest.mark.promise("D14")
@pytest.mark.parametrize(
    "text",
    ["null", "", "*", "localhost", "//localhost", "http:localhost", "http://", "http://localhost/", "http://localhost?x", "file://",  # noqa: E501
     "file:///x", "http://a b", "http://localhost, http://evil.example", "javascript:alert(1)", "http://user@localhost", "about:blank"],  # noqa: E501
)  # fmt: skip
def test_an_origin_is_a_scheme_a_host_and_a_port_and_nothing_else(text: str) -> None:
    with pytest.raises(MalformedAuthorityError):
        Origin.parse(text)


@pytest.mark.promise("D14")
def test_origins_are_the_same_when_scheme_host_and_port_are() -> None:
    assert (
        Origin.parse("HTTPS://Desk.Example")
        == Origin.parse("https://desk.example:443")
        == Origin("https", "desk.example", 443)
    )
    assert Origin.parse("http://desk.example:443") != Origin.parse("https://desk.example")


@pytest.mark.promise("D14")
def test_a_page_is_ours_when_it_came_from_the_address_it_calls() -> None:
    policy = OriginPolicy.of(["desk.example"], ["https://app.example/"])
    page = Origin.parse("https://desk.example")
    assert policy.is_own(page, "https", Authority("desk.example"))
    assert not policy.is_own(page, "http", Authority("desk.example"))
    assert not policy.is_own(page, "https", Authority("desk.example", 8443))
    assert not policy.is_listed(page)
    assert policy.is_listed(Origin.parse("https://app.example"))
    assert not policy.is_listed(Origin.parse("http://app.example"))


@pytest.mark.promise("D14")
@pytest.mark.parametrize(
    ("address", "group"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::1"),
        ("unknown", "unknown"),
    ],
)
def test_an_ipv6_network_counts_as_one_address(address: str, group: str) -> None:
    assert address_group(address) == group


@pytest.mark.promise("D14")
def test_a_name_may_be_as_long_as_names_are_and_no_longer() -> None:
    longest = ".".join(["a" * 61] * 4) + ".abcde"
    assert len(longest) == 253
    assert Authority.parse(longest).host == longest
    for text in (f"{longest}a", "a" * 64):
        with pytest.raises(MalformedAuthorityError):
            Authority.parse(text)
    assert Authority.parse("a" * 63).host == "a" * 63


@pytest.mark.promise("D14")
def test_a_host_is_answered_when_it_is_listed_with_or_without_its_port() -> None:
    policy = OriginPolicy.of(["desk.example", "other.example:8443"], [])
    for text, is_accepted in {
        "desk.example": True,
        "desk.example:9": True,
        "other.example:8443": True,
        "other.example": False,
        "other.example:9": False,
        "evil.example": False,
        "evil.example:8443": False,
        "localhost:1": True,
        "a.localhost": True,
        "127.9.9.9": True,
        "[::1]:7": True,
        "128.0.0.1": False,
        "[::2]": False,
    }.items():
        assert policy.accepts_host(Authority.parse(text)) is is_accepted, text
    assert OriginPolicy.of(["*"], []).accepts_host(Authority("evil.example"))
    assert OriginPolicy.of([], ["*"]).is_listed(Origin.parse("https://evil.example"))
    assert not OriginPolicy.of(["*"], []).is_listed(Origin.parse("https://evil.example"))
    own = OriginPolicy.of([], [])
    assert own.is_own(Origin("http", "desk.example", 80), "http", Authority("desk.example"))
    assert own.is_own(Origin("http", "desk.example", 81), "http", Authority("desk.example", 81))
