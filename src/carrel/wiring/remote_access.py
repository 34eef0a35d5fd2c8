"""Access for callers from elsewhere: each auth.mode, shared buckets, the built-in server."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable

from carrel.core.catalogue import Catalogue
from carrel.core.clock import Clock
from carrel.policy.audit import Audit
from carrel.policy.authorization.built_in import BuiltInAuthorization
from carrel.policy.authorization.models import AccessStore, ClientDocuments
from carrel.policy.authorization.openid.login import InstituteLogin
from carrel.policy.identity import BearerIdentity, Identity, StaticTokenVerifier, TokenVerifier
from carrel.policy.limits import Buckets, FallbackBuckets, InProcessBuckets
from carrel.policy.quotas import NoGroups
from carrel.policy.signed_tokens import KeyRing
from carrel.settings import Settings, access_rules
from carrel.settings.institute_rules import institute_options
from carrel.settings.store_rules import need_psycopg
from carrel.stores.sql.access import SqlAccess
from carrel.wiring.access import Access, open_access_store
from carrel.wiring.home import pool_options
from carrel.wiring.quotas import InstituteGroups, open_quotas


def open_remote_access(
    settings: Settings,
    catalogue: Catalogue,
    clock: Clock,
    audit: Audit,
    *,
    documents: ClientDocuments | None = None,
) -> Access:
    """Builds the identity and the limits of every mode but local."""
    access_rules.refuse_lost_accounts(settings)
    mode, built_in, store = settings.auth.mode, None, None
    buckets, closers = _open_buckets(settings, clock)
    issuers: tuple[str, ...] = ()
    if mode in {"tokens", "builtin"}:
        store = open_access_store(settings)
        closers.append(store.close)
    if mode == "jwt":
        from carrel.services.oauth_documents import HttpKeySet

        issuer, keys_url = access_rules.issuer_and_keys(settings)
        keys, issuers = KeyRing(HttpKeySet(keys_url), clock), (issuer,)
        verifier = access_rules.signed_token_verifier(settings, catalogue, keys, clock)
        identity: Identity = BearerIdentity([verifier], clock)
    elif mode == "cloudrun":
        access_rules.refuse_outside_cloud_run(os.environ)
        identity = access_rules.platform_identity(settings, clock)
    elif store is not None:
        verifiers: list[TokenVerifier] = [StaticTokenVerifier(store, clock)]
        if mode == "builtin":
            shared = FallbackBuckets(buckets, clock)
            institute, more = _open_institute(settings, store, shared, clock)
            closers += more
            built_in = _open_built_in(
                settings, catalogue, store, shared, clock, documents, institute
            )
            verifiers.append(built_in.verifier)
            issuers = (built_in.server.issuer,)
        identity = BearerIdentity(verifiers, clock)
    else:
        raise ValueError(f"{mode} is not a mode of remote access")
    limits = access_rules.bucket_limits(settings, catalogue, buckets, clock)
    groups = NoGroups() if store is None else InstituteGroups(store.sign_ins)
    quotas, close_quotas = open_quotas(settings, clock, groups)
    if close_quotas is not None:
        closers.append(close_quotas)
    return Access(identity, limits, audit, str(mode), built_in, issuers, store, closers, quotas)


def _open_built_in(
    settings: Settings,
    catalogue: Catalogue,
    store: AccessStore,
    buckets: Buckets,
    clock: Clock,
    documents: ClientDocuments | None,
    institute: InstituteLogin | None,
) -> BuiltInAuthorization:
    if documents is None and settings.auth.client_documents:
        from carrel.services.oauth_documents import HttpsClientDocuments

        documents = HttpsClientDocuments()
    return BuiltInAuthorization.build(
        store,
        buckets,
        clock,
        access_rules.authorization_options(settings),
        issuer=settings.base_url,
        resources=access_rules.token_resources(settings, catalogue),
        offered_scopes=catalogue.scopes,
        documents=documents,
        institute=institute,
        has_passwords=institute is None or settings.auth.oidc.passwords,
    )


def _open_institute(
    settings: Settings, store: SqlAccess, buckets: Buckets, clock: Clock
) -> tuple[InstituteLogin | None, list[Callable[[], Awaitable[None]]]]:
    """The log-in at an institute where one is set, and what closes it."""
    options = institute_options(settings)
    if options is None:
        return None, []
    from carrel.services.openid_provider import OpenIdProviderHttp

    trusted = settings.auth.oidc.trusted_hosts
    service = OpenIdProviderHttp(options.issuer, trusted_hosts=trusted)
    login = InstituteLogin(store, store.sign_ins, service, buckets, clock, options)
    return login, [service.close]


def _open_buckets(
    settings: Settings, clock: Clock
) -> tuple[Buckets, list[Callable[[], Awaitable[None]]]]:
    """Shared between replicas on PostgreSQL, between workers on SQLite, else in this process."""
    if settings.database.url:
        need_psycopg()
        from carrel.stores.postgres.limits import PostgresBuckets

        shared = PostgresBuckets(settings.database.url, clock, options=pool_options(settings))
        return shared, [shared.close]
    if settings.server.workers > 1:
        from carrel.stores.sqlite.limits import SqliteBuckets

        file = SqliteBuckets(settings.home / "limits.sqlite", clock)
        return file, [file.close]
    return InProcessBuckets(clock), []
