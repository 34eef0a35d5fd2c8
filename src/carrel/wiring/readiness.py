"""What `/ready` says: whether every store answers and can be written, asked at most once a second
however many ask.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.settings import Settings
from carrel.stores.audit_queue import QueuedAudit
from carrel.stores.disk_space import NOT_WRITABLE, write_problem
from carrel.wiring.audit_log import audit_place
from carrel.wiring.desk import Check, Desk, Health

_REMEMBER_SECONDS = 1.0
_TIMEOUT_SECONDS = 2.0
NOT_REACHABLE = "not_reachable"
AUDIT_ON_STDOUT = "on_standard_output"
LIMITS_PER_INSTANCE = "per_instance"


class Readiness:
    """Remembers an answer for a second. Whoever asks while it is being found waits for the same
    one.
    """

    def __init__(self, probes: Mapping[str, Check], clock: Clock) -> None:
        self._probes = dict(probes)
        self._clock = clock
        self._found: dict[str, Health] = {}
        self._found_at: float | None = None
        self._asking: asyncio.Task[dict[str, Health]] | None = None

    async def ask(self) -> dict[str, Health]:
        """What every store says."""
        if (
            self._found_at is not None
            and self._clock.monotonic() - self._found_at < _REMEMBER_SECONDS
        ):
            return self._found
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask_all())
            self._asking.add_done_callback(self._forget_task)
        # One who hangs up must not end the question of the others.
        return await asyncio.shield(self._asking)

    async def _ask_all(self) -> dict[str, Health]:
        names = list(self._probes)
        answers = await asyncio.gather(*(_within_time(self._probes[name]) for name in names))
        self._found = dict(zip(names, answers, strict=True))
        self._found_at = self._clock.monotonic()
        return self._found

    def _forget_task(self, task: asyncio.Task[dict[str, Health]]) -> None:
        self._asking = None


def readiness_of(desk: Desk) -> Readiness:
    """Asks what the settings say there is."""
    probes: dict[str, Check] = {}
    for room in desk.rooms:
        probes.update(room.checks if room.probes is None else room.probes)
    if desk.access.store is not None:
        probes["access"] = _access_probe(desk)
    if desk.settings.audit.enabled and isinstance(desk.access.audit, QueuedAudit):
        probes["audit"] = _audit_probe(
            desk.access.audit, AUDIT_ON_STDOUT if audit_place(desk.settings) == "stdout" else ""
        )
    if desk.settings.auth.mode == "cloudrun" and not desk.settings.database.url:
        probes["limits"] = _limits_probe
    free = desk.settings.server.min_free_disk_bytes
    for name, folder in _store_folders(desk.settings).items():
        if name in probes:
            probes[name] = _with_room_to_write(probes[name], folder, free)
    return Readiness(probes, desk.clock)


def _store_folders(settings: Settings) -> dict[str, Path]:
    """The folders that stores on this machine write into."""
    folders: dict[str, Path] = {}
    if settings.keeps_home:
        if settings.knowledge_store == "sqlite":
            folders["knowledge"] = settings.home
        if settings.database.url is None:
            folders["research"] = settings.home
            folders["access"] = settings.home
        is_local = settings.auth.mode in {None, "local"}
        library = settings.references.library
        folders["references"] = (
            library.parent if library is not None and is_local else settings.home / "references"
        )
    if audit_place(settings) == "file":
        folders["audit"] = settings.audit_file.parent
    return folders


def _with_room_to_write(probe: Check, folder: Path, min_free_bytes: int) -> Check:
    async def check() -> Health:
        problem = await asyncio.to_thread(write_problem, folder, min_free_bytes)
        if problem is not None:
            return Health(
                False,
                f"{folder}: {problem}",
                "Make room on the disk, or correct the folder's rights.",
                problem,
            )
        return await probe()

    return check


def _access_probe(desk: Desk) -> Check:
    async def check() -> Health:
        store = desk.access.store
        if store is not None:
            await store.user("")
        return Health(True, desk.access.mode)

    return check


async def _limits_probe() -> Health:
    """Without a shared database each instance that the platform starts counts for itself."""
    return Health(
        True,
        "counted by each instance for itself",
        "Set DATABASE_URL to count over all.",
        note=LIMITS_PER_INSTANCE,
    )


def _audit_probe(audit: QueuedAudit, note: str) -> Check:
    async def check() -> Health:
        problem = await asyncio.to_thread(audit.problem)
        next_step = (
            "Make space or mend the rights there; until then, calls that change something "
            "answer 503."
        )
        return Health(
            problem is None,
            problem or "can be written",
            next_step,
            NOT_WRITABLE if problem else "",
            note,
        )

    return check


async def _within_time(probe: Check) -> Health:
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            return await probe()
    except CarrelError as error:
        return Health(False, error.message, error.next_step)
    except TimeoutError:
        return Health(
            False,
            f"No answer within {_TIMEOUT_SECONDS:g} seconds",
            "Look whether it is running.",
            NOT_REACHABLE,
        )
