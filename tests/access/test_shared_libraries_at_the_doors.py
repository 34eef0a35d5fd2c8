"""Shared libraries over HTTP, for people with tokens of their own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.access.support import opened, settings_for

ENTRY = "@book{noether-1918, title={Invariante Variationsprobleme}, author={Noether, Emmy}}"


@pytest.mark.promise("L12")
def test_each_door_refuses_strangers_and_readers_and_serves_members(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, "builtin", rooms=("references",))

    async def visit() -> None:
        async with opened(settings) as house:
            scopes = ("references:read", "references:write")
            ada, bob, eve = [
                await house.token(*scopes, user=user) for user in ("ada", "bob", "eve")
            ]
            made = (await house.invoke("create_library", ada, {"name": "Lab"})).json()
            library = made["result"]["id"]
            shared = {"shared_library": library}
            adding = {"input": ENTRY, **shared}
            assert (await house.invoke("add_references", eve, adding)).status_code == 404
            member = {"library": library, "member": "bob"}
            assert (await house.invoke("set_library_member", eve, member)).status_code == 404
            assert (await house.invoke("set_library_member", ada, member)).status_code == 200
            refused = await house.invoke("add_references", bob, adding)
            assert refused.status_code == 403
            assert "insufficient_permissions" in refused.text
            assert (await house.invoke("add_references", ada, adding)).status_code == 200
            for path, search in (
                ("/mcp", "search_references"),
                ("/desk/mcp", "search_references"),
                ("/references/mcp", "search"),
            ):
                asked = {"query": "noether", **shared}
                seen = await house.call(search, bob, asked, path)
                assert "noether-1918" in seen.text, path
                hidden = await house.call(search, eve, asked, path)
                assert "noether-1918" not in hidden.text and "not found" in hidden.text, path
                adding_tool = "add" if path == "/references/mcp" else "add_references"
                late = await house.call(adding_tool, bob, adding, path)
                assert "insufficient_permissions" in late.text, path
            # A role gives no right that the token does not have.
            reading = await house.token("references:read", user="ada")
            assert (await house.invoke("add_references", reading, adding)).status_code == 403
            lines = [line for line in house.audit_lines() if library in str(line)]
            assert {line["user_id"] for line in lines} >= {"ada", "bob", "eve"}

    asyncio.run(visit())
