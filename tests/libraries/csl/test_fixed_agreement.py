"""The fixed part of `make judge-citations`: texts that citeproc-js 2.4.63 wrote, without Node."""

import pytest

from benchmarks.citation_judge.engines import Rendering, render_ours
from benchmarks.citation_judge.fixed import read_fixed
from benchmarks.citation_judge.jobs import Job
from benchmarks.citation_judge.judge import differences
from benchmarks.citation_judge.named_jobs import NAMED_JOBS

KEPT = read_fixed()


@pytest.mark.promise("L11")
@pytest.mark.parametrize(("name", "job", "theirs"), KEPT, ids=[name for name, _, _ in KEPT])
def test_a_kept_job_is_written_as_by_citeproc_js(name: str, job: Job, theirs: Rendering) -> None:
    assert list(differences(render_ours(job), theirs)) == []


def test_every_named_job_is_among_the_kept_ones() -> None:
    kept = {name: job for name, job, _ in KEPT}
    assert {name: kept.get(name) for name in NAMED_JOBS} == NAMED_JOBS
