"""The endpoints programs call: token, registration and revocation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import orjson

from carrel.core.caller import ANONYMOUS_USER, Caller
from carrel.core.errors import CarrelError, UnavailableError
from carrel.doors.http import Route
from carrel.doors.http.exchange import Exchange, Header, Response
from carrel.doors.oauth.authorize import AuthorizePages
from carrel.doors.oauth.forms import form_of
from carrel.policy.authorization.errors import OAuthError, UntrustedRequestError
from carrel.policy.authorization.people import People
from carrel.policy.authorization.server import AuthorizationServer
from carrel.policy.authorization.verifier import GrantedTokenVerifier
from carrel.policy.gate import Gate

_NO_STORE: tuple[Header, ...] = ((b"cache-control", b"no-store"), (b"pragma", b"no-cache"))
_LARGEST_REGISTRATION = 64 * 1024
# Strangers may send bodies here, so that little is read. What is somewhat too large is refused in
# OAuth's own words.
_LARGEST_BODY = 256 * 1024


class OAuthEndpoints:
    """Answers programs in JSON, errors too (RFC 6749, 7009, 7591)."""

    def __init__(
        self, server: AuthorizationServer, verifier: GrantedTokenVerifier, gate: Gate
    ) -> None:
        self._server = server
        self._verifier = verifier
        self._gate = gate

    async def token(self, exchange: Exchange) -> Response:
        return await self._answered(exchange, "oauth:token", self._token)

    async def register(self, exchange: Exchange) -> Response:
        return await self._answered(exchange, "oauth:register", self._register)

    async def revoke(self, exchange: Exchange) -> Response:
        return await self._answered(exchange, "oauth:revoke", self._revoke)

    async def _token(self, exchange: Exchange) -> Response:
        form = form_of(exchange)
        issued = await self._server.exchange(form)
        grant = issued.grant
        caller = Caller(grant.user_name, frozenset(), grant.client_id)
        facts: dict[str, object] = {
            "grant_type": form["grant_type"][0],
            "scopes": sorted(issued.scopes),
            "grant": grant.grant_id,
        }
        self._gate.noted(exchange.visit, "oauth:token", grant.resource, caller, facts)
        answer = {
            "access_token": issued.access_token,
            "token_type": "Bearer",
            "expires_in": issued.expires_in,
            "refresh_token": issued.refresh_token,
            "scope": " ".join(sorted(issued.scopes)),
        }
        return Response.json(200, answer, _NO_STORE)

    async def _register(self, exchange: Exchange) -> Response:
        if len(exchange.body) > _LARGEST_REGISTRATION:
            raise OAuthError("invalid_client_metadata", "The registration is too large")
        try:
            facts = orjson.loads(exchange.body)
        except orjson.JSONDecodeError:
            raise OAuthError("invalid_client_metadata", "The registration is not JSON") from None
        client = await self._server.clients.register(facts, exchange.visit.address_group)
        caller = Caller(ANONYMOUS_USER, frozenset(), client.client_id)
        shown: dict[str, object] = {
            "name": client.name,
            "redirect_uris": list(client.redirect_uris),
        }
        self._gate.noted(exchange.visit, "oauth:register", "oauth://clients", caller, shown)
        answer: dict[str, object] = {
            "client_id": client.client_id,
            "client_id_issued_at": int(client.created_at),
            "client_name": client.name,
            "redirect_uris": list(client.redirect_uris),
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }
        if client.website:
            answer["client_uri"] = client.website
        if isinstance(facts.get("scope"), str):
            answer["scope"] = facts["scope"]
        return Response.json(201, answer, _NO_STORE)

    async def _revoke(self, exchange: Exchange) -> Response:
        form = form_of(exchange)
        token = form.get("token", [""])[0]
        grant = await self._server.revoke(
            form, await self._verifier.grant_of(token) if token.count(".") == 2 else None
        )
        if grant is not None:
            caller = Caller(grant.user_name, frozenset(), grant.client_id)
            self._gate.noted(
                exchange.visit, "oauth:revoke", grant.resource, caller, {"grant": grant.grant_id}
            )
        return Response(200, b"", _NO_STORE)

    async def _answered(
        self, exchange: Exchange, action: str, answer: Callable[[Exchange], Awaitable[Response]]
    ) -> Response:
        try:
            return await answer(exchange)
        except (OAuthError, UntrustedRequestError, UnavailableError) as error:
            self._gate.refused(exchange.visit, action, "oauth://", error)
            return _refused(error)


def _refused(error: CarrelError) -> Response:
    name = error.error if isinstance(error, OAuthError) else "invalid_client"
    status = 400
    headers = _NO_STORE
    if isinstance(error, UnavailableError):
        name, status = "temporarily_unavailable", 503
    elif isinstance(error, OAuthError) and error.retry_after_seconds is not None:
        status = 429
        headers = (*headers, (b"retry-after", str(error.retry_after_seconds).encode()))
    elif name == "access_denied":
        status = 403
    return Response.json(status, {"error": name, "error_description": error.message}, headers)


def oauth_routes(
    server: AuthorizationServer,
    people: People,
    verifier: GrantedTokenVerifier,
    gate: Gate,
    name: str,
) -> dict[str, Route]:
    """The addresses of the built-in authorization server, without its metadata."""
    pages = AuthorizePages(server, people, gate, name)
    endpoints = OAuthEndpoints(server, verifier, gate)
    routes = {
        "/authorize": Route({"GET": pages.get, "POST": pages.post}, max_body_bytes=_LARGEST_BODY),
        "/token": Route({"POST": endpoints.token}, max_body_bytes=_LARGEST_BODY),
        "/revoke": Route({"POST": endpoints.revoke}, max_body_bytes=_LARGEST_BODY),
    }
    if server.clients.may_register:
        routes["/register"] = Route({"POST": endpoints.register}, max_body_bytes=_LARGEST_BODY)
    return routes
