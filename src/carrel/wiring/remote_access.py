"""Access for callers from elsewhere: each auth.mode, shared buckets, the built-in server."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Mapping

from carrel.core.catalogue import Catalogue
from carrel.core.clock import Clock
from carrel.policy.audit import Audit
from carrel.policy.authorization.built_in import BuiltInAuthorization
from carrel.policy.authorization.models import AccessStore, ClientDocuments
from carrel.policy.identity import (
    BearerIdentity,
    Identity,
    StaticTokenVerifier,
    TokenVerifier,
)
from carrel.policy.limits import (
    BucketLimits,
    Buckets,
    FallbackBuckets,
    InProcessBuckets,
    Limits,
    Rate,
)
from carrel.policy.platform_identity import PlatformIdentity
from carrel.policy.scopes import ALL_SCOPES
from carrel.policy.signed_tokens import KeyRing, SignedTokenVerifier
from carrel.settings import Settings
from carrel.settings.access_rules import (
    authorization_options,
    issuer_and_keys,
    refuse_lost_accounts,
    refuse_outside_cloud_run,
    user_prefix,
)
from carrel.wiring.access import Access, open_access_store, resource_paths
from carrel.wiring.drivers import need_psycopg

log = logging.getLogger("carrel.access")


def open_remote_access(
    settings: Settings,
    catalogue: Catalogue,
    clock: Clock,
    audit: Audit,
    *,
    documents: ClientDocuments | None = None,
    environment: Mapping[str, str] | None = None,
) -> Access:
    """Builds the identity and the limits of every mode but local."""
    refuse_lost_accounts(settings)
    mode, built_in, store = settings.auth.mode, None, None
    buckets, closers = _buckets(settings, clock)
    issuers: tuple[str, ...] = ()
    if mode in {"tokens", "builtin"}:
        store = open_access_store(settings)
        closers.append(store.close)
    if mode == "jwt":
        identity: Identity = BearerIdentity([_signed_tokens(settings, catalogue, clock)], clock)
        issuers = (str(settings.auth.issuer),)
    elif mode == "cloudrun":
        refuse_outside_cloud_run(os.environ if environment is None else environment)
        identity = _platform(settings, clock)
    elif store is not None:
        verifiers: list[TokenVerifier] = [StaticTokenVerifier(store, clock)]
        if mode == "builtin":
            shared = FallbackBuckets(buckets, clock)
            built_in = _built_in(settings, catalogue, store, shared, clock, documents)
            verifiers.append(built_in.verifier)
            issuers = (built_in.server.issuer,)
        identity = BearerIdentity(verifiers, clock)
    else:
        raise ValueError(f"{mode} is not a mode of remote access")
    limits = _limits(settings, catalogue, buckets, clock)
    return Access(identity, limits, audit, str(mode), built_in, issuers, store, closers)


def _resources(settings: Settings, catalogue: Catalogue) -> tuple[str, ...]:
    return (
        settings.base_url,
        *(f"{settings.base_url}{path}" for path in resource_paths(catalogue)),
    )


def _signed_tokens(settings: Settings, catalogue: Catalogue, clock: Clock) -> SignedTokenVerifier:
    from carrel.services.oauth_documents import HttpKeySet

    auth, (issuer, keys_url) = settings.auth, issuer_and_keys(settings)
    return SignedTokenVerifier(
        KeyRing(HttpKeySet(keys_url), clock),
        clock,
        issuer=issuer,
        audiences=auth.audience or _resources(settings, catalogue),
        algorithms=auth.algorithms,
        leeway_seconds=auth.leeway_seconds,
        scope_claim=auth.scope_claim,
        user_claim=auth.user_claim,
        user_prefix=user_prefix(settings),
    )


def _platform(settings: Settings, clock: Clock) -> PlatformIdentity:
    auth = settings.auth
    scopes = ALL_SCOPES - {"admin"} if auth.platform_scopes is None else auth.platform_scopes
    return PlatformIdentity(
        clock, scopes=scopes, admins=auth.platform_admins, user_prefix=user_prefix(settings)
    )


def _built_in(
    settings: Settings,
    catalogue: Catalogue,
    store: AccessStore,
    buckets: Buckets,
    clock: Clock,
    documents: ClientDocuments | None,
) -> BuiltInAuthorization:
    if documents is None and settings.auth.client_documents:
        from carrel.services.oauth_documents import HttpsClientDocuments

        documents = HttpsClientDocuments()
    return BuiltInAuthorization.build(
        store,
        buckets,
        clock,
        authorization_options(settings),
        issuer=settings.base_url,
        resources=_resources(settings, catalogue),
        offered_scopes=catalogue.scopes,
        documents=documents,
    )


def _buckets(
    settings: Settings, clock: Clock
) -> tuple[Buckets, list[Callable[[], Awaitable[None]]]]:
    """Shared between replicas on PostgreSQL, between workers on SQLite, else in this process."""
    if settings.database.url:
        need_psycopg()
        from carrel.stores.postgres.limits import PostgresBuckets

        shared = PostgresBuckets(settings.database.url, clock)
        return shared, [shared.close]
    if settings.server.workers > 1:
        from carrel.stores.sqlite.limits import SqliteBuckets

        file = SqliteBuckets(settings.home / "limits.sqlite", clock)
        return file, [file.close]
    return InProcessBuckets(clock), []


def _limits(settings: Settings, catalogue: Catalogue, buckets: Buckets, clock: Clock) -> Limits:
    limits = settings.limits
    names = {
        *ALL_SCOPES,
        *catalogue.operations,
        *catalogue.prompts,
        *(row.name for row in catalogue.resources.values()),
    }
    unknown = sorted({*limits.rates, *limits.costs} - names)
    if unknown:
        log.warning("limits name what is not offered here", extra={"names": ", ".join(unknown)})
    rates = {name: Rate(rate.per_minute, rate.burst) for name, rate in limits.rates.items()}
    return BucketLimits(
        buckets, clock, Rate(limits.per_minute, limits.burst), rates=rates, costs=limits.costs
    )
