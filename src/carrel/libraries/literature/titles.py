"""The full stop that some services put behind every title."""

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
