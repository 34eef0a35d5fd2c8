"""Licences of texts in one spelling: `cc-by`, `cc-by-nc-nd`, `cc0`, `public-domain`."""

from __future__ import annotations

import re

from carrel.libraries.literature.raw_fields import text_of

_ADDRESS = re.compile(
    r"creativecommons\.org/(?:licen[sc]es|publicdomain)/([a-z+-]+)", re.IGNORECASE
)
_COMMONS = re.compile(
    r"cc[ _-]?(?P<parts>(?:by|nc|nd|sa|[ _-])+)(?:[ _-]?\d(?:\.\d)?)?", re.IGNORECASE
)
_NO_LICENCE = frozenset({"", "na", "none", "null", "unknown", "unspecified"})
_MAX_CHARACTERS = 200


def read_licence(value: object) -> str | None:
    """A licence from its name, code or address; another text as it is, None for none."""
    text = text_of(value)[:_MAX_CHARACTERS]
    if text.lower() in _NO_LICENCE:
        return None
    if found := _ADDRESS.search(text):
        code = found.group(1).lower()
        return {"zero": "cc0", "mark": "public-domain"}.get(code, f"cc-{code}")
    plain = text.lower().replace("_", "-")
    if plain.replace(" ", "").replace("-", "").startswith("cc0"):
        return "cc0"
    if found := _COMMONS.fullmatch(text):
        parts = re.findall("by|nc|nd|sa", found.group("parts").lower())
        return "-".join(("cc", *parts))
    return plain
