"""What services add to titles: a full stop, and the brackets of a translated title."""

from __future__ import annotations

import re

# Abbreviations that end titles with a stop of their own: `of Listeria spp.`, `in the U.S.`
_OWN_STOP = re.compile(
    r"(?:\.\.|(?<![^\W\d_])(?:[^\W\d_]\.)+[^\W\d_]"
    r"|\b(?:spp?|subsp|var|et al|etc|vs|Inc|Ltd|Corp|Jr|Sr|Dr|cf|ca))\.$"
)


def strip_final_stop(title: str) -> str:
    """A title without the stop that a service adds; one that belongs to its last word stays."""
    bare = title.rstrip()
    for mark in ("", "</i>", "</b>", "</sub>", "</sup>"):
        if bare.endswith(f".{mark}") and not _OWN_STOP.search(bare.removesuffix(mark)):
            return bare[: -len(mark) - 1].rstrip() + mark
    return bare


def strip_brackets(title: str) -> str:
    """A translated title without its brackets."""
    if title.startswith("[") and title.endswith("]") and "]" not in title[:-1]:
        return strip_final_stop(title[1:-1].strip())
    return title
