"""What all bodies together may hold in memory."""

from __future__ import annotations

import asyncio

import pytest

from carrel.doors.http.messages import BodyTooLargeError, ServerBusyError
from carrel.doors.http.request_checks import BodyBudget, HeldBody, read_body
from tests.doors.house import build_house

JSON = ("content-type", "application/json")


@pytest.mark.promise("D14")
def test_bodies_are_counted_over_all_callers_and_for_each_address() -> None:
    budget = BodyBudget(max_bytes=100, max_bytes_per_address=60)
    ada, bob = HeldBody(budget, "192.0.2.1"), HeldBody(budget, "192.0.2.2")
    ada.grow_to(60)
    with pytest.raises(ServerBusyError):
        HeldBody(budget, "192.0.2.1").grow_to(1)
    bob.grow_to(40)
    with pytest.raises(ServerBusyError):
        bob.grow_to(41)
    assert budget.held_bytes == 100
    ada.release()
    ada.release()
    bob.grow_to(60)
    bob.release()
    assert budget.held_bytes == 0


@pytest.mark.promise("D14")
def test_a_body_that_is_refused_holds_nothing() -> None:
    async def visit() -> None:
        budget = BodyBudget(max_bytes=1000, max_bytes_per_address=1000)
        held = HeldBody(budget, "192.0.2.1")
        chunks = [b"x" * 60, b"x" * 60]

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": chunks.pop(), "more_body": True}

        with pytest.raises(BodyTooLargeError):
            await read_body(receive, 100, 5.0, held)
        assert budget.held_bytes == 60
        held.release()
        assert budget.held_bytes == 0

    asyncio.run(visit())


@pytest.mark.promise("D14")
def test_a_good_client_gets_in_while_others_hold_their_share() -> None:
    server = {"max_body_bytes": 20_000, "max_buffered_body_bytes": 40_000}
    house = build_house(server=server)
    slow = [b'{"tool_name":"say","params":{"text":"' + b"a" * 12_000, b"a" * 5000]

    async def visit() -> None:
        more = asyncio.Event()

        async def held_up(sender: str) -> int:
            sent: list[dict[str, object]] = []
            chunks = iter(slow)

            async def receive() -> dict[str, object]:
                chunk = next(chunks, None)
                if chunk is None:
                    await more.wait()
                    return {"type": "http.disconnect"}
                return {"type": "http.request", "body": chunk, "more_body": True}

            async def send(message: object) -> None:
                assert isinstance(message, dict)
                sent.append(message)

            headers = [
                (b"host", b"127.0.0.1:8080"),
                (b"content-type", b"application/json"),
                (b"transfer-encoding", b"chunked"),
            ]
            scope = {
                "type": "http",
                "method": "POST",
                "path": "/mcp/invoke",
                "headers": headers,
                "client": (sender, 1),
            }
            await house.app(scope, receive, send)
            return int(str(sent[0]["status"])) if sent else 0

        first = asyncio.create_task(held_up("2001:db8::1"))
        await asyncio.sleep(0)
        assert await held_up("2001:db8::2") == 503, (
            "another address of the same /64 has no share of its own"
        )
        small = await house.request(
            "POST", "/mcp/invoke", b'{"tool_name":"say","params":{"text":"hi"}}', [JSON]
        )
        assert small.status == 200
        more.set()
        assert await first == 0
        assert await held_up("2001:db8::2") == 0, "what was held is free again"

    asyncio.run(visit())
