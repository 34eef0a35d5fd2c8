"""Limits, budgets and costs that services announce in the headers of their answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from carrel.rooms.literature.ports import ServiceCost
from carrel.services.literature.service_limits import ServiceLimits

_MOST_SLOTS = 10
# However fast a service says it is.
_LEAST_INTERVAL_SECONDS = 0.02
# A wait announced for a used-up window that is longer than this is a budget and no rate.
_LONGEST_HOLD_SECONDS = 600.0
_INTERVAL = re.compile(r"([0-9]{1,6})\s*(ms|s|m|h)?")
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
# Times of reset above this are dates, in seconds since 1970, and not waits.
_LEAST_DATE = 1e9
# NCBI counts by the second and says no interval.
_COUNTED_BY_THE_SECOND = frozenset({"pubmed", "pubmed_central", "pmc"})
# Its numbers are a day's budget, and not a rate.
_COUNTED_BY_BUDGET = frozenset({"openalex"})
_POLICY = re.compile(r'(?:"[^"]*"\s*;\s*q=|^\s*)([0-9]{1,9})\s*;(?:[^,]*;)?\s*w=([0-9]{1,9})')
_STRUCTURED = re.compile(r"\b(remaining|reset|r|t)=([0-9]{1,12})")


@dataclass(frozen=True, slots=True)
class Announced:
    """The limits that hold from now on, and for how long nothing more may be asked."""

    limits: ServiceLimits
    hold_seconds: float = 0.0


def service_key(service: str) -> str:
    """The name of a service as settings write it, from its name or title."""
    return service.lower().replace(" ", "_")


def read_announced(
    service: str, headers: Mapping[str, str], known: ServiceLimits, now: float
) -> Announced:
    """What an answer announces, else `known`; `now` is the time in seconds since 1970."""
    key = service_key(service)
    limits = _concurrency(headers, known)
    limits = _rate(headers, limits)
    if key in _COUNTED_BY_THE_SECOND:
        return _by_the_second(headers, limits)
    if key in _COUNTED_BY_BUDGET:
        return Announced(limits)
    window = _window(headers, now)
    is_used_up = window.remaining == 0 and window.reset_seconds is not None
    hold = min(window.reset_seconds or 0.0, _LONGEST_HOLD_SECONDS) if is_used_up else 0.0
    return Announced(_slow_to_policy(headers, limits), hold)


def read_cost(service: str, headers: Mapping[str, str], now: float) -> ServiceCost:
    """What an answer cost and what is left, as far as its headers say."""
    key = service_key(service)
    if key in _COUNTED_BY_THE_SECOND:
        return ServiceCost()
    prepaid = _decimal(headers, "x-ratelimit-prepaid-remaining-usd") or 0.0
    left = _decimal(headers, "x-ratelimit-remaining-usd")
    window = _window(headers, now)
    return ServiceCost(
        cost_usd=_decimal(headers, "x-ratelimit-cost-usd"),
        budget_left_usd=None if left is None else left + prepaid,
        # Where money is counted, the number of requests is one of credits.
        requests_left=window.remaining if left is None else None,
        resets_in_seconds=window.reset_seconds,
    )


@dataclass(frozen=True, slots=True)
class _Window:
    remaining: int | None
    reset_seconds: float | None


def _concurrency(headers: Mapping[str, str], known: ServiceLimits) -> ServiceLimits:
    count = _whole(headers.get("x-concurrency-limit", ""), most=6)
    if count is None:
        return known
    return replace(known, max_concurrent=max(1, min(count, _MOST_SLOTS)))


def _rate(headers: Mapping[str, str], known: ServiceLimits) -> ServiceLimits:
    """Crossref's headers, in the spelling of now and of before."""
    for name in ("x-rate-limit", "x-ratelimit"):
        count = _whole(headers.get(f"{name}-limit", ""), most=9)
        length = _INTERVAL.fullmatch(headers.get(f"{name}-interval", "").strip())
        if count and length is not None:
            seconds = int(length.group(1)) * _UNIT_SECONDS[length.group(2) or "s"]
            return replace(known, interval_seconds=max(_LEAST_INTERVAL_SECONDS, seconds / count))
    return known


def _by_the_second(headers: Mapping[str, str], known: ServiceLimits) -> Announced:
    count = _whole(headers.get("x-ratelimit-limit", ""), most=4)
    if not count:
        return Announced(known)
    limits = replace(known, interval_seconds=max(_LEAST_INTERVAL_SECONDS, 1.0 / count))
    is_used_up = _whole(headers.get("x-ratelimit-remaining", ""), most=4) == 0
    return Announced(limits, 1.0 if is_used_up else 0.0)


def _slow_to_policy(headers: Mapping[str, str], known: ServiceLimits) -> ServiceLimits:
    """The standard's policy slows down; it never makes us faster than we know to be polite."""
    found = _POLICY.search(headers.get("ratelimit-policy", ""))
    if found is None or not int(found.group(1)):
        return known
    interval = int(found.group(2)) / int(found.group(1))
    return replace(known, interval_seconds=max(known.interval_seconds, interval))


def _window(headers: Mapping[str, str], now: float) -> _Window:
    """What is left of the current window, in any of the spellings in use."""
    structured: dict[str, str] = dict(_STRUCTURED.findall(headers.get("ratelimit", "")))
    remaining: int | None = None
    reset: float | None = None
    for prefix in ("ratelimit", "x-ratelimit", "x-rate-limit"):
        if remaining is None:
            remaining = _whole(headers.get(f"{prefix}-remaining", ""), most=12)
        if reset is None:
            reset = _decimal(headers, f"{prefix}-reset")
    if remaining is None:
        remaining = _whole(structured.get("remaining", structured.get("r", "")), most=12)
    if reset is None and (text := structured.get("reset", structured.get("t", ""))):
        reset = float(text)
    if reset is not None and reset >= _LEAST_DATE:
        reset = max(0.0, reset - now)
    return _Window(remaining, reset)


def _whole(text: str, most: int) -> int | None:
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= most else None


def _decimal(headers: Mapping[str, str], name: str) -> float | None:
    text = headers.get(name, "").strip()
    if not re.fullmatch(r"-?[0-9]{1,12}(?:\.[0-9]{1,12})?", text):
        return None
    return float(text)
