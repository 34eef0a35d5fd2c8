"""Whose DOI, arXiv id and date a PDF's first page shows: the paper's own, or nobody's."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from carrel.libraries.pdf_layout.title_confidence import CONFIDENCE
from carrel.libraries.pdf_layout.title_page import TitlePage, read_title_page
from carrel.services.paper_sources.pdf_content import read_content
from tests.services.pdf_files import make_pdf

BODY = "\nAbstract\nWe study services.\n1 Introduction\nText.\n"
XMP = (
    b"<x:xmpmeta><rdf:RDF><prism:doi>10.1234/Stated</prism:doi>"
    b"<prism:publicationDate>2018-03-04</prism:publicationDate></rdf:RDF></x:xmpmeta>"
)


class PdfFacts(NamedTuple):
    doi: str | None
    arxiv_id: str | None
    date: str | None


def read(tmp_path: Path, page: str, xmp: bytes = b"") -> TitlePage:
    """The title page of a PDF with these lines; a title stands in large type."""
    path = tmp_path / "a.pdf"
    lines = [
        (20 if "On E" in line else 12 if len(line) < 16 else 10, line)
        for line in page.split("\n")
        if line.strip()
    ]
    path.write_bytes(make_pdf([lines]) + xmp)
    return read_title_page(read_content(path))


def facts(tmp_path: Path, page: str, xmp: bytes = b"") -> PdfFacts:
    front = read(tmp_path, page, xmp)
    return PdfFacts(
        *(found.value if found else None for found in (front.doi, front.arxiv_id, front.date))
    )


@pytest.mark.parametrize(
    ("head", "doi"),
    [
        (
            "Journal of Tests 12 (2019) 1-9\nhttps://doi.org/10.1234/own.1\nOn Engines",
            "10.1234/own.1",
        ),
        ("J. Tests. Published 3 May 2019. doi: 10.1234/own.2.", "10.1234/own.2"),
        ("On Engines\nDOI 10.1234/own.3", "10.1234/own.3"),
        ("On Engines\n10.1234/unmarked", None),
        ("A reply to Jones et al., doi:10.1234/other", None),
        ("Comment on\ndoi:10.1234/other", None),
        ("Jones (2011) doi:10.1234/other", None),
        ("Data: https://doi.org/10.1234/data", None),
        ("doi:10.1234/one doi:10.1234/two", None),
        (
            "On Engines\nThe original article can be found online "
            "at\nhttps://doi.org/10.1234/other",
            None,
        ),
        (
            "Author Correction: On Engines\nAnn Author\nThe paper that this concerns is "
            "here:\nhttps://doi.org/10.1234/other",
            None,
        ),
        ("Retraction notice\n\nJ. Tests\ndoi:10.1234/other", None),
        (
            "Available online at www.tests.example\nhttps://doi.org/10.1234/own.4\nOn Error "
            "Correction",
            "10.1234/own.4",
        ),
    ],
)
def test_a_doi_counts_only_where_a_paper_speaks_of_itself(
    tmp_path: Path, head: str, doi: str | None
) -> None:
    assert facts(tmp_path, head + BODY).doi == doi


@pytest.mark.parametrize(
    "page",
    [
        "On Engines\nAbstract\nWe use doi:10.1234/other.\n",
        "On Engines" + BODY + "References\n[1] Jones. doi:10.1234/other\n",
        "On Engines\n" + "Text without headings. " * 40 + "doi:10.1234/other",
        "References\nJones, A. On things. https://doi.org/10.1234/other\n",
    ],
)
def test_a_doi_of_a_cited_paper_is_not_taken(tmp_path: Path, page: str) -> None:
    assert facts(tmp_path, page).doi is None


@pytest.mark.parametrize(
    ("page", "date", "is_inferred"),
    [
        ("On Engines\nPublished: 3 May 2019" + BODY, "2019-05-03", False),
        ("On Engines\nReceived 3 May 2018; accepted 5 June 2018" + BODY, None, False),
        ("On Engines\n© 2019 The Authors" + BODY, "2019", True),
        ("arXiv:1706.03762v5 [cs.CL] 6 Dec 2017\nOn Engines" + BODY, "2017-12-06", True),
        ("On Engines" + BODY + "Work published in 1998 and 1998 and 1998.", None, False),
        ("On Engines" + BODY + "© 1998 Others", None, False),
        ("Proceedings 2019\nOn Engines" + BODY, None, False),
    ],
)
def test_a_year_is_stated_inferred_or_unknown(
    tmp_path: Path, page: str, date: str | None, is_inferred: bool
) -> None:
    """A date is as exact as it is printed; an inferred one is less sure than a stated one."""
    found = read(tmp_path, page, b"/CreationDate (D:20200101)").date
    assert (found.value if found else None) == date
    assert (found is not None and found.confidence < CONFIDENCE["published_date"]) == is_inferred


@pytest.mark.parametrize(
    ("page", "arxiv_id"),
    [
        ("On Engines" + BODY + "\narXiv:1706.03762v5 [cs.CL] 6 Dec 2017", "1706.03762"),
        ("arXiv:1706.03762\nOn Engines" + BODY, "1706.03762"),
        ("On Engines" + BODY + "as in arXiv:1706.03762 and others", None),
        ("On Engines" + BODY + "References\nA. Vaswani. Attention. arXiv:1706.03762, 2017.", None),
    ],
)
def test_an_arxiv_id_is_the_stamp_or_stands_at_the_head(
    tmp_path: Path, page: str, arxiv_id: str | None
) -> None:
    assert facts(tmp_path, page).arxiv_id == arxiv_id


def test_what_the_publisher_wrote_into_the_file_counts_first(tmp_path: Path) -> None:
    found = facts(tmp_path, "On Engines\ndoi:10.1234/printed\n© 2019" + BODY, XMP)
    assert found == PdfFacts("10.1234/stated", None, "2018-03-04")
