"""Every operation, resource and prompt of the catalogue, asked for by every kind of caller,
compared with the scope table.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from carrel.core.catalogue import Catalogue
from carrel.core.operation import Operation
from carrel.policy.scopes import ALL_SCOPES, SCOPES, expand_scopes
from carrel.rooms import room_names
from tests.access.support import House, opened, settings_for

# A parameter no operation has: whoever may call is told so, and nothing is changed.
NONSENSE = {"no_operation_has_this_parameter": True}
# The table of the specification and what we added, written out once more by hand.
SPECIFIED = {
    "research:read": set(),
    "hypotheses:read": set(),
    "reviews:read": set(),
    "research:write": {"research:read"},
    "hypotheses:generate": {"research:read", "hypotheses:read"},
    "hypotheses:evolve": {"hypotheses:read"},
    "reviews:write": {"reviews:read", "hypotheses:read"},
    "papers:read": set(),
    "papers:write": {"papers:read"},
    "references:read": set(),
    "references:write": {"references:read"},
    "literature:read": set(),
    "literature:write": {"literature:read"},
    "knowledge:read": set(),
    "knowledge:write": {"knowledge:read"},
    "knowledge:promote": {"knowledge:read"},
}


@pytest.mark.promise("A2")
def test_scopes_imply_what_the_specification_says() -> None:
    for scope, implied in SPECIFIED.items():
        assert expand_scopes([scope]) == {scope, *implied}
    assert expand_scopes(["admin"]) == ALL_SCOPES == {*SPECIFIED, "admin"}
    assert expand_scopes(["nothing:known"]) == {"nothing:known"}


async def _callers(house: House) -> dict[str, tuple[str | None, frozenset[str]]]:
    """Who there is: a name, a token, and the scopes it stands for. Nobody is None."""
    callers: dict[str, tuple[str | None, frozenset[str]]] = {
        "anonymous": (None, frozenset()),
        "a made-up token": ("carrel_" + "x" * 43, frozenset()),
        "a token of another server": ("eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.", frozenset()),
        "a scope that does not exist": (await house.token("papers:everything"), frozenset()),
        "everything but admin": (
            await house.token(*(ALL_SCOPES - {"admin"})),
            expand_scopes(ALL_SCOPES - {"admin"}),
        ),
    }
    for scope in SCOPES:
        callers[scope] = (await house.token(scope), expand_scopes([scope]))
    return callers


@pytest.mark.promise("A2")
@pytest.mark.promise("A6")
def test_everybody_may_exactly_what_the_table_says(tmp_path: Path) -> None:
    limits = {"per_minute": 1e9, "burst": 1e6}
    settings = settings_for(
        tmp_path, "builtin", limits=limits, audit={"enabled": False}, rooms=room_names()
    )

    async def visit() -> list[str]:
        wrong: list[str] = []
        async with opened(settings) as house:
            for who, (token, held) in (await _callers(house)).items():
                is_known = not who.startswith(("anonymous", "a made-up", "a token of"))
                wrong += [
                    f"{who}: {line}"
                    async for line in _differences(
                        house, house.desk.catalogue, token, held, is_known
                    )
                ]
        return wrong

    assert asyncio.run(visit()) == []


def _expected_status(held: frozenset[str], is_known: bool, scopes: Iterable[str]) -> int:
    return 401 if not is_known else 200 if set(scopes) <= held else 403


def _is_wrong_refusal(status: int, expected: int) -> bool:
    return status != expected and bool({status, expected} & {401, 403})


async def _differences_over_mcp(
    house: House, catalogue: Catalogue, operation: Operation[Any], token: str | None, wanted: int
) -> Any:
    # Jobs belong to every room and have no address of their own.
    room = (
        operation.room
        if operation.room in {each.name for each in catalogue.rooms} - {"jobs"}
        else catalogue.rooms[0].name
    )
    alone = operation.name_alone or operation.name
    over_mcp = await house.call(operation.name, token, NONSENSE)
    over_room = await house.call(alone, token, NONSENSE, path=f"/{room}/mcp")
    if operation.is_for_people:
        # At no MCP door, whatever the caller may.
        for answer in (over_mcp, over_room):
            if answer.status_code == 200 and "error" not in answer.json():
                yield f"{operation.name} is at an MCP door"
        return
    if over_mcp.status_code != wanted:
        yield f"{operation.name} over MCP answered {over_mcp.status_code}"
    if over_mcp.status_code == 200 and "not a parameter" not in over_mcp.text:
        yield f"{operation.name} ran on nonsense"
    if over_room.status_code != wanted:
        yield f"{alone} over MCP alone answered {over_room.status_code}"


async def _differences(
    house: House, catalogue: Catalogue, token: str | None, held: frozenset[str], is_known: bool
) -> Any:
    expected = partial(_expected_status, held, is_known)
    for operation in catalogue.operations.values():
        wanted = expected(operation.scopes)
        async for line in _differences_over_mcp(house, catalogue, operation, token, wanted):
            yield line
        over_rest = await house.invoke(operation.name, token, NONSENSE)
        if over_rest.status_code != {200: 400}.get(wanted, wanted):
            yield f"{operation.name} over REST answered {over_rest.status_code}"
    for resource in catalogue.resources.values():
        uri = resource.uri.replace("{", "").replace("}", "")
        read = await house.rpc("resources/read", {"uri": uri}, token)
        if _is_wrong_refusal(read.status_code, expected(resource.scopes)):
            yield f"{resource.uri} answered {read.status_code}"
    for prompt in catalogue.prompts.values():
        arguments = {argument.name: "x" for argument in prompt.arguments}
        got = await house.rpc(
            "prompts/get",
            {"name": prompt.name, "arguments": arguments},
            token,
            f"/{prompt.room}/mcp",
        )
        if _is_wrong_refusal(got.status_code, expected(prompt.scopes)):
            yield f"prompt {prompt.name} answered {got.status_code}"
    if is_known:
        listed = (await house.rpc("tools/list", {}, token)).json()["result"]["tools"]
        allowed = {
            operation.name
            for operation in catalogue.operations.values()
            if operation.scopes <= held and operation.is_listed
        }
        allowed |= {"find_operation", "run_operation"}
        if {tool["name"] for tool in listed} != allowed:
            yield "tools/list shows other tools than may be called"


@pytest.mark.promise("A6")
def test_each_user_is_a_user_of_their_own(tmp_path: Path) -> None:
    async def visit() -> None:
        async with opened(settings_for(tmp_path, "tokens")) as house:
            await house.add_user("ada")
            tokens = [
                await house.token("admin", user="ada"),
                await house.token("admin"),
                await house.token("admin"),
            ]
            who = [(await house.invoke("use_admin", token)).json()["result"] for token in tokens]
            assert who == ["hello ada", "hello token:token 2", "hello token:token 3"]

    asyncio.run(visit())
