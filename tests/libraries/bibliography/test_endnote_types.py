"""EndNote's generic fields, which mean another thing for each type, in its three forms."""

import pytest

from carrel.libraries.bibliography.formats import read_bibliography
from carrel.libraries.bibliography.imports import CslItem


def read_one(content: str) -> CslItem:
    answer = read_bibliography(content)
    assert not answer.failures
    (only,) = answer.items
    return only.item


def ris(*lines: str) -> CslItem:
    return read_one("\n".join([*lines, "ER  - "]))


def xml(kind: str, inner: str) -> CslItem:
    record = f'<record><ref-type name="{kind}">0</ref-type>{inner}</record>'
    return read_one(f"<xml><records>{record}</records></xml>")


def title_xml(title: str) -> CslItem:
    return xml("Journal Article", f"<titles><title>{title}</title></titles>")


@pytest.mark.parametrize(
    "item",
    [
        ris("TY  - PAT", "TI  - Device", "SN  - US 1", "IS  - 12/345"),
        read_one("%0 Patent\n%T Device\n%@ US 1\n%N 12/345\n"),
        xml(
            "Patent",
            "<titles><title>Device</title></titles><isbn>US 1</isbn><number>12/345</number>",
        ),
    ],
)
def test_a_patent_has_its_number_where_books_have_an_isbn(item: CslItem) -> None:
    assert item["number"] == "US 1"
    assert item["custom"]["fields"] == {"application-number": "12/345"}
    assert "ISSN" not in item


@pytest.mark.parametrize(
    "item",
    [
        read_one("%0 Report\n%T R\n%@ TR-33\n%I Institute\n"),
        xml("Report", "<titles><title>R</title></titles><isbn>TR-33</isbn>"),
    ],
)
def test_a_report_has_its_number_there_too(item: CslItem) -> None:
    assert item["number"] == "TR-33"
    assert "ISSN" not in item


@pytest.mark.parametrize(
    "item",
    [
        ris("TY  - THES", "TI  - T", "AU  - Doe, J.", "A3  - Roe, R.", "VL  - Master"),
        read_one("%0 Thesis\n%T T\n%A Doe, J.\n%Y Roe, R.\n%V Master\n"),
        xml(
            "Thesis",
            "<titles><title>T</title></titles><volume>Master</volume><contributors><authors>"
            "<author>Doe, J.</author></authors><tertiary-authors><author>Roe, R.</author>"
            "</tertiary-authors></contributors>",
        ),
    ],
)
def test_a_thesis_has_an_advisor_and_a_degree(item: CslItem) -> None:
    assert item["contributor"] == [{"family": "Roe", "given": "R."}]
    assert item["genre"] == "Master"
    assert not item.keys() & {"volume", "collection-editor"}


@pytest.mark.parametrize(
    ("pages", "field", "value"),
    [
        ("300", "number-of-pages", "300"),
        ("xii, 300 p.", "number-of-pages", "xii, 300"),
        ("12-20", "page", "12-20"),
    ],
)
def test_pages_of_a_whole_book_are_their_number(pages: str, field: str, value: str) -> None:
    for item in (
        ris("TY  - BOOK", "TI  - B", f"SP  - {pages}"),
        read_one(f"%0 Book\n%T B\n%P {pages}\n"),
        xml("Book", f"<titles><title>B</title></titles><pages>{pages}</pages>"),
    ):
        assert item[field] == value


def test_a_web_page_tells_when_it_was_read_and_a_program_its_version() -> None:
    page = xml(
        "Web Page",
        "<titles><title>W</title></titles><volume>2010</volume><number>May 5, 2010</number>",
    )
    assert page["accessed"] == {"date-parts": [[2010, 5, 5]]}
    assert not page.keys() & {"volume", "number"}
    assert ris("TY  - COMP", "TI  - P", "ET  - 1.2")["version"] == "1.2"


def test_an_articles_edition_that_is_a_day_is_when_it_was_available() -> None:
    for item in (
        ris("TY  - JOUR", "TI  - A", "ET  - 2010/03/01"),
        read_one("%0 Journal Article\n%T A\n%7 2010/03/01\n"),
        xml("Journal Article", "<titles><title>A</title></titles><edition>2010/03/01</edition>"),
    ):
        assert item["available-date"] == {"date-parts": [[2010, 3, 1]]}
        assert "edition" not in item


def test_the_producer_of_a_film_is_no_editor() -> None:
    film = ris("TY  - MPCT", "TI  - F", "AU  - Doe, J.", "A3  - Roe, R.", "A4  - Poe, E.")
    assert film["producer"] == [{"family": "Roe", "given": "R."}]
    assert film["performer"] == [{"family": "Poe", "given": "E."}]


@pytest.mark.parametrize("tag", ["PY", "DA"])
def test_free_words_of_a_ris_date_are_kept(tag: str) -> None:
    item = ris("TY  - JOUR", "TI  - A", f"{tag}  - 2010/05//Easter issue")
    assert item["issued"] == {"date-parts": [[2010, 5]]}
    assert item["custom"]["fields"] == {"date-note": "Easter issue"}
    summer = ris("TY  - JOUR", "TI  - A", f"{tag}  - 2010///Summer")
    assert summer["issued"] == {"date-parts": [[2010]], "season": 2}
    assert "custom" not in summer


def test_the_days_of_a_conference_are_a_range() -> None:
    paper = ris("TY  - CPAPER", "TI  - A", "PY  - 2009", "DA  - 2009/06/01-05")
    assert paper["issued"] == {"date-parts": [[2009, 6, 1], [2009, 6, 5]]}


@pytest.mark.parametrize("name", ["Alain Bureau", "J. M. Board", "Ann College"])
def test_families_that_are_called_like_an_institution_are_people(name: str) -> None:
    item = ris("TY  - RPRT", "TI  - A", f"AU  - {name}", "AU  - The Editorial Board")
    given, family = name.rsplit(" ", 1)
    assert item["author"] == [
        {"family": family, "given": given},
        {"literal": "The Editorial Board"},
    ]


def test_institutions_are_whole_without_the_comma_that_the_manual_asks_for() -> None:
    item = ris("TY  - RPRT", "TI  - A", "AU  - World Health Organization", "AU  - Jane Doe")
    assert item["author"] == [
        {"literal": "World Health Organization"},
        {"family": "Doe", "given": "Jane"},
    ]


def test_endnote_xml_keeps_the_markup_of_titles_and_the_lines_of_notes() -> None:
    styled = title_xml(
        '<style face="normal">Growth of </style><style face="italic">E. coli </style>'
        '<style face="normal">in CO</style><style face="subscript">2</style>'
    )
    assert styled["title"] == "Growth of <i>E. coli</i> in CO<sub>2</sub>"
    assert title_xml('<style face="bold">A title</style>')["title"] == "A title"
    noted = xml(
        "Journal Article",
        "<titles><title>A</title><alt-title>Alt</alt-title></titles><periodical><full-title>"
        "Journal</full-title><abbr-1>J.</abbr-1></periodical><notes>one&#xD;two</notes>",
    )
    assert noted["note"] == "one\ntwo"
    assert noted["custom"]["fields"] == {"alternate-title": "Alt"}


@pytest.mark.parametrize(
    ("other", "field", "value"),
    [
        ("J. Foo", "container-title-short", "J. Foo"),
        ("Artn 4711", "number", "4711"),
        ("Presented in Paris", "note", "Presented in Paris"),
    ],
)
def test_the_alternate_title_of_an_article_is_no_name_of_the_journal_unless_it_can_be(
    other: str, field: str, value: str
) -> None:
    item = read_one(f"%0 Journal Article\n%T A\n%J Journal of Foo\n%O {other}\n")
    assert item[field] == value
    assert len(item) == 4


def test_every_tag_of_endnotes_list_begins_a_field() -> None:
    item = read_one("%0 Book\n%T A title\n%] seven\n%= eight\n%H Doe, J.\n")
    assert item["title"] == "A title"
    assert item["custom"]["fields"] == {
        "custom7": "seven",
        "custom8": "eight",
        "translated-author": "Doe, J.",
    }


@pytest.mark.parametrize(
    ("day", "parts"), [("May 3", [2010, 5, 3]), ("June", [2010, 6]), ("12 Dec", [2010, 12, 12])]
)
def test_a_day_without_its_year_is_that_of_the_year_beside_it(day: str, parts: list[int]) -> None:
    item = ris("TY  - NEWS", "TI  - A", f"DA  - {day}", "PY  - 2010")
    assert item["issued"] == {"date-parts": [parts]}
    assert "custom" not in item


@pytest.mark.parametrize(
    "item",
    [
        ris("TY  - INTV", "TI  - A", "AU  - Doe, J.", "A2  - Roe, R."),
        read_one("%0 Interview\n%T A\n%A Doe, J.\n%E Roe, R.\n"),
        xml(
            "Interview",
            "<titles><title>A</title></titles><contributors><authors><author>Doe, J.</author>"
            "</authors><secondary-authors><author>Roe, R.</author></secondary-authors>"
            "</contributors>",
        ),
    ],
)
def test_the_second_author_of_an_interview_asked(item: CslItem) -> None:
    assert item["interviewer"] == [{"family": "Roe", "given": "R."}]
