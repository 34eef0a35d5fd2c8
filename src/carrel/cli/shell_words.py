"""Words for the line of a shell: quoted so that no character of a stored name is obeyed."""

from __future__ import annotations

import re

_SPECIAL_IN_BASH = re.compile(r"[\x00-\x7f]")
_PLAIN_IN_BASH = frozenset("@%+=:,./-_")
_SPECIAL_IN_DOUBLE_QUOTES = re.compile(r"[\\$`\"!]+")
_PLAIN_IN_POWERSHELL = frozenset("+=:./-_")
# PowerShell takes typographic quotes for quotes.
_QUOTES_IN_POWERSHELL = re.compile("['\u2018\u2019\u201a\u201b]")


def find_open_quote(line: str) -> str:
    """The quotation mark that is open at the end of a line of bash, or nothing."""
    quote, is_escaped = "", False
    for mark in line:
        if is_escaped:
            is_escaped = False
        elif mark == "\\" and quote != "'":
            is_escaped = True
        elif quote:
            quote = "" if mark == quote else quote
        elif mark in "'\"":
            quote = mark
    return quote


def quote_for_bash(text: str, open_quote: str = "") -> str:
    """A text as bash reads it back, at a cursor that may stand after an open quote."""
    if open_quote == "'":
        return text.replace("'", "'\\''")
    if open_quote == '"':
        # In single quotes between two double ones, because \\! would keep its backslash.
        return _SPECIAL_IN_DOUBLE_QUOTES.sub("\"'\\g<0>'\"", text)
    return _SPECIAL_IN_BASH.sub(_escape_for_bash, text)


def quote_for_powershell(text: str) -> str:
    """A text as one word of PowerShell, quoted where it needs to be."""
    if all(mark.isalnum() or mark in _PLAIN_IN_POWERSHELL for mark in text):
        return text
    return "'" + _QUOTES_IN_POWERSHELL.sub(r"\g<0>\g<0>", text) + "'"


def _escape_for_bash(found: re.Match[str]) -> str:
    mark = found[0]
    return mark if mark.isalnum() or mark in _PLAIN_IN_BASH else f"\\{mark}"
