"""The built-in authorization server, put together from its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from carrel.core.clock import Clock
from carrel.policy.authorization.access_tokens import GrantedTokenVerifier, SigningKeys
from carrel.policy.authorization.clients import Clients
from carrel.policy.authorization.login import LoginService, Passwords
from carrel.policy.authorization.models import AccessStore, Client, ClientDocuments
from carrel.policy.authorization.openid.login import InstituteLogin
from carrel.policy.authorization.server import AuthorizationServer
from carrel.policy.limits import Buckets, Rate
from carrel.policy.signed_tokens import KeyRing, SignedTokenVerifier

# Keys stay published so much longer than the tokens that they signed are good.
_KEY_OVERLAP_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class AuthorizationOptions:
    """Lifetimes of tokens and grants, and accepted clients; None means no registration."""

    access_seconds: float
    refresh_seconds: float
    family_seconds: float
    grace_seconds: float
    key_rotation_seconds: float
    leeway_seconds: float
    registration: Rate | None
    redirect_hosts: Sequence[str]
    redirect_schemes: Sequence[str]
    known_clients: Sequence[Client]


@dataclass(frozen=True, slots=True)
class BuiltInAuthorization:
    """The parts that the HTTP door needs."""

    server: AuthorizationServer
    logins: LoginService
    verifier: GrantedTokenVerifier
    institute: InstituteLogin | None = None
    has_passwords: bool = True

    @classmethod
    def build(
        cls,
        store: AccessStore,
        buckets: Buckets,
        clock: Clock,
        options: AuthorizationOptions,
        *,
        issuer: str,
        resources: tuple[str, ...],
        offered_scopes: frozenset[str],
        documents: ClientDocuments | None,
        institute: InstituteLogin | None = None,
        has_passwords: bool = True,
    ) -> BuiltInAuthorization:
        """Issues tokens for these resources; `documents` fetches those that clients publish."""
        clients = Clients(
            store,
            buckets,
            clock,
            known=options.known_clients,
            documents=documents,
            registration=options.registration,
            redirect_hosts=options.redirect_hosts,
            redirect_schemes=options.redirect_schemes,
        )
        keys = SigningKeys(
            store,
            clock,
            rotate_seconds=options.key_rotation_seconds,
            overlap_seconds=options.access_seconds + _KEY_OVERLAP_SECONDS,
        )
        server = AuthorizationServer(
            store,
            clients,
            keys,
            clock,
            issuer=issuer,
            resources=resources,
            offered_scopes=offered_scopes,
            access_seconds=options.access_seconds,
            refresh_seconds=options.refresh_seconds,
            family_seconds=options.family_seconds,
            grace_seconds=options.grace_seconds,
            confirm=None if institute is None else institute.confirm,
        )
        signed = SignedTokenVerifier(
            KeyRing(keys, clock),
            clock,
            issuer=issuer,
            audiences=resources,
            algorithms=("RS256",),
            # A replica whose clock is ahead may have signed it; the expiry was told to the client.
            leeway_seconds=options.leeway_seconds,
            expiry_leeway_seconds=0.0,
        )
        logins = LoginService(store, buckets, Passwords(), clock)
        verifier = GrantedTokenVerifier(signed, store, clock)
        return cls(server, logins, verifier, institute, has_passwords)
