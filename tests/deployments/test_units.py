"""systemd's own judgement of the units, and what they start started as they are written."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.access.test_uploads import PDF
from tests.deployments.units import (
    PROGRAM,
    SYSTEMD,
    commands_of,
    environment_of,
    places_in,
    read_unit,
    run,
    service_running,
)
from tests.stores.published_corpora import make_copy, paper_ids

SERVICES = sorted(file.name for file in SYSTEMD.glob("*.service"))
# As systemd counts: 0 is closed, 10 is open; 3 and below is called OK.
MOST_EXPOSED = 3.0
needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed"
)
pytestmark = pytest.mark.timeout(300)


@needs_systemd
@pytest.mark.parametrize("name", [*SERVICES, "carrel-backup.timer"])
def test_systemd_understands_the_unit(name: str, tmp_path: Path) -> None:
    program = tmp_path / "carrel"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for file in SYSTEMD.iterdir():
        text = file.read_text(encoding="utf-8").replace(PROGRAM, str(program))
        (tmp_path / file.name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / name)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    ours = [line for line in done.stderr.splitlines() if "carrel" in line]
    assert not ours
    assert done.returncode == 0, done.stderr


@needs_systemd
@pytest.mark.parametrize("name", SERVICES)
def test_systemd_finds_the_unit_closed(name: str) -> None:
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", str(SYSTEMD / name)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "offline" in done.stderr:
        pytest.skip("this systemd-analyze cannot judge a file")
    found = re.search(r"exposure level for [^:]*: ([0-9.]+)", done.stdout)
    assert found, done.stdout + done.stderr
    assert float(found.group(1)) <= MOST_EXPOSED


@pytest.mark.parametrize("name", SERVICES)
def test_every_unit_has_its_own_account_and_place(name: str) -> None:
    unit = read_unit(name)
    assert unit["User"] == ["carrel"]
    assert unit["StateDirectory"] == ["carrel"]
    assert unit["NoNewPrivileges"] == ["yes"]
    assert unit["ProtectSystem"] == ["strict"]
    assert "CARREL_HOME=/var/lib/carrel" in unit["Environment"]


def tell_the_server(places: dict[str, str], line: str) -> None:
    (Path(places["/etc/carrel"]) / "carrel.env").write_text(f"{line}\n")


def test_a_backup_without_the_database_that_the_server_has_fails_and_removes_none(
    tmp_path: Path,
) -> None:
    places = places_in(tmp_path)
    tell_the_server(places, "DATABASE_URL=postgresql://carrel@127.0.0.1:1/carrel")
    environment = environment_of("carrel-backup.service", places)
    command, *_ = commands_of("carrel-backup.service", places)
    done = run(command, places, env=environment, capture_output=True, check=False, timeout=120)
    assert done.returncode == 5, done.stderr
    assert not list(Path(places["/var/backups/carrel"]).iterdir())


def test_the_watch_adds_to_the_corpus_that_the_server_shares(tmp_path: Path) -> None:
    places, store = places_in(tmp_path), tmp_path / "store"
    store.mkdir()
    tell_the_server(places, f"CARREL_PAPERS_CORPUS_URL={store.as_uri()}")
    (Path(places["/srv/papers"]) / "whales.pdf").write_bytes(PDF)
    environment = environment_of("carrel-watch.service", places)
    (watch,) = commands_of("carrel-watch.service", places)
    run([*watch, "--once"], places, env=environment, check=True, timeout=120)
    make_copy(tmp_path / "other", store.as_uri()).follow()
    assert len(paper_ids(tmp_path / "other")) == 1


@pytest.mark.parametrize("name", SERVICES)
def test_every_unit_can_reach_the_servers_database(name: str) -> None:
    unit = read_unit(name)
    assert "PrivateNetwork" not in unit
    (families,) = unit["RestrictAddressFamilies"]
    assert {"AF_INET", "AF_INET6", "AF_UNIX"} <= set(families.split())


def test_the_service_starts_as_written_and_greets_the_first_administrator(tmp_path: Path) -> None:
    with service_running(tmp_path, "https://desk.example.org") as (_, places):
        home = Path(places["/var/lib/carrel"])
        assert (home / "audit").is_dir()
    printed = (tmp_path / "serve.log").read_text()
    assert re.search(r"First run: log in as \w+ with the password \S+", printed)
    assert "https://desk.example.org/desk/mcp" in printed
    assert "Traceback" not in printed


def test_the_watch_and_the_backup_do_what_they_are_for(tmp_path: Path) -> None:
    places = places_in(tmp_path)
    papers, backups = Path(places["/srv/papers"]), Path(places["/var/backups/carrel"])
    (papers / "whales.pdf").write_bytes(PDF)
    environment = environment_of("carrel-watch.service", places)
    (watch,) = commands_of("carrel-watch.service", places)
    run([*watch, "--once"], places, env=environment, check=True, timeout=120)
    old, fresh = backups / "desk-2000-01-01.tar.gz", backups / "mine.tar.gz"
    for file in (old, fresh):
        file.write_bytes(b"x")
        os.utime(file, (0, 0))
    environment = environment_of("carrel-backup.service", places)
    for command in commands_of("carrel-backup.service", places):
        run(command, places, env=environment, check=True, timeout=120)
    today = time.strftime("desk-%Y-%m-%d.tar.gz")
    assert sorted(file.name for file in backups.iterdir()) == [today, "mine.tar.gz"]
    program, second = places[PROGRAM], tmp_path / "second"
    environment["CARREL_HOME"] = str(second)
    run([program, "restore", str(backups / today)], places, env=environment, check=True)
    shown = run(
        [program, "papers", "search", "whales", "--json"],
        places, env=environment, check=True, capture_output=True,
    )  # fmt: skip
    assert "On the songs of whales" in json.dumps(json.loads(shown.stdout), ensure_ascii=False)
