"""Addresses of the room's pages, and of papers that its evidence comes from."""

from __future__ import annotations

from carrel.core.pages import local_address

_REFERENCE = "ref:"


def project_address(research_id: str, **query: object) -> str:
    return local_address("/research/project", research_id, **query)


def hypothesis_address(hypothesis_id: str) -> str:
    return local_address("/research/hypothesis", hypothesis_id)


def report_address(research_id: str, **query: object) -> str:
    return local_address("/research/report", research_id, **query)


def source_address(paper_id: str, passage_id: str | None = None) -> str:
    """Where a sentence can be read: its passage, its paper, or the work of the library."""
    if paper_id.startswith(_REFERENCE):
        return local_address("/references/item", paper_id.removeprefix(_REFERENCE))
    return local_address("/papers/paper", paper_id, passage=passage_id)
