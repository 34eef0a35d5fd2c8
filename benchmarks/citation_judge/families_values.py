"""Families of small styles: names, dates, texts and numbers."""

from __future__ import annotations

from benchmarks.citation_judge import values
from benchmarks.citation_judge.jobs import Job
from benchmarks.citation_judge.small_styles import (
    TITLE,
    Draws,
    affixes,
    clusters_of,
    fonts,
    layout,
    maybe,
    name_element,
    name_options,
    people,
    simple_items,
    style,
    tag,
)


def draw_names(draws: Draws) -> Job:
    """Name lists: particles, suffixes, scripts, initials, et al., parts, order and labels."""
    inside = name_element(draws)
    if draws.random() < 0.2:
        inside += tag("et-al", term=maybe(draws, 0.5, "and others"), **fonts(draws, 0.6))
    if draws.random() < 0.3:
        label = tag(
            "label",
            form=maybe(draws, 0.7, "short", "verb", "verb-short"),
            prefix=maybe(draws, 0.7, " (", ", ", " "),
            suffix=maybe(draws, 0.3, ")"),
            text_case=maybe(draws, 0.2, "capitalize-first", "uppercase"),
            plural=maybe(draws, 0.15, "always", "never"),
            strip_periods=maybe(draws, 0.15, "true"),
        )
        inside = label + inside if draws.random() < 0.3 else inside + label
    variable = draws.choice(("author", "author", "editor", "author editor", "editor translator"))
    names = tag(
        "names",
        inside,
        variable=variable,
        delimiter=maybe(draws, 0.6, "; ", ", "),
        **affixes(draws, 0.1),
    )
    items = simple_items(draws, 2, author=people, editor=people, title=lambda _: "Title")
    for item in items:
        if draws.random() < 0.3:
            item["translator"] = item["editor"] if draws.random() < 0.6 else people(draws, 3)
    text = style(
        layout(names, delimiter="; "),
        layout(names),
        root={
            "demote-non-dropping-particle": maybe(
                draws, 0.7, "never", "sort-only", "display-and-sort"
            ),
            "initialize-with-hyphen": maybe(draws, 0.2, "false"),
        },
    )
    return Job(text, "en-US", items, clusters_of(items))


def draw_name_attributes(draws: Draws) -> Job:
    """Name options on style, area, cs:names and cs:name: each overrides the one before."""

    def some(prefixed: bool) -> dict[str, str | None]:
        found = {key: value for key, value in name_options(draws).items() if draws.random() < 0.4}
        if prefixed:
            found["name_form"] = maybe(draws, 0.2, "short", "long")
            found["name_delimiter"] = maybe(draws, 0.2, "; ", " / ")
            found["names_delimiter"] = maybe(draws, 0.2, " | ")
            found["et_al_subsequent_min"] = least = maybe(draws, 0.3, "2", "3")
            found["et_al_subsequent_use_first"] = "1" if least else None
        return found

    variable = draws.choice(("author", "author editor"))
    names = tag("names", tag("name", **some(False)), variable=variable)
    items = simple_items(draws, 2, author=people, editor=people)
    text = style(
        layout(names, delimiter="; "),
        layout(names),
        root=some(True),
        of_citation=some(True),
        of_bibliography=some(True),
    )
    return Job(text, "en-US", items, clusters_of(items, items[:1]))


def draw_dates(draws: Draws) -> Job:
    """Dates: parts, forms, ranges, seasons, eras, raw texts, localized forms."""
    variable = "issued"
    case = maybe(draws, 0.15, "uppercase", "capitalize-first", "lowercase")
    if draws.random() < 0.5:
        parts = ""
        for name in draws.sample(("year", "month", "day"), draws.choice((1, 2, 3, 3))):
            form = {
                "year": maybe(draws, 0.3, "short", "long"),
                "month": maybe(draws, 0.7, "short", "long", "numeric", "numeric-leading-zeros"),
                "day": maybe(draws, 0.6, "numeric", "numeric-leading-zeros", "ordinal"),
            }[name]
            parts += tag(
                "date-part",
                name=name,
                form=form,
                prefix=maybe(draws, 0.2, " ", "-", "("),
                suffix=maybe(draws, 0.4, " ", ", ", ". ", ")"),
                range_delimiter=maybe(draws, 0.2, "/", " to "),
                strip_periods=maybe(draws, 0.2, "true"),
                text_case=case,
            )
        date = tag(
            "date",
            parts,
            variable=variable,
            delimiter=maybe(draws, 0.4, " ", "-", "/"),
            **affixes(draws, 0.15),
        )
    else:
        inside = ""
        if draws.random() < 0.25:
            inside = tag("date-part", name="month", form=draws.choice(("short", "numeric")))
        date = tag(
            "date",
            inside,
            variable=variable,
            form=draws.choice(("text", "numeric")),
            date_parts=maybe(draws, 0.6, "year", "year-month", "year-month-day"),
            **affixes(draws, 0.15),
        )
    items = simple_items(draws, 3, issued=lambda draws: draws.choice(values.DATES))
    group = tag("group", TITLE + date, delimiter=" ") if draws.random() < 0.3 else date
    for item in items:
        item["title"] = "T"
    sort = tag("sort", tag("key", variable="issued", sort=maybe(draws, 0.3, "descending")))
    text = style(
        layout(tag("text", value="x ") + group, delimiter="; "),
        (sort if draws.random() < 0.3 else "") + layout(tag("text", value="y ") + date),
    )
    locale = draws.choice(values.LOCALES) if draws.random() < 0.4 else "en-US"
    return Job(text, locale, items, clusters_of(items))


def draw_text(draws: Draws) -> Job:
    """Case, quotes, markup, full stops and affixes of texts, alone and in groups."""

    def one() -> str:
        return tag(
            "text",
            variable=draws.choice(("title", "title", "container-title", "publisher")),
            form=maybe(draws, 0.15, "short"),
            text_case=maybe(draws, 0.5, *values.CASES),
            quotes=maybe(draws, 0.35, "true"),
            strip_periods=maybe(draws, 0.1, "true"),
            **fonts(draws),
            **affixes(draws, 0.35),
        )

    inner = "".join(one() for _ in range(draws.randint(1, 3)))
    for _ in range(draws.randint(0, 2)):
        inner = tag(
            "group",
            inner + (tag("text", value=draws.choice(values.WORDS)) if draws.random() < 0.2 else ""),
            delimiter=maybe(draws, 0.7, ", ", ". ", ": ", " ", "; "),
            **affixes(draws, 0.25),
            **fonts(draws, 0.1),
        )
    items = simple_items(
        draws,
        3,
        title=lambda draws: draws.choice(values.TITLES),
        publisher=lambda draws: draws.choice(values.PUBLISHERS),
    )
    for item in items:
        item["container-title"] = draws.choice(values.TITLES)
        if draws.random() < 0.15:
            item["language"] = draws.choice(("en", "de", "fr-FR", "en-GB"))
    options = tag(
        "locale", tag("style-options", punctuation_in_quote=draws.choice(("true", "false")))
    )
    text = style(
        layout(inner, delimiter="; ", **affixes(draws, 0.2)),
        layout(inner, suffix=maybe(draws, 0.6, ".")),
        macros=options if draws.random() < 0.4 else "",
    )
    locale = draws.choice(("en-US", "en-US", "en-GB", "fr-FR", "de-DE"))
    return Job(text, locale, items, clusters_of(items))


def draw_numbers(draws: Draws) -> Job:
    """Numbers, ordinals, ranges of pages, labels and their plurals, locators."""
    variable = draws.choice(values.NUMBER_VARIABLES)
    number = tag(
        "number",
        variable=variable,
        form=maybe(draws, 0.6, "ordinal", "long-ordinal", "roman"),
        text_case=maybe(draws, 0.1, "uppercase"),
        **affixes(draws, 0.1),
    )
    if draws.random() < 0.5:
        number = tag("text", variable=variable, **affixes(draws, 0.1))
    label = tag(
        "label",
        variable=variable,
        form=maybe(draws, 0.6, "short", "symbol"),
        plural=maybe(draws, 0.2, "always", "never"),
        text_case=maybe(draws, 0.1, "capitalize-first"),
        strip_periods=maybe(draws, 0.1, "true"),
    )
    inner = tag("group", label + number, delimiter=" ")
    if draws.random() < 0.3:
        test = tag("if", tag("text", value="N"), is_numeric=variable)
        inner = tag("choose", test + tag("else", tag("text", value="T"))) + inner
    items = [
        {"id": str(place), "type": "book", "title": "T", variable: draws.choice(values.NUMBERS)}
        for place in range(4)
    ]
    if variable == "locator":
        items = [{"id": item["id"], "type": "book", "title": "T"} for item in items]
    text = style(
        layout(tag("text", value="x ") + inner, delimiter="; "),
        layout(tag("text", value="y ") + inner),
        root={"page-range-format": maybe(draws, 0.8, *values.PAGE_FORMATS)},
    )
    made = clusters_of(items)
    if variable == "locator":
        for cite in made[0]["items"]:
            cite["locator"] = draws.choice(values.NUMBERS)
            cite["label"] = draws.choice(("page", "page", "chapter", "section", "sub-verbo"))
    locale = draws.choice(values.LOCALES) if draws.random() < 0.3 else "en-US"
    return Job(text, locale, items, made)
