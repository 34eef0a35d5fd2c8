"""Every kept home of an earlier version opens with this code, and everything in it is found."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from carrel.rooms.papers.service import Papers
from carrel.settings import Settings
from carrel.wiring.papers import open_corpus
from tests.processes import warm
from tests.upgrades.asking import ROOT, ask_all, ask_papers, carrel, tools

DEMO = ROOT / "src" / "carrel" / "demo" / "papers"
KEPT = sorted(Path(__file__).parent.glob("*.tar.xz"))


# A backup of every home would ask the same questions once more: the first and the last are enough.
OLDEST, NEWEST = "before-round-two", "before-true-records"


@pytest.fixture(params=KEPT, ids=lambda file: file.name.removesuffix(".tar.xz"))
def unpacked(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """The home as that version left it, and what that version answered."""
    with tarfile.open(request.param) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path / "home", json.loads((tmp_path / "told.json").read_text())


@pytest.mark.promise("Q11")
def test_an_earlier_home_opens_and_all_of_it_is_found(
    unpacked: tuple[Path, dict[str, Any]],
) -> None:
    home, told = unpacked
    answered = ask_all(home)
    for room in answered:
        missing = list(_missing(told[room], answered[room], room))
        assert not missing, "\n".join(missing)


@pytest.mark.promise("Q11")
def test_the_audit_log_of_an_earlier_home_still_verifies(
    unpacked: tuple[Path, dict[str, Any]],
) -> None:
    home, _ = unpacked
    carrel(home, "users", "list")
    carrel(home, "audit", "verify")


@pytest.mark.promise("Q11")
@pytest.mark.parametrize(
    "unpacked",
    [file for file in KEPT if file.name.removesuffix(".tar.xz") in {OLDEST, NEWEST}],
    indirect=True,
    ids=lambda file: file.name.removesuffix(".tar.xz"),
)
def test_a_backup_of_an_earlier_home_restores_whole(
    unpacked: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    home, told = unpacked
    carrel(home, "backup", str(tmp_path / "desk.tar.gz"))
    second = tmp_path / "second"
    second.mkdir()
    carrel(second, "restore", str(tmp_path / "desk.tar.gz"))
    answered = ask_all(second)
    assert not [line for room in answered for line in _missing(told[room], answered[room], room)]


@pytest.mark.promise("P16")
def test_the_next_build_turns_an_earlier_corpus_into_segments_and_all_of_it_is_found(
    unpacked: tuple[Path, dict[str, Any]],
) -> None:
    home, told = unpacked
    corpus = home / "papers"
    before = read_papers(home)
    carrel(home, "papers", "build", str(DEMO), "--into", str(corpus))
    assert (corpus / "manifest.json").is_file()
    assert not [path.name for path in corpus.glob("paper*")], "the files of before are gone"
    assert read_papers(home) == before
    assert not list(_missing(told["papers"], ask_papers(home), "papers"))


@pytest.mark.promise("P16")
def test_segments_of_an_earlier_corpus_come_back_from_a_backup(tmp_path: Path) -> None:
    with tarfile.open(KEPT[0]) as packed:
        packed.extractall(tmp_path, filter="data")
    home = tmp_path / "home"
    before = read_papers(home)
    carrel(home, "papers", "build", str(DEMO), "--into", str(home / "papers"))
    carrel(home, "backup", str(tmp_path / "desk.tar.gz"))
    second = tmp_path / "second"
    second.mkdir()
    carrel(second, "restore", str(tmp_path / "desk.tar.gz"))
    assert read_papers(second) == before


@pytest.mark.promise("P16")
def test_an_addition_turns_an_earlier_corpus_into_segments(
    unpacked: tuple[Path, dict[str, Any]],
) -> None:
    home, _ = unpacked
    before = read_papers(home)
    text = "---\ntitle: Whales of the deep\nyear: 2020\n---\n\nWhales sing in the deep sea.\n"
    (added,) = tools(home, [("add_paper", {"markdown": text})])
    assert not [path.name for path in (home / "papers").glob("paper*")]
    after = read_papers(home)
    assert after.pop(added["paper_id"])["text"] in text
    assert after == before


# Runs a command and kills its process just before the n-th call of a function of the system.
_KILLED = """
import os, signal, sys
from carrel.cli import main

function, count, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
real, left = getattr(os, function), [count]

def deadly(*parameters, **options):
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*parameters, **options)

setattr(os, function, deadly)
sys.exit(main(words))
"""


@pytest.mark.promise("P16")
def test_an_upgrade_that_is_killed_anywhere_goes_on_with_the_next_build(tmp_path: Path) -> None:
    with tarfile.open(KEPT[0]) as packed:
        packed.extractall(tmp_path, filter="data")
    home = tmp_path / "home"
    corpus = home / "papers"
    build = ("papers", "build", str(DEMO), "--into", str(corpus), "--quiet")
    before = read_papers(home)
    kills = [("fsync", 9), ("rename", 1), ("rmdir", 1), ("unlink", 60)]
    for function, count in kills:
        done = warm.run(
            [sys.executable, "-c", _KILLED, function, str(count), *build],
            env={**os.environ, "CARREL_HOME": str(home), "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert done.returncode in {0, -signal.SIGKILL}, done.stderr
        assert read_papers(home) == before, f"killed before {function} {count}"
    carrel(home, *build)
    assert not [path.name for path in corpus.glob("paper*")]
    assert read_papers(home) == before


def read_papers(home: Path) -> dict[str, dict[str, Any]]:
    """Every paper of a home by its id, with its text and summary."""

    async def read() -> dict[str, dict[str, Any]]:
        corpus = open_corpus(Settings(home=home))
        try:
            ids = await corpus.store.list_ids(first=0, count=1000)
            return {paper_id: await _read_paper(corpus.service, paper_id) for paper_id in ids}
        finally:
            await corpus.close()

    return asyncio.run(read())


async def _read_paper(papers: Papers, paper_id: str) -> dict[str, Any]:
    facts = (await papers.metadata(paper_id)).model_dump()
    # What a snapshot lists in the order of its own numbers.
    for name in ("keywords", "tags", "institutions"):
        facts[name] = sorted(facts[name])
    summary = json.loads((await papers.summary(paper_id, None)).body)
    text = (await papers.source(paper_id)).body if facts["has_source"] else None
    return {**facts, "summary": summary["summary"], "text": text}


def _missing(told: Any, answered: Any, where: str) -> list[str]:
    """What was there and is not any more; a newer version may say more, never less."""
    if isinstance(told, dict) and isinstance(answered, dict):
        return [
            line
            for key in told
            for line in _missing(told[key], answered.get(key), f"{where}.{key}")
        ]
    if isinstance(told, list) and isinstance(answered, list) and len(told) == len(answered):
        pairs = zip(told, answered, strict=True)
        return [
            line
            for at, (one, other) in enumerate(pairs)
            for line in _missing(one, other, f"{where}[{at}]")
        ]
    return [] if told == answered else [f"{where}: was {told!r}, is {answered!r}"]
