"""A desk belongs to one account: its files are closed to others, and its server can ask for a
secret.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes import warm

pytestmark = [
    pytest.mark.promise("A6"),
    pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX"),
]

RUN = "import os, sys; os.umask(0o022); from carrel.cli import main; sys.exit(main())"


def carrel(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CARREL_HOME": str(home), "HOME": str(home.parent)}
    return warm.run(
        [sys.executable, "-c", RUN, *words],
        capture_output=True,
        text=True,
        env=environment,
        cwd=home.parent,
        timeout=120,
        check=False,
    )


def modes(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.lstat().st_mode)
        for path in (folder, *folder.rglob("*"))
    }


def fill(home: Path) -> None:
    (home.parent / "one.md").write_text("---\ntitle: One\n---\nText.\n")
    for words in (
        ("knowledge", "save", "a note"),
        ("references", "add", "@book{one, title = {First}, year = 2001}"),
        ("papers", "build", str(home.parent / "one.md"), "--quiet"),
        ("tokens", "create", "t", "--scopes", "papers:read"),
    ):
        done = carrel(home, *words)
        assert done.returncode == 0, done.stderr


def test_everything_in_a_new_home_is_closed_to_others(tmp_path: Path) -> None:
    home = tmp_path / "home"
    fill(home)
    found = modes(home)
    assert len(found) > 10
    assert not {name: oct(mode) for name, mode in found.items() if mode & 0o077}


def test_an_older_open_home_is_closed_by_the_next_command(tmp_path: Path) -> None:
    home = tmp_path / "home"
    fill(home)
    for path in (home, *home.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert carrel(home, "doctor").returncode in {0, 1}
    found = modes(home)
    assert found["."] == 0o700
    assert (
        found["knowledge.sqlite"]
        == found["references/library.json"]
        == found["audit/audit.jsonl"]
        == 0o600
    )


def test_what_the_owner_made_read_only_is_closed_to_others_and_stays_read_only(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    fill(home)
    folder, library = home / "references", home / "references" / "library.json"
    library.chmod(0o444)
    folder.chmod(0o555)
    assert "First" in carrel(home, "references", "list").stdout
    found = modes(home)
    assert (found["references"], found["references/library.json"]) == (0o500, 0o400)
    folder.chmod(0o555)
    carrel(home, "doctor", "--fix")
    assert modes(home)["references"] == 0o700


def test_what_is_exported_for_others_keeps_the_persons_own_mask(tmp_path: Path) -> None:
    home = tmp_path / "home"
    fill(home)
    assert carrel(home, "knowledge", "export", str(tmp_path / "out")).returncode == 0
    assert (
        carrel(
            home, "papers", "build", str(tmp_path / "one.md"), "--into", str(tmp_path / "corpus")
        ).returncode
        == 0
    )
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o755
    corpus = tmp_path / "corpus"
    readable = [corpus / "manifest.json", *(corpus / "segments").rglob("*.*")]
    assert len(readable) > 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in readable if path.is_file()} == {0o644}


@contextmanager
def serving(home: Path, *words: str) -> Iterator[tuple[str, str]]:
    """The address of a server, and what it printed when it started."""
    process = warm.start(
        [sys.executable, "-c", RUN, "serve", "--port", "0", *words],
        env={**os.environ, "CARREL_HOME": str(home)},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        printed = ""
        for line in process.stderr:
            printed += line
            if line.startswith("Cursor:"):
                break
        yield (
            next(word for word in printed.split() if word.startswith("http://127.0.0.1:")),
            printed,
        )
    finally:
        process.terminate()
        process.communicate(timeout=60)


def status(url: str, headers: dict[str, str]) -> int:
    request = urllib.request.Request(
        f"{url}/mcp/invoke",
        data=json.dumps({"tool_name": "list_references", "params": {}}).encode(),
        headers={"content-type": "application/json", **headers},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_with_a_secret_other_accounts_are_refused_and_connect_writes_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with serving(home, "--secret") as (url, printed):
        file = home / "local-secret"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        secret = file.read_text()
        assert len(secret) > 30
        assert status(url, {}) == 401
        assert status(url, {"authorization": "Bearer wrong"}) == 401
        assert status(url, {"authorization": f"Bearer {secret}"}) == 200
        assert secret in printed
        for client in ("claude-code", "claude-desktop", "cursor", "codex", "gemini"):
            assert secret in carrel(home, "connect", client, "--url", f"{url}/desk/mcp").stdout
            assert (
                secret
                not in carrel(
                    home, "connect", client, "--url", "https://desk.example.org/desk/mcp"
                ).stdout
            )
    with serving(home, "--secret") as (url, _):
        assert status(url, {"authorization": f"Bearer {secret}"}) == 200, (
            "it is the same after a restart"
        )


def test_without_a_secret_the_server_says_who_can_use_it(tmp_path: Path) -> None:
    with serving(tmp_path / "home") as (url, printed):
        assert "Every account of this machine can use it" in printed
        assert status(url, {}) == 200
