"""`/ready`: which store cannot be reached or written, at the same cost whatever the stores hold."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from carrel.core.health import Health
from carrel.doors.readiness import Readiness
from carrel.stores.audit_queue import QueuedAudit
from tests.access.support import ManualClock, opened, settings_for
from tests.doors.raw_http import Server, served

READY = b"GET /ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.mark.promise("D8")
def test_the_stores_are_asked_once_a_second_however_many_ask() -> None:
    asked = 0

    async def probe() -> Health:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        return Health(True, "")

    async def visit() -> None:
        clock = ManualClock()
        readiness = Readiness({"store": probe}, clock)
        await asyncio.gather(*(readiness.ask() for _ in range(50)))
        await readiness.ask()
        assert asked == 1, "those who ask at once share one question, and it is remembered"
        clock.advance(1.01)
        await asyncio.gather(*(readiness.ask() for _ in range(50)))
        assert asked == 2

    asyncio.run(visit())


@pytest.mark.promise("D8")
def test_a_caller_who_hangs_up_does_not_end_the_question_of_the_others() -> None:
    async def visit() -> None:
        go_on = asyncio.Event()

        async def probe() -> Health:
            await go_on.wait()
            return Health(True, "")

        readiness = Readiness({"store": probe}, ManualClock())
        first, second = asyncio.create_task(readiness.ask()), asyncio.create_task(readiness.ask())
        await asyncio.sleep(0)
        first.cancel()
        go_on.set()
        assert (await second)["store"].is_well

    asyncio.run(visit())


@pytest.mark.promise("D8")
def test_a_store_that_is_slow_to_open_is_not_begun_anew_by_each_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("carrel.doors.readiness._TIMEOUT_SECONDS", 0.01)
    asked = 0

    async def visit() -> None:
        is_open = asyncio.Event()

        async def probe() -> Health:
            nonlocal asked
            asked += 1
            await is_open.wait()
            return Health(True, "")

        clock = ManualClock()
        readiness = Readiness({"store": probe}, clock)
        for _ in range(3):
            assert (await readiness.ask())["store"].problem == "not_reachable"
            clock.advance(1.01)
        is_open.set()
        await asyncio.sleep(0)
        assert (await readiness.ask())["store"].is_well
        assert asked == 1

    asyncio.run(visit())


def _ready_body(home: Path, **sections: object) -> tuple[int, dict[str, object]]:
    async def visit() -> tuple[int, dict[str, object]]:
        async with opened(settings_for(home, "tokens", **sections)) as house:
            answer = await house.http.get("/ready")
            return answer.status_code, answer.json()["checks"]

    return asyncio.run(visit())


@pytest.mark.promise("D8")
def test_a_full_disk_is_said_and_every_store_on_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "roomy").mkdir()
    (tmp_path / "full").mkdir()
    assert _ready_body(tmp_path / "roomy", server={"min_free_disk_bytes": 0}) == (
        200,
        {"access": {"ok": True}, "audit": {"ok": True}},
    )
    status, checks = _ready_body(tmp_path / "full", server={"min_free_disk_bytes": 10**18})
    full = {"ok": False, "problem": "disk_full"}
    assert (status, checks) == (503, {"access": full, "audit": full})


@pytest.mark.promise("D8")
def test_an_audit_log_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    # Where the log should be is a folder, so that every write fails.
    (tmp_path / "audit" / "audit.jsonl").mkdir(parents=True)

    async def visit() -> None:
        async with opened(settings_for(tmp_path, "tokens")) as house:
            assert (await house.http.get("/mcp/tools")).status_code == 401
            audit = house.desk.access.audit
            assert isinstance(audit, QueuedAudit)
            assert not await asyncio.to_thread(audit.flush, 0.5)
            answer = await house.http.get("/ready")
            assert answer.status_code == 503
            assert answer.json()["checks"]["audit"] == {"ok": False, "problem": "not_writable"}
            assert (await house.http.get("/health")).status_code == 200

    asyncio.run(visit())


@pytest.mark.promise("D8")
@pytest.mark.parametrize(
    ("text", "is_ready"),
    [
        (b"[]", True),
        (b"", True),
        (b'[{"id": "a"}', False),
        (b"not json", False),
        (b"[" + b" " * 300_000 + b"%" * 300_000 + b"]", True),
    ],
    ids=["empty array", "empty file", "cut off", "something else", "only its ends are looked at"],
)
def test_the_library_is_not_read_to_say_whether_it_is_there(
    tmp_path: Path, text: bytes, is_ready: bool
) -> None:
    library = tmp_path / "library.json"
    library.write_bytes(text)
    server: Server
    with served(
        tmp_path / "home", CARREL_ROOMS="references", CARREL_REFERENCES_LIBRARY=str(library)
    ) as server:
        answer = server.ask(READY)
    assert answer.startswith(b"HTTP/1.1 200" if is_ready else b"HTTP/1.1 503"), answer


@pytest.mark.promise("D8")
def test_asking_leaves_nothing_in_the_folders(tmp_path: Path) -> None:
    library = tmp_path / "library.json"
    library.write_bytes(b"[]")
    with served(
        tmp_path / "home",
        CARREL_ROOMS="references,knowledge",
        CARREL_REFERENCES_LIBRARY=str(library),
    ) as server:
        assert server.ask(READY).startswith(b"HTTP/1.1 200")
        assert {file.name for file in tmp_path.iterdir()} == {"home", "library.json"}
