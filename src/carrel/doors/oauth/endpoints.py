"""The endpoints programs call: token, registration and revocation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs

import orjson

from carrel.core.caller import ANONYMOUS_USER, Caller
from carrel.core.errors import CarrelError, UnavailableError
from carrel.doors.http.messages import Header, HttpRequest, Response
from carrel.policy.authorization.access_tokens import GrantedTokenVerifier
from carrel.policy.authorization.models import OAuthError, UntrustedRequestError
from carrel.policy.authorization.server import AuthorizationServer
from carrel.policy.gate import Gate

_NO_STORE: tuple[Header, ...] = ((b"cache-control", b"no-store"), (b"pragma", b"no-cache"))
_LARGEST_REGISTRATION = 64 * 1024
# Strangers may post here, so the limit is low; a slightly larger body gets an OAuth error.
LARGEST_BODY = 256 * 1024


class OAuthEndpoints:
    """Answers programs in JSON, errors too (RFC 6749, 7009, 7591)."""

    def __init__(
        self, server: AuthorizationServer, verifier: GrantedTokenVerifier, gate: Gate
    ) -> None:
        self._server = server
        self._verifier = verifier
        self._gate = gate

    async def token(self, request: HttpRequest) -> Response:
        return await self._answer_errors(request, "oauth:token", self._token)

    async def register(self, request: HttpRequest) -> Response:
        return await self._answer_errors(request, "oauth:register", self._register)

    async def revoke(self, request: HttpRequest) -> Response:
        return await self._answer_errors(request, "oauth:revoke", self._revoke)

    async def _token(self, request: HttpRequest) -> Response:
        form = read_form(request)
        issued = await self._server.exchange_token(form)
        grant = issued.grant
        caller = Caller(grant.user_name, frozenset(), grant.client_id)
        facts: dict[str, object] = {
            "grant_type": form["grant_type"][0],
            "scopes": sorted(issued.scopes),
            "grant": grant.grant_id,
        }
        self._gate.record_event(request.visit, "oauth:token", grant.resource, caller, facts)
        answer = {
            "access_token": issued.access_token,
            "token_type": "Bearer",
            "expires_in": issued.expires_in,
            "refresh_token": issued.refresh_token,
            "scope": " ".join(sorted(issued.scopes)),
        }
        return Response.json(200, answer, _NO_STORE)

    async def _register(self, request: HttpRequest) -> Response:
        if len(request.body) > _LARGEST_REGISTRATION:
            raise OAuthError("invalid_client_metadata", "The registration is too large")
        try:
            facts = orjson.loads(request.body)
        except orjson.JSONDecodeError:
            raise OAuthError("invalid_client_metadata", "The registration is not JSON") from None
        client = await self._server.clients.register(facts, request.visit.address_group)
        caller = Caller(ANONYMOUS_USER, frozenset(), client.client_id)
        shown: dict[str, object] = {
            "name": client.name,
            "redirect_uris": list(client.redirect_uris),
        }
        self._gate.record_event(request.visit, "oauth:register", "oauth://clients", caller, shown)
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

    async def _revoke(self, request: HttpRequest) -> Response:
        form = read_form(request)
        token = form.get("token", [""])[0]
        grant = await self._server.revoke(
            form, await self._verifier.grant_of(token) if token.count(".") == 2 else None
        )
        if grant is not None:
            caller = Caller(grant.user_name, frozenset(), grant.client_id)
            self._gate.record_event(
                request.visit, "oauth:revoke", grant.resource, caller, {"grant": grant.grant_id}
            )
        return Response(200, b"", _NO_STORE)

    async def _answer_errors(
        self,
        request: HttpRequest,
        action: str,
        answer: Callable[[HttpRequest], Awaitable[Response]],
    ) -> Response:
        try:
            return await answer(request)
        except (OAuthError, UntrustedRequestError, UnavailableError) as error:
            self._gate.record_refusal(request.visit, action, "oauth://", error)
            return _error_response(error)


def _error_response(error: CarrelError) -> Response:
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


_LARGEST_FORM = 64 * 1024
_MOST_FIELDS = 60


def read_query(request: HttpRequest) -> dict[str, list[str]]:
    return _parse_form(request.scope.get("query_string", b""))


def read_form(request: HttpRequest) -> dict[str, list[str]]:
    content_type = request.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if content_type != b"application/x-www-form-urlencoded":
        raise OAuthError("invalid_request", "The body must be application/x-www-form-urlencoded")
    if len(request.body) > _LARGEST_FORM:
        raise OAuthError("invalid_request", "The form is too large")
    return _parse_form(request.body)


def _parse_form(text: bytes) -> dict[str, list[str]]:
    try:
        return parse_qs(
            text.decode("ascii"),
            keep_blank_values=True,
            max_num_fields=_MOST_FIELDS,
            encoding="utf-8",
            errors="strict",
        )
    except ValueError:
        raise OAuthError("invalid_request", "The parameters cannot be read") from None


def read_cookie(request: HttpRequest, name: str) -> str | None:
    """The value as it was sent; of two of that name, the last.

    Not by http.cookies, which is slow and stops at the first cookie of others that it cannot read.
    """
    beginning = f"{name}=".encode()
    found = None
    for pair in request.headers.get(b"cookie", b"").split(b";"):
        cookie = pair.strip(b" \t")
        if cookie.startswith(beginning):
            found = cookie[len(beginning) :]
    return None if found is None else found.decode("latin-1")


def set_cookie(name: str, value: str, *, seconds: int, is_secure: bool) -> Header:
    """An HttpOnly cookie that other sites cannot send with a form."""
    secure = "; Secure" if is_secure else ""
    return (
        b"set-cookie",
        f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}".encode(),
    )
