"""Two servers with one published corpus: what one takes in, the other has, and nothing is lost."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from carrel.core.caller import Call, Caller, Visit
from carrel.core.clock import SystemClock
from carrel.rooms.papers.addition_job import Addition, AdditionProgress
from carrel.rooms.papers.uploads import (
    UploadConflictError,
    UploadInUseError,
    UploadLimits,
    UploadNotFoundError,
    UploadRefusedError,
    UploadTooLargeError,
)
from carrel.stores.objects.addresses import open_objects
from carrel.stores.objects.uploads import UploadObjects
from carrel.wiring.papers_adding import paper_adder
from tests.cli.served import invoke, serve
from tests.cli.test_cli import carrel
from tests.services.pdf_files import make_pdf
from tests.stores.published_corpora import make_copy, paper_ids, paper_text

PDF = make_pdf(
    [[(18, "On the songs of whales"), (11, "Whales sing in spring and dive in winter.")]],
    "On the songs of whales",
)
LIMITS = UploadLimits(max_bytes=10_000_000, max_open=2, max_bytes_per_caller=5_000_000)
CALL = Call(Caller("ann", frozenset({"papers:write"})), Visit("test", "1"))


@pytest.fixture
def url(tmp_path: Path) -> str:
    (tmp_path / "store").mkdir()
    return (tmp_path / "store").as_uri()


def uploads_of(
    server: str, tmp_path: Path, url: str, limits: UploadLimits = LIMITS
) -> UploadObjects:
    return UploadObjects(open_objects(url), tmp_path / server / "uploads", limits, SystemClock())


# Refusals.


@pytest.mark.promise("Q12")
def test_uploads_of_others_wrong_pieces_and_too_much_are_refused_by_every_server(
    tmp_path: Path, url: str
) -> None:
    one, two = (uploads_of(name, tmp_path, url) for name in ("one", "two"))
    upload = one.create("ann", "paper.pdf", len(PDF), None)
    with pytest.raises(UploadNotFoundError):
        two.find(upload.id, "bo")
    with pytest.raises(UploadNotFoundError):
        two.find("../../x", "ann")
    with pytest.raises(UploadConflictError) as wrong:
        two.append(upload.id, "ann", 5, b"x")
    assert wrong.value.details["offset"] == 0
    with pytest.raises(UploadConflictError, match="has 0 of"):
        two.path(upload.id, "ann")
    with pytest.raises(UploadTooLargeError, match="declared with"):
        two.append(upload.id, "ann", 0, PDF + b"more")
    with pytest.raises(UploadTooLargeError, match="5,000,000"):
        two.create("ann", "large.pdf", 4_999_999, None)
    one.create("ann", "other.pdf", 10, None)
    with pytest.raises(UploadTooLargeError, match="may have 2"):
        two.create("ann", "third.pdf", 10, None)
    two.create("bo", "his.pdf", 10, None)


@pytest.mark.promise("Q12")
def test_a_piece_that_two_servers_get_at_once_counts_once(tmp_path: Path, url: str) -> None:
    one, two = (uploads_of(name, tmp_path, url) for name in ("one", "two"))
    upload = one.create("ann", "paper.pdf", len(PDF), None)
    facts = two._find(upload.id, "ann")
    one.append(upload.id, "ann", 0, PDF[:100])
    two._find = lambda *_: facts  # type: ignore[method-assign]
    with pytest.raises(UploadConflictError) as late:
        two.append(upload.id, "ann", 0, PDF[:100])
    assert late.value.details["offset"] == 100
    pieces = [path for path in (tmp_path / "store" / "uploads").rglob("0*") if path.is_file()]
    assert len(pieces) == 1


@pytest.mark.parametrize("trouble", ["damaged", "no paper"])
def test_what_is_damaged_or_no_paper_is_refused_and_gone(
    trouble: str, tmp_path: Path, url: str
) -> None:
    one, two = (uploads_of(name, tmp_path, url) for name in ("one", "two"))
    content = PDF if trouble == "damaged" else b"\x89PNG\r\n\x1a\n" + bytes(100)
    declared = hashlib.sha256(b"other").hexdigest() if trouble == "damaged" else None
    upload = one.create("ann", "paper.pdf", len(content), declared)
    with pytest.raises(UploadRefusedError):
        two.append(upload.id, "ann", 0, content)
    with pytest.raises(UploadNotFoundError):
        one.find(upload.id, "ann")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and "uploads/" in str(path)]


def test_an_upload_in_use_is_not_removed_and_an_expired_one_is_swept(
    tmp_path: Path, url: str
) -> None:
    one = uploads_of("one", tmp_path, url)
    upload = one.create("ann", "paper.pdf", len(PDF), None)
    with one.use(upload.id), pytest.raises(UploadInUseError):
        one.remove(upload.id, "ann")
    assert one.sweep() == 0
    soon = uploads_of("two", tmp_path, url, UploadLimits(expires_after_hours=-1))
    gone = soon.create("ann", "paper.pdf", 10, None)
    with pytest.raises(UploadNotFoundError):
        one.find(gone.id, "ann")
    assert one.sweep() == 1
    assert one.find(upload.id, "ann").received == 0
    one.remove(upload.id, "ann")
    assert not list((tmp_path / "store" / "uploads").rglob("*.open"))


def test_a_server_starts_while_its_store_is_away_and_says_so(tmp_path: Path, url: str) -> None:
    (tmp_path / "store").rmdir()
    settings = {"CARREL_PAPERS_CORPUS_URL": url, "CARREL_PAPERS_CORPUS_EVERY_SECONDS": "0.2"}
    with serve(tmp_path / "home", "local", "--rooms", "papers", **settings) as address:
        told = _ask_until(
            lambda: _ready(address)["checks"]["published corpus"], lambda it: not it["ok"]
        )
        refused = invoke(address, None, "search_papers", query="ice")
        assert not told["ok"] and not refused["success"], (told, refused)
        assert refused["error_type"] == "snapshot_unavailable" and "not been fetched" in str(
            refused
        )
        (tmp_path / "store").mkdir()
        _ask_until(lambda: _ready(address)["checks"]["published corpus"], lambda it: it["ok"])
        assert invoke(address, None, "search_papers", query="ice")["success"]


def test_a_server_without_a_database_names_both_settings(tmp_path: Path, url: str) -> None:
    several = {"CARREL_SERVER_REPLICAS": "2", "CARREL_PAPERS_CORPUS_URL": url}
    with serve(tmp_path / "home", "local", "--rooms", "papers", **several) as address:
        refused = invoke(address, None, "add_paper", markdown="# On Ice")
    assert refused["error_type"] == "home_not_persistent"
    assert "DATABASE_URL and papers.corpus_url" in refused["recovery_suggestions"][0]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"CARREL_PAPERS_CORPUS_URL": "ftp://x"}, "corpus_url"),
        (
            {"CARREL_PAPERS_CORPUS_URL": "file:///srv/x", "CARREL_PAPERS_SNAPSHOT": "/srv/y"},
            "both name the corpus",
        ),
    ],
)
def test_addresses_that_cannot_be_meant_are_refused_at_the_start(
    names: dict[str, str], said: str, tmp_path: Path
) -> None:
    done = carrel(tmp_path, "papers", "search", "x", **names)
    assert done.returncode == 2 and said in done.stderr, done.stderr


# What one takes in, the other has.


@pytest.mark.promise("Q12")
def test_pieces_go_to_any_server_and_any_makes_the_paper(tmp_path: Path, url: str) -> None:
    one, two = (uploads_of(name, tmp_path, url) for name in ("one", "two"))
    digest = hashlib.sha256(PDF).hexdigest()
    upload = one.create("ann", "Whales.pdf", len(PDF), digest)
    middle = len(PDF) // 2
    assert two.append(upload.id, "ann", 0, PDF[:middle]).received == middle
    whole = one.append(upload.id, "ann", middle, PDF[middle:])
    assert whole.is_complete and whole.sha256 == digest
    two.name_job(upload.id, "ann", "job_1")
    path, found = two.path(upload.id, "ann")
    assert path.read_bytes() == PDF and found.job_id == "job_1"


@pytest.mark.promise("Q12")
def test_an_addition_is_taken_up_by_a_server_that_never_saw_the_file(
    tmp_path: Path, url: str
) -> None:
    for name in ("one", "two"):
        make_copy(tmp_path / name, url)
    inbox = paper_adder(tmp_path / "one", None)._open_inbox()
    handed_in = inbox.put_file(
        _file(tmp_path, PDF), hashlib.sha256(PDF).hexdigest(), ".pdf", "Whales.pdf"
    )
    text = inbox.put(paper_text("On Ice"), ".md")
    two = paper_adder(tmp_path / "two", None)

    async def take_up(path: Path) -> str:
        addition = Addition(kind="inbox", path=str(path), owner="ann")
        return (await two._run_addition(addition, AdditionProgress())).paper_id

    for path in (handed_in, text):
        path.unlink()
    added = {asyncio.run(take_up(path)) for path in (handed_in, text)}
    assert paper_ids(tmp_path / "two") == added
    names = [path.read_text() for path in (tmp_path / "two" / "added").glob(".*.name")]
    assert names == ["Whales.pdf"]


@pytest.mark.promise("Q12")
def test_two_servers_answer_with_what_the_other_added(tmp_path: Path, url: str) -> None:
    settings = {"CARREL_PAPERS_CORPUS_URL": url, "CARREL_PAPERS_CORPUS_EVERY_SECONDS": "0.2"}
    words = ("--rooms", "papers")
    with (
        serve(tmp_path / "one", "local", *words, **settings) as one,
        serve(tmp_path / "two", "local", *words, **settings) as two,
    ):
        answers = [
            invoke(server, None, "add_paper", markdown=paper_text(title).decode())
            for server, title in ((one, "On Ships"), (two, "On Ice"), (one, "On Lakes"))
        ]
        assert all(answer["success"] for answer in answers), answers
        found = _ask_until(lambda: _titles(two), lambda titles: len(titles) == 3)
        assert found == {"On Ships", "On Ice", "On Lakes"}
        ready = _ask_until(
            lambda: _ready(two)["checks"]["published corpus"], lambda it: "3" in it.get("note", "")
        )
        assert ready == {"ok": True, "note": "generation 3"}
        (tmp_path / "store").rename(tmp_path / "away")
        told = _ask_until(
            lambda: _ready(two)["checks"]["published corpus"],
            lambda it: "not_followed" in it.get("note", ""),
        )
        assert told["ok"] and _titles(two) == found
        refused = invoke(two, None, "add_paper", markdown=paper_text("On Rivers").decode())
        assert not refused["success"] and "no such folder" in str(refused)
        assert not (tmp_path / "store").exists()
        assert _titles(two) == found
        (tmp_path / "away").rename(tmp_path / "store")
        again = invoke(two, None, "add_paper", markdown=paper_text("On Rivers").decode())
        assert again["success"], again
    (tmp_path / "three").mkdir()
    done = carrel(tmp_path / "three", "papers", "search", "On", **settings)
    assert "4 papers" in done.stderr + done.stdout, done
    doctor = carrel(tmp_path / "three", "doctor", "--rooms", "papers", **settings)
    assert "generation 4" in doctor.stdout


def _titles(server: str) -> set[str]:
    found = invoke(server, None, "search_papers", query="float*", limit=20)
    hits = found["result"]
    hits = hits if isinstance(hits, list) else hits["papers"]
    return {hit["title"] for hit in hits}


def _ready(server: str) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(f"{server}/ready", timeout=30) as answer:
            return dict(json.load(answer))
    except urllib.error.HTTPError as refused:
        return dict(json.load(refused))


def _ask_until(ask: Any, is_right: Any) -> Any:
    """The answer once it is right, or the last one: the other server follows in its own time."""
    until = time.monotonic() + 60
    while not is_right(found := ask()) and time.monotonic() < until:
        continue
    return found


def _file(folder: Path, content: bytes) -> Path:
    path = folder / "upload.part"
    path.write_bytes(content)
    return path
