"""Items as other programs write them beside CSL-JSON's rules: nothing of them is lost in an
export.
"""

import pytest

from carrel.libraries.bibliography.formats import ExportFormat, write_bibliography

_ITEM = {
    "id": "a",
    "type": "article-journal",
    "title": "T",
    "author": "Smith, J.",
    "editor": ["Ann Editor", {"family": "Doe", "given": "Jo"}],
    "translator": {"literal": "A Bureau"},
    "recipient": None,
}


@pytest.mark.parametrize("form", [ExportFormat.BIBTEX, ExportFormat.BIBLATEX, ExportFormat.RIS])
def test_names_that_are_texts_are_exported(form: ExportFormat) -> None:
    text = write_bibliography([_ITEM], form)
    for name in ("Smith, J.", "Ann Editor", "Doe, Jo"):
        assert name in text
    assert form is ExportFormat.BIBTEX or "A Bureau" in text


@pytest.mark.parametrize(
    "doi",
    [
        "https://doi.org/10.1000/ABC.d",
        "doi:10.1000/ABC.d",
        "http://dx.doi.org/10.1000/ABC.d",
        "10.1000/ABC.d",
    ],
)
def test_a_doi_with_its_resolver_is_written_without_it(doi: str) -> None:
    item = {**_ITEM, "DOI": doi}
    assert "doi = {10.1000/ABC.d}" in write_bibliography([item], ExportFormat.BIBTEX)
    assert "DO  - 10.1000/ABC.d\r\n" in write_bibliography([item], ExportFormat.RIS)
    assert doi in write_bibliography([item], ExportFormat.CSL_JSON), (
        "the library's own form is as it was"
    )


def test_a_text_in_place_of_a_doi_is_left_alone() -> None:
    assert "doi = {to appear}" in write_bibliography(
        [{**_ITEM, "DOI": "to appear"}], ExportFormat.BIBTEX
    )
