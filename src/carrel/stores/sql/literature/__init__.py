"""The tables of the literature room in shared SQL, one file for each of their uses."""

from __future__ import annotations

from carrel.stores.sql.driver import Driver
from carrel.stores.sql.literature.alerts import SqlAlerts
from carrel.stores.sql.literature.completions import SqlCompletions
from carrel.stores.sql.literature.leases import SqlLeases
from carrel.stores.sql.literature.notices import SqlNotices
from carrel.stores.sql.literature.schema import SCRIPTS

__all__ = ["SqlLiterature"]


class SqlLiterature:
    """Notices, alerts, completions and leases over one driver; whoever opens it closes it."""

    schema_steps = SCRIPTS

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.notices = SqlNotices(driver)
        self.alerts = SqlAlerts(driver)
        self.completions = SqlCompletions(driver)
        self.leases = SqlLeases(driver)

    async def close(self) -> None:
        await self._driver.close()
