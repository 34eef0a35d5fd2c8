"""Small jobs, each for one rule that a difference once showed; their names say the rule."""

from __future__ import annotations

from typing import Any

from benchmarks.citation_judge.jobs import Cluster, Item, Job
from benchmarks.citation_judge.small_styles import TITLE, YEAR, layout, style, tag

AUTHOR = tag(
    "names",
    tag("name", form="short") + tag("substitute", TITLE),
    variable="author",
)
CITE = tag("group", AUTHOR + YEAR + tag("text", variable="locator"), delimiter=" ")
BY_YEAR = tag("sort", tag("key", variable="issued"))
IBID = tag(
    "choose",
    tag("if", tag("text", value="ibid"), position="ibid") + tag("else", TITLE),
)


def _item(name: str, **fields: Any) -> Item:
    return {"id": name, "type": "book", **fields}


def _person(family: str, **parts: str) -> list[Item]:
    return [{"family": family, "given": "Ann", **parts}]


def _year(year: int) -> Item:
    return {"date-parts": [[year]]}


def _clusters(*clusters: list[Item], mode: str = "") -> list[Cluster]:
    return [
        {"note": note, "items": cites, **({"mode": mode} if mode else {})}
        for note, cites in enumerate(clusters, 1)
    ]


LATER = _item("later", title="Late", author=_person("Doe"), issued=_year(2002))
EARLY = _item("early", title="Early", author=_person("Roe"), issued=_year(2001))
SAME = [
    _item("a", title="Mu", issued=_year(1999)),
    _item("b", title="Tau", author=_person("Doe"), issued=_year(2000)),
    _item("c", title="Mu", issued=_year(2001)),
]


def _cites(inside: str, **options: str | None) -> str:
    """A style that sorts cites by year and parts them with semicolons."""
    cited = BY_YEAR + layout(inside, delimiter="; ", prefix="(", suffix=")")
    return style(cited, layout(TITLE), of_citation=options)


def _entry(inside: str, **root: str | None) -> str:
    return style(layout(TITLE), layout(inside), root=root)


def _one(inside: str, **fields: Any) -> Job:
    return Job(_entry(inside), "en-US", [_item("0", title="What?", publisher="P", **fields)])


PUBLISHER = {"variable": "publisher", "prefix": ". "}
ITALIC_TITLE = tag("text", variable="title", font_style="italic")
_UPPERCASE = tag("name", tag("name-part", name="family", text_case="uppercase"))

_SHORT = tag("names", tag("name", form="short"), variable="author")
_INITIALED = tag("names", tag("name", form="short", initialize_with=". "), variable="author")
_AND = tag("name", **{"and": "text"})
_ANONYMOUS = tag(
    "names",
    tag("name", form="short") + tag("substitute", tag("text", value="Anon")),
    variable="author",
)
_NUMBERS = style(
    tag("sort", tag("key", variable="citation-number"))
    + layout(
        tag("text", variable="citation-number") + tag("text", variable="locator", prefix=", "),
        delimiter=", ",
        prefix="[",
        suffix="]",
    ),
    of_citation={"collapse": "citation-number", "after_collapse_delimiter": "; "},
)

NAMED_JOBS: dict[str, Job] = {
    "a position follows from the order that the style gives the cites": Job(
        _cites(IBID), "en-US", [LATER, EARLY],
        _clusters([{"id": "later"}], [{"id": "later"}, {"id": "early"}]),
    ),
    "the first cite in the order of the style goes without its author": Job(
        _cites(CITE), "en-US", [LATER, EARLY],
        _clusters([{"id": "later"}, {"id": "early"}], mode="suppress-author"),
    ),
    "the names in the sentence are those of the first cite in the order of the style": Job(
        _cites(CITE), "en-US", [LATER, EARLY],
        _clusters([{"id": "later"}, {"id": "early"}], mode="composite"),
    ),
    "a cite that asks for its author alone is all that is written": Job(
        _cites(CITE), "en-US", [LATER, EARLY],
        _clusters([{"id": "later"}, {"id": "early", "author-only": True}]),
    ),
    "a note is written in full although the sentence has the names": Job(
        style(layout(CITE, suffix="."), layout(TITLE), root={"class": "note"}), "en-US", [LATER],
        _clusters([{"id": "later"}], mode="suppress-author"),
    ),
    "titles in place of names make a group of cites": Job(
        _cites(CITE, collapse="year"), "en-US", SAME, _clusters([{"id": one["id"]} for one in SAME])
    ),
    "words in place of a date are no year that repeats": Job(
        _cites(CITE, collapse="year-suffix", disambiguate_add_year_suffix="true"), "en-US",
        [_item("0", title="T", author=_person("Doe"), issued={"literal": "in press"})],
        _clusters([{"id": "0"}, {"id": "0"}]),
    ),
    "a prefix stays apart from a sign in italics": _one(
        ITALIC_TITLE + tag("text", **PUBLISHER)
    ),
    "a prefix of an element in italics stays apart from a sign": _one(
        TITLE + tag("text", font_style="italic", **PUBLISHER)
    ),
    "a prefix in a group in italics stays apart from a sign": _one(
        TITLE + tag("group", tag("text", **PUBLISHER), font_style="italic")
    ),
    "a group ends the italics before a prefix": _one(
        tag("group", ITALIC_TITLE) + tag("text", **PUBLISHER)
    ),
    "a group begins before a prefix in italics": _one(
        TITLE + tag("group", tag("text", font_style="italic", **PUBLISHER))
    ),
    "a semicolon that opens a group keeps the colon behind it": _one(
        TITLE + tag("group", tag("text", variable="page", prefix=":"), prefix=";"), page="7"
    ),
    "words of a value give way to the sign before them": _one(
        TITLE + tag("text", value=". In P")
    ),
    "a value that is nothing but a sign is kept": _one(
        tag("text", variable="publisher", suffix=".") + tag("text", value=". ") + TITLE
    ),
    "two prefixes that meet are both kept": _one(
        TITLE + tag("group", tag("text", variable="page", prefix=":"), prefix=":"), page="7"
    ),
    "a delimiter and an affix keep both their signs": _one(
        tag(
            "group",
            tag("text", variable="publisher") + tag("text", variable="page", prefix="."),
            delimiter=":",
        ),
        page="7",
    ),
    "a delimiter gives way to the sign that ends a field": _one(
        tag("group", tag("text", variable="note") + TITLE, delimiter=". "), note="To be continued:"
    ),
    "a comma that ends a quoted text leaves the quotation marks": Job(
        _entry(tag("text", variable="title", quotes="true") + tag("text", value=" P")),
        "en-GB", [_item("0", title="Alpha,")],
    ),
    "a comma in typed quotation marks stays in them": Job(
        _entry(tag("text", variable="title", suffix=". ")), "en-GB",
        [_item("0", title="The “Alpha,”")],
    ),
    "a letter in a font collapses with its locator": Job(
        _cites(
            tag(
                "group",
                AUTHOR
                + tag("group", YEAR + tag("text", variable="locator"), font_style="italic"),
                delimiter=" ",
            ),
            collapse="year-suffix", disambiguate_add_year_suffix="true",
        ),
        "en-US",
        [
            _item("a", title="Mu", author=_person("Doe"), issued=_year(1999)),
            _item("b", title="Tau", author=_person("Doe"), issued=_year(1999)),
        ],
        _clusters([{"id": "a"}, {"id": "b", "locator": "3"}]),
    ),
    "a dash longer than an en dash makes no range": _one(
        tag("label", variable="page", form="short") + tag("text", variable="page"), page="1—3"
    ),
    "two days of a month are read out of words": _one(
        tag("date", variable="issued", form="text"), issued={"raw": "May 3-9, 2001"}
    ),
    "a no-break space makes no particle": Job(
        _entry(tag("names", tag("name", name_as_sort_order="all"), variable="author")), "en-US",
        [_item("0", title="T", author=_person("van\u00a0Gogh"))],
    ),
    "a substitute gives way to et al. where its names do": Job(
        _entry(
            tag(
                "names",
                tag("name", et_al_min="2", et_al_use_first="1")
                + tag("substitute", tag("names", tag("name", form="short"), variable="editor")),
                variable="author",
            )
        ),
        "en-US", [_item("0", title="T", editor=[*_person("Doe"), *_person("Roe")])],
    ),
    "a sort key forces how many names it reads": Job(
        style(
            layout(TITLE),
            tag("sort", tag("key", macro="m", names_min="9", names_use_first="9")) + layout(TITLE),
            macros=tag(
                "macro",
                tag("names", tag("name", et_al_min="2", et_al_use_first="1"), variable="author"),
                name="m",
            ),
        ),
        "en-US",
        [
            _item("a", title="A", author=[*_person("Doe"), *_person("Roe")]),
            _item("b", title="B", author=[*_person("Doe"), *_person("Poe")]),
        ],
    ),
    "a particle that is never demoted sorts before the given name": Job(
        style(
            layout(TITLE),
            tag("sort", tag("key", variable="author")) + layout(TITLE),
            root={"demote_non_dropping_particle": "never"},
        ),
        "en-US",
        [
            _item("a", title="A", author=_person("Doe")),
            _item("b", title="B", author=_person("Doe", **{"dropping-particle": "aan"})),
        ],
    ),
    "a range sorts behind a date that begins it, though the key has the year alone": Job(
        style(
            layout(TITLE),
            tag("sort", tag("key", macro="m")) + layout(TITLE),
            macros=tag("macro", YEAR, name="m"),
        ),
        "en-US",
        [
            _item("a", title="A", issued={"date-parts": [[2001, 5], [2001, 7]]}),
            _item("b", title="B", issued={"date-parts": [[2001, 5]]}),
        ],
    ),
    "words in place of names are not replaced as names that repeat": Job(
        style(
            layout(TITLE),
            layout(
                tag(
                    "names",
                    tag("name") + tag("substitute", tag("text", term="anonymous")),
                    variable="author",
                )
                + TITLE
            ),
            of_bibliography={"subsequent_author_substitute": "---"},
        ),
        "en-US", [_item("a", title="A"), _item("b", title="B")],
    ),
    "a sign before a block closes the block before it": Job(
        style(
            layout(TITLE),
            layout(
                tag("group", tag("text", variable="note"), display="block")
                + tag("text", variable="title", prefix=". ", display="block")
            ),
        ),
        "en-US", [_item("a", title="A", note="N."), _item("b", title="B", note="M")],
    ),
    "a letter that stands alone keeps the affixes of its date": Job(
        _cites(
            tag(
                "group",
                AUTHOR
                + tag(
                    "date",
                    tag("date-part", name="year"),
                    variable="issued",
                    prefix="(",
                    suffix=")",
                ),
                delimiter=" ",
            ),
            collapse="year-suffix", disambiguate_add_year_suffix="true", cite_group_delimiter="; ",
        ),
        "en-US",
        [
            _item("a", title="Mu", author=_person("Doe"), issued=_year(1999)),
            _item("b", title="Tau", author=_person("Doe"), issued=_year(1999)),
        ],
        _clusters([{"id": "a"}, {"id": "b"}]),
    ),
    "numbers of pages that do not rise are a range where a style cuts ranges": Job(
        _entry(tag("text", variable="number-of-pages"), page_range_format="minimal"), "en-US",
        [_item("0", title="T", **{"number-of-pages": "101-8"})],
    ),
    "a condition is not tried on names that the rule for given names has told apart": Job(
        _cites(
            tag("group", AUTHOR + YEAR, delimiter=" ")
            + tag("choose", tag("if", TITLE, disambiguate="true")),
            disambiguate_add_givenname="true", givenname_disambiguation_rule="all-names",
        ),
        "en-US",
        [
            _item("a", title="A", author=_person("Doe"), issued=_year(1999)),
            _item("b", title="B", author=[{"family": "Doe", "given": "Jo"}], issued=_year(1999)),
        ],
        _clusters([{"id": "a"}], [{"id": "b"}]),
    ),
    "what stands in a group is no block of its own": Job(
        style(
            layout(TITLE),
            layout(
                tag(
                    "group",
                    tag("text", variable="title", display="block")
                    + tag("text", variable="publisher"),
                    delimiter=". ",
                )
            ),
        ),
        "en-US", [_item("a", title="A", publisher="P")],
    ),
    "what stands for a name that repeats has the affixes of names": Job(
        style(
            layout(TITLE),
            layout(tag("names", tag("name", prefix="[", suffix="]"), variable="author") + TITLE),
            of_bibliography={
                "subsequent_author_substitute": "---",
                "subsequent_author_substitute_rule": "partial-each",
            },
        ),
        "en-US",
        [
            _item("a", title="A", author=_person("Doe")),
            _item("b", title="B", author=_person("Doe")),
        ],
    ),
    "a sign behind markup is the rest of its field": _one(
        tag("group", tag("text", variable="note") + TITLE, delimiter=". "),
        note="What is <i>“life”</i>?",
    ),
    "a colon behind names takes no full stop of the macro around them": _one(
        tag("group", tag("names", tag("name"), variable="author", suffix=" :"), suffix=". ")
        + TITLE,
        author=_person("Doe"),
    ),
    "names that stand in for others have the looks of their parts": Job(
        _entry(
            tag(
                "names",
                _UPPERCASE
                + tag(
                    "substitute",
                    tag(
                        "names",
                        tag("name", initialize_with=".") + tag("label", prefix=", "),
                        variable="editor",
                    ),
                ),
                variable="author",
            )
        ),
        "en-US",
        [_item("0", title="T", editor=_person("Doe"))],
    ),
    "a space parts two particles": Job(
        _entry(tag("names", variable="author")), "en-US",
        [_item("0", title="T", author=_person("van Gogh", **{"dropping-particle": "d'"}))],
    ),
    "a full stop inside a word or an address is no sign of an abbreviation": _one(
        tag("text", variable="note", strip_periods="true")
        + tag("text", variable="DOI", strip_periods="true", prefix=" "),
        note="From clinicaltrials.gov to U.S. use, etc.", DOI="10.1000/a.b",
    ),
    "the affixes of a label keep their stops": Job(
        style(
            layout(TITLE),
            layout(tag("text", macro="editors", strip_periods="true")),
            macros=tag(
                "macro",
                tag(
                    "names",
                    tag("name") + tag("label", form="short", prefix=" (", suffix=".)"),
                    variable="editor",
                ),
                name="editors",
            ),
        ),
        "en-US",
        [_item("0", title="T", editor=_person("Doe"))],
    ),
    "a term behind the number of a citation takes a capital": _one(
        tag("text", variable="citation-number", suffix=". ") + tag("text", term="no date"),
    ),
    "each number has the case": _one(
        tag("number", variable="edition", form="long-ordinal", text_case="capitalize-first"),
        edition="1 and 3",
    ),
    "numbers are joined by the word of the locale": _one(
        tag("number", variable="edition", form="ordinal"), edition="2 et 3",
    ),
    "a number and one with a letter make no range": _one(
        tag("text", variable="page"), page="12-S14",
    ),
    "a range of numbers is followed by the usual delimiter": Job(
        _NUMBERS, "en-US", [_item(str(n), title="T") for n in range(5)],
        _clusters([{"id": str(n)} for n in range(5)], [{"id": str(n)} for n in (0, 1, 2, 4)]),
    ),
    "a number with a locator is set off by the delimiter after a collapse": Job(
        _NUMBERS, "en-US", [_item(str(n), title="T") for n in range(3)],
        _clusters([{"id": "0", "locator": "3"}, {"id": "2"}]),
    ),
    "a locator that begins with a comma takes no delimiter": Job(
        _cites(
            tag("group", _SHORT + YEAR, delimiter=" ")
            + tag("text", variable="locator", prefix=", "),
            collapse="year-suffix", disambiguate_add_year_suffix="true",
        ),
        "en-US", [EARLY],
        _clusters([{"id": "early", "locator": "3"}, {"id": "early", "locator": "4"}]),
    ),
    "cites with the same words for their names are one group": Job(
        _cites(
            tag("group", _ANONYMOUS + YEAR, delimiter=" "), collapse="year",
        ),
        "en-US", [_item(name, title=name, issued=_year(2000)) for name in "ab"] + [LATER],
        _clusters([{"id": "a"}, {"id": "b"}, {"id": "later"}]),
    ),
    "groups that the style sorts alike go by their names": Job(
        _cites(tag("group", _SHORT + YEAR, delimiter=" "), collapse="year"), "en-US",
        [
            _item("a", title="T", author=_person("Roe"), issued=_year(2000)),
            _item("b", title="T", author=_person("Doe"), issued=_year(2000)),
        ],
        _clusters([{"id": "a"}, {"id": "b"}]),
    ),
    "notes keep the order of their cites": Job(
        style(
            BY_YEAR + layout(tag("group", _SHORT + YEAR, delimiter=" "), delimiter="; "),
            root={"class": "note"}, of_citation={"collapse": "year"},
        ),
        "en-US",
        [
            _item("a", title="A", author=_person("Roe"), issued=_year(2000)),
            _item("b", title="B", author=_person("Doe"), issued=_year(2001)),
            _item("c", title="C", author=_person("Roe"), issued=_year(2002)),
        ],
        _clusters([{"id": "a"}, {"id": "b"}, {"id": "c"}]),
    ),
    "a full stop gives way to the colon behind a date": _one(
        tag("group", tag("date", tag("date-part", name="year"), variable="issued", suffix=":"),
            suffix=".") + TITLE,
        issued=_year(2001),
    ),
    "a full stop stays behind the sign of a number": _one(
        tag("group", tag("number", variable="volume", suffix="!"), suffix=".") + TITLE, volume="3",
    ),
    "only the first hyphen of a title makes a last word": _one(
        tag("text", variable="note", text_case="title"),
        note="an in-depth look at x-rays and at-risk by-laws",
    ),
    "the letter of a year has the case of its part": Job(
        style(
            layout(_SHORT + tag(
                "date", tag("date-part", name="year", text_case="uppercase"), variable="issued",
            )),
            of_citation={"disambiguate_add_year_suffix": "true"},
        ),
        "en-US",
        [_item(name, title=name, author=_person("Doe"), issued=_year(2000)) for name in "ab"],
        _clusters([{"id": "a"}], [{"id": "b"}]),
    ),
    "a number sorts as its first integer": Job(
        style(layout(TITLE), tag("sort", tag("key", variable="volume")) + layout(TITLE)),
        "en-US", [_item(name, title=name, volume=name) for name in ("3", "2b", "2a", "Suppl. 1")],
    ),
    "the first page sorts as text": Job(
        style(layout(TITLE), tag("sort", tag("key", variable="page-first")) + layout(TITLE)),
        "en-US", [_item(name, title=name, page=name) for name in ("S5", "E12-E18", "1101-1109")],
    ),
    "a suffix that repeats the one inside of it takes the sign behind it, too": _one(
        tag("group", tag("text", variable="publisher", suffix="."), suffix=".")
        + tag("text", variable="volume", prefix="; "), volume="3",
    ),
    "a suffix behind a macro repeats none inside of it": _one(
        tag("group", tag("group", TITLE + tag("text", value="x", suffix=".")), suffix=".")
        + tag("text", variable="volume", prefix="; "), volume="3",
    ),
    "a term loses all its full stops, a title those that end a word": Job(
        style(layout(
            tag("text", term="no date", form="short", strip_periods="true")
            + tag("text", variable="note", strip_periods="true", text_case="title"),
        )),
        "en-US", [_item("a", title="A", note="from clinicaltrials.gov to j. biol")],
        _clusters([{"id": "a"}]),
    ),
    "a variable that is no title of the work is in English in any locale": Job(
        style(layout(tag("text", variable="reviewed-title", text_case="title"))),
        "nb-NO", [_item("a", **{"title": "A", "reviewed-title": "the reviewed book"})],
        _clusters([{"id": "a"}]),
    ),
    "typed quotation marks of another language stay where quotes is false": Job(
        style(layout(tag("text", variable="title", quotes="false", suffix=". "))),
        "de-DE", [_item("a", title="What “is” ‘it’?"), _item("b", title="Is it?")],
        _clusters([{"id": "a"}], [{"id": "b"}]),
    ),
    "the letter of a year is at the first date": Job(
        style(
            layout(_SHORT + tag(
                "date", tag("date-part", name="year"), variable="event-date", prefix=" ",
            )),
            of_citation={"disambiguate_add_year_suffix": "true"},
        ),
        "en-US",
        [
            _item(name, **{"title": name, "author": _person("Doe"), "event-date": _year(2000)})
            for name in "ab"
        ],
        _clusters([{"id": "a"}], [{"id": "b"}]),
    ),
    "a citation of nothing but an author that it leaves out": Job(
        style(layout(_SHORT, prefix="(", suffix=")")),
        "en-US", [_item("a", title="A", author=_person("Doe"))],
        _clusters([{"id": "a", "suppress-author": True}]),
    ),
    "a macro with a date sorts by its date alone, inside of another, too": Job(
        style(
            layout(TITLE), tag("sort", tag("key", macro="all")) + layout(TITLE),
            macros=tag("macro", TITLE + tag("text", macro="when", prefix=" "), name="all") + tag(
                "macro", tag("text", variable="publisher") + YEAR, name="when",
            ),
        ),
        "en-US",
        [
            _item("a", title="T", publisher="Z", issued=_year(2001)),
            _item("b", title="T", publisher="Y", issued=_year(2001)),
            _item("c", title="T", publisher="Z", issued=_year(2000)),
        ],
    ),
    "a sign between two spaces sorts as both of them": Job(
        style(
            layout(TITLE), tag("sort", tag("key", macro="who")) + layout(TITLE),
            macros=tag(
                "macro", tag("names", tag("name", delimiter=" – "), variable="author"), name="who",
            ),
        ),
        "en-US",
        [
            _item("a", title="A", author=[{"family": "Doe"}, {"family": "Roe"}]),
            _item("b", title="B", author=[{"family": "Doe A"}]),
        ],
    ),
    "of cites that sort alike the later is first, where years are collapsed and descend": Job(
        style(
            tag("sort", tag("key", macro="when", sort="descending"))
            + layout(_SHORT + tag("text", macro="when", prefix=" "), delimiter="; "),
            macros=tag("macro", YEAR, name="when"),
            of_citation={"collapse": "year", "disambiguate_add_year_suffix": "true"},
        ),
        "en-US",
        [_item(name, title=name, author=_person("Doe"), issued=_year(2000)) for name in "ab"],
        _clusters([{"id": "a"}, {"id": "b"}]),
    ),
    "Welsh has letters of two signs": Job(
        style(layout(TITLE), tag("sort", tag("key", variable="title")) + layout(TITLE)),
        "cy-GB",
        [
            _item(name, title=name)
            for name in ("Nguyen", "Mac", "Ga", "Gz", "Llan", "Lz", "Chi", "Cz", "Da", "Dda", "Ha")
        ],
    ),
    "names set aside together are opened once more before they are compared": Job(
        style(
            layout(tag("group", _INITIALED + YEAR, delimiter=" "), delimiter="; "),
            of_citation={"disambiguate_add_names": "true", "disambiguate_add_givenname": "true"},
        ),
        "en-US",
        [
            _item(given, author=[{"family": "Doe", "given": given}], issued=_year(2001))
            for given in ("Abel", "Adam", "Bert", "Carl")
        ],
        _clusters(*([{"id": given}] for given in ("Abel", "Adam", "Bert", "Carl"))),
    ),
    "one name set aside keeps its initial": Job(
        style(
            layout(tag("group", _INITIALED + YEAR, delimiter=" "), delimiter="; "),
            of_citation={"disambiguate_add_names": "true", "disambiguate_add_givenname": "true"},
        ),
        "en-US",
        [
            _item(given, author=[{"family": "Doe", "given": given}], issued=_year(2001))
            for given in ("Abel", "Adam", "Bert")
        ],
        _clusters(*([{"id": given}] for given in ("Abel", "Adam", "Bert"))),
    ),
    "the suffix of a name and the delimiter behind it are both kept": _one(
        tag("names", tag("name", suffix=","), variable="author"),
        author=[*_person("Doe"), *_person("Roe"), *_person("Poe")],
    ),
    "in Hindi names are joined without spaces": Job(
        _entry(tag("names", _AND, variable="author")), "hi-IN",
        [_item("0", author=[*_person("Doe"), *_person("Roe")])],
    ),
    "in Armenian names are joined without spaces": Job(
        _entry(tag("names", _AND, variable="author")), "hy-AM",
        [_item("0", author=[*_person("Doe"), *_person("Roe"), *_person("Poe")])],
    ),
    "before an institution only the option of a whole area counts": Job(
        _entry(tag("names", _AND, variable="author"), delimiter_precedes_last="never"), "en-US",
        [_item("0", author=[*_person("Doe"), *_person("Roe"), {"literal": "WHO"}])],
    ),
    "a long ordinal without a gender is English where Galician has it by gender alone": Job(
        _entry(tag("number", variable="edition", form="long-ordinal")), "gl-ES",
        [_item("0", edition="2")],
    ),
    "an apostrophe of a role is curved": Job(
        _entry(tag("names", tag("name") + tag("label", form="verb"), variable="interviewer")),
        "uk-UA", [_item("0", interviewer=_person("Doe"))],
    ),
    "typed marks of another language are letters": Job(
        _entry(tag("text", variable="title", suffix=".")), "de-DE",
        [_item("0", title="Ends “here.”"), _item("1", title="Is it “so?”")],
    ),
    "a date of the note is more than that of the item": Job(
        _entry(YEAR + tag("text", variable="note", prefix=" ")), "en-US",
        [_item("0", issued=_year(2001), note="issued: 1999\nread")],
    ),
    "a term behind names that say nothing takes no capital": _one(
        _SHORT + tag("text", term="in") + tag("text", variable="publisher", prefix=" ")
    ),
    "a group without a text hides that names said nothing": _one(
        tag("group", _SHORT) + tag("text", term="in")
        + tag("text", variable="publisher", prefix=" ")
    ),
    "a label without names is made of the title": Job(
        style(layout(tag("text", variable="citation-label"))), "en-US",
        [_item("0", title="A study of things")], _clusters([{"id": "0"}]),
    ),
    "labels that are collapsed by year are parted by commas": Job(
        style(layout(tag("text", variable="citation-label"), delimiter="; "),
              of_citation={"collapse": "year"}),
        "en-US", [EARLY, LATER], _clusters([{"id": "early"}, {"id": "later"}]),
    ),
    "a locator with a label keeps its comma behind the same work": Job(
        _cites(
            tag("group", _SHORT + YEAR, delimiter=" ")
            + tag("group", tag("label", variable="locator", form="short")
                  + tag("text", variable="locator"), delimiter=" ", prefix=", "),
            collapse="year-suffix", disambiguate_add_year_suffix="true",
        ),
        "en-US", [EARLY],
        _clusters([{"id": "early", "locator": "3"}, {"id": "early", "locator": "4"}]),
    ),
    "cites that name the notes of their first ones are told apart by these": Job(
        style(
            layout(
                tag(
                    "choose",
                    tag(
                        "if",
                        tag(
                            "group",
                            _SHORT + tag("choose", tag("if", TITLE, disambiguate="true"))
                            + tag("text", variable="first-reference-note-number", prefix="n "),
                            delimiter=" ",
                        ),
                        position="subsequent",
                    ) + tag("else", tag("group", _SHORT + TITLE, delimiter=" ")),
                )
            ),
            root={"class": "note"},
        ),
        "en-US",
        [_item(name, title=name, author=_person("Doe")) for name in "ab"],
        _clusters([{"id": "a"}], [{"id": "b"}], [{"id": "a"}], [{"id": "b"}]),
    ),
    "a term behind the words of a prefix takes the capital": _one(
        tag("text", term="in", prefix="see ") + tag("text", variable="publisher", prefix=" ")
    ),
    "quotes of an element inside of quotes of another do not take turns": Job(
        style(
            layout(TITLE), layout(tag("text", macro="name", quotes="true")),
            macros=tag("macro", tag("text", variable="title", quotes="true"), name="name"),
        ),
        "en-GB", [_item("0", title="A “typed” one")],
    ),
    "a sign of a text that is told to have no quotes gives way like any other": Job(
        style(
            layout(TITLE), layout(tag("text", macro="name", suffix=".")),
            macros=tag(
                "macro", tag("text", variable="title", quotes="false", font_style="italic"),
                name="name",
            ),
        ),
        "en-US", [_item("0", title="What?")],
    ),
    "conditions that tell cites apart are opened one at a time": Job(
        style(
            layout(
                tag(
                    "group",
                    _SHORT + tag("choose", tag("if", TITLE, disambiguate="true"))
                    + tag(
                        "choose",
                        tag("if", tag("text", variable="publisher"), disambiguate="true"),
                    ),
                    delimiter=" ",
                ),
            )
        ),
        "en-US",
        [
            _item("a", title="A", publisher="P", author=_person("Doe")),
            _item("b", title="B", publisher="P", author=_person("Doe")),
            _item("c", title="C", publisher="P", author=_person("Roe")),
            _item("d", title="C", publisher="Q", author=_person("Roe")),
        ],
        _clusters(*([{"id": name}] for name in "abcd")),
    ),
    "tags of a given name stand around its initials": Job(
        _entry(tag("names", tag("name", initialize_with="."), variable="author")), "en-US",
        [
            _item("0", author=[{"family": "Doe", "given": "<b>John</b>"}]),
            _item("1", author=[{"family": "Doe", "given": "<i>Jean</i> Paul"}]),
        ],
    ),
    "what somebody is called is no initial": Job(
        _entry(tag("names", tag("name", initialize_with="."), variable="author")), "en-US",
        [_item("0", author=[{"family": "Doe", "given": 'John "Jack" M.'}])],
    ),
    "a number with a full stop and a letter inside is none": _one(
        tag("label", variable="page", form="short") + tag("text", variable="page", prefix=" "),
        page="12.e1-12.e9",
    ),
    "the first page goes without the label of the pages": _one(
        tag("text", variable="page-first"), page="pp. 5-9",
    ),
    "a comma between cites gives way to a semicolon of the author": Job(
        style(layout(_SHORT, delimiter=", ")), "en-US", [EARLY, LATER],
        _clusters([{"id": "early", "suffix": ";"}, {"id": "later"}]),
    ),
    "Greek capitals have no accents": Job(
        _entry(tag("label", variable="edition", text_case="uppercase")), "el-GR",
        [_item("0", edition="2")],
    ),
}  # fmt: skip
