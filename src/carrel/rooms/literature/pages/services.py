"""Literature services as the pages name them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# Proper names, the same in every language; a service that is not here is named by its id.
SERVICE_TITLES: Mapping[str, str] = {
    "openalex": "OpenAlex",
    "crossref": "Crossref",
    "pubmed": "PubMed",
    "europepmc": "Europe PMC",
    "arxiv": "arXiv",
    "semantic_scholar": "Semantic Scholar",
    "dblp": "DBLP",
    "datacite": "DataCite",
    "doaj": "DOAJ",
    "biorxiv": "bioRxiv",
    "unpaywall": "Unpaywall",
    "opencitations": "OpenCitations",
    "retraction_watch": "Retraction Watch",
}
# Those that search_literature can be told to ask, in the order of the boxes.
SEARCHED_SERVICES = (
    "openalex",
    "crossref",
    "pubmed",
    "europepmc",
    "arxiv",
    "semantic_scholar",
    "dblp",
    "datacite",
    "doaj",
)
_IDENTIFIER_ADDRESSES = {
    "doi": "https://doi.org/{}",
    "pmid": "https://pubmed.ncbi.nlm.nih.gov/{}/",
    "pmcid": "https://www.ncbi.nlm.nih.gov/pmc/articles/{}/",
    "arxiv": "https://arxiv.org/abs/{}",
    "openalex": "https://openalex.org/{}",
    "europepmc": "https://europepmc.org/article/{}",
    "semantic_scholar": "https://www.semanticscholar.org/paper/{}",
}
_STATES = ("failed", "answered", "not_asked")


def name_service(service: str) -> str:
    return SERVICE_TITLES.get(service, service)


def list_identifiers(ids: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Each identifier with its kind and the address that it stands for, if any."""
    return [
        (kind, name, _IDENTIFIER_ADDRESSES[kind].format(name))
        if kind in _IDENTIFIER_ADDRESSES
        else (kind, name, "")
        for kind, name in ids.items()
    ]


def count_states(coverage: Iterable[Any]) -> dict[str, int]:
    """How many services answered, failed and were not asked."""
    states = [_state(line) for line in coverage]
    return {state: states.count(state) for state in _STATES}


def _state(line: Any) -> str:
    return str(line["state"] if isinstance(line, Mapping) else line.state)
