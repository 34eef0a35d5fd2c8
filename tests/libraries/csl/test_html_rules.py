"""Rules that only HTML shows: fonts within fonts and blocks, as citeproc-js writes them."""

import pytest

from benchmarks.citation_judge.engines import render_ours
from benchmarks.citation_judge.jobs import Job
from benchmarks.citation_judge.small_styles import TITLE, layout, style, tag

NUMBER = {"variable": "citation-number", "suffix": ". "}
JOHN = {"family": "Doe", "given": "John"}
GROUP = {"literal": "CERN"}


def _entry(inside: str, *authors: dict[str, str], **options: str) -> str:
    job = Job(
        style(layout(TITLE), layout(inside), of_bibliography={**options}),
        "en-US",
        [{"id": "1", "type": "book", "title": "T", "author": list(authors)}],
    )
    return render_ours(job, "html").bibliography[0]


def _names(inside: str = "", **options: str) -> str:
    return tag("names", tag("name", **options) + inside, variable="author")


def test_a_list_with_names_set_to_normal_shows_it_where_et_al_differs() -> None:
    et_al = tag("et-al", font_style="italic")
    limits = {"et_al_min": "2", "et_al_use_first": "1", "font_style": "normal"}
    shown = '<span style="font-style:normal;">John Doe <i>et al.</i></span>'
    assert _entry(_names(et_al, **limits), JOHN, JOHN) == shown
    assert _entry(_names(**limits), JOHN, JOHN) == "John Doe et al."


def test_normal_within_normal_within_italics_is_written_twice() -> None:
    inner = tag("group", tag("text", variable="title", font_style="normal"), font_style="normal")
    normal = '<span style="font-style:normal;">'
    shown = f"<i>{normal}{normal}T</span></span></i>"
    assert _entry(tag("group", inner, font_style="italic")) == shown


@pytest.mark.parametrize(
    ("whole", "family", "shown"),
    [
        ("bold", "bold", "<b>CERN</b>"),
        ("italic", "bold", "<b><i>CERN</i></b>"),
        ("bold", "italic", "<b><i>CERN</i></b>"),
    ],
)
def test_a_group_has_the_looks_of_a_whole_name_and_of_a_family_at_once(
    whole: str, family: str, shown: str
) -> None:
    looks = {"bold": "font-weight", "italic": "font-style"}
    part = f'<name-part name="family" {looks[family]}="{family}"/>'
    names = f'<names variable="author"><name {looks[whole]}="{whole}">{part}</name></names>'
    assert _entry(names, GROUP) == shown


def test_a_space_that_would_end_the_last_block_follows_it() -> None:
    shown = _entry(tag("text", display="left-margin", **NUMBER))
    assert shown.strip() == '<div class="csl-left-margin">1.</div>'
    assert shown.endswith("</div> ")


def test_the_block_beside_the_margin_keeps_its_first_space() -> None:
    rest = tag("text", variable="title", prefix=" ")
    shown = _entry(tag("text", **NUMBER) + rest, second_field_align="flush")
    assert '<div class="csl-left-margin">1. </div><div class="csl-right-inline"> T</div>' in shown


def test_a_term_that_opens_the_margin_takes_a_capital() -> None:
    shown = _entry(tag("text", term="no date") + TITLE, second_field_align="flush")
    assert '<div class="csl-left-margin">No date</div>' in shown


def test_the_prefix_of_a_layout_stands_in_its_fonts_and_in_the_margin() -> None:
    number = tag("text", variable="citation-number", suffix="] ")
    for options, shown in (
        ({}, "<b>[1] T</b>"),
        ({"second_field_align": "flush"}, '<div class="csl-left-margin">[1] </div>'),
    ):
        job = Job(
            style(
                layout(TITLE),
                layout(number + TITLE, prefix="[", font_weight="bold"),
                of_bibliography={**options},
            ),
            "en-US",
            [{"id": "1", "type": "book", "title": "T"}],
        )
        assert shown in render_ours(job, "html").bibliography[0]


def test_other_words_for_a_term_keep_its_gender() -> None:
    ordinal = '<number variable="edition" form="ordinal"/>'
    words = '<locale><terms><term name="edition">impression</term></terms></locale>'
    job = Job(
        style(words + layout(ordinal)).replace(f"<citation>{words}", f"{words}<citation>"),
        "fr-FR",
        [{"id": "1", "type": "book", "edition": "1"}],
        [{"note": 1, "items": [{"id": "1"}]}],
    )
    assert render_ours(job).citations == ("1ʳᵉ",)


def test_a_full_stop_stays_behind_the_letter_of_a_year() -> None:
    year = '<date variable="issued" suffix=";"><date-part name="year"/></date>'
    names = tag("names", tag("name"), variable="author", suffix=" ")
    item = {"type": "book", "author": [JOHN], "issued": {"date-parts": [[2001]]}}
    job = Job(
        style(
            layout(names + year),
            layout(names + year, suffix="."),
            of_citation={"disambiguate_add_year_suffix": "true"},
        ),
        "en-US",
        [{**item, "id": "1", "title": "A"}, {**item, "id": "2", "title": "B"}],
    )
    assert render_ours(job).bibliography == ("John Doe 2001a;.", "John Doe 2001b;.")


def test_a_group_set_to_normal_shows_it_around_another_font_of_its_kind() -> None:
    bold = tag("text", variable="title", font_weight="bold")
    shown = '<span style="font-weight:normal;"><b>T</b></span>'
    assert _entry(tag("group", bold, font_weight="normal")) == shown
    assert _entry(tag("group", TITLE, font_weight="normal")) == "T"


def test_a_title_in_chinese_that_is_told_to_have_no_quotes_has_no_italics() -> None:
    job = Job(
        style(
            layout(TITLE),
            layout(tag("text", variable="title", quotes="false", font_style="italic")),
        ),
        "en-US",
        [{"id": "1", "type": "book", "title": "中文"}],
    )
    assert render_ours(job, "html").bibliography[0] == "中文"
