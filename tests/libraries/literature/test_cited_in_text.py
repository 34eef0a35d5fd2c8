"""Identifiers and citation keys are found anywhere in a draft."""

from __future__ import annotations

import pytest

from carrel.libraries.identifiers import ArxivId, Doi, Pmcid, Pmid
from carrel.libraries.literature.cited_in_text import find_cited

SICI = "10.1002/(sici)1097-0258(19980815)17:15<1661::aid-sim968>3.0.co;2-2"


@pytest.mark.parametrize(
    "text",
    ["", "Write to ada@example.org or @ nobody.", "Version 10.4 of 2/3.", "In 2019 (p. 12345)."],
)
def test_plain_prose_cites_nothing(text: str) -> None:
    found = find_cited(text)
    assert (found.identifiers, found.keys) == ((), ())


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("see https://doi.org/10.1000/ABC.1).", Doi("10.1000/abc.1")),
        ("(doi:10.1016/0921-4534(89)90405-3).", Doi("10.1016/0921-4534(89)90405-3")),
        (f"and {SICI.upper()}, too", Doi(SICI)),
        ("**10.1000/x**", Doi("10.1000/x")),
        ("PMID: 123456.", Pmid("123456")),
        ("https://pubmed.ncbi.nlm.nih.gov/123456/", Pmid("123456")),
        ("PMC5828200", Pmcid("PMC5828200")),
        ("arXiv:1706.03762v5 [cs.CL]", ArxivId("1706.03762")),
        ("https://arxiv.org/abs/hep-th/9901001", ArxivId("hep-th/9901001")),
    ],
)
def test_identifiers_are_found_without_the_marks_of_the_sentence(
    text: str, identifier: object
) -> None:
    assert find_cited(text).identifiers == (identifier,)


def test_keys_of_pandoc_latex_and_notes_are_found_once_in_their_order() -> None:
    text = (
        "As @doe2020 says [see @roe:2019, p. 3; -@poe_21], \\citep[p.~4]{a,b} and "
        "\\autocite{doe2020}; also [[ref:note1|a note]] and @{odd key's}x. Mail a@b.org."
    )
    assert find_cited(text).keys == ("doe2020", "roe:2019", "poe_21", "a", "b", "note1")
