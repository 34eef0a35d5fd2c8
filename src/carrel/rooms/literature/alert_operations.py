"""The operations on alerts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from carrel.core.answer import Text
from carrel.core.caller import Call, Caller
from carrel.core.decorators import operation
from carrel.core.operation import Effect
from carrel.core.quoting import QuotedSource
from carrel.rooms.literature.alert_digest import AlertDigests
from carrel.rooms.literature.alert_models import (
    AlertRemoved,
    AlertShown,
    AlertsListed,
    AlertsRun,
    AlertWorksListed,
    GetAlertDigest,
    ListAlerts,
    ListAlertWorks,
    OneAlert,
    RunAlerts,
    SaveAlert,
)
from carrel.rooms.literature.alerts import Alerts

READ = frozenset({"literature:read"})
WRITE = frozenset({"literature:write"})


def _quoted_run(
    arguments: Mapping[str, Any], answer: AlertsRun, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("alert", run.name) for run in answer.runs if run.titles]


def _quoted_digest(
    arguments: Mapping[str, Any], answer: Text, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("alert", str(arguments.get("name") or "all"))]


def _quoted_works(
    arguments: Mapping[str, Any], answer: AlertWorksListed, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource("work", each.work.id, each.work.title) for each in answer.works]


class AlertOperations:
    """Saved searches: what is new is told once."""

    def __init__(self, alerts: Alerts, digests: AlertDigests) -> None:
        self._alerts = alerts
        self._digests = digests

    @operation(
        title="Save an alert",
        description=(
            "Save a search of literature services that runs again and again and tells of works "
            "that are new. Query as in search_literature."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        command="save-alert",
        next_command="carrel alerts run runs it, carrel alerts digest tells what is new.",
        is_listed=False,
        phrases=(
            "notify me of new papers on …; save this search; set up an alert; follow a topic; "
            "tell me when something new is published about …; watch the literature on …; "
            "subscribe to new articles by an author; keep me up to date on …"
        ),
    )
    async def save_alert(self, question: SaveAlert, call: Call) -> AlertShown:
        return await self._alerts.save(question, call)

    @operation(
        title="List alerts",
        description="Your saved searches, up to which day each service answered, and what is new.",
        scopes=READ,
        command="list-alerts",
        is_listed=False,
        phrases=(
            "which alerts do I have; my saved searches; when did my alerts last run; topics that "
            "I follow; are there new works of my alerts"
        ),
    )
    async def list_alerts(self, question: ListAlerts, call: Call) -> AlertsListed:
        return await self._alerts.list_own(question, call)

    @operation(
        title="Remove an alert",
        description="Remove a saved search with everything that it found.",
        scopes=WRITE,
        effect=Effect.DESTROYS,
        command="remove-alert",
        is_listed=False,
        phrases="delete an alert; stop following a topic; unsubscribe from a saved search",
    )
    async def remove_alert(self, question: OneAlert, call: Call) -> AlertRemoved:
        return await self._alerts.remove(question, call)

    @operation(
        title="Run alerts",
        description=(
            "Ask the services of your saved searches what is new since the last complete answer; "
            "says what failed and is asked again next time."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        reaches_outside=True,
        is_idempotent=True,
        cost=5.0,
        timeout_seconds=600.0,
        quotes=_quoted_run,
        command="run-alerts",
        next_command="carrel alerts digest tells what is new.",
        is_listed=False,
        phrases=(
            "run my alerts now; check for new papers of my saved searches; look for news on the "
            "topics that I follow"
        ),
    )
    async def run_alerts(self, question: RunAlerts, call: Call) -> AlertsRun:
        return await self._alerts.run(question, call)

    @operation(
        title="Get the digest of alerts",
        description=(
            "New works of your saved searches as Markdown, each told once, or everything of the "
            "last days; as an Atom feed with format atom. Marks what corpus or library have."
        ),
        scopes=WRITE,
        effect=Effect.WRITES,
        quotes=_quoted_digest,
        command="alert-digest",
        is_listed=False,
        phrases=(
            "what is new on my topics; digest of new papers; new works of my alerts; weekly "
            "digest of the literature; Atom feed of an alert; what did my saved searches find"
        ),
    )
    async def get_alert_digest(self, question: GetAlertDigest, call: Call) -> Text:
        return await self._digests.write(question, call)

    @operation(
        title="List works of alerts",
        description="Works that your saved searches found, newest first; none counts as told.",
        scopes=READ,
        quotes=_quoted_works,
        command="list-alert-works",
        is_listed=False,
        is_for_people=True,
    )
    async def list_alert_works(self, question: ListAlertWorks, call: Call) -> AlertWorksListed:
        return await self._digests.list_works(question, call)
