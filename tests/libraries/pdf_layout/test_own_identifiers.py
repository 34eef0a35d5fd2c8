"""Whose DOI, arXiv id and date a first page shows: the paper's own, or nobody's."""

from __future__ import annotations

import pytest

from carrel.libraries.pdf_layout.title_page import TitlePage, read_title_page
from tests.libraries.pdf_layout.page_lines import PROSE, Printed, make_content

TITLE = "On Engines and Their Makers"


def read(
    *lines: Printed | str, xmp: str = "", links: tuple[str, ...] = (), title: str = TITLE
) -> TitlePage:
    """A page with these lines above its title, and an abstract."""
    return read_title_page(
        make_content(
            [*lines, "", Printed(title, 18), "", "Abstract", *PROSE, "1 Introduction", *PROSE],
            xmp=xmp,
            links=links,
        )
    )


def read_below(*lines: Printed | str) -> TitlePage:
    """A page with these lines at its foot."""
    return read_title_page(
        make_content(
            [Printed(TITLE, 18), "Abstract", *PROSE, "1 Introduction", *PROSE, *PROSE, *lines]
        )
    )


@pytest.mark.parametrize(
    ("lines", "doi"),
    [
        (["Journal of Tests 12 (2019) 1-9", "https://doi.org/10.1234/own.1"], "10.1234/own.1"),
        (["J. Tests. Published 3 May 2019. doi: 10.1234/own.2."], "10.1234/own.2"),
        (["DOI 10.1234/own.3"], "10.1234/own.3"),
        (["Digital Object Identifier 10.1234/own.4"], "10.1234/own.4"),
        (["https://doi.org/10.1234/", "own.5"], "10.1234/own.5"),
        (["10.1234/unmarked"], None),
        (["A reply to Jones et al., doi:10.1234/other"], None),
        (["Comment on", "doi:10.1234/other"], None),
        (["Jones (2011) doi:10.1234/other"], None),
        (["Data: https://doi.org/10.1234/data"], None),
        (["doi:10.1234/one doi:10.1234/two"], None),
        (["The original article can be found online at", "https://doi.org/10.1234/other"], None),
        (["Retraction notice", "J. Tests", "doi:10.1234/other"], None),
        (["doi: 10.18637/jss.v000.i00"], None),
        (["https://doi.org/10.1145/nnnnnnn.nnnnnnn"], None),
        (["https://doi.org/10.1145/1122445.1122456"], None),
        (["DOI 10.1109/ACCESS.2017.DOI"], None),
    ],
)
def test_a_doi_counts_only_where_a_paper_speaks_of_itself(
    lines: list[str], doi: str | None
) -> None:
    found = read(*lines).doi
    assert (found.value if found else None) == doi


@pytest.mark.parametrize(
    "title",
    [
        "Author Correction: On Engines and Their Makers",
        "Retraction: On Engines and Their Makers",
        "Comment on “On Engines and Their Makers”",
        "Reply to Jones on engines",
        "Erratum to: On Engines",
    ],
)
def test_a_notice_does_not_take_the_doi_of_the_paper_it_speaks_of(title: str) -> None:
    page = read("J. Tests 12 (2019) 1-2", "https://doi.org/10.1234/other", title=title)
    assert page.doi is None
    assert [doi for _, doi in page.related] == ["10.1234/other"]


def test_a_title_on_error_correction_is_no_notice() -> None:
    page = read("https://doi.org/10.1234/own", title="On Error Correction in Engines")
    assert page.doi is not None


def test_a_notice_has_the_doi_that_its_publisher_states() -> None:
    xmp = "<x:xmpmeta><prism:doi>10.1234/notice</prism:doi></x:xmpmeta>"
    page = read("https://doi.org/10.1234/other", title="Correction: On Engines", xmp=xmp)
    assert page.doi is not None
    assert (page.doi.value, page.doi.origin) == ("10.1234/notice", "publisher")
    assert page.related == (("correction_of", "10.1234/other"),)


@pytest.mark.parametrize(
    "lines",
    [
        ["Data are available from the public repository at", "https://doi.org/10.5061/dryad.1"],
        ["References", "[1] Jones. On things. 1999.", "https://doi.org/10.1234/other"],
        ["as was shown before by others in their paper of that year,", "doi:10.1234/other"],
    ],
)
def test_a_doi_of_another_work_in_the_text_is_not_taken(lines: list[str]) -> None:
    assert read_below(*lines).doi is None


@pytest.mark.parametrize(
    "lines",
    [
        [Printed("https://doi.org/10.1234/own", 8, y=780.0, x=72.0)],
        [Printed("https://doi.org/10.1234/own", 8, y=740.0, x=72.0)],
        [
            Printed("Citation: Doe J (2019) On Engines and Their", 8, y=600.0, x=72.0),
            Printed("Makers. J. Tests 12: 1-9.", 8, y=611.0, x=72.0),
            Printed("https://doi.org/10.1234/own", 8, y=622.0, x=72.0),
        ],
    ],
)
def test_a_doi_at_the_foot_or_in_how_to_cite_is_the_papers(lines: list[Printed]) -> None:
    found = read_below(*lines).doi
    assert found is not None
    assert found.value == "10.1234/own"


def test_how_to_cite_another_paper_gives_no_doi() -> None:
    page = read_below(
        Printed("Citation: Doe J (2019) A quite different work. J. Tests", 8, y=600.0, x=72.0),
        Printed("12: 1-9. https://doi.org/10.1234/other", 8, y=611.0, x=72.0),
    )
    assert page.doi is None


def test_the_crossmark_button_names_the_paper() -> None:
    links = (
        "https://orcid.org/0000-0001-0000-0000",
        "https://crossmark.crossref.org/dialog/?doi=10.1234/own&domain=pdf",
        "https://doi.org/10.5061/dryad.1",
    )
    found = read("Journal of Tests", links=links).doi
    assert found is not None
    assert (found.value, found.origin) == ("10.1234/own", "publisher")


def test_a_version_published_elsewhere_is_related() -> None:
    page = read_below(
        "A version of this document was published as Doe (2011) in the Journal of Tests,",
        "doi:10.1234/published.",
    )
    assert page.doi is None
    assert page.related == (("published_as", "10.1234/published"),)


@pytest.mark.parametrize(
    ("line", "arxiv_id", "date"),
    [
        (
            Printed("arXiv:1706.03762v5 [cs.CL] 6 Dec 2017", 20, y=400.0, x=20.0, angle=90),
            "1706.03762",
            "2017-12-06",
        ),
        (Printed("arXiv:hep-th/9901001v1 [hep-th] 3 Jan 1999"), "hep-th/9901001", "1999-01-03"),
        ("arXiv:1706.03762", "1706.03762", None),
        ("as in arXiv:1706.03762 and others", None, None),
    ],
)
def test_an_arxiv_id_is_the_stamp_or_stands_at_the_head(
    line: Printed | str, arxiv_id: str | None, date: str | None
) -> None:
    page = read(line)
    assert (page.arxiv_id.value if page.arxiv_id else None) == arxiv_id
    assert (page.date.value if page.date else None) == date


def test_an_arxiv_id_in_the_references_is_not_taken() -> None:
    page = read_below("References", "A. Vaswani. Attention. arXiv:1706.03762, 2017.")
    assert page.arxiv_id is None


@pytest.mark.parametrize(
    ("line", "date"),
    [
        ("Published: 3 May 2019", "2019-05-03"),
        ("Received 3 May 2018; accepted 5 June 2018", None),
        ("© 2019 The Authors", "2019"),
        ("Proceedings 2019", None),
        ("Journal of Tests 12 (2019) 1-9", "2019"),
        ("Int J Tests (2015) 115:211–252", "2015"),
        ("IEEE TRANSACTIONS ON TESTS, VOL. 12, NO. 3, MARCH 2019", "2019-03"),
        ("Sensors 2021, 21, 1234", "2021"),
        ("Proceedings of NAACL-HLT 2018, pages 84–91", "2018"),
    ],
)
def test_a_year_is_stated_or_unknown(line: str, date: str | None) -> None:
    found = read(line).date
    assert (found.value if found else None) == date


def test_a_year_in_the_text_does_not_count() -> None:
    page = read_below("Work published in 1998 and 1998 and 1998.", "© 1998 Others")
    assert page.date is None


def test_what_the_publisher_wrote_into_the_file_counts_first() -> None:
    xmp = (
        '<x:xmpmeta><rdf:Description prism:doi="10.1234/Stated" prism:volume="7">'
        "<prism:publicationName>J. Tests &amp; Trials</prism:publicationName>"
        "<prism:publicationDate>2018-03-04</prism:publicationDate></rdf:Description></x:xmpmeta>"
    )
    page = read("doi:10.1234/printed", "© 2019 Others", xmp=xmp)
    assert page.doi is not None and page.date is not None and page.venue is not None
    assert (page.doi.value, page.doi.origin) == ("10.1234/stated", "publisher")
    assert (page.date.value, page.date.origin) == ("2018-03-04", "publisher")
    assert page.venue.value == "J. Tests & Trials"
    assert page.volume is not None and page.volume.value == "7"
