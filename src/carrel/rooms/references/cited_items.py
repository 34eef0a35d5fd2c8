"""What a caller cites: an id, with a place in the work where one is meant: `doe2020, p. 5`."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LABELS: dict[str, str] = {
    **dict.fromkeys(("p", "pp", "page", "pages", "s", "seite", "seiten"), "page"),
    **dict.fromkeys(("ch", "chap", "chapter", "chapters", "kap"), "chapter"),
    **dict.fromkeys(("sec", "sect", "section", "sections", "§", "§§"), "section"),
    **dict.fromkeys(("fig", "figs", "figure", "figures", "abb"), "figure"),
    **dict.fromkeys(("tab", "table", "tables"), "table"),
    **dict.fromkeys(("vol", "vols", "volume", "volumes", "bd"), "volume"),
    **dict.fromkeys(("para", "paras", "par", "paragraph", "¶"), "paragraph"),
    **dict.fromkeys(("l", "ll", "line", "lines"), "line"),
    **dict.fromkeys(("n", "nn", "note", "notes"), "note"),
    **dict.fromkeys(("pt", "part", "parts"), "part"),
    **dict.fromkeys(("bk", "book", "books"), "book"),
    **dict.fromkeys(("v", "vv", "verse", "verses"), "verse"),
    **dict.fromkeys(("col", "cols", "column"), "column"),
    **dict.fromkeys(("eq", "eqs", "equation"), "equation"),
    **dict.fromkeys(("app", "appendix"), "appendix"),
}
_PLACE = re.compile(
    r"^(?P<id>.{1,400}?),\s*(?P<label>[^\W\d]{1,12}|§{1,2}|¶)\.?\s*(?P<place>[0-9ivxlcIVXLC][\w\s,.;:/\u2013\u2014-]{0,60})$"
)
# A number alone is a page, as Pandoc takes it: `doe2020, 33-35`; a DOI may have a comma in it.
_PAGE = re.compile(r"^(?P<id>.{1,400}?),\s+(?P<place>\d{1,9}(?:[-\u2013\u2014,\s]+\d{1,9}){0,9})$")
_PART_OF_PLACE = re.compile(r"^\s*(?:[a-z]{0,2}\d|[ivxlc]+\s*$)", re.IGNORECASE)
_BRACKETS = re.compile(r"^\[(.*)\]$")


@dataclass(frozen=True, slots=True)
class CitedWork:
    """An id and the place in the work that is cited; `locator` is empty for the whole work."""

    id: str
    locator: str = ""
    label: str = "page"


def read_label(text: str) -> str:
    """The kind of a place by any of its names; ValueError for others."""
    label = _LABELS.get(text.strip().rstrip(".").lower())
    if label is None:
        raise ValueError(f"not a kind of place; known are {', '.join(sorted({*_LABELS.values()}))}")
    return label


def parse_cited(text: str) -> CitedWork:
    """An id as it is, or with the place behind a comma, as Pandoc writes it."""
    inner = text.strip()
    if brackets := _BRACKETS.match(inner):
        inner = brackets[1].strip()
    found, label = _PAGE.match(inner), "page"
    if found is None and (found := _PLACE.match(inner)) is not None:
        label = _LABELS.get(found["label"].lower(), "")
    if found is None or not label:
        return CitedWork(inner.removeprefix("@"))
    place = found["place"].strip(" ,;.")
    if not all(map(_PART_OF_PLACE.match, place.split(";"))):
        # What stands behind a semicolon is another work, which is named by itself.
        return CitedWork(inner.removeprefix("@"))
    return CitedWork(found["id"].strip().removeprefix("@"), place, label)
