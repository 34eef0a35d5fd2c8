"""Elasticsearch's wildcards as patterns of SQLite's GLOB."""

from __future__ import annotations

_SPECIAL = "*?["


def quote_glob(text: str, ignores_case: bool = False) -> str:
    """A pattern that fits this text alone, or this text in either case."""
    return "".join(_quote(sign, ignores_case) for sign in text)


def glob_pattern(pattern: str, ignores_case: bool = False) -> str:
    """`*` and `?` as they are, everything else as it is written; a backslash quotes."""
    parts, at = [], 0
    while at < len(pattern):
        if pattern[at] == "\\" and at + 1 < len(pattern):
            at += 1
            parts.append(_quote(pattern[at], ignores_case))
        elif pattern[at] in "*?":
            parts.append(pattern[at])
        else:
            parts.append(_quote(pattern[at], ignores_case))
        at += 1
    return "".join(parts)


def literal_prefix(pattern: str) -> str:
    """The characters that whatever fits the pattern begins with."""
    for at, sign in enumerate(pattern):
        if sign in _SPECIAL:
            return pattern[:at]
    return pattern


def _quote(sign: str, ignores_case: bool) -> str:
    if sign in _SPECIAL:
        return f"[{sign}]"
    lower, upper = sign.lower(), sign.upper()
    if ignores_case and lower != upper and len(lower) == len(upper) == 1:
        return f"[{lower}{upper}]"
    return sign
