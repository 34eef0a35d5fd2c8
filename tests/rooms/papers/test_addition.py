"""add_paper by path, and long additions as jobs."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.core.answer import Job
from carrel.core.background_jobs import BackgroundJobs
from carrel.core.caller import Call, Caller, Visit
from carrel.core.errors import CarrelError, InvalidInputError
from carrel.core.jobs import JobNotFoundError
from carrel.core.progress import Progress
from carrel.rooms.papers.addition import PaperAdder
from carrel.rooms.papers.addition_job import KIND, AdditionJob, AdditionWaits
from carrel.rooms.papers.errors import PaperNotAddedError, PathNotAllowedError
from carrel.rooms.papers.models import AddPaper, PaperAdded, PaperRemoved
from carrel.settings import Settings
from carrel.stores.static_folder import PaperInboxFolder
from carrel.wiring.jobs import open_jobs
from carrel.wiring.papers_adding import LazyReader, paper_adder
from tests.access.support import ManualClock
from tests.services.pdf_files import make_pdf

pytestmark = pytest.mark.promise("P12")

TEXT = "---\ntitle: On whales\nauthors: [Ann Lee]\ndoi: 10.1000/whales\n---\nWhales sing.\n"
WORDS = "They sing in spring, and dive for squid in winter. " * 5
SCOPES = frozenset({"papers:write"})


def a_call(door: str = "cli", user: str = "ada", *, can_follow: bool = False) -> Call:
    return Call(Caller(user, SCOPES), Visit(door, "1"), can_follow=can_follow)


def add(tmp_path: Path, call: Call, allowed: tuple[Path, ...] = (), **form: Any) -> PaperAdded:
    papers = {"allowed_folders": [str(folder) for folder in allowed]}
    settings = Settings.model_validate({"home": tmp_path / "home", "papers": papers})

    async def asked() -> PaperAdded:
        reader = LazyReader()
        adder = paper_adder(tmp_path / "home" / "papers", None, settings, None, reader)
        try:
            answer = await adder.add_paper(AddPaper(**form), call)
        finally:
            reader.close()
            assert adder.jobs is not None
            await adder.jobs.close()
        assert isinstance(answer, PaperAdded)
        return answer

    return asyncio.run(asked())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "allowed"
    place.mkdir()
    (place / "whales.md").write_text(TEXT)
    return place


def test_over_http_a_path_outside_the_allowed_folders_is_refused_and_names_the_setting(
    tmp_path: Path, folder: Path
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(TEXT)
    (folder / "link.md").symlink_to(outside)
    (folder / "up").symlink_to(tmp_path)
    tries = (
        outside,
        folder / ".." / "outside.md",
        folder / "link.md",
        folder / "up" / "outside.md",
    )
    for path in (*tries, tmp_path / "nothing", Path("/etc/passwd"), tmp_path):
        with pytest.raises(PathNotAllowedError) as refused:
            add(tmp_path, a_call("http"), (folder,), path=str(path))
        assert "papers.allowed_folders" in refused.value.message
        assert refused.value.code == "permission_denied"
    with pytest.raises(PathNotAllowedError):
        add(tmp_path, a_call("http"), (), path=str(folder / "whales.md"))


def test_a_file_of_an_allowed_folder_is_added_over_http(tmp_path: Path, folder: Path) -> None:
    added = add(tmp_path, a_call("http"), (folder,), path=str(folder / "whales.md"))
    assert (added.title, added.is_new, added.notes) == ("On whales", True, [])


def test_links_in_an_allowed_folder_that_lead_out_of_it_are_not_read(
    tmp_path: Path, folder: Path
) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("---\ntitle: A secret\n---\nNot for everybody.\n")
    (folder / "innocent.md").symlink_to(secret)
    added = add(tmp_path, a_call("http"), (folder,), path=str(folder))
    assert (added.title, added.count) == ("On whales", 1)
    assert any("leads out" in note for note in added.notes)
    (folder / "whales.md").unlink()
    with pytest.raises(PaperNotAddedError):
        add(tmp_path, a_call("http"), (folder,), path=str(folder))


@pytest.mark.parametrize("door", ["stdio", "cli"])
def test_at_ones_own_door_any_file_is_added_and_stays(
    tmp_path: Path, folder: Path, door: str
) -> None:
    path = folder / "paper.pdf"
    path.write_bytes(
        make_pdf(
            [[(18, "On whales"), (11, "They sing in spring, and dive for squid in winter. " * 5)]],
            "On whales",
        )
    )
    added = add(tmp_path, a_call(door), path=str(path))
    assert (added.title, path.exists()) == ("On whales", True)
    again = add(tmp_path, a_call(door), path=str(path))
    assert (again.paper_id, again.is_new) == (added.paper_id, False)


def test_a_folder_gives_every_paper_in_it(tmp_path: Path, folder: Path) -> None:
    (folder / "list.bib").write_text(
        "@article{a, title={Growth}, year=2001}\n@article{b, title={Form}, year=2002}\n"
    )
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    added = add(tmp_path, a_call(), path=str(folder))
    assert added.count == 3
    assert {paper.title for paper in added.papers} == {"On whales", "Growth", "Form"}
    assert any("broken.pdf" in note for note in added.notes)
    again = add(tmp_path, a_call(), path=str(folder))
    assert (again.count, again.is_new) == (3, False)


@pytest.mark.parametrize(
    "path", ["nothing.pdf", "", "a\x00b", "x" * 5000, "~nobody-of-this-name/x.pdf", "picture.png"]
)
def test_a_path_that_gives_no_paper_says_why(tmp_path: Path, path: str) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n")
    with pytest.raises((CarrelError, ValueError)) as refused:
        add(tmp_path, a_call(), path=path if path in {"", "a\x00b"} else str(tmp_path / path))
    assert str(refused.value)


def test_exactly_one_form_is_asked_for(tmp_path: Path) -> None:
    forms: tuple[dict[str, Any], ...] = (
        {},
        {"path": "a.pdf", "markdown": "b"},
        {"upload_id": "a", "identifier": "b"},
    )
    for form in forms:
        with pytest.raises(InvalidInputError, match="exactly one of path, upload_id"):
            add(tmp_path, a_call(), **form)


def test_an_unreadable_file_is_told_and_nothing_is_added(tmp_path: Path, folder: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads every file")
    (folder / "whales.md").chmod(0)
    with pytest.raises(PaperNotAddedError, match="cannot be opened"):
        add(tmp_path, a_call(), path=str(folder / "whales.md"))


class SlowCorpus:
    """Adds a file when a test lets it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.may_end = threading.Event()
        self.error: CarrelError | None = None

    async def take(
        self, path: Path, within: tuple[Path, ...] | None, progress: Progress
    ) -> PaperAdded:
        progress.begin("reading", 100, "bytes")
        progress.advance(40)
        await asyncio.to_thread(self.may_end.wait)
        if self.error is not None:
            raise self.error
        return PaperAdded(paper_id="p1", title=path.name, is_new=True, notes=[])

    def adder(self, waits: AdditionWaits) -> PaperAdder:
        async def add_file(path: Path) -> PaperAdded:
            return await self.take(path, None, _NO_PROGRESS)

        async def remove(paper_id: str, who: str) -> PaperRemoved:
            return PaperRemoved(paper_id=paper_id, title="", decision=1)

        def jobs(handler: AdditionJob) -> BackgroundJobs:
            settings = Settings.model_validate({"home": self.folder})
            return open_jobs(settings, {KIND: handler}, ManualClock())

        return PaperAdder(
            lambda: PaperInboxFolder(self.folder / "inbox"),
            add_file,
            remove,
            None,
            take_files=self.take,
            open_jobs=jobs,
            waits=waits,
        )


class _NoProgress:
    def begin(
        self, phase: str, total: int | None, unit: str, work: float | None = None
    ) -> None: ...

    def advance(self, amount: int = 1, work: float | None = None) -> None: ...

    def end(self) -> None: ...


_NO_PROGRESS = _NoProgress()


def with_slow_corpus(
    folder: Path,
    test: Callable[[SlowCorpus, PaperAdder], Awaitable[None]],
    waits: AdditionWaits | None = None,
) -> None:
    async def run() -> None:
        corpus = SlowCorpus(folder)
        adder = corpus.adder(waits or AdditionWaits(0.0, 0.0))
        try:
            await test(corpus, adder)
        finally:
            corpus.may_end.set()
            assert adder.jobs is not None
            await adder.jobs.close()

    asyncio.run(run())


def test_what_takes_long_is_answered_with_a_job_that_ends_with_the_paper(tmp_path: Path) -> None:
    async def test(corpus: SlowCorpus, adder: PaperAdder) -> None:
        pending = await adder.add_paper(AddPaper(path="/x/thesis.pdf"), a_call())
        assert isinstance(pending, PaperAdded)
        assert (pending.paper_id, pending.is_new) == ("", False)
        assert pending.job_id is not None
        jobs = adder.long_additions
        assert jobs is not None
        running = await jobs.find_job(pending.job_id, a_call())
        assert (running.state, running.operation, running.result) == ("running", "add_paper", None)
        with pytest.raises(JobNotFoundError):
            await jobs.find_job(pending.job_id, a_call(user="eve"))
        corpus.may_end.set()
        ended = await jobs.find_job(pending.job_id, a_call(), 30.0)
        assert ended.state == "completed"
        assert isinstance(ended.result, PaperAdded)
        assert (ended.result.paper_id, ended.result.title) == ("p1", "thesis.pdf")

    with_slow_corpus(tmp_path, test)


def test_who_can_follow_a_task_gets_the_job_itself(tmp_path: Path) -> None:
    async def test(corpus: SlowCorpus, adder: PaperAdder) -> None:
        job = await adder.add_paper(AddPaper(path="/x/a.pdf"), a_call(can_follow=True))
        assert isinstance(job, Job)
        assert job.state == "running"

    with_slow_corpus(tmp_path, test)


def test_a_job_that_fails_says_why(tmp_path: Path) -> None:
    async def test(corpus: SlowCorpus, adder: PaperAdder) -> None:
        corpus.error = PaperNotAddedError("It has no text layer.", next_step="Run ocrmypdf.")
        pending = await adder.add_paper(AddPaper(path="/x/a.pdf"), a_call())
        corpus.may_end.set()
        assert isinstance(pending, PaperAdded)
        assert adder.long_additions is not None
        ended = await adder.long_additions.find_job(str(pending.job_id), a_call(), 30.0)
        assert (ended.state, ended.error is not None) == ("failed", True)
        assert ended.error is not None
        assert ended.error.code == "paper_not_added"
        assert "no text layer" in ended.message

    with_slow_corpus(tmp_path, test)


def test_a_job_of_a_process_that_died_is_done_by_the_next(tmp_path: Path) -> None:
    job_ids: list[str] = []

    async def begin(corpus: SlowCorpus, adder: PaperAdder) -> None:
        pending = await adder.add_paper(AddPaper(path="/x/a.pdf"), a_call())
        assert isinstance(pending, PaperAdded)
        job_ids.append(str(pending.job_id))
        # Closing gives the job back, as a server that ends does.
        assert adder.jobs is not None
        corpus.may_end.clear()
        await adder.jobs.close()

    async def go_on(corpus: SlowCorpus, adder: PaperAdder) -> None:
        corpus.may_end.set()
        assert adder.jobs is not None
        assert adder.long_additions is not None
        adder.jobs.take_up_work()
        ended = await adder.long_additions.find_job(job_ids[0], a_call(), 30.0)
        assert ended.state == "completed"

    with_slow_corpus(tmp_path, begin)
    with_slow_corpus(tmp_path, go_on)


def test_progress_is_told_while_a_call_waits(tmp_path: Path) -> None:
    async def test(corpus: SlowCorpus, adder: PaperAdder) -> None:
        told: list[tuple[float, float | None, str | None]] = []
        call = a_call()

        async def report(done: float, total: float | None, message: str | None) -> None:
            told.append((done, total, message))
            if total:
                corpus.may_end.set()

        call.report_progress = report
        added = await adder.add_paper(AddPaper(path="/x/a.pdf"), call)
        assert isinstance(added, PaperAdded)
        assert added.paper_id == "p1"
        assert (40, 100, "reading 40 of 100 bytes") in told

    with_slow_corpus(tmp_path, test, AdditionWaits(60.0, 60.0))
