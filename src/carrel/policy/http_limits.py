"""What HTTP connections and requests may take up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Bounds of one connection, one address and all; `trusted_proxies` have no address bound."""

    max_header_bytes: int = 32 * 1024
    max_headers: int = 100
    max_target_bytes: int = 8 * 1024
    max_body_bytes: int = 4 * 1024 * 1024
    header_timeout_seconds: float = 10.0
    keep_alive_seconds: float = 15.0
    send_timeout_seconds: float = 30.0
    max_connections: int = 1000
    max_connections_per_address: int = 256
    max_pipelined_requests: int = 16
    trusted_proxies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of one request, one caller, and all together."""

    max_body_bytes: int = 4 * 1024 * 1024
    body_timeout_seconds: float = 20.0
    max_buffered_bytes: int = 64 * 1024 * 1024
    max_buffered_bytes_per_address: int = 16 * 1024 * 1024
    max_requests_per_proxied_client: int = 256
