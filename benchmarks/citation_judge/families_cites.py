"""Families of small styles: citations told apart, collapsed, in their positions and modes."""

from __future__ import annotations

from typing import Any

from benchmarks.citation_judge import values
from benchmarks.citation_judge.jobs import Cluster, Item, Job
from benchmarks.citation_judge.small_styles import (
    TITLE,
    YEAR,
    Draws,
    affixes,
    clusters_of,
    layout,
    maybe,
    name_element,
    people,
    simple_items,
    style,
    tag,
)


def draw_disambiguation(draws: Draws) -> Job:
    """Alike works told apart by names, given names, conditions and letters."""
    options: dict[str, str | None] = {
        "disambiguate_add_names": maybe(draws, 0.6, "true"),
        "disambiguate_add_givenname": maybe(draws, 0.6, "true"),
        "disambiguate_add_year_suffix": maybe(draws, 0.6, "true"),
        "givenname_disambiguation_rule": maybe(draws, 0.7, *values.GIVENNAME_RULES),
        "collapse": maybe(draws, 0.4, "year", "year-suffix", "year-suffix-ranged"),
        "cite_group_delimiter": maybe(draws, 0.2, ", ", "; "),
        "year_suffix_delimiter": maybe(draws, 0.2, ",", "-"),
        "after_collapse_delimiter": maybe(draws, 0.2, "; "),
    }
    name = tag(
        "name",
        form=draws.choice(("short", "short", "long")),
        initialize_with=maybe(draws, 0.6, ". ", "."),
        et_al_min=(least := maybe(draws, 0.6, "2", "3")),
        et_al_use_first="1" if least else None,
    )
    names = tag("names", name, variable="author")
    extra = ""
    if draws.random() < 0.35:
        test = tag("if", tag("text", variable="title", prefix=" "), disambiguate="true")
        extra = tag(
            "choose", test + (tag("else", tag("text", value="!")) if draws.random() < 0.3 else "")
        )
    year = YEAR
    if draws.random() < 0.25:
        year += tag("text", variable="year-suffix", prefix=maybe(draws, 0.3, "-"))
    cite = tag("group", names + year, delimiter=" ") + extra
    pool = [values.draw_plain_name(draws) for _ in range(3)]
    items = []
    for place in range(draws.randint(2, 5)):
        authors = [draws.choice(pool) for _ in range(draws.randint(1, 3))]
        items.append(
            {
                "id": str(place),
                "type": "book",
                "author": authors,
                "title": f"Book {place % 3}",
                "issued": {"date-parts": [[draws.choice((2000, 2000, 2000, 2001))]]},
            }
        )
    text = style(
        (
            tag("sort", tag("key", variable="author") + tag("key", variable="title"))
            if draws.random() < 0.6
            else ""
        )
        + layout(cite, delimiter="; ", prefix="(", suffix=")"),
        tag("sort", tag("key", variable="author") + tag("key", variable="title"))
        + layout(tag("group", names + year + TITLE, delimiter=", ")),
        of_citation=options,
    )
    order = items[:]
    draws.shuffle(order)
    return Job(text, "en-US", items, clusters_of(order, items))


def draw_collapse(draws: Draws) -> Job:
    """Numbers collapsed to ranges, cites of one author, locators and affixes between them."""
    items = [
        {
            "id": str(place),
            "type": "book",
            "title": f"Book {place}",
            "author": [{"family": draws.choice(("Doe", "Doe", "Roe")), "given": "Jane"}],
            **(
                {"issued": {"date-parts": [[draws.choice((2000, 2000, 2001))]]}}
                if draws.random() < 0.85
                else {}
            ),
        }
        for place in range(6)
    ]
    is_number = draws.random() < 0.4
    options: dict[str, str | None] = {
        "collapse": "citation-number" if is_number else draws.choice(values.YEAR_COLLAPSES),
        "after_collapse_delimiter": maybe(draws, 0.3, "; ", " & "),
        "cite_group_delimiter": maybe(draws, 0.3, ", ", ": "),
        "year_suffix_delimiter": maybe(draws, 0.3, ",", "/"),
        "disambiguate_add_year_suffix": maybe(draws, 0.7, "true"),
    }
    if is_number:
        cite = tag("text", variable="citation-number", **affixes(draws, 0.2))
    else:
        names = tag("names", tag("name", form="short"), variable="author")
        cite = tag("group", names + YEAR, delimiter=draws.choice((" ", ", ")))
    if draws.random() < 0.4:
        cite += tag("text", variable="locator", prefix=", ")
    sort = ""
    if draws.random() < 0.8:
        keys = ("citation-number",) if is_number else ("author", "issued")
        sort = tag("sort", "".join(tag("key", variable=key) for key in keys))
    text = style(
        sort + layout(cite, delimiter=draws.choice((", ", "; ")), prefix="[", suffix="]"),
        ("" if is_number else sort)
        + layout(tag("text", variable="citation-number", suffix=". ") + TITLE),
        of_citation=options,
    )
    made: list[Cluster] = []
    for note in range(1, 3):
        chosen = draws.sample(items, draws.randint(2, 6))
        cites: list[dict[str, Any]] = [{"id": item["id"]} for item in chosen]
        for cite_of in cites:
            if draws.random() < 0.12:
                cite_of["locator"] = draws.choice(("3", "4-5"))
            if draws.random() < 0.08:
                cite_of["prefix"] = draws.choice(("see ", "cf. "))
            if draws.random() < 0.08:
                cite_of["suffix"] = draws.choice((", passim", " etc."))
        made.append({"note": note, "items": cites})
    return Job(text, "en-US", items, made)


def draw_positions(draws: Draws) -> Job:
    """Ibid, subsequent, near notes and the number of the first note, with locators."""
    tests = ""
    for place, position in enumerate(draws.sample(values.POSITIONS, draws.randint(1, 4))):
        inside = tag("text", value=position)
        if draws.random() < 0.4:
            inside += tag("text", variable="first-reference-note-number", prefix=" n. ")
        tests += tag("else-if" if place else "if", inside, position=position)
    choose = tag("choose", tests + tag("else", TITLE))
    locator = tag(
        "group",
        tag("label", variable="locator", form="short") + tag("text", variable="locator"),
        delimiter=" ",
        prefix=", ",
    )
    text = style(
        layout(choose + locator, delimiter="; ", suffix="."),
        root={"class": draws.choice(("note", "note", "in-text"))},
        of_citation={"near_note_distance": maybe(draws, 0.4, "1", "3")},
    )
    items: list[Item] = [{"id": str(n), "type": "book", "title": f"Book {n}"} for n in range(3)]
    made: list[Cluster] = []
    note = 0
    for _ in range(draws.randint(3, 7)):
        note += draws.choice((1, 1, 1, 2, 4))
        cites = []
        for _ in range(draws.choice((1, 1, 1, 2, 3))):
            cite: dict[str, Any] = {"id": str(draws.choice((0, 0, 1, 2)))}
            if draws.random() < 0.4:
                cite["locator"] = draws.choice(("3", "4", "3-5"))
                cite["label"] = draws.choice(("page", "page", "chapter"))
            cites.append(cite)
        made.append({"note": note, "items": cites})
    return Job(text, "en-US", items, made)


def draw_modes(draws: Draws) -> Job:
    """Citations without their author, of the author only, and both around an infix."""
    names = tag("names", name_element(draws) + tag("substitute", TITLE), variable="author")
    cite = tag("group", names + YEAR, delimiter=draws.choice((" ", ", ")))
    if draws.random() < 0.3:
        cite = tag("text", variable="citation-number", **affixes(draws, 0.2))
    cite += tag("text", variable="locator", prefix=", ")
    text = style(
        layout(cite, delimiter="; ", prefix="(", suffix=")"),
        of_citation={"collapse": maybe(draws, 0.3, "year")},
    )
    items = simple_items(draws, 3, author=people, title=lambda draws: draws.choice(values.TITLES))
    for item in items:
        item["issued"] = {"date-parts": [[2000 + int(item["id"])]]}
    made = []
    for note in range(1, 4):
        cites: list[dict[str, Any]] = [
            {"id": item["id"]} for item in draws.sample(items, draws.choice((1, 1, 2)))
        ]
        for one in cites:
            if draws.random() < 0.2:
                one["locator"] = "3"
            if draws.random() < 0.15:
                one["prefix"] = "see "
        cluster: Cluster = {"note": note, "items": cites}
        kind = draws.random()
        if kind < 0.6:
            cluster["mode"] = draws.choice(("author-only", "suppress-author", "composite"))
        elif kind < 0.8:
            cites[0]["suppress-author"] = True
        elif kind < 0.9:
            cites[0]["author-only"] = True
        if cluster.get("mode") == "composite" and draws.random() < 0.4:
            cluster["infix"] = draws.choice(("says in", "’s review", ", writing"))
        made.append(cluster)
    return Job(text, "en-US", items, made)
