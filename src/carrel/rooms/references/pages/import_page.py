"""Adding references: text, files or identifiers, and what became of them."""

from __future__ import annotations

import re
from typing import Any

from carrel.core.pages import LiveView, PageAnswer, PageRequest, PageView
from carrel.rooms.references.models import AddedReferences
from carrel.rooms.references.pages.item_page import item_address
from carrel.rooms.references.pages.list_page import STYLES
from carrel.rooms.references.pages.writers import require_writer

_MODULES = ("references/import.js",)
_MOST_ELEMENTS = 1000
# Lines that are each an identifier, as people paste them; anything else is one text.
_BIBLIOGRAPHY = re.compile(r"^\s*(?:@|TY  - |PMID- |FN |%0 |\[|\{|<)", re.MULTILINE)


async def draw_import(request: PageRequest) -> PageAnswer:
    """The form, or what a job has added so far."""
    require_writer(request)
    job_id = request.query.text("job")
    if not job_id:
        return _view(request)
    job = await request.ask("get_job", job_id=job_id)
    report = AddedReferences.model_validate(job.result) if isinstance(job.result, dict) else None
    return _view(request, report=report, job=job)


async def import_references(request: PageRequest) -> PageAnswer:
    elements = read_elements(request)
    if not elements:
        return _view(request, error=request.translate("references.import.nothing"), status=422)
    answer: AddedReferences = await request.ask("add_references", input=elements)
    job = None
    if answer.job_id:
        job = await request.ask("get_job", job_id=answer.job_id)
    return _view(request, report=answer, job=job)


def read_elements(request: PageRequest) -> list[str]:
    """Each file as one text, and the typed text; lines of identifiers one by one."""
    elements = [text for text in request.form.texts("file") if text]
    typed = request.form.whole_text("input").strip()
    if typed and _BIBLIOGRAPHY.search(typed) is None:
        lines = [line.strip().rstrip(",;") for line in typed.splitlines()]
        elements += [line for line in lines if line]
    elif typed:
        elements.append(typed)
    return elements[:_MOST_ELEMENTS]


def _view(
    request: PageRequest,
    *,
    report: AddedReferences | None = None,
    job: Any = None,
    error: str = "",
    status: int = 200,
) -> PageView:
    failed = bool(report is not None and report.failed and not report.added)
    return PageView(
        "references/import.html",
        request.translate("references.import.title"),
        {
            "report": report,
            "job": job,
            "error": error,
            "typed": request.form.whole_text("input") if error or failed else "",
            "item_address": item_address,
        },
        modules=_MODULES,
        styles=STYLES,
        status=status,
    )


def _summarise_job(report: Any) -> dict[str, Any]:
    return {
        "state": report.state,
        "message": report.message,
        "done": report.done,
        "total": report.total,
    }


IMPORT_JOB = LiveView(
    name="references-import",
    operation="get_job",
    arguments=lambda job_id: {"job_id": job_id},
    is_over=lambda report: report.state != "running",
    summarise=_summarise_job,
)
