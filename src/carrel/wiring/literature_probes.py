"""Literature services asked once each, for `carrel doctor --online`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from carrel.core.errors import NotConfiguredError
from carrel.core.health import Health
from carrel.rooms.literature.errors import FailureKind, NetworkForbiddenError
from carrel.services.literature.catalogue import build_services
from carrel.services.literature.probes import Probe, probe_services
from carrel.settings import Settings
from carrel.wiring.literature_client import open_client, service_access

_KEY_SETTINGS = {
    "openalex": "literature.openalex_api_key",
    "semantic_scholar": "literature.semantic_scholar_api_key",
    "pubmed": "literature.pubmed_api_key",
    "crossref": "literature.crossref_token",
    "opencitations": "literature.opencitations_token",
}
_NEXT_STEPS: Mapping[FailureKind, str] = {
    "unreachable": "Check the network, a firewall, and the proxy (HTTPS_PROXY or "
    "literature.proxy).",
    "timed_out": "Try again, or set a longer literature.timeout_seconds.",
    "rate_limited": "Wait a little and run it again; literature.contact and keys raise limits.",
    "budget_spent": "It is renewed at midnight UTC; a key with a larger budget helps.",
    "paused": "It failed repeatedly and is left alone for a while; run it again later.",
    "unreadable": "Run it again; if it stays, the service changed its format: report it.",
}
_NO_CONTACT = "Set literature.contact to your mail address; it is told to services alone."


async def probe_literature(settings: Settings) -> dict[str, Health]:
    """A finding for each service; raises where settings let nothing leave."""
    if not settings.network:
        raise NetworkForbiddenError
    mode = settings.literature.mode
    if mode in {"replay", "offline"}:
        raise NotConfiguredError(
            f"literature.mode = {mode} asks nothing outside",
            next_step="Run it with CARREL_LITERATURE_MODE=live.",
        )
    access = service_access(settings)
    client = open_client(settings, is_live=True)
    try:
        services = build_services(client, access)
        probes = await probe_services(client, services, settings.literature.timeout_seconds)
        has_contact = bool(client.contact)
    finally:
        await client.close()
    return {
        f"online: {probe.title}": _finding(
            probe, has_key=bool(access.keys.get(probe.service)), has_contact=has_contact
        )
        for probe in probes
    }


def _finding(probe: Probe, *, has_key: bool, has_contact: bool) -> Health:
    key_setting = _KEY_SETTINGS.get(probe.service)
    if probe.failure is not None:
        return _failure(probe, probe.failure, key_setting, has_key=has_key, has_contact=has_contact)
    if not probe.is_found:
        return Health(
            False,
            f"answers, but does not know {probe.asked_for}, which it had",
            "The service or its format changed; report it with this line.",
        )
    says = ["reachable"]
    if key_setting is not None:
        says.append("key accepted" if has_key else f"asked without a key ({key_setting})")
    if probe.pool:
        says.append(f"pool {probe.pool}")
    cost = probe.cost
    if cost.budget_left_usd is not None:
        says.append(f"budget left ${cost.budget_left_usd:.4g}")
    if cost.requests_left is not None:
        says.append(f"{cost.requests_left:,} requests left")
    if probe.service == "crossref" and not has_contact:
        return Health(True, "; ".join(says), _NO_CONTACT, note="no_contact")
    return Health(True, "; ".join(says))


def _failure(
    probe: Probe, failure: FailureKind, key_setting: str | None, *, has_key: bool, has_contact: bool
) -> Health:
    step = _NEXT_STEPS.get(failure, "Run it again later; the status page of the service may say.")
    if failure == "key_refused" and key_setting is not None:
        step = f"Check {key_setting}." if has_key else f"Set {key_setting}."
    finding = Health(False, probe.reason, step, problem=failure)
    if probe.service == "unpaywall" and not has_contact:
        return replace(finding, next_step=_NO_CONTACT)
    is_answering = failure not in {"unreachable", "timed_out", "unreadable"}
    if probe.service == "semantic_scholar" and not has_key and is_answering:
        # Its shared pool refuses almost everybody, and it is asked by default only with a key.
        step = f"Searches do without it; set {key_setting} to have it asked."
        return Health(True, probe.reason, step, note="no_key")
    return finding
