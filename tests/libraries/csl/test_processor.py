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
    OutputUnknownError,
    Processor,
    StyleBrokenError,
    StyleNotFoundError,
    list_styles,
    load_style,
    render_bibliography,
)
from carrel.libraries.csl.casing import apply_case
from carrel.libraries.csl.catalogue import Locales
from carrel.libraries.csl.formats import HTML
from carrel.libraries.csl.locale import normalize_language
from carrel.libraries.csl.style import read_style

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
    by_short_name = [info.id for info in list_styles("vancouver")]
    assert by_short_name[0] == "nlm-citation-sequence"
    assert len(by_short_name) == len(set(by_short_name)) > 1
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


@pytest.mark.parametrize("kind", ["document", "paper-conference", "article-journal", "webpage"])
@pytest.mark.parametrize("style", ["apa", "chicago-author-date"])
def test_words_in_place_of_a_date_stand_once_where_the_year_would(kind: str, style: str) -> None:
    work = {**BOOK, "type": kind, "container-title": "Nature", "issued": {"literal": "in press"}}
    (entry,) = render_bibliography([work], style)
    assert entry.text.count("in press") == 1


def test_what_a_style_leaves_out_is_left_out_of_the_list_and_said_in_a_citation() -> None:
    processor = Processor(load_style(_style()), [{"id": "x", "type": "book"}, BOOK])
    assert [entry.id for entry in processor.bibliography()] == ["kuhn"]
    assert processor.cite([Cluster([Cite("x")])]) == [
        "[CSL STYLE ERROR: reference with no printed form.]"
    ]


@pytest.mark.parametrize(
    ("case", "text", "changed"),
    [
        ("sentence", "THE QUICK FOX", "The quick fox"),
        ("sentence", "the Fox JUMPS", "The fox jumps"),
        ("sentence", "McFox JUMPS", "McFox jumps"),
        ("sentence", "iPhone And VAN", "iPhone and van"),
        ("sentence", "...", "..."),
        ("sentence", "İSTANBUL X", "İSTANBUL X"),
        ("title", "the quick: a fox of it", "The Quick: A Fox of It"),
        ("title", "iPhone and the van", "iPhone and the Van"),
        ("title", "up to the hilt", "Up to the Hilt"),
        ("title", "fox-in-the-box and", "Fox-in-the-Box And"),
        ("title", "what? the end", "What? The End"),
        ("title", "a. b of c", "A. b of C"),
        ("title", "(the) fox over", "(The) Fox Over"),
        ("title", "he sat up to it next to her", "He Sat up to It next to Her"),
        ("capitalize-first", "1st fox", "1st fox"),
        ("capitalize-first", "iPhone", "iPhone"),
        ("capitalize-first", "(the) fox", "(The) fox"),
        ("capitalize-all", "3d of iPhone it", "3d Of iPhone It"),
        ("uppercase", "straße", "STRASSE"),
        ("lowercase", "The FOX", "the fox"),
        ("unheard-of", "The FOX", "The FOX"),
    ],
)
def test_text_takes_the_case_that_the_style_asks_for(case: str, text: str, changed: str) -> None:
    assert apply_case([text], case, True) == [changed]


def test_title_case_is_english_alone_and_turkish_keeps_its_two_letters() -> None:
    assert apply_case(["the fox"], "title", False) == ["the fox"]
    assert apply_case(["iı"], "uppercase", True, "tr") == ["İI"]
    assert apply_case(["Iİ"], "lowercase", True, "az") == ["ıi"]
    assert apply_case(["iI"], "uppercase", True, "de") == ["II"]


def test_case_leaves_protected_stretches_and_all_marks_alone() -> None:
    title = {"id": "1", "title": 'an <span class="nocase">b of</span> cat<sup>d</sup> <i>elk</i>'}
    for case, expected in (
        ("uppercase", "AN b of CAT<sup>d</sup> <i>ELK</i>."),
        ("title", "An b of Cat<sup>d</sup> <i>Elk</i>."),
    ):
        style = load_style(_style(f'<text variable="title" text-case="{case}"/>'))
        assert render_bibliography([title], style, output="html")[0].text == expected


def test_what_stands_on_the_names_element_holds_for_its_names() -> None:
    people = [{"family": name, "given": "Ann"} for name in ("A", "B", "C")]
    item = {"id": "1", "author": people}

    def shown(attributes: str, name: str = "") -> str:
        names = f'<names variable="author" {attributes}><name {name}/></names>'
        return render_bibliography([item], load_style(_style(names)))[0].text

    assert shown('et-al-min="3" et-al-use-first="1"') == "Ann A et al."
    assert shown('et-al-min="4" et-al-use-first="1"') == "Ann A, Ann B, Ann C."
    assert shown('et-al-min="3" et-al-use-first="3"') == "Ann A, Ann B, Ann C."
    assert shown('et-al-min="3" et-al-use-first="2"') == "Ann A, Ann B, et al."
    assert shown('delimiter=";"', 'delimiter="/" form="short"') == "A/B/C."
    assert shown("", 'and="text"') == "Ann A, Ann B, and Ann C."
    assert shown("", 'and="symbol" delimiter-precedes-last="never"') == "Ann A, Ann B & Ann C."
    assert shown('et-al-min="3" et-al-use-first="1" et-al-use-last="true"') == "Ann A … Ann C."
    # At least two names have to give way, as in citeproc-js 2.4.63.
    assert shown('et-al-min="3" et-al-use-first="2" et-al-use-last="true"') == "Ann A … Ann C."


def test_a_term_takes_a_capital_where_it_opens_an_entry_or_a_note() -> None:
    term = '<text term="ibid"/>'
    in_text = _style(term, term)
    item = {"id": "1", "title": "T"}
    for xml, cited in ((in_text, "ibid."), (in_text.replace("in-text", "note"), "Ibid.")):
        processor = Processor(load_style(xml), [item])
        assert processor.cite([Cluster([Cite("1")], 1)]) == [cited]
        assert processor.bibliography()[0].text == "Ibid."
    lowered = '<text term="ibid" text-case="lowercase"/>'
    assert render_bibliography([item], load_style(_style(lowered)))[0].text == "ibid."
    missing = '<text term="no-such-term"/><text variable="title"/>'
    assert render_bibliography([item], load_style(_style(missing)))[0].text == "T."


def test_a_short_form_falls_back_to_the_long_one() -> None:
    style = load_style(_style('<text variable="title" form="short"/>'))
    assert render_bibliography([{"id": "1", "title": "Long"}], style)[0].text == "Long."
    both = {"id": "1", "title": "Long", "title-short": "S"}
    assert render_bibliography([both], style)[0].text == "S."
    long = load_style(_style('<text variable="title"/>'))
    assert render_bibliography([both], long)[0].text == "Long."
    short = load_style(_style('<text variable="title-short"/>'))
    assert render_bibliography([both], short)[0].text == "S."
    assert render_bibliography([{"id": "1", "title": "Long"}], short) == []
    event = load_style(_style('<text variable="event-title"/>'))
    assert render_bibliography([{"id": "1", "event-title": "E"}], event)[0].text == "E."


@pytest.mark.parametrize(
    ("distance", "near"), [("", 5), ('near-note-distance="2"', 2), ('near-note-distance="x"', 5)]
)
def test_a_note_is_near_up_to_the_distance_of_the_style(distance: str, near: int) -> None:
    choose = (
        '<choose><if position="near-note"><text value="near"/></if>'
        '<else><text value="far"/></else></choose>'
    )
    xml = _style(citation=choose).replace("<citation>", f"<citation {distance}>")
    for notes, expected in ((near, "near"), (near + 1, "far")):
        clusters = [
            Cluster([Cite("kuhn")], 1),
            Cluster([Cite("other")], 2),
            Cluster([Cite("kuhn")], 1 + notes),
        ]
        processor = Processor(load_style(xml), [BOOK, {**BOOK, "id": "other"}])
        assert processor.cite(clusters)[2] == expected


def test_the_words_of_a_language_are_layered_and_genders_stay_apart() -> None:
    own = (
        '<locale><terms><term name="edition" gender="feminine">own</term>'
        '<term name="edition" gender-form="feminine">she</term>'
        '<term name="long-ordinal-01" gender-form="masculine">primo</term>'
        '<term name="long-ordinal-01" gender-form="feminine">prima</term>'
        "<term name='page'><single>leaf</single><multiple>leaves</multiple></term>"
        "<term name='volume'><single>tome</single></term></terms></locale>"
    )
    xml = _style().replace("<citation>", f"{own}<citation>", 1)
    locale = Processor(load_style(xml), []).locale
    assert locale.term("edition") == "own"
    assert locale.term("edition", gender="feminine") == "she"
    assert locale.term("edition", gender="masculine") == "own"
    assert locale.gender_of("edition") == "feminine"
    assert locale.gender_of("no-such-term") == ""
    # The last of them, as in citeproc-js 2.4.63 (Arabic).
    assert locale.term("long-ordinal-01") == "prima"
    assert locale.term("long-ordinal-01", gender="feminine") == "prima"
    assert (locale.term("page"), locale.term("page", plural=True)) == ("leaf", "leaves")
    assert locale.term("volume", plural=True) == "tome"
    assert locale.term("no-such-term") is None
    assert locale.term("page", "symbol") == "p."


@pytest.mark.parametrize(
    ("written", "language"),
    [("en_us", "en-US"), (" DE ", "de"), ("zh-hans-cn", "zh-Hans-CN"), ("", ""), ("-x", "")],
)
def test_a_language_is_known_however_it_is_written(written: str, language: str) -> None:
    assert normalize_language(written) == language


def test_a_style_is_read_from_a_file_and_a_missing_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.csl"
    path.write_text(_style('<text value="mine"/>'), "utf-8")
    assert render_bibliography([BOOK], load_style(path))[0].text == "mine."
    with pytest.raises(StyleNotFoundError, match="gone"):
        load_style(tmp_path / "gone.csl")


def _dependent(parent: str, inside: str = "") -> str:
    link = f'<link rel="independent-parent" href="{parent}"/>' if parent else ""
    return (
        '<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0">'
        f"<info><title>Own</title><!--independent-parent-->{inside}{link}</info></style>"
    )


def test_a_dependent_style_finds_its_parent_in_the_folder_and_no_parent_is_an_error(
    tmp_path: Path,
) -> None:
    (tmp_path / "dependent").mkdir()
    (tmp_path / "parent.csl").write_text(_style('<text value="mine"/>'), "utf-8")
    (tmp_path / "dependent" / "child.csl").write_text(_dependent("parent"), "utf-8")
    style = load_style("child", folder=tmp_path)
    assert (style.id, style.title) == ("child", "Own")
    assert render_bibliography([BOOK], style)[0].text == "mine."
    assert {"child", "parent"} <= {info.id for info in list_styles(folder=tmp_path)}
    with pytest.raises(StyleBrokenError, match="does not name"):
        load_style(_dependent(""))
    (tmp_path / "loop.csl").write_text(_dependent("loop"), "utf-8")
    with pytest.raises(StyleBrokenError, match="does not name"):
        load_style("loop", folder=tmp_path)
    with pytest.raises(StyleBrokenError, match="well-formed"):
        load_style(_dependent("apa").replace("</info>", ""))


def test_a_locale_in_the_folder_comes_before_the_package(tmp_path: Path) -> None:
    terms = '<terms><term name="ibid">selbst</term></terms>'
    xml = f'<locale xmlns="http://purl.org/net/xbiblio/csl" xml:lang="de-DE">{terms}</locale>'
    (tmp_path / "locales-de-DE.xml").write_text(xml, "utf-8")
    assert Locales(tmp_path)("de-DE") == xml
    assert Locales(tmp_path)("en-US") == Locales()("en-US")
    assert Locales(tmp_path)("../de-DE") is None
    assert Locales()("xx-XX") is None


@pytest.mark.parametrize(
    ("form", "edition", "written"),
    [
        ("numeric", "3", "3."),
        ("ordinal", "3", "3rd."),
        ("ordinal", "11", "11th."),
        ("ordinal", "121", "121st."),
        ("ordinal", "03", "03."),
        ("long-ordinal", "10", "tenth."),
        ("long-ordinal", "11", "11th."),
        ("roman", "14", "xiv."),
        ("roman", "5999", "mmmmmcmxcix."),
        ("roman", "6000", "6000."),
        ("roman", "0", "0."),
        ("ordinal", "1234567890", "1234567890."),
        ("ordinal", "revised", "revised."),
        ("numeric", "2-4", "2–4."),
        ("numeric", "2, 4 & 6", "2, 4 & 6."),
    ],
)
def test_a_number_is_written_in_the_form_of_the_style(
    form: str, edition: str, written: str
) -> None:
    style = load_style(_style(f'<number variable="edition" form="{form}"/>'))
    assert render_bibliography([{"id": "1", "edition": edition}], style)[0].text == written


def test_a_style_that_brings_ordinals_brings_all_of_them() -> None:
    number = _style('<number variable="edition" form="ordinal"/>')
    item = {"id": "1", "edition": "1"}
    for term, written in (("ordinal", "1°."), ("ibid", "1st.")):
        own = f'<locale><terms><term name="{term}">°</term></terms></locale>'
        xml = number.replace("<citation>", f"{own}<citation>", 1)
        assert render_bibliography([item], load_style(xml))[0].text == written


@pytest.mark.parametrize(
    ("page_format", "pages", "written"),
    [
        ("expanded", "42-5", "42–45."),
        ("expanded", "n11-n5", "n11–n15."),
        ("minimal", "42-45", "42–5."),
        ("minimal", "100-104", "100–4."),
        ("minimal", "45-42", "45–42."),
        ("minimal", "99-100", "99–100."),
        ("minimal-two", "100-104", "100–04."),
        ("chicago", "3-10", "3–10."),
        ("chicago", "100-104", "100–104."),
        ("chicago", "101-108", "101–8."),
        ("chicago", "321-328", "321–28."),
        ("chicago", "1496-1504", "1496–1504."),
        ("chicago-16", "1496-1504", "1496–504."),
        ("", "42-45", "42–45."),
        ("minimal", "a1-b2", "a1-b2."),
    ],
)
def test_a_range_of_pages_is_shortened_as_the_style_asks(
    page_format: str, pages: str, written: str
) -> None:
    option = f' page-range-format="{page_format}"' if page_format else ""
    xml = _style('<text variable="page"/>').replace(' version="1.0"', f' version="1.0"{option}')
    assert render_bibliography([{"id": "1", "page": pages}], load_style(xml))[0].text == written


def test_html_keeps_two_spaces_and_raises_what_unicode_raises() -> None:
    assert HTML.escape("a b") == "a b"
    assert HTML.escape("a  b") == "a\u00a0 b"
    assert HTML.escape("x² é") == "x<sup>2</sup> é"


@pytest.mark.parametrize(
    ("title", "written"),
    [("# a", r"\# a."), ("- a", r"\- a."), ("-a", "-a."), ("2) a", r"2\) a."), ("2.5 a", "2.5 a.")],
)
def test_a_line_of_markdown_begins_no_heading_and_no_list(title: str, written: str) -> None:
    (entry,) = render_bibliography(
        [{"id": "1", "title": title}], load_style(_style()), output="markdown"
    )
    assert entry.text == written


def test_a_style_without_a_bibliography_cites_and_lists_nothing() -> None:
    start = _style().partition("<bibliography>")[0]
    for end in ("", "<bibliography/>"):
        processor = Processor(load_style(f"{start}{end}</style>"), [BOOK])
        assert processor.cite([Cluster([Cite("kuhn")])])[0].startswith("The Structure")
        assert processor.bibliography() == []
    with pytest.raises(StyleBrokenError, match="no citation layout"):
        load_style(_style().replace("<layout>", "<sort>", 1).replace("</layout>", "</sort>", 1))


def test_an_error_names_the_style_it_is_about() -> None:
    with pytest.raises(StyleBrokenError) as caught:
        load_style("<locale/>")
    assert caught.value.style == "?"
    with pytest.raises(StyleBrokenError) as caught:
        read_style("<locale", Locales(), name="mine")
    assert caught.value.style == "mine"
    with pytest.raises(StyleBrokenError) as caught:
        read_style("<locale/>", Locales(), name="mine")
    assert caught.value.style == "mine"
    assert read_style(_style().replace("<id>minimal</id>", ""), Locales(), name="own").id == "own"
    assert read_style(_style(), Locales(), name="own").id == "minimal"


@pytest.mark.parametrize(
    ("locator", "label", "number"),
    [("ch. 5", "chapter", "5"), ("5", "page", "5"), ("5.2", "page", "5.2"), ("", "page", "")],
)
def test_a_locator_may_name_its_own_kind(locator: str, label: str, number: str) -> None:
    cite = Cite("kuhn", locator)
    assert (cite.label, cite.locator) == (label, number)


def test_a_style_has_its_own_title_or_none() -> None:
    assert load_style(_style()).title == "M"
    bare = _style().replace("<info><id>minimal</id><title>M</title></info>", "")
    assert (load_style(bare).id, load_style(bare).title) == ("?", "")


@pytest.mark.parametrize("output", ["rtf", "", "HTML", None, ["text"]])
def test_an_unknown_output_is_refused_with_the_known_ones(output: Any) -> None:
    entry = Processor(load_style("apa"), [BOOK]).render_entries()
    for refused in (
        lambda: render_bibliography([BOOK], "apa", output=output),
        lambda: Processor(load_style("apa"), [BOOK], output=output),
        lambda: entry[0][1].write(output),
    ):
        with pytest.raises(OutputUnknownError, match=r"Use text, html or markdown\.") as found:
            refused()
        assert found.value.code == "output_unknown"
        assert found.value.known == ("text", "html", "markdown")


def test_a_name_in_latin_letters_follows_the_style_whatever_the_language_of_the_work() -> None:
    def entry(style: str, **name: str) -> str:
        item = {"id": "t", "type": "book", "title": "T", "language": "ja", "author": [name]}
        return render_bibliography([item], style)[0].text

    assert entry("apa", family="Tanaka", given="Hiroshi").startswith("Tanaka, H. ")
    assert "H. Tanaka" in entry("ieee", family="Tanaka", given="Hiroshi")
    assert entry("apa", family="田中", given="太郎").startswith("田中太郎")
