"""What a caller of the engine relies on: names of styles, outputs, citations, and errors that name
the fault.
"""

from pathlib import Path
from typing import Any

import pytest

from carrel.libraries.csl import (
    SHORT_NAMES,
    Cite,
    Cluster,
    ItemBrokenError,
    ItemNotFoundError,
    Processor,
    StyleBrokenError,
    StyleNotFoundError,
    list_styles,
    load_style,
    render_bibliography,
)

BOOK: dict[str, Any] = {
    "id": "kuhn",
    "type": "book",
    "title": "The Structure of <i>Scientific</i> Revolutions & 2 < 3",
    "author": [{"family": "Kuhn", "given": "Thomas S."}],
    "issued": {"date-parts": [[1962]]},
    "publisher": "University of Chicago Press",
}
MINIMAL = """<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">
<info><id>minimal</id><title>M</title></info>
<citation><layout>{citation}</layout></citation><bibliography><layout suffix=".">{bibliography}</layout></bibliography></style>"""  # noqa: E501


def _style(
    bibliography: str = '<text variable="title"/>', citation: str = '<text variable="title"/>'
) -> str:
    return MINIMAL.format(citation=citation, bibliography=bibliography)


@pytest.mark.parametrize("name", sorted(SHORT_NAMES))
def test_every_short_name_gives_a_bibliography(name: str) -> None:
    (entry,) = render_bibliography([BOOK], name)
    assert "Kuhn" in entry.text
    assert "1962" in entry.text


def test_each_output_escapes_what_would_mean_something_there() -> None:
    style = load_style(_style())
    text, html, markdown = (
        Processor(style, [BOOK], output=name).bibliography()[0].text
        for name in ("text", "html", "markdown")
    )
    assert text == "The Structure of Scientific Revolutions & 2 < 3."
    assert html == "The Structure of <i>Scientific</i> Revolutions &#38; 2 &#60; 3."
    assert markdown == r"The Structure of *Scientific* Revolutions & 2 \< 3."


def test_markdown_does_not_read_stars_or_list_numbers_out_of_a_title() -> None:
    (entry,) = render_bibliography(
        [{"id": "1", "type": "book", "title": "1. a *b* _c_ [d]"}],
        load_style(_style()),
        output="markdown",
    )
    assert entry.text == r"1\. a \*b\* \_c\_ \[d\]."


def test_runs_carry_the_text_and_its_looks() -> None:
    ((_, runs),) = Processor(
        load_style(_style('<text variable="title" font-weight="bold"/>')), [BOOK]
    ).bibliography_runs()
    assert "".join(run.text for run in runs) == "The Structure of Scientific Revolutions & 2 < 3."
    assert runs[1].text == "Scientific"
    assert dict(runs[1].formatting) == {"font-style": "italic", "font-weight": "bold"}
    assert runs[-1].formatting == ()


def test_a_locator_a_prefix_and_a_suffix_stand_around_the_cite() -> None:
    processor = Processor(load_style("apa"), [BOOK])
    cluster = Cluster([Cite("kuhn", locator="12-15", prefix="see", suffix="and elsewhere")])
    assert processor.cite([cluster]) == ["(see Kuhn, 1962, pp. 12–15 and elsewhere)"]


def test_names_can_stand_in_the_sentence() -> None:
    processor = Processor(load_style("apa"), [BOOK])
    assert processor.cite([Cluster([Cite("kuhn")], mode="composite")]) == ["Kuhn (1962)"]
    assert processor.cite([Cluster([Cite("kuhn", suppress_author=True)])]) == ["(1962)"]
    assert processor.cite([Cluster([Cite("kuhn", author_only=True)], mode="author-only")]) == [
        "Kuhn"
    ]


def test_ibid_and_subsequent_follow_from_the_order_of_the_notes() -> None:
    choose = (
        '<choose><if position="ibid-with-locator"><text value="ibid-loc"/></if>'
        '<else-if position="ibid"><text value="ibid"/></else-if>'
        '<else-if position="near-note"><text value="near"/></else-if>'
        '<else-if position="subsequent"><text value="again"/></else-if>'
        '<else><text value="first"/></else></choose>'
    )
    style = load_style(_style(citation=choose))
    items = [BOOK, {**BOOK, "id": "other"}]
    cited = [
        ("kuhn", ""),
        ("kuhn", ""),
        ("kuhn", "5"),
        ("other", ""),
        ("kuhn", ""),
        ("other", ""),
        ("other", ""),
    ]
    notes = [1, 2, 3, 4, 5, 20, 21]
    clusters = [
        Cluster([Cite(item, locator)], note)
        for (item, locator), note in zip(cited, notes, strict=True)
    ]
    assert Processor(style, items).cite(clusters) == [
        "first",
        "ibid",
        "ibid-loc",
        "first",
        "near",
        "again",
        "ibid",
    ]


def test_works_of_one_author_and_year_get_letters() -> None:
    items = [{**BOOK, "id": "a", "title": "Alpha"}, {**BOOK, "id": "b", "title": "Beta"}]
    processor = Processor(load_style("apa"), items)
    assert processor.cite([Cluster([Cite("b")]), Cluster([Cite("a"), Cite("b")])]) == [
        "(Kuhn, 1962b)",
        "(Kuhn, 1962a, 1962b)",
    ]


def test_the_language_of_the_style_can_be_changed() -> None:
    (entry,) = render_bibliography(
        [{**BOOK, "author": [], "editor": BOOK["author"]}], "apa", locale="de-DE"
    )
    assert "(Hrsg.)" in entry.text


def test_a_style_keeps_its_compiled_form_for_the_same_text() -> None:
    assert load_style("apa") is load_style("http://www.zotero.org/styles/apa")


def test_a_dependent_style_renders_as_its_parent_under_its_own_name() -> None:
    dependent = load_style("nature-genetics")
    assert dependent.id.endswith("nature-genetics")
    assert dependent.default_locale == "en-GB"
    assert render_bibliography([BOOK], dependent) == render_bibliography([BOOK], "nature")


def test_a_folder_of_the_users_comes_before_the_package(tmp_path: Path) -> None:
    (tmp_path / "apa.csl").write_text(_style('<text value="mine"/>'), "utf-8")
    assert render_bibliography([BOOK], "apa", folder=tmp_path)[0].text == "mine."
    assert "mine" not in render_bibliography([BOOK], "apa")[0].text
    assert [info.title for info in list_styles("apa", folder=tmp_path) if info.id == "apa"] == ["M"]


def test_the_list_of_styles_is_searched_by_words_and_the_closest_come_first() -> None:
    everything = list_styles()
    assert len(everything) > 10_000
    assert list_styles("apa")[0].id == "apa"
    found = list_styles("nature genetics")[0]
    assert (found.id, found.parent, found.citation_format) == (
        "nature-genetics",
        "nature",
        "numeric",
    )
    assert "biology" in found.fields
    assert list_styles("vancouver")[0].id == "nlm-citation-sequence"
    assert list_styles("no such style anywhere") == []


@pytest.mark.parametrize("name", ["nowhere-to-be-found", "../../etc/passwd", "", "a/b", "apa\0"])
def test_an_unknown_style_is_refused_by_name(name: str) -> None:
    with pytest.raises(StyleNotFoundError) as caught:
        load_style(name)
    assert caught.value.style == name


@pytest.mark.parametrize(
    ("xml", "reason"),
    [
        ("<style", "well-formed"),
        ('<!DOCTYPE x [<!ENTITY a "aaaa">]><style>&a;</style>', "document type"),
        ("<locale/>", "not a CSL style"),
        (_style('<text macro="gone"/>'), "'gone'"),
        (_style("<text/>"), "cs:text"),
        (
            _style('<text macro="m"/>').replace(
                "<citation>", '<macro name="m"><text macro="m"/></macro><citation>'
            ),
            "calls itself",
        ),
        ("<style xmlns='http://purl.org/net/xbiblio/csl'><info/></style>", "no citation layout"),
        (
            _style("<text variable='title'/>").replace(
                "<layout>", f"<sort>{'<key/>' * 101}</sort><layout>", 1
            ),
            "more than 100 keys",
        ),
        (_style("<group>" * 3000 + "</group>" * 3000), "nested without end"),
    ],
)
def test_a_broken_style_is_one_error_that_says_what_is_wrong(xml: str, reason: str) -> None:
    with pytest.raises(StyleBrokenError, match=reason) as caught:
        load_style(xml)
    assert caught.value.code == "style_broken"


def test_a_field_of_the_wrong_shape_is_named_with_its_item() -> None:
    with pytest.raises(ItemBrokenError) as caught:
        render_bibliography([{"id": "x", "type": "book", "author": [7]}], "apa")
    assert (caught.value.item, caught.value.field) == ("x", "author")
    with pytest.raises(ItemBrokenError) as caught:
        render_bibliography([{"id": "y", "type": "book", "issued": [2001]}], "apa")
    assert (caught.value.item, caught.value.field) == ("y", "issued")


def test_a_citation_of_an_item_that_is_not_there_is_refused() -> None:
    with pytest.raises(ItemNotFoundError) as caught:
        Processor(load_style("apa"), [BOOK]).cite([Cluster([Cite("gone")])])
    assert caught.value.item == "gone"


def test_an_unknown_type_and_missing_fields_still_render() -> None:
    (entry,) = render_bibliography([{"id": "x", "type": "hologram", "title": "Light"}], "apa")
    assert entry.text == "Light. (n.d.)."


def test_five_thousand_authors_are_cut_as_the_style_says() -> None:
    crowd = [{"family": f"Name{number}", "given": "A."} for number in range(5000)]
    (entry,) = render_bibliography(
        [{"id": "x", "type": "article-journal", "title": "T", "author": crowd}], "apa"
    )
    assert entry.text.startswith("Name0, A., Name1, A.")
    assert ", … Name4999, A." in entry.text
    assert "Name19," not in entry.text


@pytest.mark.parametrize(
    "date",
    [
        "sometime soon",
        {"raw": "not a date"},
        {"literal": "in press"},
        {"date-parts": [[]]},
        {"date-parts": [["x"]]},
        99,
        {},
    ],
)
def test_a_date_that_is_none_is_shown_as_written_or_left_out(date: Any) -> None:
    (entry,) = render_bibliography([{**BOOK, "issued": date}], "apa")
    assert "Kuhn" in entry.text


def test_what_a_style_leaves_out_is_left_out_of_the_list_and_said_in_a_citation() -> None:
    processor = Processor(load_style(_style()), [{"id": "x", "type": "book"}, BOOK])
    assert [entry.id for entry in processor.bibliography()] == ["kuhn"]
    assert processor.cite([Cluster([Cite("x")])]) == [
        "[CSL STYLE ERROR: reference with no printed form.]"
    ]
