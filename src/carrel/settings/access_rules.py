"""Rules for remote callers: the requirements of each auth.mode, and its known clients."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from urllib.parse import urlsplit

from carrel.core.catalogue import Catalogue
from carrel.core.clock import Clock
from carrel.policy.authorization.built_in import AuthorizationOptions
from carrel.policy.authorization.models import Client, ClientKind
from carrel.policy.authorization.redirects import (
    APP_SCHEMES,
    problem_with_redirect,
    problem_with_scheme,
)
from carrel.policy.identity import problem_with_foreign_name
from carrel.policy.limits import BucketLimits, Buckets, Limits, Rate
from carrel.policy.origin import is_loopback
from carrel.policy.platform_identity import PlatformIdentity
from carrel.policy.scopes import ALL_SCOPES, SCOPES
from carrel.policy.signed_tokens import KeyRing, SignedTokenVerifier
from carrel.rooms import room_names
from carrel.settings import Settings, SettingsError
from carrel.settings.network_rules import resource_paths

log = logging.getLogger("carrel.access")

_DAY_SECONDS = 86_400.0


def refuse_lost_accounts(settings: Settings) -> None:
    """Raises SettingsError if users and tokens would be lost at the next start."""
    if (
        settings.auth.mode in {"builtin", "tokens"}
        and not settings.database.url
        and not settings.keeps_home
    ):
        raise SettingsError(
            f"auth.mode = {settings.auth.mode} keeps its users in the home folder, which does not "
            f"last here",
            next_step="Set DATABASE_URL, or mount a folder that lasts and set "
            "server.home_is_persistent = true.",
            details={"setting": "server.home_is_persistent"},
        )


def issuer_and_keys(settings: Settings) -> tuple[str, str]:
    """The issuer of others' tokens and the address of its keys; raises SettingsError."""
    auth = settings.auth
    if not auth.issuer or not auth.jwks_url or not (auth.audience or settings.server.public_url):
        raise SettingsError(
            "auth.mode = jwt needs auth.issuer, auth.jwks_url, and auth.audience or "
            "server.public_url",
            next_step="Set them to what your authorization server puts into its tokens.",
            details={"setting": "auth.mode"},
        )
    if not auth.jwks_url.startswith("https://") and not is_loopback(
        urlsplit(auth.jwks_url).hostname or ""
    ):
        raise SettingsError(
            "auth.jwks_url must be https", next_step="Keys that come in the clear prove nothing."
        )
    return auth.issuer, auth.jwks_url


def refuse_outside_cloud_run(environment: Mapping[str, str]) -> None:
    """Raises SettingsError for auth.mode = cloudrun outside of Cloud Run."""
    if not environment.get("K_SERVICE"):
        raise SettingsError(
            "auth.mode = cloudrun believes what Cloud Run has checked, and this is not Cloud Run "
            "(K_SERVICE is not set)",
            next_step="Choose another auth.mode here.",
            details={"setting": "auth.mode"},
        )


def user_prefix(settings: Settings) -> str:
    """The prefix of every remote user's name; raises SettingsError."""
    prefix = settings.auth.user_prefix
    if prefix and problem_with_foreign_name(f"{prefix}x") is not None:
        raise SettingsError(
            f"auth.user_prefix: {prefix!r} cannot begin a user's name",
            next_step="Use printable characters, such as sso:, and none of local:, token: and "
            "anonymous:.",
            details={"setting": "auth.user_prefix"},
        )
    return prefix


def token_resources(settings: Settings, catalogue: Catalogue) -> tuple[str, ...]:
    """The addresses that a token can be meant for."""
    base = settings.base_url
    return (base, *(f"{base}{path}" for path in resource_paths(catalogue)))


def signed_token_verifier(
    settings: Settings, catalogue: Catalogue, keys: KeyRing, clock: Clock
) -> SignedTokenVerifier:
    """Believes the tokens of the issuer that is set; raises SettingsError."""
    auth, (issuer, _) = settings.auth, issuer_and_keys(settings)
    return SignedTokenVerifier(
        keys,
        clock,
        issuer=issuer,
        audiences=auth.audience or token_resources(settings, catalogue),
        algorithms=auth.algorithms,
        leeway_seconds=auth.leeway_seconds,
        scope_claim=auth.scope_claim,
        user_claim=auth.user_claim,
        user_prefix=user_prefix(settings),
    )


def platform_identity(settings: Settings, clock: Clock) -> PlatformIdentity:
    """Believes the platform in front, with the scopes that are set; raises SettingsError."""
    auth = settings.auth
    scopes = ALL_SCOPES - {"admin"} if auth.platform_scopes is None else auth.platform_scopes
    return PlatformIdentity(
        clock, scopes=scopes, admins=auth.platform_admins, user_prefix=user_prefix(settings)
    )


def bucket_limits(
    settings: Settings, catalogue: Catalogue, buckets: Buckets, clock: Clock
) -> Limits:
    """The rates and costs that are set; warns of names that no room has.

    A process that opens some rooms alone, as commands do, cannot tell the names of the others.
    """
    limits = settings.limits
    names = {
        *ALL_SCOPES,
        *catalogue.operations,
        *catalogue.prompts,
        *(row.name for row in catalogue.resources.values()),
    }
    unknown = sorted({*limits.rates, *limits.costs} - names)
    is_whole = {*room_names()} <= {each.room for each in catalogue.operations.values()}
    if unknown and is_whole:
        log.warning("limits name what no room has", extra={"names": ", ".join(unknown)})
    rates = {name: Rate(rate.per_minute, rate.burst) for name, rate in limits.rates.items()}
    return BucketLimits(
        buckets, clock, Rate(limits.per_minute, limits.burst), rates=rates, costs=limits.costs
    )


def authorization_options(settings: Settings) -> AuthorizationOptions:
    """What the built-in authorization server grants, and to which clients; raises SettingsError."""
    auth = settings.auth
    rate = Rate(
        per_minute=auth.registrations_per_hour / 60.0,
        burst=max(1.0, auth.registrations_per_hour / 3.0),
    )
    schemes = _redirect_schemes(settings)
    return AuthorizationOptions(
        access_seconds=auth.access_token_seconds,
        refresh_seconds=auth.refresh_token_days * _DAY_SECONDS,
        family_seconds=auth.refresh_family_days * _DAY_SECONDS,
        grace_seconds=auth.refresh_grace_seconds,
        key_rotation_seconds=auth.key_rotation_days * _DAY_SECONDS,
        leeway_seconds=auth.leeway_seconds,
        registration=rate if auth.registration else None,
        redirect_hosts=auth.redirect_hosts,
        redirect_schemes=schemes,
        known_clients=_known_clients(settings, schemes),
    )


def _redirect_schemes(settings: Settings) -> tuple[str, ...]:
    """The schemes of desktop applications that may be redirected to; raises SettingsError."""
    schemes = settings.auth.redirect_schemes
    for scheme in schemes or ():
        problem = problem_with_scheme(scheme)
        if problem is not None:
            raise SettingsError(
                f"auth.redirect_schemes: {scheme!r} cannot be used: {problem}",
                next_step="Take it out.",
            )
    return APP_SCHEMES if schemes is None else schemes


def _known_clients(settings: Settings, schemes: tuple[str, ...]) -> list[Client]:
    """The clients that the settings name; raises SettingsError."""
    known = []
    for client in settings.auth.clients:
        for uri in client.redirect_uris:
            problem = problem_with_redirect(uri, app_schemes=schemes)
            if problem is not None:
                raise SettingsError(
                    f"auth.clients: {uri!r} of {client.id} cannot be used: {problem}",
                    next_step="Correct it.",
                )
        unknown = sorted(set(client.scopes or ()) - ALL_SCOPES)
        if unknown:
            raise SettingsError(
                f"auth.clients: there is no scope {', '.join(unknown)}",
                next_step=f"Scopes: {', '.join(SCOPES)}.",
            )
        scopes = None if client.scopes is None else frozenset(client.scopes)
        known.append(
            Client(client.id, client.name, client.redirect_uris, ClientKind.SETTINGS, scopes=scopes)
        )
    return known
