"""`carrel backup` and `carrel restore` as an operator uses them."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import sqlite3
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import carrel.stores.backup.archive as archive_module
from carrel.cli import main
from carrel.stores.backup.archive import MANIFEST_NAME
from carrel.stores.backup.backup_list import KNOWN_BACKUPS_NAME
from carrel.stores.home.lock import hold_home_alone
from tests.processes import warm
from tests.stores.first_home import TOKEN, first_home, rows_in

SOURCE = str(Path(__file__).parents[2] / "src")
COMMAND = [
    sys.executable,
    "-c",
    "import sys; from carrel.cli import main; sys.exit(main(sys.argv[1:]))",
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("CARREL_", "DATABASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CARREL_HOME", str(tmp_path / "home"))
    return first_home(tmp_path / "home")


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, but those that say who is there, where backups are, or which
    databases are open.
    """
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.name.endswith(("lock", "lock.db", "-shm", "-wal", KNOWN_BACKUPS_NAME))
    }


@pytest.mark.promise("Q5")
def test_a_backup_is_made_checked_and_restored(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["papers", "index"]) == 0
    assert main(["backup", "desk.tar.gz"]) == 0
    said = capsys.readouterr()
    assert "read back and whole" in said.out
    assert Path("desk.tar.gz").stat().st_mode & 0o777 == 0o600, "it holds secrets"
    assert sorted(path.name for path in Path().glob("desk*")) == ["desk.tar.gz"]
    assert main(["backup", "--verify", "desk.tar.gz"]) == 0
    assert "is whole" in capsys.readouterr().out
    before = content(home)
    assert main(["restore", "desk.tar.gz", "--home", "other"]) == 0
    restored = content(Path("other"))
    for name, data in before.items():
        if ".index/" not in name and not name.startswith("audit/"):
            is_database = data.startswith(b"SQLite format 3")
            assert (
                rows_in(Path("other") / name) == rows_in(home / name)
                if is_database
                else restored[name] == data
            ), name
            assert (Path("other") / name).stat().st_mtime_ns == (home / name).stat().st_mtime_ns
            assert (Path("other") / name).stat().st_mode == (home / name).stat().st_mode
    assert (Path("other") / "papers" / "paper_snapshot.db.index" / "manifest.json").exists(), (
        "made again"
    )
    assert main(["audit", "verify", "--home", "other"]) == 0
    assert main(["audit", "list", "--home", "other"]) == 0
    shown = capsys.readouterr().out
    assert "backup:make" in shown
    assert "restore:done" in shown
    assert TOKEN not in shown


@pytest.mark.promise("Q5")
def test_an_existing_file_is_not_replaced_unless_told_to(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("precious").write_text("something else", encoding="utf-8")
    assert main(["backup", "precious"]) == 6
    assert "exists already" in capsys.readouterr().err
    assert Path("precious").read_text(encoding="utf-8") == "something else"
    assert main(["backup", "precious", "--overwrite", "--quiet"]) == 0
    assert main(["backup", "--verify", "precious"]) == 0
    Path("folder").mkdir()
    assert main(["backup", "folder"]) == 0
    assert [path.name[:7] for path in Path("folder").iterdir()] == ["carrel-"]


@pytest.mark.promise("Q5")
def test_data_that_are_there_are_refused_or_moved_aside(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", "desk.tar.gz"]) == 0
    (home / "papers" / "mine.txt").write_text("newer than the backup", encoding="utf-8")
    (home / "knowledge.sqlite-wal").write_bytes(b"a log that must not meet the restored file")
    before = content(home)
    capsys.readouterr()
    assert main(["restore", "desk.tar.gz"]) == 6
    said = capsys.readouterr().err
    assert "There are data already" in said
    assert "--force" in said
    assert content(home) == before
    assert main(["restore", "desk.tar.gz", "--force"]) == 0
    (aside,) = home.glob("before-restore-*")
    assert str(aside) in capsys.readouterr().err
    assert content(aside) == before
    assert not (home / "papers" / "mine.txt").exists()
    assert not (home / "knowledge.sqlite-wal").exists()
    assert not (home / ".carrel-restore").exists()
    assert main(["backup", "next.tar.gz", "--quiet"]) == 0
    with tarfile.open("next.tar.gz") as archive:
        assert not [name for name in archive.getnames() if "before-restore" in name], (
            "what is aside is not carried again"
        )


@pytest.mark.promise("Q5")
def test_settings_alone_are_no_data_and_stay(home: Path) -> None:
    assert main(["backup", "desk.tar.gz"]) == 0
    fresh = Path("fresh")
    fresh.mkdir()
    (fresh / "carrel.toml").write_text("[server]\nport = 8123\n", encoding="utf-8")
    assert main(["restore", "desk.tar.gz", "--home", "fresh"]) == 0
    assert "8123" in (fresh / "carrel.toml").read_text(encoding="utf-8")
    assert main(["backup", "settings.tar.gz", "--home", "fresh"]) == 0
    assert main(["restore", "settings.tar.gz", "--home", "third"]) == 0
    assert "8123" in Path("third/carrel.toml").read_text(encoding="utf-8")


@pytest.mark.promise("Q5")
def test_settings_that_a_backup_brings_take_the_place_of_others_which_are_kept_aside(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "carrel.toml").write_text("[server]\nport = 8123\n", encoding="utf-8")
    assert main(["backup", "desk.tar.gz"]) == 0
    fresh = Path("fresh")
    fresh.mkdir()
    (fresh / "carrel.toml").write_text("[server]\nport = 8999\n", encoding="utf-8")
    assert main(["restore", "desk.tar.gz", "--home", "fresh"]) == 0
    (aside,) = fresh.glob("before-restore-*")
    assert str(aside) in capsys.readouterr().err
    assert "8123" in (fresh / "carrel.toml").read_text(encoding="utf-8")
    assert "8999" in (aside / "carrel.toml").read_text(encoding="utf-8")


@pytest.mark.promise("Q5")
def test_whatever_else_lies_in_the_home_folder_is_carried_but_not_what_is_made_again(
    home: Path,
) -> None:
    (home / "backups").mkdir()
    (home / "by hand").mkdir()
    (home / "by hand" / "naïve \udcff.txt").write_bytes(b"kept")
    (home / "linked").symlink_to(home / "by hand")
    (home / "by hand" / "round").symlink_to(home)
    (home / "dangling").symlink_to(home / "nowhere")
    (home / "search.sqlite").write_bytes(b"an index")
    (home / "uploads").mkdir()
    (home / "uploads" / "half.part").write_bytes(b"half a file")
    (home / "research" / "concepts-1.db").write_bytes(b"an index")
    index = home / "references" / ".library.json.carrel" / "search"
    index.mkdir(parents=True)
    (index / "records.db").write_bytes(b"an index")
    assert main(["backup", "home/backups/one.tar.gz"]) == 0
    assert main(["backup", "home/backups/two.tar.gz"]) == 0
    with tarfile.open("home/backups/two.tar.gz") as archive:
        names = archive.getnames()
        manifest = json.loads(archive.extractfile(MANIFEST_NAME).read())  # type: ignore[union-attr]
    assert "home/by hand/naïve \udcff.txt" in names
    assert "home/linked/naïve \udcff.txt" in names
    left = dict(line.rsplit(": ", 1) for line in manifest["left_out"])
    assert left["home/backups/one.tar.gz"] == "an earlier backup"
    assert left["home/dangling"] == "neither a file nor a folder"
    assert left["home/uploads"].startswith("files that callers are sending")
    assert (
        left["home/search.sqlite"] == left["home/research/concepts-1.db"] == "made again by itself"
    )
    assert left["home/references/.library.json.carrel/search"] == "made again by itself"
    assert not set(left) & set(names)
    assert main(["restore", "home/backups/two.tar.gz", "--home", "other"]) == 0
    assert Path("other/by hand/naïve \udcff.txt").read_bytes() == b"kept"


@pytest.mark.promise("Q5")
def test_what_is_named_outside_the_home_folder_is_carried_and_goes_where_it_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("outside").mkdir()
    for name, place in (("papers", "corpus"), ("references", "refs"), ("audit", "log")):
        (home / name).rename(Path("outside") / place)
    Path("outside/corpus/paper_snapshot.db").rename("outside/corpus/ice.db")
    Path("outside/refs/library.json").rename("outside/refs/mine.json")
    Path("outside/refs/.library.json.carrel").rename("outside/refs/.mine.json.carrel")
    Path("outside/refs/mine-attachments").mkdir()
    Path("outside/refs/mine-attachments/a.pdf").write_bytes(b"attached")
    Path("outside/corpus/paper-static/cache").mkdir()
    Path("outside/corpus/paper-static/cache/page.md").write_text(
        "a text like any other", encoding="utf-8"
    )
    Path("outside/corpus/.carrel-build/draft.db").write_bytes(b"half a snapshot")
    Path("outside/refs/somebody else's").write_text("not ours", encoding="utf-8")
    Path("outside/log/audit.jsonl").rename("outside/log/calls.jsonl")
    (home / "carrel.toml").write_text("", encoding="utf-8")
    names = ["--snapshot", "outside/corpus/ice.db", "--library", "outside/refs/mine.json"]
    monkeypatch.setenv("CARREL_AUDIT_FILE", "outside/log/calls.jsonl")
    before, papers = content(Path("outside")), rows_in(Path("outside/corpus/ice.db"))
    assert main(["backup", "all.tar.gz", *names]) == 0
    with tarfile.open("all.tar.gz") as archive:
        carried = archive.getnames()
    assert "static/paper-static/cache/page.md" in carried
    assert not [
        name for name in carried if name.endswith(("lock", "lock.db", "draft.db", "else's"))
    ]
    assert main(["restore", "all.tar.gz", *names]) == 6
    assert "outside/corpus" in capsys.readouterr().err
    assert main(["restore", "all.tar.gz", "--force", *names]) == 0
    after = content(Path("outside"))
    for name, data in before.items():
        assert name.endswith((".db", ".jsonl")) or after[name] == data, name
    assert rows_in(Path("outside/corpus/ice.db")) == papers
    assert len(list(Path("outside").glob("*/before-restore-*"))) == 3
    assert main(["audit", "verify"]) == 0
    monkeypatch.delenv("CARREL_AUDIT_FILE")
    assert main(["restore", "all.tar.gz", "--home", "alone"]) == 0
    alone_at_home = content(Path("alone"))
    assert alone_at_home["references/library.json"] == before["refs/mine.json"]
    assert alone_at_home["references/library-attachments/a.pdf"] == b"attached"
    assert {"papers/paper_snapshot.db", "audit/audit.jsonl"} <= set(alone_at_home)
    capsys.readouterr()
    assert main(["papers", "search", "ice", "--home", "alone"]) == 0
    assert "Lenses of ice" in capsys.readouterr().out


@pytest.mark.promise("Q5")
def test_what_other_servers_keep_is_said_with_the_tool_for_it(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:9/none")
    monkeypatch.setenv("CARREL_AUDIT_STORE", "file")
    monkeypatch.setenv("CARREL_KNOWLEDGE_STORE", "firestore")
    monkeypatch.setenv("ELASTICSEARCH_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("CARREL_PAPERS_STATIC", "https://texts.example.org/")
    assert main(["backup", "rest.tar.gz"]) == 5, "a database that does not answer is not left out"
    assert "PostgreSQL cannot be used" in capsys.readouterr().err
    assert not list(Path().glob("rest*"))
    assert main(["backup", "rest.tar.gz", "--no-database"]) == 0
    said = capsys.readouterr().err
    for tool in (
        "pg_dump",
        "gcloud firestore export",
        "carrel search sync",
        "https://texts.example.org/",
    ):
        assert tool in said
    with tarfile.open("rest.tar.gz") as archive:
        assert "home/references/library.json" in archive.getnames()


@pytest.mark.promise("Q5")
def test_what_cannot_be_carried_is_an_error_and_there_is_no_file(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "broken.db").write_bytes(b"SQLite format 3\x00" + b"and nothing more" * 100)
    assert main(["backup", "desk.tar.gz"]) == 5
    assert "broken.db is damaged: it cannot be carried" in capsys.readouterr().err
    assert not list(Path().glob("desk*"))
    assert main(["backup", "desk.tar.gz", "--home", "nowhere"]) == 3
    Path("empty").mkdir()
    monkeypatch.setenv("CARREL_AUDIT_ENABLED", "false")
    assert main(["backup", "desk.tar.gz", "--home", "empty"]) == 3
    assert not list(Path().glob("desk*"))
    assert main(["backup", "--verify"]) == 2
    assert main(["backup", "no/such/folder/desk.tar.gz"]) == 5


@pytest.mark.promise("Q5")
def test_a_folder_in_use_is_not_replaced(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The home is of an older version: what a server would bring forward in the background is
    # brought forward before.
    assert main(["research", "list"]) == 0
    assert main(["backup", "desk.tar.gz"]) == 0
    server = warm.start(
        [*COMMAND, "mcp"],
        env={**os.environ, "PYTHONPATH": SOURCE},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        server.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}\n')
        server.stdin.flush()
        assert '"tools"' in server.stdout.readline()
        before = content(home)
        assert main(["restore", "desk.tar.gz", "--force"]) == 6
        assert "is in use" in capsys.readouterr().err
        assert content(home) == before
    finally:
        server.communicate(timeout=60)
    assert main(["restore", "desk.tar.gz", "--force"]) == 0
    with hold_home_alone(home):
        capsys.readouterr()
        for words in (
            ["users", "list"],
            ["papers", "search", "ice"],
            ["backup", "second.tar.gz"],
            ["restore", "desk.tar.gz"],
        ):
            assert main(words) == 6, words
        assert "A restore is under way" in capsys.readouterr().err


def packed(
    members: list[tuple[tarfile.TarInfo, bytes]], *, format: int = 1, manifest: bool = True
) -> bytes:
    """An archive that says of itself, truly, what is in it, whatever that is."""
    header = {"format": format, "carrel": "0.1.0", "made_at": "2026-11-15T12:00:00+00:00"}
    files = [
        {
            "path": info.name,
            "size_bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "modified_ns": 0,
            "mode": 0o600,
        }
        for info, data in members
    ]
    texts = [
        ("carrel-backup.json", header),
        *([("manifest.json", {**header, "files": files})] if manifest else []),
    ]
    (first, *last) = [(tarfile.TarInfo(name), json.dumps(value).encode()) for name, value in texts]
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for info, data in [first, *members, *last]:
            if info.isreg():
                info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def named(
    name: str, kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info, b"owned" if kind == tarfile.REGTYPE else b""


EVIL: dict[str, list[tuple[tarfile.TarInfo, bytes]]] = {
    "up": [named("home/../../escaped")],
    "up at once": [named("../escaped")],
    "absolute": [named("/tmp/escaped-from-a-backup")],
    "a drive": [named("C:/escaped")],
    "backslashes": [named("home/..\\..\\escaped")],
    "no place of ours": [named("etc/passwd")],
    "beside the places": [named("escaped")],
    "a link": [named("home/papers", tarfile.SYMTYPE, "/tmp"), named("home/papers/escaped")],
    "a hard link": [named("home/x", tarfile.LNKTYPE, "home/access.sqlite")],
    "a folder": [named("home/papers", tarfile.DIRTYPE)],
    "a device": [named("home/x", tarfile.CHRTYPE)],
    "a pipe": [named("home/x", tarfile.FIFOTYPE)],
    "twice": [named("home/x"), named("home/x")],
    "inside a file": [named("home/x"), named("home/x/y")],
    "the journal": [named("home/.carrel-restore/journal.json")],
    "the lock": [named("home/.carrel.lock")],
    "an empty part": [named("home//escaped")],
}


@pytest.mark.promise("Q5")
@pytest.mark.parametrize("kind", EVIL)
def test_an_archive_that_could_write_elsewhere_is_refused(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "deep" / "home"
    Path("evil.tar.gz").write_bytes(packed(EVIL[kind]))
    before = sorted(tmp_path.rglob("*"))
    assert main(["restore", "evil.tar.gz", "--home", str(home)]) == 2
    assert "is refused" in capsys.readouterr().err
    left = [path for path in sorted(tmp_path.rglob("*")) if path not in before]
    assert [path for path in left if path.is_file() and path.name != ".carrel.lock"] == []
    assert not Path("/tmp/escaped-from-a-backup").exists()


def _with_extension_headers(count: int, comment_bytes: int) -> bytes:
    """An archive in which a file has extension headers (PAX) before it, each with a comment of that
    length.
    """
    whole = gzip.decompress(packed([named("home/x")]))
    place = whole.index(b"home/x")
    # A record begins with its own length in digits.
    record = next(
        text
        for digits in range(1, 9)
        if len(
            text := b"%d comment=" % (comment_bytes + digits + 10)
            + b"a" * (comment_bytes - 1)
            + b"\n"
        )
        == comment_bytes + digits + 10
    )
    header = tarfile.TarInfo("extension")
    header.type, header.size = tarfile.XHDTYPE, len(record)
    block = header.tobuf(tarfile.USTAR_FORMAT) + record + b"\0" * (-len(record) % 512)
    return gzip.compress(whole[:place] + block * count + whole[place:])


def _with_file(name: str, data: bytes) -> bytes:
    """An archive in which the header or the manifest is something else."""
    out = io.BytesIO()
    texts = {
        "carrel-backup.json": json.dumps({"format": 1, "carrel": "0.1.0", "made_at": "x"}).encode()
    }
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for each, content_ in {**texts, name: data}.items():
            info = tarfile.TarInfo(each)
            info.size = len(content_)
            archive.addfile(info, io.BytesIO(content_))
    return out.getvalue()


BOMBS: dict[str, Callable[[], bytes]] = {
    "a long extension header": lambda: _with_extension_headers(1, 1_000_000),
    "extension headers without end": lambda: _with_extension_headers(5_000, 10),
    "a long header": lambda: _with_file(
        "carrel-backup.json", b" " * 1_000_000 + b'{"format": 1, "carrel": "0.1.0", "made_at": "x"}'
    ),
    "a manifest nested without end": lambda: _with_file("manifest.json", b"[" * 100_000),
}


@pytest.mark.promise("Q5")
@pytest.mark.parametrize("kind", BOMBS)
def test_an_archive_that_would_fill_the_memory_is_refused(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bomb.tar.gz").write_bytes(BOMBS[kind]())
    assert main(["restore", "bomb.tar.gz", "--home", "home"]) == 2
    said = capsys.readouterr().err
    assert any(words in said for words in ("is damaged", "is not a backup"))
    assert [
        path for path in Path("home").rglob("*") if path.is_file() and path.name != ".carrel.lock"
    ] == []


@pytest.mark.promise("Q5")
def test_an_archive_of_too_many_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(archive_module, "_MAX_FILES", 3)
    Path("many.tar.gz").write_bytes(packed([named(f"home/{number}") for number in range(4)]))
    assert main(["restore", "many.tar.gz", "--home", "home"]) == 2
    assert "more than 3 files" in capsys.readouterr().err


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda data: data[: len(data) // 2],
    "cut off at the very end": lambda data: data[:-4],
    "nothing left": lambda data: data[:0],
    "a byte near the beginning": lambda data: _flipped(data, 200),
    "a byte in the middle": lambda data: _flipped(data, len(data) // 2),
    "a byte near the end": lambda data: _flipped(data, len(data) - 9),
    "something else": lambda data: b"PK\x03\x04 not a backup at all",
    "another tar": lambda data: _tar_of("readme", b"hello"),
    "a newer format": lambda data: packed([named("home/x")], format=3),
    "no manifest": lambda data: packed([named("home/x")], manifest=False),
    "another content": lambda data: gzip.compress(
        gzip.decompress(data).replace(b"Lenses of ice", b"Lenses of ash")
    ),
}


def _flipped(data: bytes, place: int) -> bytes:
    """With one bit changed, at the first place from there on where that makes a difference: long
    runs have several spellings.
    """
    changed = (
        data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :] for at in range(place, len(data))
    )
    return next(each for each in changed if not _says_the_same(each, data))


def _says_the_same(one: bytes, other: bytes) -> bool:
    try:
        return gzip.decompress(one) == gzip.decompress(other)
    except (OSError, EOFError, zlib.error):
        return False


def _tar_of(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.promise("Q5")
@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_archive_is_refused_and_nothing_is_changed(
    home: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", "desk.tar.gz", "--quiet"]) == 0
    Path("bad.tar.gz").write_bytes(DAMAGE[kind](Path("desk.tar.gz").read_bytes()))
    before = content(home)
    assert main(["backup", "--verify", "bad.tar.gz"]) == 2
    assert main(["restore", "bad.tar.gz", "--force"]) == 2
    said = capsys.readouterr().err
    assert any(words in said for words in ("is damaged", "is not a backup", "newer Carrel"))
    assert content(home) == before


@pytest.mark.promise("Q5")
def test_a_backup_with_a_newer_database_is_refused_before_anything_is_moved(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(home / "knowledge.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 7")
    assert main(["backup", "newer.tar.gz"]) == 0
    assert main(["restore", "newer.tar.gz", "--home", "other"]) == 2
    assert "knowledge.sqlite has version 7" in capsys.readouterr().err
    assert not Path("other").exists()
