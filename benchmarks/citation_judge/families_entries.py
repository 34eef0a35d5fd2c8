"""Families of small styles: bibliographies, orders, and choices that say nothing."""

from __future__ import annotations

from benchmarks.citation_judge import values
from benchmarks.citation_judge.jobs import Item, Job
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
    style,
    tag,
)


def draw_bibliography(draws: Draws) -> Job:
    """Repeated authors, fields set in the margin, blocks, and orders of entries."""
    options: dict[str, str | None] = {
        "second_field_align": maybe(draws, 0.3, "flush", "margin"),
        "subsequent_author_substitute": (sign := maybe(draws, 0.6, "———", "-", "")),
        "subsequent_author_substitute_rule": (
            maybe(draws, 0.7, *values.SUBSTITUTE_RULES) if sign is not None else None
        ),
        "hanging_indent": maybe(draws, 0.2, "true"),
    }
    inside = name_element(draws)
    if draws.random() < 0.4:
        inside += tag("label", form="short", prefix=" ")
    if draws.random() < 0.5:
        inside += tag("substitute", tag("names", variable="editor") + TITLE)
    names = tag("names", inside, variable="author", delimiter="; ", **affixes(draws, 0.15))
    shown = tag("group", names + YEAR + TITLE, delimiter=draws.choice((", ", ". ", " ")))
    if options["second_field_align"] or draws.random() < 0.2:
        shown = (
            tag("text", variable="citation-number", suffix=draws.choice((".", ". ", ") "))) + shown
        )
    keys = draws.sample(("author", "issued", "title", "citation-number"), draws.randint(0, 3))
    sort = "".join(tag("key", variable=key, sort=maybe(draws, 0.25, "descending")) for key in keys)
    pool = [people(draws, 3) for _ in range(3)]
    items = []
    for place in range(5):
        item: Item = {"id": str(place), "type": "book", "title": draws.choice(values.TITLES)}
        kind = draws.choice(("author", "author", "author", "editor", ""))
        if kind:
            chosen = draws.choice(pool)
            item[kind] = chosen[: draws.randint(1, len(chosen))]
        if draws.random() < 0.8:
            item["issued"] = {"date-parts": [[draws.choice((2000, 2001, 2002))]]}
        items.append(item)
    text = style(
        layout(tag("text", variable="citation-number"), delimiter=","),
        (tag("sort", sort) if sort else "") + layout(shown, suffix=maybe(draws, 0.6, ".")),
        of_bibliography=options,
    )
    return Job(text, "en-US", items, clusters_of(items[2:4]) if draws.random() < 0.5 else [])


def draw_sort(draws: Draws) -> Job:
    """Keys of all kinds: names, counts, dates, numbers, titles, macros with conditions."""
    macros, keys = "", ""
    for place in range(draws.randint(1, 3)):
        order = maybe(draws, 0.3, "descending", "ascending")
        if draws.random() < 0.4:
            keys += tag("key", variable=draws.choice(values.SORT_VARIABLES), sort=order)
            continue
        choices = (
            tag("names", tag("name", form=maybe(draws, 0.4, "count", "short")), variable="author"),
            tag("names", tag("name", name_as_sort_order="all"), variable="author editor"),
            tag("date", tag("date-part", name="year"), variable="issued"),
            tag(
                "date",
                variable="issued",
                form="numeric",
                date_parts=maybe(draws, 0.5, "year", "year-month"),
            ),
            tag("text", variable="title"),
            tag("number", variable="volume"),
            tag("text", variable="volume"),
            tag(
                "choose",
                tag("if", tag("text", value="1"), type="book")
                + tag("else", tag("text", value="2")),
            ),
            tag(
                "names",
                tag("name") + tag("substitute", tag("names", variable="editor") + TITLE),
                variable="author",
            ),
            tag("text", variable="citation-number"),
        )
        macros += tag("macro", draws.choice(choices), name=f"m{place}")
        has_limit = draws.random() < 0.2
        keys += tag(
            "key",
            macro=f"m{place}",
            sort=order,
            names_min="2" if has_limit else None,
            names_use_first="1" if has_limit else None,
        )
    items = []
    for place in range(6):
        item: Item = {
            "id": str(place),
            "type": draws.choice(("book", "article-journal")),
            "title": draws.choice(values.SORT_TITLES),
        }
        for name, chance in (("author", 0.85), ("editor", 0.4)):
            if draws.random() < chance:
                item[name] = [draws.choice(values.SORT_NAMES) for _ in range(draws.randint(1, 3))]
        if draws.random() < 0.85:
            item["issued"] = draws.choice(values.SORT_DATES)
        if draws.random() < 0.7:
            item["volume"] = draws.choice(("1", "2", "10", "2a", "IV", "S3"))
        items.append(item)
    sort = tag("sort", keys)
    text = style(
        (sort if draws.random() < 0.5 else "")
        + layout(tag("text", variable="citation-number"), delimiter=","),
        sort + layout(tag("text", variable="citation-number", suffix=" ") + TITLE),
        macros=macros,
    )
    shuffled = items[:]
    draws.shuffle(shuffled)
    return Job(text, "en-US", items, clusters_of(shuffled))


def draw_conditions(draws: Draws) -> Job:
    """Choices, empty groups, substitutes and macros that say nothing."""

    def leaf() -> str:
        return draws.choice(
            (
                tag("text", variable=draws.choice(values.PLAIN_VARIABLES)),
                tag("text", variable=draws.choice(values.PLAIN_VARIABLES), prefix="<"),
                tag("text", value="w"),
                tag("text", term="in"),
                tag("text", macro="m"),
                tag(
                    "group",
                    tag("label", variable="page") + tag("text", variable="page"),
                    delimiter=" ",
                ),
                tag(
                    "group",
                    tag("text", variable="volume") + tag("label", variable="volume"),
                    delimiter=" ",
                ),
                tag("names", tag("name") + tag("label", prefix=" "), variable="editor"),
                tag(
                    "names",
                    tag("name", form="short")
                    + tag("substitute", tag("names", variable="editor") + TITLE),
                    variable="author",
                ),
                YEAR,
            )
        )

    def branch(depth: int) -> str:
        inside = "".join(block(depth - 1) for _ in range(draws.randint(1, 3)))
        kind = draws.random()
        if kind < 0.55:
            return tag(
                "group", inside, delimiter=maybe(draws, 0.8, ", ", " ", ": "), **affixes(draws, 0.2)
            )
        tests: dict[str, str | None] = {
            "type": maybe(draws, 0.3, "book", "chapter article-journal"),
            "variable": maybe(draws, 0.6, "title", "author editor", "issued", "page", "locator"),
            "is_numeric": maybe(draws, 0.2, "volume", "page"),
            "is_uncertain_date": maybe(draws, 0.15, "issued"),
            "match": maybe(draws, 0.5, "any", "none", "all"),
        }
        if not any(tests[key] for key in tests if key != "match"):
            tests["type"] = "book"
        rest = tag("else", block(depth - 1)) if draws.random() < 0.6 else ""
        return tag("choose", tag("if", inside, **tests) + rest)

    def block(depth: int) -> str:
        return leaf() if depth <= 0 or draws.random() < 0.35 else branch(depth)

    macro = tag("macro", tag("text", variable=draws.choice(values.PLAIN_VARIABLES)), name="m")
    inner = branch(3) + branch(2)
    items = []
    for place in range(4):
        item: Item = {"id": str(place), "type": draws.choice(("book", "chapter", "report"))}
        for name, value in values.PLAIN_FIELDS.items():
            if draws.random() < 0.5:
                item[name] = value
        items.append(item)
    text = style(
        layout(tag("text", value="x ") + inner, delimiter="; "),
        layout(tag("text", value="y ") + inner, suffix="."),
        macros=macro,
    )
    return Job(text, "en-US", items, clusters_of(items))
