"""Input is recognised by its shape."""

import pytest

from carrel.libraries.bibliography.formats import read_bibliography
from carrel.libraries.bibliography.imports import UnknownFormatError
from carrel.libraries.bibliography.recognition import InputKind, recognise


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('[{"id": "a"}]', InputKind.CSL_JSON),
        ('  {"id": "a"}', InputKind.CSL_JSON),
        ("@article{a, title = {x}}", InputKind.BIBTEX),
        ("% comment\n\n@Article{a,", InputKind.BIBTEX),
        ("\ufeffTY  - JOUR\nER  - ", InputKind.RIS),
        ("1.\nTY  - JOUR\n", InputKind.RIS),
        ("PMID- 123\nTI  - x", InputKind.NBIB),
        (
            "<?xml version='1.0'?>\n<!DOCTYPE PubmedArticleSet>\n<PubmedArticleSet>",
            InputKind.PUBMED_XML,
        ),
        ("<PubmedArticle>", InputKind.PUBMED_XML),
        ("<xml><records><record>", InputKind.ENDNOTE_XML),
        ('<mods:mods xmlns:mods="x">', InputKind.MODS),
        ("<zs:searchRetrieveResponse><zs:records><record><leader>", InputKind.MARC_XML),
        ("<b:Sources><b:Source>", InputKind.MS_BIB),
        ("%0 Journal Article\n%A Doe, J\n%T x", InputKind.REFER),
        ("10.1000/abc", InputKind.DOI),
        ("doi:10.1000/abc", InputKind.DOI),
        ("https://doi.org/10.1000/abc", InputKind.DOI),
        ("https://dx.doi.org/10.1000/abc.", InputKind.DOI),
        ("12345", InputKind.PMID),
        ("PMID: 12345", InputKind.PMID),
        ("PMC12345", InputKind.PMCID),
        ("2101.00001v2", InputKind.ARXIV),
        ("arXiv:hep-th/9901001", InputKind.ARXIV),
        ("https://arxiv.org/abs/2101.00001", InputKind.ARXIV),
        ("ISBN: 978-0-632-05808-2", InputKind.ISBN),
        ("0-632-05808-0", InputKind.ISBN),
        ("9780632058082", InputKind.ISBN),
        ("", None),
        ("hello world", None),
        ("9780632058083", None),
        ("<html><body>", None),
        ("mail me@example.org", None),
    ],
)
def test_the_kind_is_told_by_shape(text: str, kind: InputKind | None) -> None:
    assert recognise(text) is kind


def test_reading_without_a_kind_recognises_it() -> None:
    assert read_bibliography("@book{a, title = {T}}").items[0].item["id"] == "a"
    assert read_bibliography(b"TY  - BOOK\nTI  - T\nER  - ").items[0].item["type"] == "book"


@pytest.mark.parametrize("text", ["hello", "10.1000/abc"])
def test_what_is_no_bibliography_is_refused_with_its_beginning(text: str) -> None:
    with pytest.raises(UnknownFormatError) as caught:
        read_bibliography(text)
    assert caught.value.beginning == text
