"""A cited work as one line, and its address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NAMED = 2


def format_reference(item: Mapping[str, Any]) -> str:
    """A CSL-JSON item as one line without a style: "Ng and Ruiz (2019). Title. Journal."."""
    who = _authors(item)
    year = _year(item)
    when = f" ({year})" if year else ""
    # "Ng et al." ends in a full stop already.
    opening = f"{f'{who}{when}'.rstrip('.')}. " if who else f"({year}). " if year else ""
    title = str(item.get("title") or item["id"]).rstrip(". ")
    where = str(item.get("container-title") or "").rstrip(". ")
    return f"{opening}{title}.{f' {where}.' if where else ''}"


def reference_url(item: Mapping[str, Any]) -> str | None:
    """The URL of the work, if it has one."""
    doi = str(item.get("DOI") or "")
    url = str(item.get("URL") or "")
    if doi:
        return f"https://doi.org/{doi}"
    return url if url.startswith(("https://", "http://")) else None


def _authors(item: Mapping[str, Any]) -> str:
    names = [
        str(name.get("family") or name.get("literal") or "") for name in item.get("author") or ()
    ]
    names = [name for name in names if name]
    if len(names) > _NAMED:
        return f"{names[0]} et al."
    return " and ".join(names)


def _year(item: Mapping[str, Any]) -> str:
    parts = (item.get("issued") or {}).get("date-parts") or [[]]
    return str(parts[0][0]) if parts[0] else ""
