"""Where citeproc-js is wrong by the specification: such differences are filed as its own."""

from __future__ import annotations

from benchmarks.citation_judge.jobs import Job


def is_their_fault(job: Job, ours: str, theirs: str) -> str:
    """The name of the fault, or nothing where the difference is not known to be theirs."""
    return ""
