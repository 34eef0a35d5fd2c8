"""The log-in at an institute: to the provider and back, who it is, and what their groups allow."""

from __future__ import annotations

import asyncio
import base64
import logging
import math
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlencode

from carrel.core.clock import Clock
from carrel.core.errors import RateLimitExceededError, UnavailableError
from carrel.policy.authorization.login import SESSION_SECONDS, no_password
from carrel.policy.authorization.models import AccessStore, Grant, OAuthError, Session, User
from carrel.policy.authorization.openid.attempts import Attempt, new_attempt, resume_attempt
from carrel.policy.authorization.openid.groups import EVERYBODY, GroupTable
from carrel.policy.authorization.openid.models import (
    EndedAccess,
    NoGroupError,
    OpenIdService,
    Person,
    SignIn,
    SignInRefusedError,
    SignInStore,
    TokenAnswer,
)
from carrel.policy.authorization.openid.provider import MetadataCache, ProviderMetadata
from carrel.policy.authorization.openid.sealing import Sealer
from carrel.policy.authorization.openid.tokens import ProviderTokens, read_sid, read_subject
from carrel.policy.authorization.server import pkce_challenge
from carrel.policy.identity import hash_secret, problem_with_foreign_name
from carrel.policy.limits import Buckets, Rate

log = logging.getLogger("carrel.openid")

# From one address, behind which a whole institute may be.
_PER_ADDRESS = Rate(per_minute=120.0, burst=240.0)
_LOGOUTS_PER_ADDRESS = Rate(per_minute=300.0, burst=300.0)
_MOST_NAMES_TRIED = 50
_LONGEST_DISPLAY_NAME = 120
_ERROR_CODE = re.compile(r"[a-z_]{1,60}")
# Two programs of one person that refresh at once ask the provider once.
_READING_SECONDS = 20.0
_FRESH_GROUPS_SECONDS = 10.0
# Where the groups are too old to be believed, the second one waits for the first: about as long as
# a provider may take to answer.
_LOOKS = 32
_LOOK_SECONDS = 0.25

Query = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class OpenIdOptions:
    """How this desk is known to its provider, and what groups of people may do."""

    issuer: str
    client_id: str
    client_secret: str
    name: str
    contact: str
    redirect_uri: str
    scopes: tuple[str, ...]
    name_claim: str
    user_prefix: str
    groups: GroupTable
    # Groups that were read longer ago than this are not believed any more.
    groups_seconds: float
    algorithms: tuple[str, ...]
    leeway_seconds: float


@dataclass(frozen=True, slots=True)
class SignInResult:
    """A user with a new session, and where the browser goes now."""

    user: User
    session: str
    target: str
    groups: tuple[str, ...]


class InstituteLogin:
    """A relying party of OpenID Connect: authorization code with PKCE, checked at every step."""

    def __init__(
        self,
        store: AccessStore,
        sign_ins: SignInStore,
        service: OpenIdService,
        buckets: Buckets,
        clock: Clock,
        options: OpenIdOptions,
    ) -> None:
        self._store = store
        self._sign_ins = sign_ins
        self._service = service
        self._buckets = buckets
        self._clock = clock
        self._options = options
        self.metadata = MetadataCache(service, clock, options.issuer)
        self._tokens = ProviderTokens(
            self.metadata,
            service,
            clock,
            issuer=options.issuer,
            client_id=options.client_id,
            algorithms=options.algorithms,
            leeway_seconds=options.leeway_seconds,
        )
        self._sealer = Sealer(options.client_secret)

    @property
    def name(self) -> str:
        """What people call the provider."""
        return self._options.name

    async def begin(self, target: str, address: str) -> tuple[str, Attempt]:
        """Where to send the browser, and what it must keep.

        Raises UnavailableError, SignInRefusedError or RateLimitExceededError.
        """
        await self._charge(f"openid:{address}", _PER_ADDRESS)
        provider = await self.metadata.get()
        options, attempt = self._options, new_attempt(target, self._now)
        query = {
            "response_type": "code",
            "client_id": options.client_id,
            "redirect_uri": options.redirect_uri,
            "scope": " ".join(options.scopes),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": pkce_challenge(attempt.verifier),
            "code_challenge_method": "S256",
        }
        if "offline_access" in options.scopes:
            # Providers give a refresh token only to whoever consents (OpenID Connect Core, 11).
            query["prompt"] = "consent"
        endpoint = provider.authorization_endpoint
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}", attempt

    async def finish(
        self, query: Query, cookie: str, address: str, browser: str = ""
    ) -> SignInResult:
        """A new session from what the provider sent the browser back with.

        Raises SignInRefusedError, NoGroupError, UnavailableError or RateLimitExceededError.
        """
        await self._charge(f"openid:{address}", _PER_ADDRESS)
        attempt = resume_attempt(cookie, _single(query, "state") or "", self._now)
        provider = await self.metadata.get()
        code = _read_code(query, provider)
        answer = await self._ask_token(
            provider,
            {
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": self._options.redirect_uri,
                "code_verifier": attempt.verifier,
            },
        )
        if answer.status != 200:
            raise _refused_by_provider(answer)
        claims = await self._tokens.read_id_token(answer.facts.get("id_token"), attempt.nonce)
        groups = await self._read_groups(provider, claims, answer)
        user, person = await self._find_user(claims, groups)
        secret = secrets.token_urlsafe(32)
        sign_in = self._new_sign_in(person, claims, answer)
        session = Session(
            hash_secret(secret),
            user.name,
            self._now + SESSION_SECONDS,
            sign_in.sign_in_id,
            browser,
        )
        if user.is_disabled or not await self._sign_ins.begin_sign_in(
            sign_in, session, user.password_hash
        ):
            raise SignInRefusedError(
                "Your account on this desk is disabled", next_step=self._whom_to_ask
            )
        return SignInResult(user, secret, attempt.target, person.groups)

    async def confirm(self, grant: Grant) -> None:
        """Read the groups behind a grant again, before it gives new tokens.

        Raises OAuthError where it must not, UnavailableError where the provider does not answer
        and what is known of the person is too old.
        """
        if grant.sign_in is None:
            return
        sign_in = await self._sign_ins.sign_in(grant.sign_in)
        if sign_in is None:
            raise OAuthError("invalid_grant", "The log-in behind it has ended; log in again")
        now = self._now
        age = now - sign_in.read_at
        if age < _FRESH_GROUPS_SECONDS:
            return
        refresh = (
            None
            if sign_in.sealed_refresh is None
            else self._sealer.open(sign_in.sealed_refresh, sign_in.sign_in_id)
        )
        is_old = age > self._options.groups_seconds
        if refresh is None:
            if is_old:
                raise self._groups_too_old()
            return
        until = now + _READING_SECONDS
        if not await self._sign_ins.claim_reading(sign_in.sign_in_id, now, until):
            # Another request asks the provider this moment; what it reads holds for all.
            if is_old:
                await self._wait_for_groups(sign_in.sign_in_id)
            return
        try:
            await self._read_again(sign_in, refresh)
        except UnavailableError as error:
            if is_old:
                raise
            log.warning(
                "groups could not be read again, keeping those known",
                extra={"user": sign_in.user_name, "reason": error.message},
            )

    async def log_out(self, token: object, address: str) -> EndedAccess:
        """End what a log-out token of the provider names (back-channel log-out).

        Raises SignInRefusedError, UnavailableError or RateLimitExceededError.
        """
        await self._charge(f"openid-logout:{address}", _LOGOUTS_PER_ADDRESS)
        named = await self._tokens.read_logout_token(token)
        ended = await self._sign_ins.end_sign_ins(
            self._options.issuer,
            sid=named.sid,
            subject=named.subject,
            at=self._now,
            token_id=hash_secret(f"{self._options.issuer}|{named.token_id}"),
            expires_at=named.expires_at,
        )
        if ended is None:
            raise SignInRefusedError(
                "This log-out token has been used before", next_step="Send each one once."
            )
        return ended

    @property
    def _now(self) -> float:
        return self._clock.now().timestamp()

    @property
    def _whom_to_ask(self) -> str:
        return f"Ask {self._options.contact} to let you in."

    async def _charge(self, key: str, rate: Rate) -> None:
        taken = await self._buckets.take(key, 1.0, rate)
        if not taken.is_granted:
            raise RateLimitExceededError(math.ceil((1.0 - taken.tokens) / rate.per_second))

    async def _ask_token(self, provider: ProviderMetadata, form: Mapping[str, str]) -> TokenAnswer:
        options = self._options
        if not provider.takes_basic:
            known = {"client_id": options.client_id, "client_secret": options.client_secret}
            return await self._service.post_token(provider.token_endpoint, {**form, **known}, None)
        # Both are form-encoded first (RFC 6749, 2.3.1).
        pair = f"{quote(options.client_id, safe='')}:{quote(options.client_secret, safe='')}"
        header = f"Basic {base64.b64encode(pair.encode()).decode()}"
        return await self._service.post_token(provider.token_endpoint, form, header)

    async def _read_groups(
        self, provider: ProviderMetadata, claims: Mapping[str, Any], answer: TokenAnswer
    ) -> tuple[str, ...]:
        """The groups of a person that mean something here: of the ID token, else of userinfo."""
        table = self._options.groups
        groups = table.read(claims)
        access_token = answer.facts.get("access_token")
        if groups is None and provider.userinfo_endpoint and isinstance(access_token, str):
            facts = await self._service.fetch_userinfo(provider.userinfo_endpoint, access_token)
            if facts.get("sub") != claims.get("sub"):
                raise SignInRefusedError(
                    "Your institute's log-in answered for somebody else",
                    next_step="Start again; if it happens again, tell whoever runs this desk.",
                )
            groups = table.read(facts)
        if groups is None and EVERYBODY not in table.scopes:
            # Some providers leave the claim out for who is in no group, most where nobody asked.
            log.warning(
                "neither ID token nor userinfo names groups",
                extra={
                    "subject": claims.get("sub"),
                    "claim": table.claim,
                    "next_step": "If others have none either, let the provider send the claim, "
                    "ask for it with auth.oidc.scopes, or correct auth.oidc.groups_claim.",
                },
            )
        return table.match(groups or ())

    async def _find_user(
        self, claims: Mapping[str, Any], groups: tuple[str, ...]
    ) -> tuple[User, Person]:
        """The user of a person, made at the first log-in. Raises NoGroupError."""
        subject, scopes = read_subject(claims), self._options.groups.allow(groups)
        person = await self._sign_ins.person(self._options.issuer, subject)
        display_name = _display_name(claims, subject)
        if not scopes:
            if person is not None:
                await self._keep(person, groups)
            raise NoGroupError(
                f"{self._options.name} knows you as {display_name}, but none of your groups there "
                "may use this desk",
                next_step=self._whom_to_ask,
            )
        if person is None:
            person = await self._add_person(claims, subject, groups, scopes)
        person = replace(person, display_name=display_name)
        await self._keep(person, groups)
        user = await self._store.user(person.user_name)
        if user is None:
            raise SignInRefusedError(
                "Your account on this desk is gone", next_step=self._whom_to_ask
            )
        return user, replace(person, groups=groups)

    async def _keep(self, person: Person, groups: tuple[str, ...]) -> None:
        kept = replace(person, groups=groups, read_at=self._now)
        await self._sign_ins.record_groups(kept, self._options.groups.allow(groups), self._now)

    async def _add_person(
        self,
        claims: Mapping[str, Any],
        subject: str,
        groups: tuple[str, ...],
        scopes: frozenset[str],
    ) -> Person:
        wanted = claims.get(self._options.name_claim)
        name = f"{self._options.user_prefix}{wanted}"
        if not isinstance(wanted, str) or problem_with_foreign_name(name) is not None:
            name = f"{self._options.user_prefix}{subject}"
        problem = problem_with_foreign_name(name)
        if problem is not None:
            raise SignInRefusedError(
                f"Your institute's log-in {problem}", next_step=self._whom_to_ask
            )
        now = self._now
        for number in range(1, _MOST_NAMES_TRIED):
            # A name that somebody has is never taken over: only the operator can link the two.
            chosen = name if number == 1 else f"{name}-{number}"
            person = Person(chosen, self._options.issuer, subject, "", groups, now)
            user = User(chosen, no_password(), scopes, now)
            if await self._sign_ins.add_person(person, user):
                return person
            # Two browsers of one person may come for the first time at once.
            known = await self._sign_ins.person(self._options.issuer, subject)
            if known is not None:
                return known
        raise SignInRefusedError(
            f"There are too many people called {name} here", next_step=self._whom_to_ask
        )

    def _new_sign_in(
        self, person: Person, claims: Mapping[str, Any], answer: TokenAnswer
    ) -> SignIn:
        sign_in_id, now = secrets.token_hex(16), self._now
        return SignIn(
            sign_in_id,
            person.user_name,
            self._options.issuer,
            read_sid(claims),
            self._seal(answer, sign_in_id),
            now,
            now,
        )

    def _seal(self, answer: TokenAnswer, sign_in_id: str) -> str | None:
        token = answer.facts.get("refresh_token")
        return self._sealer.seal(token, sign_in_id) if isinstance(token, str) else None

    async def _read_again(self, sign_in: SignIn, refresh: str) -> None:
        """Ask for the groups with the provider's refresh token. Raises OAuthError.

        A new refresh token is kept whatever comes after it: the provider takes the old one no more.
        """
        sealed, read_at = sign_in.sealed_refresh, sign_in.read_at
        try:
            provider = await self.metadata.get()
            form = {"grant_type": "refresh_token", "refresh_token": refresh}
            answer = await self._ask_token(provider, form)
            person = await self._sign_ins.person_of(sign_in.user_name)
            if answer.status != 200 or person is None:
                if answer.status >= 500 or answer.status == 429:
                    raise UnavailableError(f"the provider answered with status {answer.status}")
                await self._end(sign_in, "The institute's log-in has ended; log in again")
                return
            sealed = self._seal(answer, sign_in.sign_in_id) or sealed
            groups = await self._groups_at_refresh(provider, person, answer)
            if groups is None:
                if self._now - sign_in.read_at > self._options.groups_seconds:
                    raise self._groups_too_old()
                return
            await self._keep(person, groups)
            read_at = self._now
        finally:
            await self._sign_ins.finish_reading(sign_in.sign_in_id, sealed, read_at)
        if not self._options.groups.allow(groups):
            raise OAuthError(
                "invalid_grant",
                f"None of the person's groups may use this desk any more. {self._whom_to_ask}",
            )

    async def _wait_for_groups(self, sign_in_id: str) -> None:
        """Until another request has read the groups. Raises OAuthError, or UnavailableError."""
        for _ in range(_LOOKS):
            await asyncio.sleep(_LOOK_SECONDS)
            sign_in = await self._sign_ins.sign_in(sign_in_id)
            if sign_in is None:
                raise OAuthError("invalid_grant", "The institute's log-in has ended; log in again")
            if self._now - sign_in.read_at <= self._options.groups_seconds:
                return
        raise UnavailableError(
            "The person's groups have not been read yet", next_step="Try again in a moment."
        )

    async def _groups_at_refresh(
        self, provider: ProviderMetadata, person: Person, answer: TokenAnswer
    ) -> tuple[str, ...] | None:
        """The groups of a person; None where a refresh says nothing of them, as it may."""
        has_id_token = answer.facts.get("id_token") is not None
        has_access_token = isinstance(answer.facts.get("access_token"), str)
        if not has_id_token and not (provider.userinfo_endpoint and has_access_token):
            return None
        try:
            if has_id_token:
                claims = await self._tokens.read_id_token(answer.facts["id_token"], None)
            else:
                claims = {"sub": person.subject}
            if claims.get("sub") != person.subject:
                raise SignInRefusedError("The provider answered for somebody else")
            return await self._read_groups(provider, claims, answer)
        except SignInRefusedError as error:
            raise OAuthError("invalid_grant", error.message) from error

    def _groups_too_old(self) -> OAuthError:
        return OAuthError(
            "invalid_grant",
            f"The groups were read more than {self._options.groups_seconds / 3600:g} "
            "hours ago; the person has to log in again",
        )

    async def _end(self, sign_in: SignIn, why: str) -> None:
        await self._sign_ins.end_sign_in(sign_in.sign_in_id, self._now)
        raise OAuthError("invalid_grant", why)


def _single(query: Query, name: str) -> str | None:
    values = query.get(name, [])
    if len(values) > 1:
        raise SignInRefusedError(
            f"The address holds {name} more than once", next_step="Start again."
        )
    return values[0] if values and values[0] else None


def _read_code(query: Query, provider: ProviderMetadata) -> str:
    """The code in the answer, after its issuer was checked (RFC 9207)."""
    issuer = _single(query, "iss")
    if issuer is None and provider.names_issuer:
        raise SignInRefusedError(
            "The answer does not say which log-in it comes from (iss)", next_step="Start again."
        )
    if issuer is not None and issuer != provider.issuer:
        raise SignInRefusedError(
            "The answer comes from another log-in than the one asked (iss)",
            next_step="Start again.",
        )
    error, code = _single(query, "error"), _single(query, "code")
    if error is not None or code is None:
        reason = error if error and _ERROR_CODE.fullmatch(error) else "no code"
        raise SignInRefusedError(
            f"Your institute did not log you in ({reason})", next_step="Start again."
        )
    return code


def _refused_by_provider(answer: TokenAnswer) -> SignInRefusedError | UnavailableError:
    error = answer.facts.get("error")
    reason = error if isinstance(error, str) and _ERROR_CODE.fullmatch(error) else "no reason given"
    if reason == "invalid_grant":
        return SignInRefusedError(
            "The code of this log-in has been used before or has expired",
            next_step="Start again from the log-in page.",
        )
    return UnavailableError(
        f"The institute's log-in refuses this desk ({reason}, status {answer.status})",
        next_step="Tell whoever runs this desk: its client id or secret may have changed.",
    )


def _display_name(claims: Mapping[str, Any], subject: str) -> str:
    """What to call a person, for people to read only."""
    name = claims.get("name")
    shown = name if isinstance(name, str) and name.isprintable() and name.strip() else subject
    return shown[:_LONGEST_DISPLAY_NAME]
