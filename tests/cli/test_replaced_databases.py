"""A database that was emptied, replaced or removed is refused, with the backup to restore; a fresh
home starts at once.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from carrel.cli import main
from carrel.core.errors import CarrelError
from carrel.stores.database_identity import DatabaseReplacedError, identity_file
from carrel.wiring.access import open_access_store
from carrel.wiring.knowledge import open_stores
from carrel.wiring.research import open_store
from tests.rooms.knowledge.desk import settings_at


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    monkeypatch.setenv("CARREL_HOME", str(place))
    monkeypatch.setenv("CARREL_ROOMS", "knowledge,research")
    monkeypatch.chdir(tmp_path)
    return place


def carrel(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    told = capsys.readouterr()
    return code, told.out, told.err


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _remove(file: Path) -> None:
    file.unlink()


def _not_a_database(file: Path) -> None:
    file.write_bytes(b"notes, but not in SQLite" * 200)


def _another(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE notes (id)")
        connection.execute("PRAGMA application_id = 7")
        connection.commit()


def _a_new_empty_one(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE notes (id)")


def _pages_lost(file: Path) -> None:
    """The first page, which says what the database is, stays."""
    content = bytearray(file.read_bytes())
    content[len(content) // 3 :] = bytes(len(content) - len(content) // 3)
    file.write_bytes(content)


DAMAGES: list[Callable[[Path], None]] = [
    _empty,
    _remove,
    _not_a_database,
    _another,
    _a_new_empty_one,
]


def without_logs(file: Path) -> Path:
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    return file


@pytest.mark.promise("Q5")
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_replaced_database_is_refused_with_the_backup_and_left_as_it_is(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: Callable[[Path], None]
) -> None:
    assert carrel(capsys, "knowledge", "save", "what nobody wants to lose")[0] == 0
    backup = tmp_path / "safe" / "desk.tar.gz"
    backup.parent.mkdir()
    assert carrel(capsys, "backup", str(backup))[0] == 0
    file = without_logs(home / "knowledge.sqlite")
    damage(file)
    before = file.read_bytes() if file.exists() else None
    for words in (
        ("knowledge", "search", "*"),
        ("knowledge", "save", "into the void"),
        ("doctor",),
    ):
        code, out, err = carrel(capsys, *words)
        assert code != 0
        assert f"carrel restore {backup} --force" in out + err
        assert "carrel databases reset knowledge" in out + err
    assert (file.read_bytes() if file.exists() else None) == before, "nothing was made in its place"
    assert carrel(capsys, "restore", str(backup), "--force")[0] == 0
    assert "what nobody wants to lose" in carrel(capsys, "knowledge", "search", "*", "--json")[1]


@pytest.mark.promise("Q5")
@pytest.mark.parametrize("damage", [*DAMAGES, _pages_lost])
def test_a_desk_whose_database_is_gone_is_not_backed_up_as_if_it_were_whole(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: Callable[[Path], None]
) -> None:
    """Such a file would lack the notes, and every later error would name it as the newest backup to
    restore them from.
    """
    assert carrel(capsys, "knowledge", "save", "what nobody wants to lose")[0] == 0
    backup = tmp_path / "desk.tar.gz"
    assert carrel(capsys, "backup", str(backup))[0] == 0
    damage(without_logs(home / "knowledge.sqlite"))
    code, out, err = carrel(capsys, "backup", str(tmp_path / "later.tar.gz"))
    assert code == 5 and "knowledge.sqlite is" in err and not out
    assert [file.name for file in tmp_path.glob("*.tar.gz*")] == ["desk.tar.gz"]
    code, out, err = carrel(capsys, "knowledge", "save", "one more")
    assert code == 5 and f"carrel restore {backup} --force" in err


@pytest.mark.promise("Q5")
def test_a_database_that_is_damaged_inside_is_told_with_the_backup_and_found_by_doctor(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert carrel(capsys, "knowledge", "save", "what nobody wants to lose")[0] == 0
    backup = tmp_path / "desk.tar.gz"
    assert carrel(capsys, "backup", str(backup))[0] == 0
    _pages_lost(without_logs(home / "knowledge.sqlite"))
    for words in (("knowledge", "save", "one more"), ("doctor",)):
        code, out, err = carrel(capsys, *words)
        assert code != 0 and "knowledge.sqlite is damaged" in out + err
        assert f"carrel restore {backup} --force" in out + err and "Try again" not in out + err
    assert "knowledge.sqlite is damaged" in carrel(capsys, "databases", "list")[1]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["knowledge.sqlite", "access.sqlite", "research/research.db"])
def test_every_embedded_database_is_guarded(
    tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    settings = settings_at(tmp_path)

    async def open_it() -> None:
        match name:
            case "knowledge.sqlite":
                notes = open_stores(settings).notes
                try:
                    await notes.check()
                finally:
                    await notes.close()
            case "access.sqlite":
                access = open_access_store(settings)
                try:
                    await access.users()
                finally:
                    await access.close()
            case _:
                store = open_store(settings)
                try:
                    await store.projects("local", None, 1)
                finally:
                    await store.close()

    asyncio.run(open_it())
    asyncio.run(open_it())
    damage(without_logs(tmp_path / name))
    with pytest.raises(CarrelError) as refused:
        asyncio.run(open_it())
    assert (
        isinstance(refused.value, DatabaseReplacedError)
        and refused.value.code == "database_replaced"
    )
    assert "No backup is known here" in refused.value.next_step


def test_a_database_of_another_desk_is_refused_even_with_a_log_beside_it(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    carrel(capsys, "knowledge", "save", "ours")
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "other"))
    carrel(capsys, "knowledge", "save", "theirs")
    monkeypatch.setenv("CARREL_HOME", str(home))
    without_logs(home / "knowledge.sqlite")
    shutil.copy(tmp_path / "other" / "knowledge.sqlite", home / "knowledge.sqlite")
    (home / "knowledge.sqlite-wal").write_bytes(b"")
    code, _, err = carrel(capsys, "knowledge", "search", "*")
    assert code == 5 and "is another database" in err


def test_a_reset_and_an_accept_are_deliberate(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    carrel(capsys, "knowledge", "save", "first")
    without_logs(home / "knowledge.sqlite").write_bytes(b"")
    assert "is empty" in carrel(capsys, "databases", "list")[1]
    assert carrel(capsys, "databases", "reset", "nothing")[0] == 2
    code, out, _ = carrel(capsys, "databases", "reset", "knowledge")
    assert code == 0 and "before-reset-" in out
    assert json.loads(carrel(capsys, "knowledge", "search", "*", "--json")[1]) == []
    carrel(capsys, "knowledge", "save", "second")
    with closing(sqlite3.connect(without_logs(home / "knowledge.sqlite"))) as connection:
        connection.execute("PRAGMA application_id = 12345")
        connection.commit()
    assert carrel(capsys, "knowledge", "search", "*")[0] == 5
    assert carrel(capsys, "databases", "accept", "knowledge")[0] == 0
    assert "second" in carrel(capsys, "knowledge", "search", "*", "--json")[1]


def test_a_fresh_home_and_an_earlier_one_start_at_once(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert carrel(capsys, "knowledge", "search", "*", "--json")[1].strip() == "[]"
    carrel(capsys, "knowledge", "save", "kept by an earlier version")
    # As an earlier version left it: the database without an id, and nothing beside it.
    (home / ".knowledge.sqlite.id").unlink()
    with closing(sqlite3.connect(home / "knowledge.sqlite")) as connection:
        connection.execute("PRAGMA application_id = 0")
        connection.commit()
    assert "kept by an earlier version" in carrel(capsys, "knowledge", "search", "*", "--json")[1]
    assert (home / ".knowledge.sqlite.id").exists()


@pytest.mark.promise("Q5")
def test_the_commands_that_a_refusal_names_are_there_for_every_database(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("knowledge.sqlite", "access.sqlite", "research/research.db", "jobs/jobs.db"):
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("not a database", encoding="utf-8")
        identity_file(file).write_text('{"application_id": 7}', encoding="utf-8")
    for name in ("knowledge", "access", "research", "jobs"):
        assert "is not a database any more" in carrel(capsys, "doctor")[1]
        code, _, err = carrel(capsys, "databases", "reset", name)
        assert code == 0, err
    assert "is not a database" not in carrel(capsys, "databases", "list")[1]


def test_a_damaged_file_of_notes_shuts_notes_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CARREL_ROOMS")
    carrel(capsys, "knowledge", "save", "kept")
    (home / "knowledge.sqlite").write_bytes(b"noise" * 500)
    assert carrel(capsys, "papers", "search", "anything")[0] == 0
    assert carrel(capsys, "references", "list")[0] == 0
    code, _, err = carrel(capsys, "knowledge", "search", "kept")
    assert (code, "is not a database any more" in err) == (5, True)
    # What is no database cannot be taken for one.
    assert ("databases reset knowledge" in err, "databases accept" in err) == (True, False)


@pytest.mark.promise("Q5")
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_lost_database_of_notes_shuts_the_notes_and_neither_papers_nor_references(
    home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Path], None],
) -> None:
    monkeypatch.delenv("CARREL_ROOMS")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "fish.md").write_text("# Fish oil\n\nFish oil thins blood.\n", "utf-8")
    assert carrel(capsys, "papers", "build", "in", "--quiet")[0] == 0
    assert carrel(capsys, "references", "add", "@book{knuth, title={The art}, year=1968}")[0] == 0
    assert carrel(capsys, "knowledge", "save", "what nobody wants to lose")[0] == 0
    file = without_logs(home / "knowledge.sqlite")
    damage(file)
    before = file.read_bytes() if file.exists() else None
    for words in (
        ("papers", "search", "fish"),
        ("papers", "passages", "blood"),
        ("papers", "quote", "Fish oil thins blood"),
        ("references", "list"),
        ("find", "fish"),
    ):
        code, out, err = carrel(capsys, *words)
        assert code == 0 and out, err
    assert "carrel databases reset knowledge" in carrel(capsys, "find", "fish")[2]
    code, out, _ = carrel(capsys, "doctor")
    assert code == 1 and "ok   papers" in out and "ok   references" in out
    assert "carrel databases reset knowledge" in out
    assert carrel(capsys, "knowledge", "save", "into the void")[0] == 5
    assert (file.read_bytes() if file.exists() else None) == before, "nothing was made in its place"


@pytest.mark.parametrize("damage", [_empty, _remove, _not_a_database])
def test_what_is_no_database_is_not_offered_for_use(
    home: Path, capsys: pytest.CaptureFixture[str], damage: Callable[[Path], None]
) -> None:
    assert carrel(capsys, "knowledge", "save", "what nobody wants to lose")[0] == 0
    damage(without_logs(home / "knowledge.sqlite"))
    err = carrel(capsys, "knowledge", "search", "*")[2]
    assert "databases reset knowledge" in err and "databases accept" not in err


def test_another_database_is_offered_for_use(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert carrel(capsys, "knowledge", "save", "what nobody wants to lose")[0] == 0
    _another(without_logs(home / "knowledge.sqlite"))
    assert "databases accept knowledge" in carrel(capsys, "knowledge", "search", "*")[2]
