"""What the families of small styles share: elements, options and items drawn by chance."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import quoteattr

from benchmarks.citation_judge import values
from benchmarks.citation_judge.jobs import Cluster, Item

Draws = random.Random


def tag(element: str, inside: str = "", /, **attributes: str | None) -> str:
    """An element of a style; attributes that are None are left out."""
    said = "".join(
        f" {key.replace('_', '-')}={quoteattr(value)}"
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{element}{said}>{inside}</{element}>" if inside else f"<{element}{said}/>"


def maybe(draws: Draws, chance: float, *choices: str) -> str | None:
    """One of the choices by this chance, or None."""
    return draws.choice(choices) if draws.random() < chance else None


def style(
    citation: str,
    bibliography: str = "",
    *,
    macros: str = "",
    root: dict[str, str | None] | None = None,
    of_citation: dict[str, str | None] | None = None,
    of_bibliography: dict[str, str | None] | None = None,
) -> str:
    """A whole style from its layouts and the attributes of its elements."""
    info = "<info><id>drawn</id><title>drawn</title><updated>2020-01-01T00:00:00Z</updated></info>"
    inner = info + macros + tag("citation", citation, **(of_citation or {}))
    if bibliography:
        inner += tag("bibliography", bibliography, **(of_bibliography or {}))
    given = {"class": "in-text", **(root or {})}
    said = "".join(
        f" {key.replace('_', '-')}={quoteattr(value)}"
        for key, value in given.items()
        if value is not None
    )
    return f'<style xmlns="http://purl.org/net/xbiblio/csl" version="1.0"{said}>{inner}</style>'


def layout(inner: str, **attributes: str | None) -> str:
    return tag("layout", inner, **attributes)


def fonts(draws: Draws, chance: float = 0.3) -> dict[str, str | None]:
    return {
        "font_style": maybe(draws, chance, "italic"),
        "font_weight": maybe(draws, chance / 2, "bold"),
        "font_variant": maybe(draws, chance / 4, "small-caps"),
    }


def affixes(draws: Draws, chance: float = 0.4) -> dict[str, str | None]:
    return {
        "prefix": maybe(draws, chance, "(", "[", ", ", ": ", " ", ". ", "in "),
        "suffix": maybe(draws, chance, ")", "]", ".", ", ", ": ", " ", "? "),
    }


def name_options(draws: Draws) -> dict[str, str | None]:
    first = draws.choice((1, 1, 2))
    has_last = draws.random() < 0.2
    return {
        "and": maybe(draws, 0.5, "text", "symbol"),
        "delimiter_precedes_last": maybe(draws, 0.4, *values.PRECEDES),
        "delimiter_precedes_et_al": maybe(draws, 0.4, *values.PRECEDES),
        "et_al_min": (
            str(first + has_last + draws.choice((1, 1, 2)))
            if (has_et_al := draws.random() < 0.6)
            else None
        ),
        "et_al_use_first": str(first) if has_et_al else None,
        "et_al_use_last": "true" if has_et_al and has_last else None,
        "initialize_with": maybe(draws, 0.4, ".", ". ", "", " "),
        "initialize": maybe(draws, 0.15, "false"),
        "name_as_sort_order": maybe(draws, 0.35, "first", "all"),
        "sort_separator": maybe(draws, 0.2, " ", "; ", ","),
    }


def name_element(draws: Draws, options: dict[str, str | None] | None = None) -> str:
    parts = ""
    for part in ("family", "given"):
        if draws.random() < 0.2:
            case = maybe(draws, 0.5, "uppercase", "lowercase", "capitalize-first")
            parts += tag(
                "name-part", name=part, text_case=case, **fonts(draws), **affixes(draws, 0.15)
            )
    said = name_options(draws) if options is None else options
    form = maybe(draws, 0.25, "short", "long")
    return tag("name", parts, form=form, delimiter=maybe(draws, 0.2, "; ", "/", " "), **said)


def people(draws: Draws, most: int = 5) -> list[Item]:
    return [values.draw_name(draws) for _ in range(draws.randint(1, most))]


def simple_items(draws: Draws, count: int, **fields: Callable[[Draws], Any]) -> list[Item]:
    return [
        {"id": str(place), "type": "book", **{name: draw(draws) for name, draw in fields.items()}}
        for place in range(count)
    ]


def clusters_of(*groups: list[Item]) -> list[Cluster]:
    return [
        {"note": note, "items": [{"id": str(item["id"])} for item in group]}
        for note, group in enumerate(groups, 1)
    ]


TITLE = tag("text", variable="title")
YEAR = tag("date", tag("date-part", name="year"), variable="issued")
