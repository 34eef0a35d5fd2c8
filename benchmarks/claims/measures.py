"""Shares with their 95 % intervals."""

from __future__ import annotations

import math

_DEVIATIONS = 1.959964


def interval(hits: int, count: int) -> tuple[float, float]:
    """Wilson's interval of a share."""
    if not count:
        return 0.0, 1.0
    share, square = hits / count, _DEVIATIONS**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    reach = _DEVIATIONS * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    reach /= 1 + square / count
    return max(0.0, middle - reach), min(1.0, middle + reach)


def describe_share(hits: int, count: int) -> str:
    """`.931 [.893, .956] 238 of 256`"""
    low, high = interval(hits, count)
    share = hits / count if count else 0.0
    return f"{share:.3f} [{low:.3f}, {high:.3f}]  {hits} of {count}"
