"""Control characters in text that is shown: for terminals and the direction of writing."""

from __future__ import annotations

import re

# C0 without tab and newline, DEL, C1, the controls of writing direction, line separators, and
# invisible tags.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)


def escape_controls(text: str) -> str:
    """The text with every control character escaped by its number, safe for a terminal."""
    return _CONTROLS.sub(lambda found: _by_number(ord(found[0])), text)


def remove_controls(text: str) -> str:
    """The text without control characters."""
    return _CONTROLS.sub("", text)


def _by_number(code: int) -> str:
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )
