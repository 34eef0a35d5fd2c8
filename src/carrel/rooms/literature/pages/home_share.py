"""What the literature room says on the first page."""

from __future__ import annotations

from carrel.core.pages import HomeShare, NewItem, PageRequest, WaitingItem, local_address

# More would crowd out what other rooms have; the page of alerts has all.
_NEW_WORKS = 3


async def share_with_home(request: PageRequest) -> HomeShare:
    """Alerts and the works they found, and proposals that wait for a decision."""
    facts: list[tuple[str, int, str]] = []
    waiting: list[WaitingItem] = []
    new: list[NewItem] = []
    if request.offers("list_alerts"):
        alerts = (await request.ask("list_alerts")).alerts
        facts.append(("literature.home.alerts", len(alerts), "/literature/alerts"))
        untold = sum(each.untold for each in alerts)
        if untold:
            waiting.append(WaitingItem("literature.home.untold", untold, "/literature/alerts"))
            listed = await request.ask("list_alert_works", limit=_NEW_WORKS)
            new += [
                NewItem(
                    each.found_at,
                    each.work.title or each.work.id,
                    "literature.home.found",
                    local_address("/literature/work", each.work.id),
                )
                for each in listed.works
                if each.is_new
            ]
    if request.offers("list_completions"):
        for target, scope in (("reference", "references:read"), ("paper", "papers:read")):
            if scope not in request.caller.scopes:
                continue
            listed = await request.ask("list_completions", target=target, limit=1)
            if listed.proposed:
                path = local_address("/literature/completion", target=target)
                waiting.append(
                    WaitingItem(f"literature.home.proposed_{target}", listed.proposed, path)
                )
    return HomeShare(facts, waiting, new)
