"""What EndNote's table of reference types calls the generic fields of single types.

RIS, EndNote's tags and its XML carry the same generic fields, so all three readers ask here.
"""

import re

from carrel.libraries.bibliography.dates import read_date
from carrel.libraries.bibliography.imports import CslItem
from carrel.libraries.bibliography.items import is_standard_number, put, put_other

_YEAR = re.compile(r"\d{4}")
_NUMBERED_WORKS = frozenset({"patent", "report", "standard"})


def split_work_number(kind: str, texts: list[str]) -> tuple[str, list[str]]:
    """The number of a patent, report or standard in the field for ISBNs, and the other values."""
    if kind not in _NUMBERED_WORKS:
        return "", texts
    own = next((text for text in texts if text and not is_standard_number(text)), "")
    return own, [text for text in texts if text != own]


def settle_by_type(item: CslItem) -> None:
    """Move what a generic field means for the type of an item."""
    kind = item["type"]
    if kind == "thesis" and re.search(r"[^\W\d]{2}", item.get("volume", "")):
        degree = item.pop("volume")
        if item.setdefault("genre", degree) != degree:
            put_other(item, "degree", degree)
    if kind == "software" and "edition" in item:
        put(item, "version", item.pop("edition"))
    if kind == "webpage" and "accessed" not in item:
        _settle_access(item)
    if kind == "article-journal" and "edition" in item:
        published = read_date(item["edition"])
        if "date-parts" in published and len(published["date-parts"][0]) > 1:
            item["available-date"] = published
            del item["edition"]


def _settle_access(item: CslItem) -> None:
    """A web page has the year of access as its volume, and the day as its number."""
    year = item.get("volume", "")
    if not _YEAR.fullmatch(year):
        return
    for name in ("number", "issue"):
        day = read_date(item[name]) if name in item else {}
        if "date-parts" in day and day["date-parts"][0][0] == int(year):
            item["accessed"] = day
            del item[name], item["volume"]
            return
