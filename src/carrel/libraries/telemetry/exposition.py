"""Prometheus' text format, version 0.0.4."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import accumulate

from carrel.libraries.telemetry.instruments import Description, Family, Labels

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# OpenTelemetry's units in words, as its rules for Prometheus want them.
_UNITS = {"s": "seconds", "By": "bytes", "1": "ratio", "ms": "milliseconds"}
_VALUE_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
_HELP_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n"})


def prometheus_name(description: Description) -> str:
    """The name with the unit, and `_total` for counters; units in braces are left out."""
    name = description.name.replace(".", "_").replace("-", "_")
    unit = _UNITS.get(description.unit, "")
    if unit and not name.endswith(f"_{unit}"):
        name += f"_{unit}"
    return f"{name}_total" if description.kind == "counter" else name


def write_text(families: Iterable[Family]) -> str:
    """All families; those without a series are left out."""
    return "".join(line for family in families if family.series for line in _lines(family))


def _lines(family: Family) -> Iterator[str]:
    about = family.description
    name = prometheus_name(about)
    yield f"# HELP {name} {about.help.translate(_HELP_ESCAPES)}\n"
    yield f"# TYPE {name} {about.kind}\n"
    names = tuple(label.replace(".", "_") for label in about.labels)
    for labels, numbers in family.series.items():
        if about.kind != "histogram":
            yield f"{name}{_shown(names, labels)} {_number(numbers[0])}\n"
            continue
        total = 0.0
        bounds = (*(_number(bound) for bound in about.bounds), "+Inf")
        for bound, total in zip(bounds, accumulate(numbers[1:]), strict=True):
            yield f"{name}_bucket{_shown((*names, 'le'), (*labels, bound))} {_number(total)}\n"
        yield f"{name}_sum{_shown(names, labels)} {_number(numbers[0])}\n"
        yield f"{name}_count{_shown(names, labels)} {_number(total)}\n"


def _shown(names: tuple[str, ...], labels: Labels) -> str:
    if not names:
        return ""
    pairs = ",".join(
        f'{name}="{value.translate(_VALUE_ESCAPES)}"'
        for name, value in zip(names, labels, strict=True)
    )
    return f"{{{pairs}}}"


def _number(value: float) -> str:
    value = float(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
