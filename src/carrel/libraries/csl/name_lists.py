"""Truncated name lists: the marker for BibTeX's `and others` and EndNote's `et al.`

The item's `custom.et_al` names the variables whose lists go on; the marker is never a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .schema import NAME_VARIABLES

ET_AL_KEY = "et_al"
# `others` is BibTeX's word in lower case, so that a person called Others stays one.
_MARKER = re.compile(
    r"^(?:(?:and|&)\s+others|et\.?\s*al\b\.?|(?:and\s+)?et\s+al(?:ii|iae)?\b\.?|(?-i:others))[\s.,;]*$",
    re.IGNORECASE,
)
_MARKER_BEHIND_NAME = re.compile(
    r"[,\s](?:and\s+others|et\.?\s+al(?:ii|iae)?\b\.?)[\s.,;]*$", re.IGNORECASE
)
_LONGEST_MARKER = 40


def is_et_al(text: str) -> bool:
    """Whether the text stands for further names instead of being one."""
    text = text.strip()
    return len(text) <= _LONGEST_MARKER and bool(_MARKER.match(text))


def without_et_al(names: Iterable[str]) -> tuple[list[str], bool]:
    """The names of a list without the marker at its end, and whether there was one."""
    found = list(names)
    has_more = False
    while found and (not found[-1].strip() or is_et_al(found[-1])):
        has_more = has_more or bool(found[-1].strip())
        found.pop()
    if found:
        tail = found[-1][-_LONGEST_MARKER:]
        behind = _MARKER_BEHIND_NAME.search(tail)
        name = (
            found[-1][: len(found[-1]) - len(tail) + behind.start()].rstrip(" ,\t\r\n")
            if behind
            else ""
        )
        if name:
            found[-1], has_more = name, True
    return found, has_more


def et_al_variables(item: Mapping[str, Any]) -> frozenset[str]:
    """The name variables whose lists go on, including lists that end with a name `others`."""
    custom = item.get("custom")
    marked = custom.get(ET_AL_KEY) if isinstance(custom, dict) else None
    found = (
        {name for name in marked if isinstance(name, str)} if isinstance(marked, list) else set()
    )
    found.update(name for name in NAME_VARIABLES if name in item and ends_in_et_al(item[name]))
    return frozenset(found & NAME_VARIABLES)


def ends_in_et_al(names: object) -> bool:
    """Whether a CSL name list ends in a marker such as `others`."""
    if not isinstance(names, list) or not names or not isinstance(last := names[-1], dict):
        return False
    texts = {part: text for part, text in last.items() if text}
    if set(texts) not in ({"literal"}, {"family"}):
        return False
    text = next(iter(texts.values()))
    return isinstance(text, str) and is_et_al(text)


def names_of(names: object) -> list[dict[str, Any]]:
    """The names of a CSL name list, without a marker at its end."""
    known = [name for name in names if isinstance(name, dict)] if isinstance(names, list) else []
    return known[:-1] if ends_in_et_al(names) else known


def mark_et_al(item: dict[str, Any], variable: str) -> None:
    """Notes that a list goes on."""
    custom = item.get("custom")
    own = dict(custom) if isinstance(custom, dict) else {}
    marked = own.get(ET_AL_KEY)
    known = [name for name in marked if isinstance(name, str)] if isinstance(marked, list) else []
    own[ET_AL_KEY] = sorted({*known, variable})
    item["custom"] = own


def move_et_al(item: dict[str, Any]) -> None:
    """Moves markers such as `others` from every list of the item to `custom.et_al`."""
    for variable in sorted(NAME_VARIABLES & item.keys()):
        if ends_in_et_al(item[variable]):
            names = item[variable][:-1]
            mark_et_al(item, variable)
            if names:
                item[variable] = names
            else:
                del item[variable]
