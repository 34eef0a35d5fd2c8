"""Input is recognised by its shape."""

import pytest

from carrel.libraries.bibliography.errors import UnknownFormatError
from carrel.libraries.bibliography.reading import read
from carrel.libraries.bibliography.recognition import Kind, recognise


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('[{"id": "a"}]', Kind.CSL_JSON),
        ('  {"id": "a"}', Kind.CSL_JSON),
        ("@article{a, title = {x}}", Kind.BIBTEX),
        ("% comment\n\n@Article{a,", Kind.BIBTEX),
        ("\ufeffTY  - JOUR\nER  - ", Kind.RIS),
        ("1.\nTY  - JOUR\n", Kind.RIS),
        ("PMID- 123\nTI  - x", Kind.NBIB),
        ("<?xml version='1.0'?>\n<!DOCTYPE PubmedArticleSet>\n<PubmedArticleSet>", Kind.PUBMED_XML),
        ("<PubmedArticle>", Kind.PUBMED_XML),
        ("<xml><records><record>", Kind.ENDNOTE_XML),
        ('<mods:mods xmlns:mods="x">', Kind.MODS),
        ("<zs:searchRetrieveResponse><zs:records><record><leader>", Kind.MARC_XML),
        ("<b:Sources><b:Source>", Kind.MS_BIB),
        ("%0 Journal Article\n%A Doe, J\n%T x", Kind.REFER),
        ("10.1000/abc", Kind.DOI),
        ("doi:10.1000/abc", Kind.DOI),
        ("https://doi.org/10.1000/abc", Kind.DOI),
        ("https://dx.doi.org/10.1000/abc.", Kind.DOI),
        ("12345", Kind.PMID),
        ("PMID: 12345", Kind.PMID),
        ("PMC12345", Kind.PMCID),
        ("2101.00001v2", Kind.ARXIV),
        ("arXiv:hep-th/9901001", Kind.ARXIV),
        ("https://arxiv.org/abs/2101.00001", Kind.ARXIV),
        ("ISBN: 978-0-632-05808-2", Kind.ISBN),
        ("0-632-05808-0", Kind.ISBN),
        ("9780632058082", Kind.ISBN),
        ("", None),
        ("hello world", None),
        ("9780632058083", None),
        ("<html><body>", None),
        ("mail me@example.org", None),
    ],
)
def test_the_kind_is_told_by_shape(text: str, kind: Kind | None) -> None:
    assert recognise(text) is kind


def test_reading_without_a_kind_recognises_it() -> None:
    assert read("@book{a, title = {T}}").items[0].item["id"] == "a"
    assert read(b"TY  - BOOK\nTI  - T\nER  - ").items[0].item["type"] == "book"


@pytest.mark.parametrize("text", ["hello", "10.1000/abc"])
def test_what_is_no_bibliography_is_refused_with_its_beginning(text: str) -> None:
    with pytest.raises(UnknownFormatError) as caught:
        read(text)
    assert caught.value.beginning == text
