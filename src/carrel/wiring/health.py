"""What the doctor checks and what `/ready` probes, by the settings."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from carrel.core.errors import CarrelError
from carrel.core.health import Check, Health
from carrel.settings import Settings
from carrel.settings.places import audit_store, store_folders
from carrel.stores.audit_queue import QueuedAudit
from carrel.stores.disk_space import NOT_WRITABLE, check_disk_first
from carrel.wiring.drivers import POSTGRES_ACTION

if TYPE_CHECKING:
    from carrel.wiring.access import Access
    from carrel.wiring.desk import Desk

AUDIT_ON_STDOUT = "on_standard_output"
LIMITS_PER_INSTANCE = "per_instance"
_AUDIT_ACTION = (
    "Make space or mend the rights there; until then, calls that change something answer 503."
)


def desk_checks(desk: Desk) -> dict[str, Check]:
    """Every part, looked at as thoroughly as the doctor does."""
    checks = {name: check for room in desk.rooms for name, check in room.checks.items()}
    if desk.access.store is not None:
        checks["access"] = lambda: _check_access(desk.access, desk.settings)
    if isinstance(desk.access.audit, QueuedAudit):
        checks["audit"] = _audit_check(desk.access.audit, desk.settings)
    return checks


def desk_probes(desk: Desk) -> dict[str, Check]:
    """Whether each store answers and can be written, at the same cost whatever it holds."""
    settings, access = desk.settings, desk.access
    probes: dict[str, Check] = {}
    for room in desk.rooms:
        probes.update(room.checks if room.probes is None else room.probes)
    if access.store is not None:
        probes["access"] = lambda: _probe_access(access)
    if isinstance(access.audit, QueuedAudit):
        probes["audit"] = _audit_check(access.audit, settings)
    if settings.auth.mode == "cloudrun" and not settings.database.url:
        probes["limits"] = _report_limits
    free = settings.server.min_free_disk_bytes
    for name, folder in store_folders(settings).items():
        if name in probes:
            probes[name] = check_disk_first(probes[name], folder, free)
    return probes


def _audit_check(audit: QueuedAudit, settings: Settings) -> Check:
    """Whether calls that change something can be recorded; without that they are refused."""
    store = audit_store(settings)
    places = {"postgres": "PostgreSQL", "stdout": "standard output"}
    place = places.get(store, str(settings.audit_file.parent))

    async def check() -> Health:
        problem = await asyncio.to_thread(audit.problem)
        return Health(
            problem is None,
            problem or f"written to {place}",
            _AUDIT_ACTION if problem else "",
            NOT_WRITABLE if problem else "",
            AUDIT_ON_STDOUT if store == "stdout" else "",
        )

    return check


async def _check_access(access: Access, settings: Settings) -> Health:
    try:
        users = len(await access.store.users()) if access.store is not None else 0
    except CarrelError as error:
        action = POSTGRES_ACTION if settings.database.url else error.next_step
        return Health(False, error.message, action)
    hint = "carrel users add makes one." if access.mode == "builtin" and not users else ""
    return Health(True, f"{access.mode}, {users} users. {hint}".strip())


async def _probe_access(access: Access) -> Health:
    if access.store is not None:
        await access.store.user("")
    return Health(True, access.mode)


async def _report_limits() -> Health:
    """Without a shared database each instance that the platform starts counts for itself."""
    return Health(
        True,
        "counted by each instance for itself",
        "Set DATABASE_URL to count over all.",
        note=LIMITS_PER_INSTANCE,
    )
