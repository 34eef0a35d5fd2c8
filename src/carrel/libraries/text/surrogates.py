"""Halves of surrogate pairs, which JSON may spell out and no UTF-8 can hold."""

from __future__ import annotations


def whole_text(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair; itself where there is none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
