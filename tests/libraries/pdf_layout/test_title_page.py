"""Titles, authors and abstracts on pages of lines: what is found, and what is left unknown."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrel.libraries.pdf_layout.content import PdfContent
from carrel.libraries.pdf_layout.title_page import TitlePage, read_title_page
from tests.libraries.pdf_layout.page_lines import PROSE, Printed, make_content

TITLE = Printed("On Engines and Their Makers", 17)


def read(*lines: Printed | str, information: dict[str, str] | None = None) -> TitlePage:
    page = [*lines, "", "Abstract", *PROSE, "1 Introduction", *PROSE, *PROSE]
    return read_title_page(make_content(page, list(PROSE * 5), information=information))


def authors(page: TitlePage) -> tuple[str, ...] | None:
    return page.authors.value if page.authors else None


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ([Printed("Ann Archer", 12)], ("Ann Archer",)),
        ([Printed("Ann Archer^a^ and Bob Other^b^", 12)], ("Ann Archer", "Bob Other")),
        ([Printed("Ann Archer^α^, Bob Other^α,β^", 12)], ("Ann Archer", "Bob Other")),
        ([Printed("Ann Archer\tBob Other\tCy Third", 12)], ("Ann Archer", "Bob Other", "Cy Third")),
        (
            [Printed("Ann Archer, Francisco Javier", 12), Printed("Cuadrado, and Bob Other", 12)],
            ("Ann Archer", "Francisco Javier Cuadrado", "Bob Other"),
        ),
        (
            [Printed("Ann Archer", 12), Printed("Monash University", 11, is_italic=True)],
            ("Ann Archer",),
        ),
        (
            [Printed("Ann Archer", 12), Printed("Bell Yard", 10), Printed("Bob Other", 12)],
            ("Ann Archer", "Bob Other"),
        ),
        ([Printed("Ann Archer, Example University", 12)], ("Ann Archer",)),
        ([Printed("Ann Archer", 12), Printed("Texas A&M University", 12)], ("Ann Archer",)),
        ([Printed("Yanqing (Morris) Chen, Bob Other", 12)], ("Yanqing (Morris) Chen", "Bob Other")),
        ([Printed("engines Development Team", 12)], ("engines Development Team",)),
        (
            [Printed("Ann Archer", 12), Printed("R Core Development Team", 12)],
            ("Ann Archer",),
        ),
        ([Printed("ANN ARCHER AND BOB OTHER", 12)], ("Ann Archer", "Bob Other")),
        ([Printed("Ann Archer <ann@example.org>", 12)], ("Ann Archer",)),
        (
            [
                Printed("Ann Archer", 12),
                Printed("Supervisor:", 12),
                Printed("Prof. Bob Other", 12),
            ],
            ("Ann Archer",),
        ),
    ],
)
def test_authors_are_found_in_order(lines: list[Printed], names: tuple[str, ...]) -> None:
    assert authors(read(TITLE, "", *lines)) == names


@pytest.mark.parametrize(
    "lines",
    [
        [Printed("Ann Archer", 12), Printed("a 3rd strange line", 12), Printed("Bob Other", 12)],
        [Printed("Something Made, of Lower words", 12)],
        [Printed("Example University", 12), Printed("Ann Archer", 12)],
        [Printed("Ann Archer", 12), Printed("Ann Archer", 12)],
    ],
)
def test_a_list_with_a_line_that_is_not_understood_is_unknown(lines: list[Printed]) -> None:
    assert authors(read(TITLE, "", *lines)) is None


def test_names_side_by_side_come_by_row_and_stacked_ones_by_column() -> None:
    rows = [
        Printed("Ann Archer", 12, y=150, x=80),
        Printed("Cy Third", 12, y=150, x=380),
        Printed("Bob Other", 12, y=165, x=80),
        Printed("Example University", 10, y=165, x=370),
        Printed("Example University", 10, y=180, x=75),
    ]
    assert authors(read(TITLE, *rows, Printed("", y=200))) == (
        "Ann Archer",
        "Bob Other",
        "Cy Third",
    )


def test_affiliations_stand_below_their_authors() -> None:
    page = read(
        TITLE,
        Printed("Ann Archer", 12, y=150, x=80),
        Printed("Bob Other", 12, y=150, x=380),
        Printed("University of Tests", 10, y=165, x=75),
        Printed("Institute of Trials", 10, y=165, x=370),
        Printed("", y=200),
    )
    assert page.affiliations is not None
    assert page.affiliations.value == (
        ("Ann Archer", "University of Tests"),
        ("Bob Other", "Institute of Trials"),
    )


@pytest.mark.parametrize(
    "lines",
    [
        [Printed("Journal of Engines", 22), Printed("Volume 3, Issue 2", 9), "", TITLE],
        [Printed("RESEARCH ARTICLE", 20), TITLE],
        [Printed("AIECE2021-0003", 20), TITLE],
        [Printed("January 20, 2021, Cambridge, MA", 18), TITLE],
        [
            Printed("Contents lists available at ScienceDirect", 8),
            Printed("Engines", 19),
            Printed("journal homepage: www.elsevier.com/locate/eng", 8),
            "",
            TITLE,
        ],
        ["A note that stands above the title of this work", "", TITLE],
        [Printed("DISSERTATION", 24), "", TITLE],
        [Printed("University of Tests", 18), "", TITLE],
    ],
)
def test_what_stands_above_a_title_is_not_it(lines: list[Printed | str]) -> None:
    found = read(*lines).title
    assert found is not None
    assert found.value == TITLE.text


def test_an_information_title_counts_only_where_it_stands_on_the_page() -> None:
    stated = read(TITLE, information={"Title": "On Engines and Their Makers"}).title
    other = read(TITLE, information={"Title": "A quite different title"}).title
    assert stated is not None and other is not None
    assert stated.value == other.value == TITLE.text
    assert stated.confidence > other.confidence
    empty = PdfContent((), information={"Title": "A title of a scan"})
    guess = read_title_page(empty).title
    assert guess is not None
    assert guess.origin == "guess"


def test_marks_leave_a_title_and_the_letters_of_a_logo_stay() -> None:
    marked = read(Printed("On Engines of L^A^TEX^1^", 17)).title
    assert marked is not None
    assert marked.value == "On Engines of LATEX"


def test_a_section_of_a_longer_work_is_hardly_a_title() -> None:
    found = read(Printed("3.2 Methods of Engines", 17)).title
    assert found is not None
    assert found.confidence < 0.5


def test_the_dictionary_completes_a_list_whose_names_are_all_printed() -> None:
    page = read(
        TITLE,
        "",
        Printed("Ann Archer", 12),
        Printed("strange words of Bob Other", 12),
        information={"Author": "Ann Archer, Bob Other"},
    )
    assert authors(page) == ("Ann Archer", "Bob Other")
    page = read(TITLE, "", Printed("Ann Archer", 12), information={"Author": "root"})
    assert authors(page) == ("Ann Archer",)


def test_abstract_and_keywords_end_where_they_should() -> None:
    page = read_title_page(
        make_content(
            [TITLE, "", "Abstract", *PROSE, "Keywords: engines, makers; trade", "1 Introduction"]
        )
    )
    assert page.abstract is not None and page.keywords is not None
    assert page.abstract.value.startswith("We study how engines")
    assert page.abstract.value.endswith("only use them at home.")
    assert page.keywords.value == ("engines, makers", "trade")


def test_a_page_without_text_has_nothing() -> None:
    assert read_title_page(PdfContent(())) == TitlePage()


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.text(max_size=80), st.floats(1, 40), st.floats(0, 900), st.floats(-50, 700)),
        max_size=25,
    ),
    st.text(max_size=200),
)
def test_any_page_is_read_without_harm(
    lines: list[tuple[str, float, float, float]], words: str
) -> None:
    page = [Printed(text, size, y, x) for text, size, y, x in lines]
    read_title_page(make_content(page, information={"Title": words, "Author": words}, xmp=words))


@pytest.mark.parametrize(
    "text",
    [
        "a " * 20_000,
        "A. " * 20_000,
        "10.1234/" * 8_000,
        "doi:" * 20_000,
        "(" * 30_000,
        "published " * 8_000,
        "Journal of " * 8_000,
        "January 1, " * 8_000,
        "<prism:doi " * 8_000,
        "," * 60_000,
        "x" * 60_000,
        "this article is " * 8_000,
        "a version of this " * 8_000,
        "we see doi:10.1234/a " * 4_000,
        "arXiv:1706.03762 and " * 4_000,
        "a. B" * 20_000,
    ],
)
def test_long_lines_are_read_in_one_pass(text: str) -> None:
    line = Printed(text, 10, x=72.0)
    page = [TITLE, line, Printed("Abstract", 10, x=72.0), line]
    content = make_content(page, information={"Author": text, "Title": text}, xmp=text)
    assert read_title_page(content).doi is None


@pytest.mark.parametrize("text", ["Ann Archer", "doi:10.1234/a", "Example University", "words"])
def test_pages_of_many_lines_are_read(text: str) -> None:
    lines = [
        Printed(f"{text}", 10, y=80 + at // 3 * 12.0, x=60 + at % 3 * 180.0) for at in range(6_000)
    ]
    assert read_title_page(make_content([TITLE, *lines])).authors is None


@pytest.mark.parametrize(
    "sentence",
    [
        "We show that the drift reported in Phys. Rev. X 9, 031001 (2019) is an artifact.",
        "The drift seen in Phys. Rev. X 9, 031001 (2019) is an artifact.",
        "In Phys. Rev. X 9, 031001 (2019) a drift was claimed.",
        "Unlike Sensors 2021, 21, 1234 no drift exists.",
        "Drift measured by Int J Comput Vis (2015) 115:211-252 remains.",
    ],
)
def test_venue_volume_pages_year_and_institution_are_not_read_from_a_sentence(
    sentence: str,
) -> None:
    page = read(
        Printed("Comment on the drift of spin ice", size=17),
        Printed("P. A. Lindqvist", size=12),
        "KTH, Stockholm",
        Printed("R. Haverkamp", size=12),
        "TU Delft",
        sentence,
        "",
        *PROSE,
    )
    assert (page.venue, page.volume, page.pages, page.date) == (None, None, None, None)
    places = [place for _, place in page.affiliations.value] if page.affiliations else []
    assert not [place for place in places if "rift" in place or "Sensors" in place]


@pytest.mark.parametrize(
    ("head", "venue", "volume"),
    [
        ("PHYSICAL REVIEW LETTERS 116, 061102 (2016)", "PHYSICAL REVIEW LETTERS", "116"),
        ("In Vitro Biology 12 (2019) 1-9", "In Vitro Biology", "12"),
        ("Advances in Physics 12 (2019) 1-9, www.example.org", "Advances in Physics", "12"),
    ],
)
def test_a_journals_head_is_still_read(head: str, venue: str, volume: str) -> None:
    page = read(head, "", Printed("On the drift of spin ice", size=17), "", *PROSE)
    assert page.venue is not None and page.volume is not None
    assert (page.venue.value, page.volume.value) == (venue, volume)


def test_a_heading_is_no_institution() -> None:
    page = read(
        TITLE,
        Printed("Ann Archer", 12),
        "",
        Printed("1 Multi-state models of states", 14.4, is_bold=True),
    )
    assert page.affiliations is None


def test_an_institution_stands_once_and_a_word_cut_at_a_line_end_is_whole() -> None:
    page = read(
        TITLE,
        Printed("Ann Archer", 12, y=150, x=80),
        Printed("Bob Other", 12, y=150, x=380),
        Printed("WU Wirtschafts-", 10, y=165, x=75),
        Printed("Institut für Tests", 10, y=165, x=370),
        Printed("universität Wien", 10, y=178, x=75),
        Printed("Institut für Tests", 10, y=178, x=370),
        Printed("", y=200),
    )
    assert page.affiliations is not None
    assert page.affiliations.value == (
        ("Ann Archer", "WU Wirtschaftsuniversität Wien"),
        ("Bob Other", "Institut für Tests"),
    )


def test_a_person_below_editorial_is_its_author_and_not_the_title() -> None:
    head = "Ann. Hydrol. Soc. 21 (2011) 1-2"
    page = read(head, "", Printed("Editorial", 17), Printed("Ruth Amsel", 12))
    assert page.title is not None
    assert (page.title.value, authors(page)) == ("Editorial", ("Ruth Amsel",))


def test_the_letters_of_a_spaced_title_are_joined() -> None:
    page = read(Printed("P h y M L – M a n u a l", 24), "", Printed("Ann Archer", 12))
    assert page.title is not None and page.title.value == "PhyML – Manual"
