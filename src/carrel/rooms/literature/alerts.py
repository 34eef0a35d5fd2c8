"""Alerts: saved searches that tell of every new work once."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, ConflictError, InvalidInputError, NotFoundError
from carrel.libraries.literature.records import MergedWork
from carrel.libraries.literature.seen_keys import list_seen_keys
from carrel.libraries.query.papers import parse_paper_query
from carrel.rooms.literature.alert_models import (
    SHOWN_NEW_WORKS,
    AlertRemoved,
    AlertRun,
    AlertShown,
    AlertsListed,
    AlertsRun,
    AlertWork,
    ListAlerts,
    OneAlert,
    RunAlerts,
    SaveAlert,
    ServiceMark,
)
from carrel.rooms.literature.alert_ports import (
    Alert,
    AlertMark,
    AlertStore,
    Leases,
    SeenWork,
    lease_of,
)
from carrel.rooms.literature.alert_search import AlertSearch
from carrel.rooms.literature.work_views import author_name, name_work, view_notices

log = logging.getLogger("carrel.literature")

# Works that an alert remembers, so that none is told twice; the oldest are forgotten.
MAX_SEEN_WORKS = 20_000
LEASE_SECONDS = 120.0
_KEPT_AUTHORS = 3
_KEPT_ABSTRACT = 600
_MAX_NAME = 100


class Alerts:
    """The alerts of everybody; each caller sees and runs their own."""

    def __init__(
        self, store: AlertStore, leases: Leases, search: AlertSearch, clock: Clock
    ) -> None:
        self._store = store
        self._leases = leases
        self._search = search
        self._clock = clock

    async def save(self, question: SaveAlert, call: Call) -> AlertShown:
        """Raises ConflictError where the caller has an alert of that name."""
        if parse_paper_query(question.query).is_empty:
            raise InvalidInputError(
                "The query has no words to search for", next_step="Write what to look for."
            )
        self._search.check(question.services)
        name = question.name or " ".join(question.query.split())[:_MAX_NAME]
        now = self._now()
        alert = Alert(
            f"alert_{secrets.token_hex(8)}",
            call.caller.user_id,
            name,
            question.query,
            tuple(dict.fromkeys(question.services)),
            question.since or now[:10],
            now,
        )
        if not await self._store.add(alert, ()):
            raise ConflictError(
                f"There is an alert {name!r} already",
                next_step="Name it otherwise, or remove_alert first.",
            )
        return _show(alert, (), 0)

    async def list_own(self, question: ListAlerts, call: Call) -> AlertsListed:
        found = await self._store.list_owned(call.caller.user_id)
        return AlertsListed(
            alerts=[
                _show(
                    alert,
                    await self._store.marks(alert.id),
                    await self._store.count_untold(alert.id),
                )
                for alert in found
            ]
        )

    async def remove(self, question: OneAlert, call: Call) -> AlertRemoved:
        alert = await self.find(question.name, call)
        if not await self._store.remove(call.caller.user_id, alert.id):
            raise _not_found(question.name)
        return AlertRemoved(id=alert.id, name=alert.name)

    async def find(self, name: str, call: Call) -> Alert:
        """The caller's alert of a name or id. Raises NotFoundError."""
        alert = await self._store.find(call.caller.user_id, name)
        if alert is None:
            raise _not_found(name)
        return alert

    async def select(self, name: str | None, call: Call) -> list[Alert]:
        """The caller's alert of that name, or all of them."""
        if name is not None:
            return [await self.find(name, call)]
        return await self._store.list_owned(call.caller.user_id)

    async def run(self, question: RunAlerts, call: Call) -> AlertsRun:
        """Runs the caller's alerts now. Raises NetworkForbiddenError, NotFoundError."""
        self._search.need_network()
        chosen = await self.select(question.name, call)
        runs = []
        for number, alert in enumerate(chosen):
            await call.report_progress(number, len(chosen), alert.name)
            runs.append(await self.run_one(alert))
        new = sum(each.new for each in runs)
        return AlertsRun(message=_say(runs, new), new=new, runs=runs)

    async def run_due(self, every: timedelta) -> list[AlertRun]:
        """Runs everybody's alerts that have not run for so long."""
        before = (self._clock.now() - every).isoformat(timespec="seconds")
        runs = []
        for alert in await self._store.list_due(before):
            try:
                runs.append(await self.run_one(alert, not_since=before))
            except CarrelError as error:
                log.warning("an alert did not run", extra={"code": error.code})
        return runs

    async def run_one(self, alert: Alert, not_since: str | None = None) -> AlertRun:
        """Runs one alert, unless another process does, or did since then."""
        worker, lease = f"run_{secrets.token_hex(8)}", lease_of(alert.id)
        if not await self._leases.take(lease, worker, LEASE_SECONDS):
            return AlertRun(
                name=alert.name, state="skipped", reason="Another process is running it just now"
            )
        renewal = asyncio.create_task(self._renew(lease, worker))
        try:
            current = await self._store.find(alert.owner, alert.id)
            if current is None:
                return AlertRun(name=alert.name, state="skipped", reason="It was removed")
            if not_since is not None and current.ran_at >= not_since:
                return AlertRun(name=alert.name, state="skipped", reason="It ran a moment ago")
            return await self._run(current, worker)
        finally:
            renewal.cancel()
            with suppress(asyncio.CancelledError):
                await renewal
            await self._leases.release(lease, worker)

    async def _run(self, alert: Alert, worker: str) -> AlertRun:
        """Asks, then keeps what is new and moves the marks in one transaction."""
        before = {mark.service: mark for mark in await self._store.marks(alert.id)}
        now = self._now()
        news = await self._search.find(alert, before, self._clock.now().date(), now)
        seen = [
            *(_seen(work, is_new=False) for work in news.earlier),
            *(_seen(work, is_new=True) for work in news.works),
        ]
        seen = [each for each in seen if each.keys]
        new = await self._store.keep(alert.id, worker, seen, news.marks, now, MAX_SEEN_WORKS)
        if new is None:
            return AlertRun(
                name=alert.name,
                state="skipped",
                reason="It was removed, or another process took it over; nothing was kept",
            )
        told = await self._store.list_works(
            alert.id, found_since=now, only_untold=True, limit=SHOWN_NEW_WORKS
        )
        titles = [AlertWork.model_validate_json(each.body).title for each in told[: len(new)]]
        failed = sum(bool(mark.failure) for mark in news.marks)
        state = "complete" if not failed else "incomplete"
        return AlertRun(
            name=alert.name,
            state="failed" if failed and failed == len(news.marks) and not seen else state,
            new=len(new),
            titles=titles,
            marks=[_show_mark(mark) for mark in news.marks],
        )

    async def _renew(self, lease: str, worker: str) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 4)
            with suppress(CarrelError):
                await self._leases.take(lease, worker, LEASE_SECONDS)

    def _now(self) -> str:
        return self._clock.now().isoformat(timespec="seconds")


def _seen(found: MergedWork, *, is_new: bool) -> SeenWork:
    shown = describe_work(found)
    return SeenWork(shown.id, list_seen_keys(found), shown.model_dump_json(), is_new)


def describe_work(found: MergedWork) -> AlertWork:
    """A work as alerts keep it."""
    work = found.work
    keys = [key for key in list_seen_keys(found) if key.partition(":")[0] in _DESK_KEYS]
    abstract = " ".join(work.abstract.split())
    if len(abstract) > _KEPT_ABSTRACT:
        abstract = f"{abstract[:_KEPT_ABSTRACT].rsplit(' ', 1)[0]} …"
    return AlertWork(
        id=name_work(work.ids, found.records),
        title=" ".join(work.title.split()),
        authors=[author_name(each) for each in work.authors[:_KEPT_AUTHORS]],
        author_count=len(work.authors),
        issued=work.issued,
        venue=work.venue.name or work.venue.abbreviation,
        kind=work.kind,
        url=_address(found),
        abstract=abstract,
        keys=keys[:20],
        found_by=list(dict.fromkeys(record.service for record in found.records)),
        notices=list(view_notices(work.notices)),
    )


_DESK_KEYS = frozenset({"doi", "pmid", "pmcid", "arxiv"})


def _address(found: MergedWork) -> str:
    ids = found.work.ids
    if ids.doi:
        return f"https://doi.org/{ids.doi}"
    if ids.arxiv:
        return f"https://arxiv.org/abs/{ids.arxiv}"
    if ids.pmid:
        return f"https://pubmed.ncbi.nlm.nih.gov/{ids.pmid}/"
    return next((each.url for each in found.work.locations), "")


def _show(alert: Alert, marks: Sequence[AlertMark], untold: int) -> AlertShown:
    return AlertShown(
        id=alert.id,
        name=alert.name,
        query=alert.query,
        services=list(alert.services),
        since=alert.since,
        created_at=alert.created_at,
        ran_at=alert.ran_at,
        untold=untold,
        marks=[_show_mark(mark) for mark in marks],
    )


def _show_mark(mark: AlertMark) -> ServiceMark:
    return ServiceMark(
        service=mark.service,
        complete_until=mark.complete_until,
        asked_at=mark.asked_at,
        failure=mark.failure,
        reason=mark.reason,
    )


def _not_found(name: str) -> NotFoundError:
    return NotFoundError("Alert", name, next_step="list_alerts names those there are.")


def _say(runs: Sequence[AlertRun], new: int) -> str:
    if not runs:
        return "There are no alerts; save_alert makes one."
    works = "1 new work" if new == 1 else f"{new:,} new works"
    said = [f"{works} by {len(runs)} alert{'' if len(runs) == 1 else 's'}."]
    behind = [
        f"{run.name}: {mark.service} ({mark.reason})"
        for run in runs
        for mark in run.marks
        if mark.failure
    ]
    if behind:
        said.append(
            "Not everything was answered; what is missing is asked for again: "
            f"{'; '.join(behind[:5])}."
        )
    said += [f"{run.name}: {run.reason}." for run in runs if run.state == "skipped"]
    return " ".join(said)
