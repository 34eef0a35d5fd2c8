"""Every check of DeskBench passes a right answer and fails plausible wrong ones."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from benchmarks.deskbench.checks import DeskState, judge, matches_row
from benchmarks.deskbench.desk import display_name, read_notes, read_papers, read_reference_works
from benchmarks.deskbench.jobs import Job, read_capabilities, read_jobs

JOBS = read_jobs()
EVERYTHING = "ANSWER: " + "; ".join(
    [paper.title for paper in read_papers()]
    + [note["title"] for note in read_notes()]
    + [text for paper in read_papers() for text in paper.sections.values()]
)


def make_state(job: Job, changes: list[dict[str, Any]]) -> DeskState:
    """The desk as loaded, with the job's beginning and these changes."""
    state = DeskState(
        notes=[
            {"title": note["title"], "content": note["text"], "tags": note["tags"]}
            | {"status": "draft", "links": []}
            for note in read_notes()
        ],
        references=copy.deepcopy(read_reference_works()),
        papers=[
            {"title": paper.title, "doi": paper.doi, "tags": []}
            | {"year": str(paper.wrong.get("year", paper.year))}
            | {"authors": [display_name(a) for a in paper.wrong.get("authors", paper.authors)]}
            for paper in read_papers()
        ],
    )
    for change in [*job.before, *changes]:
        rows = state.rows(change["of"])
        if "add" in change:
            rows.append(change["add"])
            continue
        (row,) = [row for row in rows if matches_row(row, change["where"])]
        if change.get("remove"):
            rows.remove(row)
        else:
            row.update(change["set"])
    return state


def judge_job(job: Job, answer: str, changes: list[dict[str, Any]]) -> str:
    return judge(job.check, answer, make_state(job, changes), is_long=job.long)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.id)
def test_a_right_answer_passes_with_and_without_the_mark(job: Job) -> None:
    assert judge_job(job, job.right, job.becomes) == ""
    assert judge_job(job, f"I looked, 99 things. ANSWER: {job.right}", job.becomes) == ""


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.id)
def test_plausible_wrong_answers_and_desks_fail(job: Job) -> None:
    assert job.wrong or job.becomes, "a job needs something that can be wrong"
    for answer in job.wrong:
        assert judge_job(job, answer, job.becomes), answer
    for changes in job.becomes_wrong:
        assert judge_job(job, job.right, changes), changes
    if job.becomes:
        assert judge_job(job, job.right, []), "an untouched desk passes"


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.id)
def test_nothing_everything_and_ignorance_fail(job: Job) -> None:
    assert judge_job(job, "", job.becomes)
    assert judge_job(job, EVERYTHING, [])
    assert judge_job(job, "I don't know.", [])


def test_there_are_sixty_jobs_of_which_twenty_are_held_out_in_every_large_kind() -> None:
    assert len(JOBS) == len({job.id for job in JOBS}) == 60
    held = [job for job in JOBS if job.split == "held_out"]
    assert len(held) == 20
    assert {job.kind for job in held} == {job.kind for job in JOBS}
    assert {need for job in JOBS for need in job.needs} <= read_capabilities("carrel")


def test_no_job_names_a_tool() -> None:
    for job in JOBS:
        assert "_" not in job.text, job.id
        for word in ("tool", "call", "MCP", "search_", "paper_id"):
            assert word not in job.text.split(), job.id
