"""A reference as lines to read: names, dates and texts in the order of a title page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from carrel.core.pages import PageRequest
from carrel.libraries.csl.schema import DATE_VARIABLES, NAME_VARIABLES
from carrel.rooms.references.items import Item, custom, doi_of, text_of
from carrel.rooms.references.pages.labels import field_label

_FIRST_FIELDS = (
    "author", "editor", "translator", "container-title", "collection-title", "publisher",
    "publisher-place", "edition", "volume", "issue", "page", "number", "number-of-pages", "issued",
    "event-title", "event-place", "genre", "DOI", "URL", "PMID", "PMCID", "ISBN", "ISSN",
)  # fmt: skip
# Shown elsewhere on the page.
_APART = frozenset({"id", "type", "title", "abstract", "note", "keyword", "custom", "annote"})
_LINKS = {
    "PMID": "https://pubmed.ncbi.nlm.nih.gov/{}/",
    "PMCID": "https://www.ncbi.nlm.nih.gov/pmc/articles/{}/",
}


@dataclass(frozen=True, slots=True)
class RecordLine:
    """One field of a record; `link` is an address outside, which the template checks."""

    label: str
    text: str
    link: str = ""


def describe_record(request: PageRequest, item: Item) -> list[RecordLine]:
    """The fields that have a text, the usual ones first."""
    known = [name for name in _FIRST_FIELDS if name in item]
    others = sorted(name for name in item if name not in _FIRST_FIELDS and name not in _APART)
    lines = [
        RecordLine(field_label(request, name), describe_value(name, item[name]), _link(name, item))
        for name in (*known, *others)
    ]
    return [line for line in lines if line.text]


def describe_value(name: str, value: object) -> str:
    """A value of a CSL variable as text."""
    if name in NAME_VARIABLES and isinstance(value, list):
        return "; ".join(describe_name(person) for person in value)
    if name in DATE_VARIABLES:
        return describe_date(value)
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list):
        return "; ".join(str(each) for each in value)
    return str(value)


def describe_name(person: object) -> str:
    if not isinstance(person, Mapping):
        return str(person)
    parts = ("given", "dropping-particle", "non-dropping-particle", "family", "suffix", "literal")
    return " ".join(str(person[part]) for part in parts if person.get(part))


def describe_date(value: object) -> str:
    if not isinstance(value, Mapping):
        return str(value or "")
    points = value.get("date-parts")
    told = (
        "/".join(_describe_point(point) for point in points if isinstance(point, Sequence))
        if isinstance(points, list)
        else ""
    )
    words = next((str(value[part]) for part in ("literal", "raw", "edtf") if value.get(part)), "")
    return f"{'≈ ' if value.get('circa') else ''}{told or words}"


def _describe_point(point: Sequence[Any]) -> str:
    first, *others = [str(part) for part in point] or [""]
    return "-".join([first, *(part.zfill(2) for part in others)])


def _link(name: str, item: Item) -> str:
    value = text_of(item, name).strip()
    if name == "URL":
        return value
    if name == "DOI":
        found = doi_of(item)
        return "" if found is None else f"https://doi.org/{found}"
    if name in _LINKS and value.isalnum():
        return _LINKS[name].format(value)
    return ""


def paper_id_of(item: Item) -> str:
    """The paper of the corpus that the reference was made from, if any."""
    found = custom(item).get("paper_id")
    return found if isinstance(found, str) else ""
