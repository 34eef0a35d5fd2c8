"""OAuth clients that others wrote, from discovery to refresh, against a real socket and the real
forms.
"""

from __future__ import annotations

import asyncio
import threading
import warnings
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastmcp import Client as FastMcpClient
from fastmcp.client.auth import OAuth
from mcp import Client as SdkClient
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from tests.access.serving import Served, serving, sign_in_and_allow, visit_callback
from tests.access.support import REDIRECT, answer_in, operation_for

READ = operation_for("papers:read")


class Memory:
    """Tokens and client of the SDK's client."""

    def __init__(self) -> None:
        self.tokens: list[OAuthToken] = []
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens[-1] if self.tokens else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens.append(tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def _sdk_provider(
    served: Served, memory: Memory, seen: list[str], first: list[str] | None = None
) -> OAuthClientProvider:
    async def redirect(url: str) -> None:
        ticked = None if seen else first
        seen.append(await asyncio.to_thread(sign_in_and_allow, url, scopes=ticked))

    async def callback() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(
            **{name: answer_in(seen[-1]).get(name) for name in ("code", "state", "iss")}
        )

    metadata = OAuthClientMetadata(client_name="The SDK", redirect_uris=[AnyUrl(REDIRECT)])
    return OAuthClientProvider(f"{served.url}/mcp", metadata, memory, redirect, callback)


@pytest.mark.promise("A1")
@pytest.mark.promise("A3")
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_python_sdk_discovers_registers_logs_in_calls_and_refreshes(
    tmp_path: Path, mode: Any
) -> None:
    memory = Memory()
    seen: list[str] = []

    async def visit(served: Served) -> None:
        provider = _sdk_provider(served, memory, seen)
        async with (
            httpx2.AsyncClient(auth=provider, timeout=20) as http,
            SdkClient(
                streamable_http_client(f"{served.url}/mcp", http_client=http), mode=mode
            ) as client,
        ):
            assert READ in {tool.name for tool in (await client.list_tools()).tools}
            assert "hello ada" in str(await client.call_tool(READ, {}))
            provider.context.token_expiry_time = 1.0
            assert "hello ada" in str(await client.call_tool(READ, {}))

    with serving(tmp_path) as served:
        asyncio.run(visit(served))
    assert len(seen) == 1, "the second token came without a browser"
    assert answer_in(seen[0])["iss"] == served.url
    assert len(memory.tokens) == 2
    assert memory.tokens[0].refresh_token != memory.tokens[1].refresh_token
    assert memory.client is not None
    assert memory.client.token_endpoint_auth_method == "none"


@pytest.mark.promise("A2")
def test_the_python_sdk_steps_up_when_a_scope_is_missing(tmp_path: Path) -> None:
    memory = Memory()
    seen: list[str] = []

    async def visit(served: Served) -> None:
        provider = _sdk_provider(served, memory, seen, first=["papers:read"])
        async with (
            httpx2.AsyncClient(auth=provider, timeout=20) as http,
            SdkClient(
                streamable_http_client(f"{served.url}/mcp", http_client=http), mode="legacy"
            ) as client,
        ):
            listed = {tool.name for tool in (await client.list_tools()).tools}
            assert listed == {READ, "find_operation", "run_operation"}
            assert "hello ada" in str(await client.call_tool(operation_for("research:write"), {}))
            assert "hello ada" in str(await client.call_tool(READ, {})), (
                "what was held before is still held"
            )

    with serving(tmp_path) as served:
        asyncio.run(visit(served))
    assert len(seen) == 2


class ScriptedOAuth(OAuth):
    """FastMCP's client, whose browser is our script."""

    seen: list[str]

    async def redirect_handler(self, authorization_url: str) -> None:
        location = await asyncio.to_thread(sign_in_and_allow, authorization_url)
        self.seen.append(location)
        threading.Thread(target=visit_callback, args=(location,), daemon=True).start()


@pytest.mark.promise("A1")
@pytest.mark.promise("A3")
def test_the_fastmcp_client_discovers_registers_logs_in_calls_and_refreshes(tmp_path: Path) -> None:
    async def visit(served: Served) -> ScriptedOAuth:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            provider = ScriptedOAuth(f"{served.url}/sample/mcp", callback_timeout=30)
        provider.seen = []
        async with FastMcpClient(f"{served.url}/sample/mcp", auth=provider) as client:
            assert (await client.call_tool(READ, {})).content[0].text == "hello ada"
            first = provider.context.current_tokens
            provider.context.token_expiry_time = 1.0
            assert (await client.call_tool(READ, {})).content[0].text == "hello ada"
            second = provider.context.current_tokens
            assert first is not None
            assert second is not None
            assert first.refresh_token != second.refresh_token
        return provider

    with serving(tmp_path) as served:
        provider = asyncio.run(visit(served))
    assert len(provider.seen) == 1


@pytest.mark.promise("A3")
def test_a_client_known_beforehand_needs_no_registration(tmp_path: Path) -> None:
    clients = (
        {
            "id": "claude-desktop-abc123",
            "name": "Claude Desktop",
            "redirect_uris": ("http://localhost/callback",),
        },
    )

    async def visit(served: Served) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            provider = ScriptedOAuth(
                f"{served.url}/mcp", client_id="claude-desktop-abc123", callback_timeout=30
            )
        provider.seen = []
        async with FastMcpClient(f"{served.url}/mcp", auth=provider) as client:
            assert (await client.call_tool(READ, {})).content[0].text == "hello ada"

    with serving(tmp_path, auth={"clients": clients, "registration": False}) as served:
        asyncio.run(visit(served))
