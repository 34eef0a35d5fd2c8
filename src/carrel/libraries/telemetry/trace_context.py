"""W3C trace context (level 2) and who is sampled."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

SAMPLERS = frozenset(
    f"{prefix}{root}"
    for prefix in ("", "parentbased_")
    for root in ("always_on", "always_off", "traceidratio")
)
_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_LONGEST_TRACEPARENT = 200
_LONGEST_TRACESTATE = 512
_MOST_MEMBERS = 32
_MEMBER = re.compile(
    r"[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]"
)
_SAMPLED = 1
_RANDOM_BITS = 56


@dataclass(frozen=True, slots=True)
class TraceParent:
    """The span that called, in another program; `state` is its tracestate, to be handed on."""

    trace_id: str
    span_id: str
    is_sampled: bool
    state: str = ""


def read_trace_parent(traceparent: object, tracestate: object = None) -> TraceParent | None:
    """The parent, or None for what is absent or cannot be read; a bad tracestate is dropped."""
    if not isinstance(traceparent, str) or len(traceparent) > _LONGEST_TRACEPARENT:
        return None
    matched = _TRACEPARENT.fullmatch(traceparent.strip(" \t"))
    if matched is None:
        return None
    version, trace_id, span_id, flags, rest = matched.groups()
    # Version 00 ends with the flags; later ones may go on, and ff is none.
    if (
        version == "ff"
        or (version == "00" and rest)
        or not (trace_id.strip("0") and span_id.strip("0"))
    ):
        return None
    return TraceParent(trace_id, span_id, bool(int(flags, 16) & _SAMPLED), _read_state(tracestate))


def _read_state(tracestate: object) -> str:
    if not isinstance(tracestate, str) or not tracestate or len(tracestate) > _LONGEST_TRACESTATE:
        return ""
    members = [member.strip(" \t") for member in tracestate.split(",")]
    members = [member for member in members if member]
    keys = {member.partition("=")[0] for member in members}
    if len(members) > _MOST_MEMBERS or len(keys) != len(members):
        return ""
    return ",".join(members) if all(_MEMBER.fullmatch(member) for member in members) else ""


class Sampler:
    """Decides which calls are traced, by the caller's flag or by a ratio of trace ids.

    The names are those of OpenTelemetry (`SAMPLERS`); raises ValueError for another.
    """

    def __init__(self, name: str, ratio: float = 1.0) -> None:
        if name not in SAMPLERS:
            raise ValueError(f"there is no sampler {name}")
        self._follows_parent = name.startswith("parentbased_")
        root = name.removeprefix("parentbased_")
        self.ratio = {"always_on": 1.0, "always_off": 0.0}.get(root, ratio)
        self._bound = int(self.ratio * (1 << _RANDOM_BITS))

    def is_sampled(self, parent: TraceParent | None, trace_id: int) -> bool:
        if parent is not None and self._follows_parent:
            return parent.is_sampled
        # The lower 56 bits are random (level 2), whoever made the id.
        return (trace_id & ((1 << _RANDOM_BITS) - 1)) < self._bound


class Ids:
    """Random ids of traces and spans; never zero."""

    def __init__(self, source: random.Random) -> None:
        self._bits = source.getrandbits

    def trace_id(self) -> int:
        return self._bits(128) or 1

    def span_id(self) -> int:
        return self._bits(64) or 1
