"""Rules for the address: anonymous connections, and accepted hosts and pages."""

from __future__ import annotations

from urllib.parse import urlsplit

from carrel.core.catalogue import Catalogue
from carrel.policy.http_limits import ConnectionLimits, RequestLimits
from carrel.policy.origin import (
    ANY,
    MalformedAuthorityError,
    OriginPolicy,
    TrustedProxies,
    is_loopback,
)
from carrel.settings import Settings, SettingsError


def refuse_open_server(settings: Settings) -> None:
    """Raises SettingsError if strangers got every scope or passwords were sent in the clear."""
    host = settings.server.host
    if settings.auth.mode in {None, "local"} and not is_loopback(host):
        raise SettingsError(
            f"Refusing to listen on {host} with no authentication: anybody who can reach it would "
            f"hold every scope",
            next_step="Listen on 127.0.0.1, or set auth.mode (CARREL_AUTH_MODE): builtin to let "
            "people log in, tokens for scripts, jwt for your own authorization server, cloudrun "
            "behind Cloud Run's IAM.",
            details={"setting": "server.host"},
        )
    base = urlsplit(settings.base_url)
    if (
        settings.auth.mode == "builtin"
        and base.scheme != "https"
        and not is_loopback(base.hostname or "")
        and not settings.auth.allow_plain_http
    ):
        raise SettingsError(
            f"Refusing to let people log in at {settings.base_url}: passwords and tokens would "
            f"cross the network in the clear",
            next_step="Put TLS in front and set server.public_url to its https address, or set "
            "auth.allow_plain_http = true.",
            details={"setting": "server.public_url"},
        )


def resource_paths(catalogue: Catalogue) -> list[str]:
    """The addresses tokens can be meant for."""
    return ["/mcp", "/desk/mcp", *(f"/{room.name}/mcp" for room in catalogue.rooms)]


def proxy_names(settings: Settings) -> tuple[str, ...]:
    """The proxies trusted to state a caller's address."""
    # On Cloud Run only the front end can connect, and it appends the caller's address.
    return settings.server.trusted_proxies or (("*",) if settings.auth.mode == "cloudrun" else ())


def trusted_proxies(settings: Settings) -> TrustedProxies:
    """The proxies, parsed; raises SettingsError."""
    try:
        return TrustedProxies(proxy_names(settings), header=settings.server.forwarded_header)
    except ValueError as error:
        raise SettingsError(
            f"server.trusted_proxies: {error}",
            next_step="Name addresses or networks, such as 10.0.0.0/8.",
        ) from None


def origin_policy(settings: Settings) -> OriginPolicy:
    """The hosts and pages that may be served; raises SettingsError."""
    server = settings.server
    is_local = settings.auth.mode in {None, "local"}
    if is_local and ANY in server.allowed_origins:
        raise SettingsError(
            "server.allowed_origins = * would let every web page act as the local user",
            next_step="Name the pages, such as http://localhost:6274, or set auth.mode.",
            details={"setting": "server.allowed_origins"},
        )
    own_host = f"[{server.host}]" if ":" in server.host else server.host or "localhost"
    hosts = [*server.allowed_hosts, own_host]
    if settings.auth.mode == "cloudrun" and not server.allowed_hosts:
        # Only the platform can connect, and it sends on requests for the names of this service
        # alone: one under run.app that nobody knows before it is deployed, and those that the
        # operator maps to it.
        hosts.append(ANY)
    origins = list(server.allowed_origins)
    if server.public_url:
        scheme, _, rest = server.public_url.partition("://")
        authority = rest.partition("/")[0]
        hosts.append(authority)
        origins.append(f"{scheme}://{authority}")
    try:
        return OriginPolicy.of(hosts, origins, loopback_pages_may_read=is_local)
    except MalformedAuthorityError as error:
        raise SettingsError(
            f"server.allowed_hosts, server.allowed_origins or server.public_url: cannot read "
            f"{str(error)!r}",
            next_step="Write a host as desk.example or [::1]:8080, and an origin as "
            "https://desk.example.",
        ) from None


# Two probe periods of a proxy that asks every second, and a little.
_STOP_DELAY_SECONDS = 3.0


def stop_delay_seconds(settings: Settings) -> float:
    """How long a server that is to stop still takes connections."""
    server = settings.server
    if server.stop_delay_seconds is not None:
        return server.stop_delay_seconds
    if settings.auth.mode == "cloudrun" or settings.is_on_cloud_run:
        # The platform sends nothing more before it sends the signal, and ends us 10 s after it.
        return 0.0
    is_behind_others = server.public_url or server.trusted_proxies or not is_loopback(server.host)
    return _STOP_DELAY_SECONDS if is_behind_others else 0.0


def connection_limits(settings: Settings) -> ConnectionLimits:
    """What connections may take up."""
    server = settings.server
    return ConnectionLimits(
        max_header_bytes=server.max_header_bytes,
        max_headers=server.max_headers,
        max_target_bytes=server.max_target_bytes,
        max_body_bytes=server.max_body_bytes,
        header_timeout_seconds=server.header_timeout_seconds,
        keep_alive_seconds=server.keep_alive_seconds,
        send_timeout_seconds=server.send_timeout_seconds,
        max_connections=server.max_connections,
        max_connections_per_address=server.max_connections_per_address,
        max_pipelined_requests=server.max_pipelined_requests,
        trusted_proxies=proxy_names(settings),
    )


def request_limits(settings: Settings) -> RequestLimits:
    """What one request, one caller and all together may take up."""
    server = settings.server
    return RequestLimits(
        max_body_bytes=server.max_body_bytes,
        body_timeout_seconds=server.body_timeout_seconds,
        max_buffered_bytes=max(server.max_buffered_body_bytes, server.max_body_bytes),
        max_buffered_bytes_per_address=max(
            server.max_buffered_body_bytes // 4, server.max_body_bytes
        ),
        max_requests_per_proxied_client=server.max_connections_per_address,
    )
