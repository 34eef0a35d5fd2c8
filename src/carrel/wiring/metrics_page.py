"""`/metrics`: what it shows beside what calls have left."""

from __future__ import annotations

from carrel.core.errors import CarrelError
from carrel.doors.http import Route
from carrel.doors.metrics_page import MetricsPage, Refuse
from carrel.doors.readiness import Readiness
from carrel.libraries.telemetry.instruments import Description, Family
from carrel.settings.observability_rules import metrics_token
from carrel.wiring.desk import Desk
from carrel.wiring.telemetry import DeskTelemetry

_READY = Description(
    "carrel.ready",
    "gauge",
    "",
    "Whether a part that /ready asks is well (1) or not (0)",
    ("check",),
)
_PAPERS = Description("carrel.corpus.papers", "gauge", "{paper}", "Papers of the corpus")
_COUNT_EVERY_SECONDS = 60.0
_BUILD = Description("carrel.build.info", "gauge", "", "The version that runs", ("version",))


def metrics_routes(desk: Desk, readiness: Readiness, refuse: Refuse) -> dict[str, Route]:
    """The route; none where nothing is measured."""
    telemetry = desk.telemetry
    if telemetry is None:
        return {}
    collect = _Collector(desk, telemetry, readiness)
    return MetricsPage(collect, desk.gate, refuse, metrics_token(desk.settings)).routes()


class _Collector:
    """Everything that is shown: what calls have left, and what is so at this moment."""

    def __init__(self, desk: Desk, telemetry: DeskTelemetry, readiness: Readiness) -> None:
        self._desk = desk
        self._telemetry = telemetry
        self._readiness = readiness
        self._papers: float | None = None
        self._counted_at = -_COUNT_EVERY_SECONDS

    async def __call__(self) -> list[Family]:
        families = await self._telemetry.collect()
        ready = Family(_READY)
        for name, check in (await self._readiness.ask()).items():
            ready.add((name,), [float(check.is_well)])
        build = Family(_BUILD)
        build.add((self._desk.settings.server.version,), [1.0])
        papers = Family(_PAPERS)
        count = await self._count_papers()
        if count is not None:
            papers.add((), [count])
        return [*families, ready, build, papers]

    async def _count_papers(self) -> float | None:
        """Counted once a minute: in a snapshot of others it takes longer the more there are."""
        corpus, now = self._desk.corpus, self._desk.clock.monotonic()
        if corpus is not None and now - self._counted_at >= _COUNT_EVERY_SECONDS:
            self._counted_at = now
            try:
                self._papers = float((await corpus.store.statistics()).papers)
            except CarrelError:
                # No corpus, or one that cannot be read: `carrel_ready` says so.
                self._papers = None
        return self._papers
