"""A desk with a room for every scope, a clock that stands still, and ways to knock at its doors."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
from argon2 import PasswordHasher
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from carrel.core.answer import PromptMessage, PromptText, Text
from carrel.core.caller import Call
from carrel.core.catalogue import Room
from carrel.core.operation import Effect, Operation, Prompt, Question, Resource
from carrel.core.room import RoomDeclaration
from carrel.doors.http import HttpApp
from carrel.policy.authorization.models import ClientDocuments, SigningKey, User
from carrel.policy.identity import StaticToken, hash_secret, new_secret
from carrel.policy.scopes import SCOPES
from carrel.settings import Settings
from carrel.wiring.desk import Desk, OpenRoom, open_desk
from carrel.wiring.http import http_app

PASSWORD = "correct horse battery"
# Cheap on purpose: tests do not guess passwords.
CHEAP_HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
REDIRECT = "http://127.0.0.1:39123/callback"


class ManualClock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.at = datetime(2026, 7, 28, 12, 0, tzinfo=UTC)
        self.ticks = 1000.0

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.ticks

    def advance(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
        self.ticks += seconds


class Nothing(Question):
    """Asks nothing."""


class Words(Question):
    """Asks to keep some words."""

    text: str
    api_key: str | None = None


def operation_for(scope: str) -> str:
    return "use_" + scope.replace(":", "_")


def sample_room() -> Room:
    """An operation, a resource and a prompt for every scope, and one operation that writes."""

    async def answer(question: Nothing, call: Call) -> Text:
        return Text(f"hello {call.caller.user_id}")

    async def write(question: Words, call: Call) -> Text:
        return Text("kept")

    async def read(variables: Mapping[str, str], call: Call) -> Text:
        return Text("read")

    async def expand(arguments: Mapping[str, str], call: Call) -> PromptText:
        return PromptText((PromptMessage(Text("do this")),))

    operations: list[Operation[Any]] = [
        Operation(
            operation_for(scope),
            "sample",
            scope,
            f"Needs {scope}.",
            Nothing,
            Text,
            answer,
            frozenset({scope}),
        )
        for scope in SCOPES
    ]
    operations.append(
        Operation(
            "keep_words",
            "sample",
            "Keep",
            "Keeps words.",
            Words,
            Text,
            write,
            frozenset({"knowledge:write"}),
            Effect.WRITES,
        )
    )
    resources = [
        Resource(
            f"sample://{operation_for(scope)}",
            operation_for(scope),
            "sample",
            scope,
            "A page.",
            read,
            frozenset({scope}),
        )
        for scope in SCOPES
    ]
    prompts = [
        Prompt(operation_for(scope), "sample", scope, "A prompt.", (), expand, frozenset({scope}))
        for scope in SCOPES
    ]
    return Room(
        RoomDeclaration("sample", "Sample", "For tests."),
        tuple(operations),
        tuple(resources),
        tuple(prompts),
    )


def settings_for(home: Path, mode: str | None, **sections: Any) -> Settings:
    """Settings of a desk without rooms of its own, at http://127.0.0.1:8080."""
    auth = {"mode": mode, **sections.pop("auth", {})}
    return Settings.model_validate({"home": home, "rooms": (), "auth": auth, **sections})


@dataclass(slots=True)
class House:
    """A desk with its doors open."""

    desk: Desk
    app: HttpApp
    http: httpx2.AsyncClient
    clock: ManualClock
    tokens: int = 0

    async def add_user(
        self, name: str = "ada", scopes: frozenset[str] = frozenset({"admin"})
    ) -> None:
        assert self.desk.access.store is not None
        await self.desk.access.store.add_user(
            User(name, CHEAP_HASH, scopes, self.clock.now().timestamp())
        )

    async def token(self, *scopes: str, days: float | None = 1.0, user: str | None = None) -> str:
        """A static token with these scopes; a user who is not there yet is made first."""
        assert self.desk.access.store is not None
        if user is not None and await self.desk.access.store.user(user) is None:
            await self.add_user(user)
        self.tokens += 1
        secret = new_secret()
        now = self.clock.now().timestamp()
        ends = None if days is None else now + days * 86_400
        await self.desk.access.store.add_token(
            StaticToken(
                f"token {self.tokens}", hash_secret(secret), frozenset(scopes), now, ends, user
            )
        )
        return secret

    async def call(
        self, name: str, token: str | None, arguments: object = None, path: str = "/mcp"
    ) -> httpx2.Response:
        return await self.rpc(
            "tools/call", {"name": name, "arguments": arguments or {}}, token, path
        )

    async def rpc(
        self, method: str, params: object, token: str | None, path: str = "/mcp"
    ) -> httpx2.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return await self.http.post(path, json=message, headers=bearer(token))

    async def invoke(self, name: str, token: str | None, params: object = None) -> httpx2.Response:
        return await self.http.post(
            "/mcp/invoke", json={"tool_name": name, "params": params or {}}, headers=bearer(token)
        )

    def audit_lines(self) -> Iterator[dict[str, Any]]:
        """The audit log so far, after everything waiting has been written."""
        import orjson

        from carrel.stores.audit_queue import QueuedAudit

        assert isinstance(self.desk.access.audit, QueuedAudit)
        self.desk.access.audit.flush()
        from carrel.wiring.audit import open_audit_reader

        for line in open_audit_reader(self.desk.settings).lines():
            yield orjson.loads(line)


def bearer(token: str | None) -> dict[str, str]:
    return {} if token is None else {"authorization": f"Bearer {token}"}


@asynccontextmanager
async def opened(
    settings: Settings,
    *,
    clock: ManualClock | None = None,
    documents: ClientDocuments | None = None,
    makes_key: bool = False,
) -> AsyncIterator[House]:
    """The desk behind an in-memory HTTP client."""
    clock = clock or ManualClock()
    desk = open_desk(settings, [OpenRoom(sample_room())], documents=documents, clock=clock)
    app = http_app(desk)
    transport = httpx2.ASGITransport(app=app, client=("192.0.2.7", 4711))
    async with (
        desk.session(),
        httpx2.AsyncClient(transport=transport, base_url=settings.base_url) as http,
    ):
        if desk.access.built_in is not None and desk.access.store is not None and not makes_key:
            # Making a key takes a moment, so tests that are not about keys share one.
            await desk.access.store.add_key(
                SigningKey(1, "shared", _shared_key(), clock.now().timestamp())
            )
        yield House(desk, app, http, clock)


@cache
def _shared_key() -> str:
    key = rsa.generate_private_key(65537, 2048)
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(
        serialization.Encoding.PEM, form, serialization.NoEncryption()
    ).decode()


@dataclass(slots=True)
class Pkce:
    """A verifier and its challenge."""

    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    @property
    def challenge(self) -> str:
        return (
            base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest())
            .rstrip(b"=")
            .decode()
        )


async def register(house: House, **facts: object) -> httpx2.Response:
    return await house.http.post(
        "/register", json={"client_name": "A test", "redirect_uris": [REDIRECT], **facts}
    )


def authorize_url(client_id: str, pkce: Pkce, **changes: str | None) -> str:
    """The address a client sends the browser to; a change to None leaves the parameter out."""
    query: dict[str, str | None] = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": REDIRECT,
        "code_challenge": pkce.challenge,
        "code_challenge_method": "S256",
        "state": "xyz",
        "resource": "http://127.0.0.1:8080/mcp",
        **changes,
    }
    return "/authorize?" + urlencode(
        {name: value for name, value in query.items() if value is not None}
    )


def hidden_fields(page: str) -> dict[str, str]:
    return {
        name: unescape(value)
        for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page)
    }


def ticked_scopes(page: str) -> list[str]:
    return re.findall(r'<input type="checkbox" name="scope" value="([^"]*)" checked', page)


async def log_in(
    http: httpx2.AsyncClient, url: str, user: str = "ada", password: str = PASSWORD
) -> httpx2.Response:
    """Fills in the log-in form and answers the page after it."""
    page = await http.get(url)
    if 'name="password"' not in page.text:
        return page
    form = {**hidden_fields(page.text), "username": user, "password": password}
    return await http.post(url, data=form, follow_redirects=True)


async def allow(
    http: httpx2.AsyncClient,
    url: str,
    page: str,
    action: str = "allow",
    scopes: list[str] | None = None,
) -> httpx2.Response:
    """Presses a button on the consent page and answers the redirect."""
    chosen = ticked_scopes(page) if scopes is None else scopes
    return await http.post(url, data={**hidden_fields(page), "scope": chosen, "action": action})


def answer_in(location: str) -> dict[str, str]:
    """The parameters of a redirect."""
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}


async def granted(
    house: House, *, client_id: str | None = None, **changes: str | None
) -> tuple[dict[str, Any], str, Pkce]:
    """A whole flow: registration, log-in, consent, code, tokens. Answers the token response, the
    client and the verifier.
    """
    if client_id is None:
        client_id = str((await register(house)).json()["client_id"])
    pkce = Pkce()
    url = authorize_url(client_id, pkce, **changes)
    consent = await log_in(house.http, url)
    redirect = await allow(house.http, url, consent.text)
    code = answer_in(redirect.headers["location"])["code"]
    answer = await house.http.post("/token", data=code_form(client_id, code, pkce))
    assert answer.status_code == 200, answer.text
    house.http.cookies.clear()
    return answer.json(), client_id, pkce


def code_form(client_id: str, code: str, pkce: Pkce, **changes: str) -> dict[str, str]:
    return {
        "grant_type": "authorization_code",
        "client_id": client_id,
        "code": code,
        "redirect_uri": REDIRECT,
        "code_verifier": pkce.verifier,
        "resource": "http://127.0.0.1:8080/mcp",
        **changes,
    }


def refresh_form(client_id: str, refresh_token: str, **changes: str) -> dict[str, str]:
    return {
        "grant_type": "refresh_token",
        "client_id": client_id,
        "refresh_token": refresh_token,
        **changes,
    }
