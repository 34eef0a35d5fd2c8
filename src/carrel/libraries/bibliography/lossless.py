"""Lossless round trips: what a format has no field for is written as JSON into a field of its own.

Every writer reads its output back. Where that differs from the item, the difference is one JSON
object: `set` has variables with their values, `drop` names those that reading invents. It is one
line of ASCII with braces in strings escaped: a balanced BibTeX value and a single RIS line.
"""

import json
import re

from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.text.budget import check_nesting

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def lossless_difference(item: CslItem, *readings: CslItem) -> str:
    """The JSON that turns each reading into the item, or nothing when all are the item already."""
    changed = {
        name: value
        for name, value in item.items()
        if any(name not in reading or not _is_same(reading[name], value) for reading in readings)
    }
    dropped = list(
        dict.fromkeys(name for reading in readings for name in reading if name not in item)
    )
    if not changed and not dropped:
        return ""
    content = ({"set": changed} if changed else {}) | ({"drop": dropped} if dropped else {})
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    return _STRING.sub(
        lambda found: (
            found.group().replace("{", "\\u007b").replace("}", "\\u007d").replace("@", "\\u0040")
        ),
        text,
    )


def _is_same(one: object, other: object) -> bool:
    """Equal, and of the same types: 1, 1.0 and true are three things in JSON."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def apply_difference(item: CslItem, text: str) -> bool:
    """Applies a kept difference; False when the text is none."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(content, dict) or not set(content) <= {"set", "drop"}:
        return False
    changed, dropped = content.get("set", {}), content.get("drop", [])
    if (
        not isinstance(changed, dict)
        or not isinstance(dropped, list)
        or not all(isinstance(name, str) for name in dropped)
    ):
        return False
    check_nesting(changed, "a kept field")
    for name in dropped:
        item.pop(name, None)
    item.update(changed)
    return True
