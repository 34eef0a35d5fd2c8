"""The outline of a paper's text as a short Markdown list, and its sections by number or heading."""

from __future__ import annotations

import re

from carrel.libraries.text.folding import text_key
from carrel.libraries.text.outline import (
    Section,
    number_heading,
    outline,
    printed_number,
    section_numbers,
)

_NUMBER = re.compile(r"[\s\u00a7]*(\d{1,3}(?:\.\d{1,3}){0,5})\.?\s*")
_WRITTEN_NUMBER = re.compile(r"^(?:\d{1,2}(?:\.\d{1,2}){0,3}|[IVX]{1,5})[.):]?\s+")


def write_outline(text: str) -> str:
    """One line for each heading: its number, page and length, indented by level."""
    sections = outline(text)
    if not sections:
        return f"The text has no headings and {len(text):,} characters: read it with offset."
    lines = [
        f"The text has {len(text):,} characters. Call again with section (a number or a heading) "
        "for one part, or with offset.",
        "",
    ]
    for section, number in zip(sections, section_numbers(sections), strict=True):
        page = "" if section.page is None else f"p. {section.page}, "
        depth = section.number.count(".")
        lines.append(
            f"{'  ' * depth}- {number_heading(section, number)} "
            f"({page}{section.end - section.start:,} characters)"
        )
    return "\n".join(lines)


def list_headings(text: str) -> list[str]:
    """The headings with their numbers, printed or counted."""
    sections = outline(text)
    return list(map(number_heading, sections, section_numbers(sections)))


def find_section(text: str, wanted: str) -> Section | None:
    """The section of a number, else of a heading: as written, without its number, or in part."""
    sections = outline(text)
    number = _NUMBER.fullmatch(wanted)
    if number:
        numbered = zip(sections, section_numbers(sections), strict=True)
        return next((section for section, own in numbered if own == number[1]), None) or next(
            (each for each in sections if printed_number(each.title) == number[1]), None
        )
    key = text_key(wanted)
    bare = text_key(_WRITTEN_NUMBER.sub("", wanted))
    names = [(each, text_key(each.title), text_key(_bare_title(each))) for each in sections]
    for fits in (
        lambda title, short: key in (title, short),
        lambda title, short: short == bare,
        lambda title, short: short.startswith(bare),
        lambda title, short: bare in short,
    ):
        for section, title, short in names:
            if fits(title, short):
                return section
    return None


def _bare_title(section: Section) -> str:
    return _WRITTEN_NUMBER.sub("", section.title)
