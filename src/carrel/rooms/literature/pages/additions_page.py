"""Keeping works from outside: what became of each, at once or while a job goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carrel.core.errors import InvalidInputError
from carrel.core.pages import PageAnswer, PageRedirect, PageRequest, PageView, local_address
from carrel.rooms.literature.addition_models import WorksAdded
from carrel.rooms.literature.pages.sections import make_view

_BACK_CHARACTERS = 2_000


async def add_works(request: PageRequest) -> PageAnswer:
    """Adds the works that were ticked, or the one whose own button was pressed."""
    form = request.form
    chosen = [form.text("one")] if form.text("one") else form.texts("identifiers")
    if not chosen:
        raise InvalidInputError(
            request.translate("literature.add.nothing_chosen"),
            next_step=request.translate("literature.add.choose_first"),
        )
    added = await request.ask(
        "add_works",
        identifiers=chosen,
        into=form.text("into", "library"),
        with_fulltext=form.flag("with_fulltext"),
    )
    back = _own_address(form.text("back"))
    if added.job_id:
        return PageRedirect(local_address("/literature/addition", added.job_id, back=back))
    return _draw(request, added, None, back)


async def draw_addition(request: PageRequest) -> PageAnswer:
    """A job that adds works, as it stands."""
    job = await request.ask("get_job", job_id=request.variables["job_id"])
    added: WorksAdded | None = None
    if isinstance(job.result, WorksAdded):
        added = job.result
    elif isinstance(job.result, Mapping) and "works" in job.result:
        added = WorksAdded.model_validate(dict(job.result))
    return _draw(request, added, job, _own_address(request.query.text("back")))


def _draw(request: PageRequest, added: WorksAdded | None, job: Any, back: str) -> PageView:
    title = request.translate("literature.add.title")
    facts = {"added": added, "job": job, "back": back}
    return make_view(
        request,
        "addition",
        "search",
        facts,
        title=title,
        modules=("literature/addition.js",) if job and job.state == "running" else (),
    )


def _own_address(text: str) -> str:
    """An address of the room to go back to; nothing else is followed."""
    is_own = text == "/literature" or text.startswith(("/literature?", "/literature/"))
    return text if is_own and len(text) <= _BACK_CHARACTERS else "/literature"
