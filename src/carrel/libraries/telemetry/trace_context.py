"""W3C trace context (level 2) and who is sampled."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
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
# The lower 56 bits of a trace's id are random (level 2), whoever made it.
_RANDOM_BITS = 56
_ID_BOUND = 1 << _RANDOM_BITS
_CHOSEN_DIGITS = 14
_TRACE_DIGITS = 32
# An id of a trace and one of a span.
_PAIR_BYTES = 24
# No id may be zero; one with so many zeros side by side is not taken either.
_ZERO = "0" * 16


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

    The names are those of OpenTelemetry (`SAMPLERS`); raises ValueError for another. `draw` gives
    evenly distributed numbers from 0 up to 1.
    """

    def __init__(
        self, name: str, ratio: float = 1.0, draw: Callable[[], float] = random.random
    ) -> None:
        if name not in SAMPLERS:
            raise ValueError(f"there is no sampler {name}")
        self._follows_parent = name.startswith("parentbased_")
        root = name.removeprefix("parentbased_")
        self.ratio = {"always_on": 1.0, "always_off": 0.0}.get(root, ratio)
        self._bound = _id_bound(self.ratio)
        self._draw = draw

    def is_sampled(self, parent: TraceParent | None) -> bool:
        """Whether a call of this parent is traced, or one without a parent.

        Without a parent there is no trace id yet; `Ids` makes one that says the same.
        """
        if parent is None:
            return self._draw() < self.ratio
        if self._follows_parent:
            return parent.is_sampled
        return (int(parent.trace_id, 16) & (_ID_BOUND - 1)) < self._bound


class Ids:
    """Random ids of traces and spans in hexadecimal; never zero.

    Traces that begin here were chosen by `ratio`, and their ids show it: another process with the
    same ratio chooses them too.
    """

    def __init__(self, source: random.Random, ratio: float = 1.0) -> None:
        self._source = source
        self._bound = _id_bound(ratio)

    def draw(self, count: int) -> list[tuple[str, str]]:
        """So many pairs of a trace's id and a span's."""
        drawn = _ZERO
        while _ZERO in drawn:
            drawn = self._source.randbytes(_PAIR_BYTES * count).hex()
        pairs = [
            (drawn[at : at + _TRACE_DIGITS], drawn[at + _TRACE_DIGITS : at + 2 * _PAIR_BYTES])
            for at in range(0, len(drawn), 2 * _PAIR_BYTES)
        ]
        if self._bound == _ID_BOUND:
            return pairs
        return [(f"{trace[:-_CHOSEN_DIGITS]}{self._chosen()}", span) for trace, span in pairs]

    def _chosen(self) -> str:
        """The digits by which a trace is chosen."""
        return f"{self._source.getrandbits(_RANDOM_BITS) * self._bound >> _RANDOM_BITS:014x}"


def _id_bound(ratio: float) -> int:
    """What the random bits of a trace's id are below if it is sampled."""
    return int(ratio * _ID_BOUND)
