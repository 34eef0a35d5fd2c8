"""Names of works in every form that people paste."""

from __future__ import annotations

import pytest

from carrel.libraries.identifiers import ArxivId, Doi, Isbn, NotAnIdentifierError, Pmcid, Pmid
from carrel.libraries.literature.records import WorkIds
from carrel.libraries.literature.work_names import (
    OwnName,
    WorkName,
    has_name,
    list_identifiers,
    parse_work_name,
)

_HASH = "204e3073870fae3d05bcbc2f6a8e263d9b72e776"


@pytest.mark.parametrize("text", ["", "  ", "hello world", "W12", "pmid:abc", "doi:", "10.1/", "?"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(NotAnIdentifierError):
        parse_work_name(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("10.1038/NPHYS1170", Doi("10.1038/nphys1170")),
        ("https://doi.org/10.1038/nphys1170", Doi("10.1038/nphys1170")),
        ("doi:10.1038/nphys1170", Doi("10.1038/nphys1170")),
        ("<doi:10.1038/nphys1170>", Doi("10.1038/nphys1170")),
        ("PMID: 12345678", Pmid("12345678")),
        ("12345678", Pmid("12345678")),
        ("https://pubmed.ncbi.nlm.nih.gov/12345678/", Pmid("12345678")),
        ("pmcid:PMC123", Pmcid("PMC123")),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC123/", Pmcid("PMC123")),
        ("1706.03762v2", ArxivId("1706.03762", 2)),
        ("arXiv:hep-th/9901001", ArxivId("hep-th/9901001")),
        ("https://arxiv.org/abs/1706.03762", ArxivId("1706.03762")),
        ("978-0-306-40615-7", Isbn("9780306406157")),
        ("isbn:0306406152", Isbn("9780306406157")),
        ("W2741809807", OwnName("openalex", "openalex", "W2741809807")),
        ("https://openalex.org/w2741809807", OwnName("openalex", "openalex", "W2741809807")),
        ("openalex:W2741809807", OwnName("openalex", "openalex", "W2741809807")),
        (_HASH, OwnName("semantic_scholar", "semantic_scholar", _HASH)),
        (
            f"https://www.semanticscholar.org/paper/Attention-is/{_HASH}",
            OwnName("semantic_scholar", "semantic_scholar", _HASH),
        ),
        ("CorpusId:13756489", OwnName("semantic_scholar", "corpus_id", "13756489")),
        ("dblp:conf/nips/VaswaniSP17", OwnName("dblp", "dblp", "conf/nips/VaswaniSP17")),
        ("europepmc:PPR/PPR123", OwnName("europepmc", "europepmc", "PPR/PPR123")),
    ],
)
def test_every_usual_form_is_read(text: str, name: WorkName) -> None:
    assert parse_work_name(text) == name


def test_an_arxiv_id_and_its_doi_name_one_work() -> None:
    ids = WorkIds(arxiv="1706.03762")
    assert has_name(ids, Doi("10.48550/arxiv.1706.03762"))
    assert has_name(WorkIds(doi="10.48550/arxiv.1706.03762"), ArxivId("1706.03762", 5))
    assert not has_name(ids, Doi("10.1000/x"))


def test_identifiers_that_many_services_know_come_best_first() -> None:
    ids = WorkIds(doi="10.1000/x", pmid="12", arxiv="1706.03762", openalex="W1234")
    assert list_identifiers(ids) == [Doi("10.1000/x"), Pmid("12"), ArxivId("1706.03762")]
