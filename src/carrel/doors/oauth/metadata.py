"""OAuth metadata documents, and the WWW-Authenticate challenge that names them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from carrel.core.errors import CarrelError
from carrel.doors.http import Route
from carrel.doors.http.messages import Challenge, Header, HttpRequest, Response
from carrel.policy.identity import InvalidTokenError

if TYPE_CHECKING:
    from carrel.policy.authorization.server import AuthorizationServer

PROTECTED_RESOURCE = "/.well-known/oauth-protected-resource"
AUTHORIZATION_SERVER = "/.well-known/oauth-authorization-server"


def metadata_url(resource: str) -> str:
    """The URL of a resource's metadata (RFC 9728)."""
    parts = urlsplit(resource)
    return f"{parts.scheme}://{parts.netloc}{PROTECTED_RESOURCE}{parts.path.rstrip('/')}"


def challenge_for(resource: str | None) -> Challenge:
    """Makes the WWW-Authenticate headers for refusals at one resource."""
    where = [] if resource is None else [("resource_metadata", metadata_url(resource))]

    def challenge(error: CarrelError) -> tuple[Header, ...]:
        match error.code:
            case "unauthenticated" if isinstance(error, InvalidTokenError):
                facts = [("error", "invalid_token"), ("error_description", error.message), *where]
            case "unauthenticated":
                facts = where
            case "insufficient_permissions":
                required = error.details.get("required")
                scopes = " ".join(required) if isinstance(required, list) else ""
                facts = [("error", "insufficient_scope"), ("scope", scopes), *where]
            case _:
                return ()
        shown = ", ".join(f'{name}="{_quote(value)}"' for name, value in facts)
        return ((b"www-authenticate", f"Bearer {shown}".strip().encode("ascii", "replace")),)

    return challenge


def _quote(value: str) -> str:
    return (
        "".join(sign for sign in value if sign.isprintable())
        .replace("\\", "\\\\")
        .replace('"', '\\"')
    )


def protected_resource_routes(
    base_url: str,
    paths: Iterable[str],
    scopes: Iterable[str],
    authorization_servers: Iterable[str],
    name: str,
) -> dict[str, Route]:
    """The metadata of the whole server and of each address."""
    prefix = urlsplit(base_url).path.rstrip("/")
    routes: dict[str, Route] = {}
    for path in ("", *paths):
        facts: dict[str, object] = {
            "resource": f"{base_url}{path}",
            "resource_name": name,
            "scopes_supported": sorted(scopes),
            "bearer_methods_supported": ["header"],
        }
        servers = list(authorization_servers)
        if servers:
            facts["authorization_servers"] = servers
        route = _document(facts)
        routes[f"{PROTECTED_RESOURCE}{prefix}{path}"] = route
        routes[f"{PROTECTED_RESOURCE}{path}"] = route
    return routes


def authorization_server_routes(server: AuthorizationServer) -> dict[str, Route]:
    """The authorization server's own metadata (RFC 8414) and its keys."""
    issuer = server.issuer.rstrip("/")
    facts: dict[str, object] = {
        "issuer": server.issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "revocation_endpoint": f"{issuer}/revoke",
        "jwks_uri": f"{issuer}/.well-known/jwks.json",
        "scopes_supported": sorted(server.offered_scopes),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": server.clients.reads_documents,
    }
    if server.clients.may_register:
        facts["registration_endpoint"] = f"{issuer}/register"

    async def jwks(request: HttpRequest) -> Response:
        return Response.json(
            200, await server.keys.fetch(), ((b"cache-control", b"public, max-age=60"),)
        )

    route = _document(facts)
    prefix = urlsplit(issuer).path.rstrip("/")
    return {
        AUTHORIZATION_SERVER: route,
        f"{AUTHORIZATION_SERVER}{prefix}": route,
        "/.well-known/jwks.json": Route({"GET": jwks}),
    }


def _document(facts: dict[str, object]) -> Route:
    async def answer(request: HttpRequest) -> Response:
        return Response.json(200, facts, ((b"cache-control", b"public, max-age=300"),))

    return Route({"GET": answer})
