"""Network addresses as limits count them: one IPv4 address, or one IPv6 /64, which is what a single
customer holds.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache

_NETWORK_BITS = 64


@lru_cache(maxsize=4096)
def address_group(address: str) -> str:
    """What counts as one caller: an IPv4 address, also when mapped into IPv6; the /64 of an IPv6
    address; else the text itself.
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:100]
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    if found.is_loopback:
        return str(found)
    return str(ipaddress.ip_network((found, _NETWORK_BITS), strict=False))
