"""Identifiers are parsed from every dress they come in, and nothing else is taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.identifiers import ArxivId, Doi, Isbn, NotAnIdentifierError, Pmcid, Pmid


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10.1038/Nature12373", "10.1038/nature12373"),
        ("doi:10.1038/nature12373", "10.1038/nature12373"),
        ("DOI: 10.1038/nature12373.", "10.1038/nature12373"),
        ("https://doi.org/10.1038/nature12373", "10.1038/nature12373"),
        ("http://dx.doi.org/10.1016/0921-4534(89)90484-X", "10.1016/0921-4534(89)90484-x"),
        ("(see 10.1000/abc)", None),
        ("10.1000/abc);", "10.1000/abc"),
        (
            "https://doi.org/10.1002/(SICI)1097-4571(199806)49:8%3C693::AID-ASI4%3E3.0.CO;2-O",
            "10.1002/(sici)1097-4571(199806)49:8<693::aid-asi4>3.0.co;2-o",
        ),
        ("doi:https://doi.org/10.1000/abc?x=1#y", "10.1000/abc"),
        ("https://proxy.example.edu/login/10.1000/abc", "10.1000/abc"),
        ("10.12/abc", None),
        ("10.1000/", None),
        ("a 10.1000/abc", None),
        ("", None),
    ],
)
def test_a_doi_is_parsed_without_its_dress(text: str, value: str | None) -> None:
    if value is None:
        with pytest.raises(NotAnIdentifierError):
            Doi.parse(text)
    else:
        assert str(Doi.parse(text)) == value


@pytest.mark.parametrize(
    ("address", "value"),
    [
        ("https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0046493", None),
        ("https://journals.plos.org/x/file?id=10.1371%2Fjournal.pone.0046493&type=print", None),
        ("https://www.biorxiv.org/content/10.1101/2024.04.01.587366v1.full.pdf", ""),
        ("https://www.medrxiv.org/content/10.1101/2024.04.01.587366v2", ""),
        ("https://www.frontiersin.org/articles/10.1000/a.1/full", "10.1000/a.1"),
        ("https://link.springer.com/content/pdf/10.1000/a.1.pdf", "10.1000/a.1"),
        # A resolver adds nothing: the ending is the DOI's own.
        ("https://doi.org/10.1000/a.1.pdf", "10.1000/a.1.pdf"),
        ("https://doi.org/10.1000/a&b", "10.1000/a&b"),
    ],
)
def test_the_address_of_a_publishers_page_names_its_work(address: str, value: str | None) -> None:
    shown = {None: "10.1371/journal.pone.0046493", "": "10.1101/2024.04.01.587366"}
    assert Doi.parse(address).value == shown.get(value, value)


def test_two_spellings_of_a_doi_are_one() -> None:
    assert Doi.parse("10.1000/ABC") == Doi.parse("https://DOI.org/10.1000/abc.")


def test_arxivs_own_doi_names_the_paper() -> None:
    assert Doi.parse("10.48550/arXiv.2101.00001").arxiv == ArxivId("2101.00001")
    assert Doi.parse("10.1000/abc").arxiv is None


@pytest.mark.parametrize(
    ("text", "value", "version"),
    [
        ("2101.00001", "2101.00001", None),
        ("arXiv:2101.00001v3", "2101.00001", 3),
        ("https://arxiv.org/abs/0704.0001", "0704.0001", None),
        ("https://arxiv.org/pdf/2101.00001v2.pdf", "2101.00001", 2),
        ("arXiv:2101.00001v3 [cs.LG]", "2101.00001", 3),
        ("hep-th/9901001", "hep-th/9901001", None),
        ("math.GT/0309136v1", "math/0309136", 1),
        ("http://arxiv.org/abs/HEP-TH/9901001", "hep-th/9901001", None),
    ],
)
def test_an_arxiv_identifier_is_kept_apart_from_its_version(
    text: str, value: str, version: int | None
) -> None:
    assert ArxivId.parse(text) == ArxivId(value, version)


@pytest.mark.parametrize(
    "text", ["2113.00001", "101.00001", "2101.001", "hep-th/99", "2101.00001x"]
)
def test_what_only_looks_like_arxiv_is_refused(text: str) -> None:
    with pytest.raises(NotAnIdentifierError):
        ArxivId.parse(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12345", "12345"),
        ("PMID: 0012345", "12345"),
        ("https://pubmed.ncbi.nlm.nih.gov/12345/", "12345"),
        ("pmid12345", "12345"),
    ],
)
def test_a_pmid_is_a_number(text: str, value: str) -> None:
    assert str(Pmid.parse(text)) == value


@pytest.mark.parametrize("text", ["0", "1234567890", "12a", "PMC123", "٣٤٥"])
def test_what_is_no_pmid_is_refused(text: str) -> None:
    with pytest.raises(NotAnIdentifierError):
        Pmid.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "PMC123",
        "pmc0123",
        "PMCID: PMC123",
        "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC123/",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC123",
        "PMC123.1",
    ],
)
def test_a_pmcid_keeps_its_letters(text: str) -> None:
    assert str(Pmcid.parse(text)) == "PMC123"


@pytest.mark.parametrize(
    "text",
    [
        "0-632-05808-0",
        "978-0-632-05808-2",
        "ISBN: 9780632058082",
        "ISBN-10 0632058080",
        "urn:isbn:9780632058082",
    ],
)
def test_an_isbn_is_thirteen_digits_whichever_way_it_is_written(text: str) -> None:
    assert Isbn.parse(text) == Isbn("9780632058082")
    assert Isbn.parse(text).isbn_10 == "0632058080"


@pytest.mark.parametrize(
    "text", ["0-632-05808-1", "9780632058083", "1234567890123", "978063205808", "X234567890"]
)
def test_an_isbn_with_a_wrong_check_digit_is_refused(text: str) -> None:
    with pytest.raises(NotAnIdentifierError):
        Isbn.parse(text)


def test_an_isbn_can_end_in_x() -> None:
    assert Isbn.parse("080442957X").isbn_10 == "080442957X"
    assert Isbn.parse("9791034746484").isbn_10 is None


@given(text=st.text(max_size=40))
def test_parsing_a_parsed_identifier_changes_nothing(text: str) -> None:
    for kind in (Doi, Pmid, Pmcid, ArxivId, Isbn):
        try:
            once = kind.parse(text)
        except NotAnIdentifierError as error:
            assert error.text == text
            continue
        assert kind.parse(str(once)) == once


@given(suffix=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=30))
def test_a_parsed_doi_parses_to_itself(suffix: str) -> None:
    try:
        once = Doi.parse(f"10.1234/{suffix}")
    except NotAnIdentifierError:
        return
    assert Doi.parse(once.url) == once
