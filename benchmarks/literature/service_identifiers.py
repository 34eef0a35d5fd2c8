"""Identifiers, abstracts and counts as services have them: some missing, some written otherwise."""

from __future__ import annotations

import random

from benchmarks.literature.true_works import TrueWork
from carrel.libraries.literature.records import WorkRecord

# How often a service that is not the home of an identifier leaves it out.
DOI_MISSING = {
    "openalex": 0.15,
    "semantic_scholar": 0.3,
    "pubmed": 0.15,
    "europepmc": 0.2,
    "dblp": 0.3,
    "doaj": 0.15,
}
PMID_MISSING = 0.4
ABSTRACT_MISSING = 0.5
# Citations that the generator gives to the true works which have copies.
FAMOUS = 20_000


def keep_some(value: str | None, missing: float, rng: random.Random) -> str | None:
    return None if value is None or rng.random() < missing else value


def write_doi(work: WorkRecord, service: str, rng: random.Random) -> str | None:
    """The DOI as the service has it: in capitals, as an address, or not."""
    doi = own_doi(work)
    doi = keep_some(doi, DOI_MISSING.get(service, 0.0), rng)
    if doi is None:
        return None
    drawn = rng.random()
    if drawn < 0.2:
        return doi.upper()
    return f"https://doi.org/{doi}" if drawn < 0.35 else doi


def own_doi(work: WorkRecord) -> str | None:
    if work.ids.arxiv and work.kind == "preprint":
        return f"10.48550/arxiv.{work.ids.arxiv}"
    return work.ids.doi


def write_abstract(work: WorkRecord, rng: random.Random) -> str:
    return "" if rng.random() < ABSTRACT_MISSING else work.abstract


def count_citations(true: TrueWork, rng: random.Random) -> int:
    if "copy" in true.relation:
        return rng.randrange(3)
    return rng.randrange(200, FAMOUS) if not true.relation else rng.randrange(50)
