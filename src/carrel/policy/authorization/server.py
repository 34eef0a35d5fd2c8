"""The authorization server by OAuth 2.1: requests, consent, codes, tokens, revocation."""

from __future__ import annotations

import base64
import hashlib
import hmac
import math
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from carrel.core.clock import Clock
from carrel.policy.authorization.access_tokens import SigningKeys
from carrel.policy.authorization.clients import Clients
from carrel.policy.authorization.models import (
    AccessStore,
    AuthorizationCode,
    Client,
    Grant,
    GrantCheck,
    OAuthError,
    RefreshToken,
    UntrustedRequestError,
    User,
)
from carrel.policy.authorization.redirects import is_registered
from carrel.policy.identity import hash_secret, new_secret
from carrel.policy.scopes import ALL_SCOPES, expand_scopes

CODE_SECONDS = 60.0
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
_LONGEST_STATE = 4000

Form = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A validated request; `scopes` are the requested scopes that exist."""

    client: Client
    redirect_uri: str
    scopes: tuple[str, ...]
    resource: str
    challenge: str
    state: str | None


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """What the token endpoint answers with."""

    access_token: str
    refresh_token: str
    expires_in: int
    scopes: frozenset[str]
    grant: Grant


class AuthorizationServer:
    """Decides for pages and endpoints; the first of `resources` is the default audience."""

    def __init__(
        self,
        store: AccessStore,
        clients: Clients,
        keys: SigningKeys,
        clock: Clock,
        *,
        issuer: str,
        resources: tuple[str, ...],
        offered_scopes: frozenset[str],
        access_seconds: float,
        refresh_seconds: float,
        family_seconds: float = math.inf,
        grace_seconds: float = 0.0,
        confirm: GrantCheck | None = None,
    ) -> None:
        self._confirm = confirm
        self._store = store
        self.clients = clients
        self.keys = keys
        self._clock = clock
        self.issuer = issuer
        self.resources = resources
        self.offered_scopes = offered_scopes
        self._access_seconds = access_seconds
        self._refresh_seconds = refresh_seconds
        self._family_seconds = family_seconds
        self._grace_seconds = grace_seconds

    async def read_request(self, query: Form, address: str) -> AuthorizationRequest:
        """Checks a request. Raises UntrustedRequestError or RedirectedError."""
        client, redirect_uri = await self._trusted_redirect(query, address)
        state = _single_value(query, "state")
        try:
            if _single_value(query, "response_type") != "code":
                raise OAuthError("unsupported_response_type", "response_type must be code")
            challenge = _single_value(query, "code_challenge") or ""
            if _single_value(query, "code_challenge_method") != "S256" or not _CHALLENGE.fullmatch(
                challenge
            ):
                raise OAuthError("invalid_request", "PKCE with S256 is required")
            if state is not None and len(state) > _LONGEST_STATE:
                raise OAuthError("invalid_request", "state is too long")
            if "request" in query or "request_uri" in query:
                raise OAuthError("request_not_supported", "Request objects are not supported")
            resource = self._resource(query)
            return AuthorizationRequest(
                client, redirect_uri, self._scopes(query, client), resource, challenge, state
            )
        except OAuthError as error:
            facts = {"error": error.error, "error_description": error.message, "state": state}
            raise RedirectedError(error, self.redirect(redirect_uri, facts)) from None

    async def _trusted_redirect(self, query: Form, address: str) -> tuple[Client, str]:
        for name in (
            "client_id",
            "redirect_uri",
            "state",
            "response_type",
            "code_challenge",
            "code_challenge_method",
            "scope",
        ):
            if len(query.get(name, ())) > 1:
                raise UntrustedRequestError(f"{name} is given more than once")
        client_id = _single_value(query, "client_id")
        client = None if not client_id else await self.clients.find(client_id, address)
        if client is None:
            raise UntrustedRequestError(
                "The client is not known here",
                next_step="Connect again from the app that sent you.",
            )
        redirect_uri = _single_value(query, "redirect_uri")
        if redirect_uri is None and len(client.redirect_uris) == 1:
            redirect_uri = client.redirect_uris[0]
        if redirect_uri is None or not is_registered(redirect_uri, client.redirect_uris):
            raise UntrustedRequestError(
                "The address to return to is not one the client has registered"
            )
        self.clients.check_redirect(redirect_uri, client)
        return client, redirect_uri

    def _resource(self, form: Form) -> str:
        asked = form.get("resource", [])
        if not asked:
            return self.resources[0]
        known = {uri.rstrip("/"): uri for uri in self.resources}
        found = [known.get(uri.rstrip("/")) for uri in asked]
        if len(found) != 1 or found[0] is None:
            raise OAuthError(
                "invalid_target", f"resource must be one of {', '.join(self.resources)}"
            )
        return found[0]

    def _scopes(self, form: Form, client: Client) -> tuple[str, ...]:
        named = (_single_value(form, "scope") or "").split()
        # Foreign scopes, such as openid or offline_access, are ignored: the answer lists its own.
        asked = [scope for scope in dict.fromkeys(named) if scope in ALL_SCOPES]
        if named and not asked:
            raise OAuthError(
                "invalid_scope",
                f"None of these scopes exists here; there are "
                f"{', '.join(sorted(self.offered_scopes))}",
            )
        wanted = asked or sorted(self.offered_scopes)
        allowed = ALL_SCOPES if client.scopes is None else expand_scopes(client.scopes)
        return tuple(scope for scope in wanted if scope in allowed)

    def grantable(self, request: AuthorizationRequest, user: User) -> tuple[str, ...]:
        """The scopes that were asked for and that this person holds."""
        held = expand_scopes(user.scopes)
        return tuple(scope for scope in request.scopes if scope in held)

    async def allow(
        self,
        request: AuthorizationRequest,
        user: User,
        ticked: set[str],
        sign_in: str | None = None,
    ) -> str:
        """The redirect after a person has consented to the ticked scopes."""
        scopes = frozenset(scope for scope in self.grantable(request, user) if scope in ticked)
        if not scopes:
            return self.deny(request)
        now = self._clock.now().timestamp()
        code = new_secret("")
        grant = Grant(
            secrets.token_hex(16),
            request.client.client_id,
            user.name,
            scopes,
            request.resource,
            now,
            sign_in=sign_in,
        )
        kept = AuthorizationCode(
            hash_secret(code),
            grant.grant_id,
            request.redirect_uri,
            request.challenge,
            now + CODE_SECONDS,
        )
        if not await self._store.begin_grant(grant, kept, user.password_hash):
            raise UntrustedRequestError(
                "You have been logged out meanwhile", next_step="Start again from the app."
            )
        await self.clients.tidy()
        return self.redirect(request.redirect_uri, {"code": code, "state": request.state})

    def deny(self, request: AuthorizationRequest) -> str:
        facts = {
            "error": "access_denied",
            "error_description": "The person said no",
            "state": request.state,
        }
        return self.redirect(request.redirect_uri, facts)

    def redirect(self, redirect_uri: str, facts: Mapping[str, str | None]) -> str:
        """The redirect address with the answer and `iss` (RFC 9207)."""
        shown = {
            name: value
            for name, value in {**facts, "iss": self.issuer}.items()
            if value is not None
        }
        return f"{redirect_uri}{'&' if '?' in redirect_uri else '?'}{urlencode(shown)}"

    async def exchange_token(self, form: Form) -> IssuedTokens:
        """The token endpoint."""
        for name, values in form.items():
            if len(values) > 1 and name != "resource":
                raise OAuthError("invalid_request", f"{name[:50]} is given more than once")
        match _single_value(form, "grant_type"):
            case "authorization_code":
                return await self._exchange_code(form)
            case "refresh_token":
                return await self._exchange_refresh(form)
            case None:
                raise OAuthError("invalid_request", "grant_type is required")
            case _:
                raise OAuthError(
                    "unsupported_grant_type",
                    "grant_type must be authorization_code or refresh_token",
                )

    async def _exchange_code(self, form: Form) -> IssuedTokens:
        secret, verifier = _require_field(form, "code"), _require_field(form, "code_verifier")
        now = self._clock.now().timestamp()
        code = await self._store.code(hash_secret(secret))
        if code is None:
            raise OAuthError("invalid_grant", "The code is not known here")
        if code.used_at is not None:
            await self._store.revoke_grant(code.grant_id, now)
            raise OAuthError(
                "invalid_grant", "The code has been used before, so what came of it is revoked"
            )
        grant = await self._live_grant(code.grant_id, form)
        if now >= code.expires_at:
            raise OAuthError("invalid_grant", "The code has expired")
        if _single_value(form, "redirect_uri") not in {None, code.redirect_uri}:
            raise OAuthError("invalid_grant", "redirect_uri is not the one of the request")
        if not _VERIFIER.fullmatch(verifier) or not hmac.compare_digest(
            pkce_challenge(verifier), code.challenge
        ):
            raise OAuthError("invalid_grant", "code_verifier does not fit")
        self._same_resource(form, grant)
        secret = new_secret("")
        refresh = self._new_refresh(secret, grant, now)
        if not await self._store.use_code(code.code_hash, now, refresh):
            await self._store.revoke_grant(grant.grant_id, now)
            raise OAuthError(
                "invalid_grant", "The code has been used before, so what came of it is revoked"
            )
        return await self._issue_tokens(grant, grant.scopes, secret, now)

    async def _exchange_refresh(self, form: Form) -> IssuedTokens:
        shown = _require_field(form, "refresh_token")
        now = self._clock.now().timestamp()
        refresh = await self._store.refresh(hash_secret(shown))
        if refresh is None:
            raise OAuthError("invalid_grant", "The refresh token is not known here")
        if refresh.used_at is not None:
            return await self._retry_refresh(form, shown, refresh, now)
        grant = await self._live_grant(refresh.grant_id, form)
        if now >= min(refresh.expires_at, self._end_of(grant)):
            raise OAuthError(
                "invalid_grant", "The refresh token has expired; the person has to log in again"
            )
        scopes = self._scopes_at_refresh(form, grant)
        if self._confirm is not None:
            await self._confirm(grant)
        salt = secrets.token_hex(32)
        secret = derive_successor(shown, salt)
        if not await self._store.rotate(
            refresh.token_hash, now, self._new_refresh(secret, grant, now), salt
        ):
            # Another request with the same token was quicker.
            used = await self._store.refresh(refresh.token_hash)
            if used is None:
                raise OAuthError("invalid_grant", "The refresh token is not known here")
            return await self._retry_refresh(form, shown, used, now)
        return await self._issue_tokens(grant, scopes, secret, now)

    async def _retry_refresh(
        self, form: Form, shown: str, refresh: RefreshToken, now: float
    ) -> IssuedTokens:
        """Give a retry within the grace period the same successor; a replay revokes the grant."""
        grant = await self._store.grant(refresh.grant_id)
        secret = (
            None
            if refresh.successor_salt is None
            else derive_successor(shown, refresh.successor_salt)
        )
        successor = None if secret is None else await self._store.refresh(hash_secret(secret))
        is_soon = refresh.used_at is not None and now - refresh.used_at < self._grace_seconds
        if (
            not is_soon
            or grant is None
            or grant.client_id != _single_value(form, "client_id")
            or secret is None
            or successor is None
            or successor.used_at is not None
        ):
            await self._store.revoke_grant(refresh.grant_id, now)
            raise OAuthError(
                "invalid_grant",
                "The refresh token has been used before, so the whole grant is revoked",
            )
        return await self._issue_tokens(grant, self._scopes_at_refresh(form, grant), secret, now)

    def _scopes_at_refresh(self, form: Form, grant: Grant) -> frozenset[str]:
        self._same_resource(form, grant)
        asked = (_single_value(form, "scope") or "").split()
        if not set(asked) <= expand_scopes(grant.scopes):
            raise OAuthError("invalid_scope", "A refresh cannot ask for more than was granted")
        return frozenset(asked) or grant.scopes

    def _end_of(self, grant: Grant) -> float:
        """When all tokens of a grant expire, however often it was refreshed."""
        return grant.created_at + self._family_seconds

    async def _live_grant(self, grant_id: str, form: Form) -> Grant:
        grant = await self._store.grant(grant_id)
        if grant is None:
            raise OAuthError("invalid_grant", "The grant has been revoked")
        if _single_value(form, "client_id") != grant.client_id:
            raise OAuthError("invalid_grant", "client_id is not the one it was granted to")
        return grant

    def _same_resource(self, form: Form, grant: Grant) -> None:
        if form.get("resource") and self._resource(form) != grant.resource:
            raise OAuthError("invalid_target", "resource is not the one of the request")

    def _new_refresh(self, secret: str, grant: Grant, now: float) -> RefreshToken:
        return RefreshToken(
            hash_secret(secret),
            grant.grant_id,
            now,
            min(now + self._refresh_seconds, self._end_of(grant)),
        )

    async def _issue_tokens(
        self, grant: Grant, scopes: frozenset[str], refresh_secret: str, now: float
    ) -> IssuedTokens:
        lives_seconds = max(1, int(min(self._access_seconds, self._end_of(grant) - now)))
        claims: dict[str, Any] = {
            "iss": self.issuer,
            "sub": grant.user_name,
            "aud": grant.resource,
            "client_id": grant.client_id,
            "scope": " ".join(sorted(scopes)),
            "iat": int(now),
            "exp": int(now) + lives_seconds,
            "jti": secrets.token_hex(12),
            "grant": grant.grant_id,
        }
        token = await self.keys.sign(claims)
        return IssuedTokens(token, refresh_secret, lives_seconds, scopes, grant)

    async def revoke(self, form: Form, grant_of_access_token: str | None) -> Grant | None:
        """Revoke the grant of a token (RFC 7009); None if the client has no such token."""
        token = _require_field(form, "token")
        refresh = await self._store.refresh(hash_secret(token))
        grant_id = grant_of_access_token if refresh is None else refresh.grant_id
        grant = None if grant_id is None else await self._store.grant(grant_id)
        if grant is None or grant.client_id != _single_value(form, "client_id"):
            return None
        await self._store.revoke_grant(grant.grant_id, self._clock.now().timestamp())
        return grant


class RedirectedError(Exception):
    """A bad request of a trusted client: send the browser back with the error."""

    def __init__(self, error: OAuthError, location: str) -> None:
        super().__init__(error.message)
        self.error = error
        self.location = location


def pkce_challenge(verifier: str) -> str:
    """The S256 challenge of a verifier (RFC 7636)."""
    return (
        base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    )


def derive_successor(refresh_token: str, salt: str) -> str:
    """The next refresh token, which only its predecessor and the salt together make."""
    return (
        base64.urlsafe_b64encode(
            hmac.new(salt.encode(), refresh_token.encode(), hashlib.sha256).digest()
        )
        .rstrip(b"=")
        .decode()
    )


def _single_value(form: Form, name: str) -> str | None:
    values = form.get(name)
    return values[0] if values and values[0] else None


def _require_field(form: Form, name: str) -> str:
    value = _single_value(form, name)
    if value is None:
        raise OAuthError("invalid_request", f"{name} is required")
    return value
