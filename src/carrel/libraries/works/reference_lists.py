"""Reads the reference list of a document: from its lines to cited works."""

from __future__ import annotations

from collections.abc import Sequence

from carrel.libraries.text.budget import current_budget
from carrel.libraries.works.cited_works import CitedWork
from carrel.libraries.works.reference_parsing import parse_reference
from carrel.libraries.works.reference_sections import (
    ReferenceLine,
    find_reference_list,
    find_reference_lists,
)
from carrel.libraries.works.reference_splitting import looks_like_reference, split_entries

__all__ = ["ReferenceLine", "find_reference_list", "parse_reference_list", "read_reference_list"]

# Parsing an entry takes about 3 ms; the entries behind these keep text and identifiers only.
MAX_PARSED_ENTRIES = 2_000
# Below this share of entries that look like references the section is something else.
_LEAST_SHARE_OF_REFERENCES = 0.34


def read_reference_list(lines: Sequence[ReferenceLine]) -> tuple[CitedWork, ...]:
    """The works of the last reference list in a document's lines; empty where there is none."""
    for found in find_reference_lists(lines):
        works = parse_reference_list(found)
        if works:
            return works
    return ()


def parse_reference_list(lines: Sequence[ReferenceLine]) -> tuple[CitedWork, ...]:
    """The works of the lines of a reference list; empty where they do not look like one."""
    entries = split_entries(lines)
    # What follows the list without a heading, such as addresses of the authors.
    while entries and not looks_like_reference(entries[-1].text) and not entries[-1].label:
        entries.pop()
    good = sum(looks_like_reference(entry.text) for entry in entries)
    if not entries or good < _LEAST_SHARE_OF_REFERENCES * len(entries):
        return ()
    budget = current_budget()
    works = []
    for number, entry in enumerate(entries):
        budget.step()
        is_parsed = number < MAX_PARSED_ENTRIES
        works.append(parse_reference(entry.text, entry.label or "", has_fields=is_parsed))
    return tuple(works)
