"""Whether a library has a work already, and what tells two works of one title apart."""

from __future__ import annotations

import re
from collections.abc import Iterable

from carrel.libraries.text.folding import text_key
from carrel.libraries.works.titles import is_generic_title, squash_title
from carrel.libraries.works.work import Work, first_page_of
from carrel.rooms.references.items import (
    PARTS_OF_WORKS,
    Duplicate,
    Item,
    WorkKey,
    all_fields,
    text_of,
    work_keys,
    year_of,
)

_BY_WORDS = frozenset({"title", "url"})
_DIGITS = re.compile(r"\d+")
# A work has one of each; two records that differ here are two works, whatever else they share.
_PLACES = ("volume", "issue", "number", "edition", "part-number", "chapter-number")
# Of works under one title so many are compared; what is the same in every place is found at once.
_MOST_COMPARED = 200
# Types of which a page of the web is the work itself.
_PAGES_OF_THE_WEB = frozenset({"webpage", "post", "post-weblog"})


def find_distinction(one: Item, other: Item) -> str | None:
    """The field that shows that two records of one title, its people and year are two works."""
    for field in _PLACES:
        if _differ(text_of(one, field), text_of(other, field)):
            return field
    pages = [first_page_of(text_of(item, "page")) for item in (one, other)]
    if all(pages) and pages[0] != pages[1]:
        return "page"
    years = [year_of(item) for item in (one, other)]
    if None not in years and years[0] != years[1]:
        return "issued"
    kinds = {text_of(one, "type"), text_of(other, "type")}
    if kinds & PARTS_OF_WORKS and _are_other_words(one, other, "container-title"):
        return "container-title"
    if _are_generic_in_other_venues(one, other):
        return "container-title"
    if kinds <= _PAGES_OF_THE_WEB and _are_other_words(one, other, "URL"):
        return "URL"
    return None


def _differ(one: str, other: str) -> bool:
    """Whether both say something else: by their numbers where they have some (`Vol. 2`, `2`)."""
    if not (one and other):
        return False
    here, there = ({str(int(each)) for each in _DIGITS.findall(text)} for text in (one, other))
    if here and there:
        return here.isdisjoint(there)
    return not (here or there) and text_key(one) != text_key(other)


def _places_of(item: Item) -> tuple[str, ...]:
    """Everything by which `find_distinction` parts works; of two that are equal none is parted."""
    fields = (*_PLACES, "page", "type", "container-title", "URL")
    return (*(text_of(item, field) for field in fields), str(year_of(item)))


def _are_generic_in_other_venues(one: Item, other: Item) -> bool:
    """Whether their title is one that many works have (Editorial), each in another journal.

    A journal whose name is written short is the same one.
    """
    if not is_generic_title(squash_title(text_of(one, "title"))):
        return False
    here, there = (Work("", venue=text_of(item, "container-title")) for item in (one, other))
    return bool(here.venue_key and there.venue_key) and not here.is_in_venue_of(there)


def _are_other_words(one: Item, other: Item, field: str) -> bool:
    here, there = (text_key(text_of(item, field).rstrip("/")) for item in (one, other))
    return bool(here and there) and here != there


class KnownWorks:
    """The works of a library by every key they have."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._known: dict[WorkKey, list[Item]] = {}
        self._placed: dict[tuple[WorkKey, tuple[str, ...]], str] = {}
        self._kinds: dict[str, set[str]] = {}
        self._nameless: dict[bytes, list[str]] = {}
        for item in items:
            self.add(item)

    def add(self, item: Item) -> None:
        reference_id = str(item.get("id"))
        kinds = self._kinds.setdefault(reference_id, set())
        keys = work_keys(item)
        if not keys:
            self._nameless.setdefault(all_fields(item), []).append(reference_id)
        for key in keys:
            known = self._known.setdefault(key, [])
            if not known:
                kinds.add(key[0])
            known.append(item)
            self._placed.setdefault((key, _places_of(item)), reference_id)

    def find(self, item: Item) -> Duplicate | None:
        """The record of the same work; titles do not count if both have other identifiers, or say
        what can be true of one work only.

        What has nothing to be known by is the same with the same key and the same fields.
        """
        keys = work_keys(item)
        if not keys:
            return self._find_nameless(item)
        for kind, value in keys:
            same_place = self._placed.get(((kind, value), _places_of(item)))
            if same_place is not None and not (
                kind in _BY_WORDS and self._has_other_identifier(item, same_place)
            ):
                return Duplicate(same_place, kind)
            for found in self._known.get((kind, value), ())[:_MOST_COMPARED]:
                reference_id = str(found.get("id"))
                if kind in _BY_WORDS and (
                    self._has_other_identifier(item, reference_id) or find_distinction(item, found)
                ):
                    continue
                return Duplicate(reference_id, kind)
        return None

    def _find_nameless(self, item: Item) -> Duplicate | None:
        key = str(item.get("id") or "").lower()
        for found in self._nameless.get(all_fields(item), ()):
            # A key that was taken got letters behind it.
            rest = found.lower().removeprefix(key)
            if not key or (found.lower().startswith(key) and (not rest or rest.isalpha())):
                return Duplicate(found, "fields")
        return None

    def _has_other_identifier(self, item: Item, reference_id: str) -> bool:
        mine = {kind for kind, _ in work_keys(item)} & {"doi", "pmid", "arxiv"}
        return bool(mine & self._kinds.get(reference_id, set()))
