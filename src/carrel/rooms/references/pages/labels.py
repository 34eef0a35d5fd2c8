"""Names of CSL types and variables in the person's language."""

from __future__ import annotations

from carrel.core.pages import PageRequest
from carrel.libraries.csl.schema import ITEM_TYPES, VARIABLES


def type_label(request: PageRequest, name: str) -> str:
    """The type in words; one that CSL does not have as it is written."""
    if name not in ITEM_TYPES:
        return name
    return request.translate(f"references.types.{name}")


def field_label(request: PageRequest, name: str) -> str:
    """The variable in words; one that CSL does not have as it is written."""
    if name not in VARIABLES:
        return name
    return request.translate(f"references.fields.{name}")
