"""The [[links]] of a note."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^(`{3,}+|~{3,}+).*?^\1[^\n]*$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[\[([^\[\]\n|#^]+)(?:[#^][^\[\]\n|]*)?(?:\|[^\[\]\n]*)?\]\]")


def links(content: str) -> list[str]:
    """What a note links to, each once, in order; nothing inside code counts. Headings and shown
    names are cut off.
    """
    found: dict[str, None] = {}
    for match in _LINK.finditer(_FENCE.sub(" ", content)):
        target = match[1].strip().removesuffix(".md")
        if target:
            found.setdefault(target)
    return list(found)
