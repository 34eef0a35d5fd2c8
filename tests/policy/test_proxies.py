"""Whose word about an address is believed."""

from __future__ import annotations

import pytest

from carrel.policy.origin import TrustedProxies

PROXY = ["10.0.0.0/8", "2001:db8::/32"]


@pytest.mark.promise("D11")
@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "believed"),
    [
        ([], "10.0.0.1", "203.0.113.9", "10.0.0.1"),
        (PROXY, "192.0.2.1", "203.0.113.9", "192.0.2.1"),
        (PROXY, "10.0.0.1", "", "10.0.0.1"),
        (PROXY, "10.0.0.1", "203.0.113.9", "203.0.113.9"),
        (PROXY, "10.0.0.1", "1.2.3.4, 203.0.113.9, 10.9.9.9", "203.0.113.9"),
        (PROXY, "10.0.0.1", "10.1.1.1, 10.2.2.2", "10.1.1.1"),
        (PROXY, "2001:db8::1", "[2606:4700::1]:443", "2606:4700::1"),
        (PROXY, "10.0.0.1", "203.0.113.9:5555", "203.0.113.9"),
        (PROXY, "10.0.0.1", "1.2.3.4, unknown", "10.0.0.1"),
        (PROXY, "10.0.0.1", "<script>", "10.0.0.1"),
        (["*"], "169.254.1.1", "1.2.3.4, 203.0.113.9", "203.0.113.9"),
        (["*"], "169.254.1.1", "nonsense", "169.254.1.1"),
    ],
)
def test_the_address_is_the_last_hop_that_is_no_proxy_of_ours(
    trusted: list[str], peer: str, forwarded: str, believed: str
) -> None:
    assert TrustedProxies(trusted).address(peer, forwarded) == believed


@pytest.mark.promise("D14")
@pytest.mark.parametrize(
    ("peer", "said", "believed"),
    [
        ("192.0.2.1", "for=203.0.113.9", "192.0.2.1"),
        ("10.0.0.1", "for=203.0.113.9;proto=https;by=10.0.0.1", "203.0.113.9"),
        ("10.0.0.1", 'For="[2606:4700::1]:443"', "2606:4700::1"),
        ("10.0.0.1", "for=1.2.3.4, for=203.0.113.9, for=10.9.9.9", "203.0.113.9"),
        ("10.0.0.1", 'for="1.2.3.4, for=203.0.113.9', "203.0.113.9"),
        ("10.0.0.1", "for=_hidden", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.9", "10.0.0.1"),
        ("::ffff:10.0.0.1", 'for="[::ffff:203.0.113.9]"', "203.0.113.9"),
    ],
)
def test_forwarded_is_read_in_the_same_way(peer: str, said: str, believed: str) -> None:
    assert TrustedProxies(PROXY, header="forwarded").address(peer, said) == believed


@pytest.mark.promise("D14")
def test_the_scheme_is_what_the_last_proxy_said() -> None:
    assert TrustedProxies(PROXY).scheme("10.0.0.1", "http, https") == "https"
    assert TrustedProxies(PROXY).scheme("192.0.2.1", "https") is None
    assert TrustedProxies(PROXY).scheme("10.0.0.1", "ftp") is None
    assert (
        TrustedProxies(PROXY, header="forwarded").scheme("10.0.0.1", "for=1.2.3.4;proto=https")
        == "https"
    )


def test_a_proxy_that_is_no_address_is_refused() -> None:
    with pytest.raises(ValueError, match="proxy"):
        TrustedProxies(["proxy.example"])
