"""Attacks on the audit log: whatever is done to its files, verify notices; and whenever it is
killed, verify stays calm.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

from carrel.core.clock import SystemClock
from carrel.policy.audit import NOTHING_BEFORE, AuditRecord, Chain, hash_in
from carrel.policy.audit_anchor import AnchorEvent, read_anchor
from carrel.policy.audit_verification import Verification, newest_head, verify_log
from carrel.settings import AuditSettings, Settings
from carrel.stores.audit_queue import QueuedAudit
from carrel.stores.audit_signing import new_private_key
from carrel.stores.json_lines.audit import audit_files, read_lines
from carrel.wiring.audit import anchor_places, anchor_restored_log, open_audit, open_audit_reader
from tests.processes import warm

Attack = Callable[[Settings, random.Random], None]


def settings_in(home: Path, **audit: object) -> Settings:
    return Settings(
        home=home,
        audit=AuditSettings.model_validate({"max_file_bytes": 4096, "min_free_bytes": 0, **audit}),
    )


def record(number: int, phase: str = "started") -> AuditRecord:
    when = datetime(2026, 7, 28, tzinfo=UTC)
    return AuditRecord(
        when,
        f"r{number}",
        phase,
        "ada",
        None,
        "http",
        "tool:x",
        "mcp://x",
        {},
        "started",
        None,
        None,
        "192.0.2.1",
        "test",
    )


def opened(settings: Settings) -> QueuedAudit:
    audit = open_audit(settings)
    assert isinstance(audit, QueuedAudit)
    return audit


def write(settings: Settings, count: int) -> None:
    """One process that lived and ended well."""
    audit = opened(settings)
    for number in range(count):
        audit.write(record(number))
        if number % 5 == 0:
            assert audit.flush()
    audit.close()


def history(settings: Settings) -> None:
    """Several processes, some at the same time, over several files."""
    write(settings, 3)
    several = [opened(settings) for _ in range(3)]
    for number in range(60):
        several[number % 3].write(record(number))
        assert several[number % 3].flush()
    for audit in several:
        audit.close()
    write(settings, 4)
    assert len(audit_files(settings.audit_file)) > 4


@pytest.fixture(scope="module")
def honest_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    settings = settings_in(tmp_path_factory.mktemp("honest"), anchor_every_lines=7)
    history(settings)
    found = verify_log(open_audit_reader(settings))
    assert (found.problems, found.open_ends, found.is_anchored) == ([], [], True)
    return settings.home


def file_of(settings: Settings, source: random.Random) -> Path:
    return source.choice(audit_files(settings.audit_file))


def lines_of(file: Path) -> list[bytes]:
    return file.read_bytes().splitlines(keepends=True)


def delete_file(settings: Settings, source: random.Random) -> None:
    file_of(settings, source).unlink()


def delete_several_files(settings: Settings, source: random.Random) -> None:
    files = audit_files(settings.audit_file)
    for file in source.sample(files, source.randint(1, len(files))):
        file.unlink()


def cut_the_tail(settings: Settings, source: random.Random) -> None:
    lines = lines_of(settings.audit_file)
    settings.audit_file.write_bytes(b"".join(lines[: source.randrange(len(lines))]))


def cut_a_tail_by_bytes(settings: Settings, source: random.Random) -> None:
    file = file_of(settings, source)
    os.truncate(file, source.randrange(file.stat().st_size - 1))


def remove_lines(settings: Settings, source: random.Random) -> None:
    file = file_of(settings, source)
    lines = lines_of(file)
    gone = set(source.sample(range(len(lines)), source.randint(1, len(lines))))
    file.write_bytes(b"".join(line for at, line in enumerate(lines) if at not in gone))


def edit_a_line(settings: Settings, source: random.Random) -> None:
    file = source.choice(
        [file for file in audit_files(settings.audit_file) if b'"ada"' in file.read_bytes()]
    )
    lines = lines_of(file)
    at = source.choice([at for at, line in enumerate(lines) if b'"ada"' in line])
    lines[at] = lines[at].replace(b'"ada"', b'"eve"')
    file.write_bytes(b"".join(lines))


def rehashed(lines: list[bytes]) -> list[bytes]:
    """Every chain hashed anew, as somebody would who knows how."""
    heads: dict[str, str] = {}
    numbers: dict[str, int] = {}
    renamed: dict[str, str] = {}
    made = []
    for line in lines:
        facts = orjson.loads(line)
        name, old = facts.pop("chain"), facts.pop("hash")
        del facts["sequence"], facts["previous"]
        if "after" in facts:
            facts["after"] = renamed.get(facts["after"], facts["after"])
        chain = Chain(name)
        chain.sequence, chain.previous = numbers.get(name, 0) + 1, heads.get(name, NOTHING_BEFORE)
        start = f'{{"chain":"{name}","sequence":{chain.sequence},"previous":"{chain.previous}",'.encode()  # noqa: E501
        body = start + orjson.dumps(facts)[1:]
        digest = hashlib.sha256(body).hexdigest()
        heads[name], numbers[name], renamed[old] = digest, chain.sequence, digest
        made.append(body[:-1] + f',"hash":"{digest}"}}\n'.encode())
    return made


def edit_and_hash_anew(settings: Settings, source: random.Random) -> None:
    parts = [lines_of(file) for file in audit_files(settings.audit_file)]
    every = [line for part in parts for line in part]
    at = source.choice([at for at, line in enumerate(every) if b'"ada"' in line])
    every[at] = every[at].replace(b'"ada"', b'"eve"')
    _put_back(settings, parts, rehashed(every))


def remove_and_hash_anew(settings: Settings, source: random.Random) -> None:
    parts = [lines_of(file) for file in audit_files(settings.audit_file)]
    every = [line for part in parts for line in part]
    del every[source.choice([at for at, line in enumerate(every) if b'"ada"' in line])]
    parts[-1] = parts[-1][:-1]
    _put_back(settings, parts, rehashed(every))


def _put_back(settings: Settings, parts: list[list[bytes]], lines: list[bytes]) -> None:
    for file, part in zip(audit_files(settings.audit_file), parts, strict=True):
        file.write_bytes(b"".join(lines[: len(part)]))
        lines = lines[len(part) :]


def swap_lines(settings: Settings, source: random.Random) -> None:
    file = source.choice(
        [file for file in audit_files(settings.audit_file) if len(_same_chain(lines_of(file))) >= 2]
    )
    lines = lines_of(file)
    first, second = source.sample(_same_chain(lines), 2)
    lines[first], lines[second] = lines[second], lines[first]
    file.write_bytes(b"".join(lines))


def _same_chain(lines: list[bytes]) -> list[int]:
    names = [orjson.loads(line)["chain"] for line in lines]
    common = max(set(names), key=names.count)
    return [at for at, name in enumerate(names) if name == common]


def swap_files(settings: Settings, source: random.Random) -> None:
    first, second = source.sample(audit_files(settings.audit_file), 2)
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(one)


def duplicate_a_line(settings: Settings, source: random.Random) -> None:
    file = file_of(settings, source)
    lines = lines_of(file)
    lines.insert(source.randrange(len(lines) + 1), source.choice(lines))
    file.write_bytes(b"".join(lines))


def duplicate_a_file(settings: Settings, source: random.Random) -> None:
    file = file_of(settings, source)
    name = settings.audit_file.with_name("audit.20991231T000000.000000.jsonl")
    name.write_bytes(file.read_bytes())


def insert_a_chain(settings: Settings, source: random.Random) -> None:
    chain = Chain("4711-deadbeef")
    lines = [chain.line(record(number)) + b"\n" for number in range(source.randint(1, 3))]
    file = file_of(settings, source)
    there = lines_of(file)
    at = source.randrange(len(there) + 1)
    file.write_bytes(b"".join([*there[:at], *lines, *there[at:]]))


def append_to_a_chain(settings: Settings, source: random.Random) -> None:
    last = orjson.loads(lines_of(settings.audit_file)[-1])
    chain = Chain(last["chain"])
    chain.sequence, chain.previous = last["sequence"], last["hash"]
    with settings.audit_file.open("ab") as file:
        file.write(chain.line(record(1)) + b"\n")


def remove_anchors(settings: Settings, source: random.Random) -> None:
    anchor_places(settings).anchors.unlink()


def remove_anchors_and_key(settings: Settings, source: random.Random) -> None:
    places = anchor_places(settings)
    for file in places:
        file.unlink()


def remove_anchors_and_go_on(settings: Settings, source: random.Random) -> None:
    remove_anchors_and_key(settings, source)
    cut_the_tail(settings, source)
    write(settings, 2)


def remove_one_anchor(settings: Settings, source: random.Random) -> None:
    file = anchor_places(settings).anchors
    lines = lines_of(file)
    del lines[source.randrange(len(lines))]
    file.write_bytes(b"".join(lines))


def cut_anchors(settings: Settings, source: random.Random) -> None:
    file = anchor_places(settings).anchors
    lines = lines_of(file)
    file.write_bytes(b"".join(lines[: source.randrange(len(lines))]))


def swap_anchors(settings: Settings, source: random.Random) -> None:
    file = anchor_places(settings).anchors
    lines = lines_of(file)
    first, second = source.sample(range(len(lines)), 2)
    lines[first], lines[second] = lines[second], lines[first]
    file.write_bytes(b"".join(lines))


def forge_an_anchor(settings: Settings, source: random.Random) -> None:
    file = anchor_places(settings).anchors
    lines = lines_of(file)
    at = source.choice([at for at, line in enumerate(lines) if b'"sequence":' in line])
    lines[at] = lines[at].replace(b'"sequence":', b'"sequence":1')
    file.write_bytes(b"".join(lines))


def replace_the_key(settings: Settings, source: random.Random) -> None:
    anchor_places(settings).key.write_bytes(new_private_key())


def remove_the_count(settings: Settings, source: random.Random) -> None:
    anchor_places(settings).counter.unlink()


ATTACKS: list[Attack] = [
    delete_file, delete_several_files, cut_the_tail, cut_a_tail_by_bytes, remove_lines, edit_a_line,
    edit_and_hash_anew,
    remove_and_hash_anew, swap_lines, swap_files, duplicate_a_line, duplicate_a_file,
    insert_a_chain, append_to_a_chain,
    remove_anchors, remove_anchors_and_key, remove_anchors_and_go_on, remove_one_anchor,
    cut_anchors, swap_anchors, forge_an_anchor,
    replace_the_key, remove_the_count,
]  # fmt: skip


@pytest.mark.promise("A7-audit")
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
@pytest.mark.parametrize("seed", range(6))
def test_tampering_is_noticed(attack: Attack, seed: int, honest_home: Path, tmp_path: Path) -> None:
    settings = settings_in(tmp_path / "home", anchor_every_lines=7)
    shutil.copytree(honest_home, settings.home)
    assert verify_log(open_audit_reader(settings)).problems == []
    attack(settings, random.Random(seed))
    assert verify_log(open_audit_reader(settings)).problems


@pytest.mark.promise("A7-audit")
@pytest.mark.parametrize("seed", range(2))
def test_everything_turned_back_together_is_shown_by_a_head_kept_elsewhere(
    seed: int, tmp_path: Path
) -> None:
    """Log, anchors and count as they were an hour ago are a true history; only somebody who
    remembers knows better.
    """
    settings = settings_in(tmp_path)
    write(settings, 5)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    write(settings, 5)
    head = newest_head(open_audit_reader(settings).ledger())
    assert head is not None
    assert verify_log(open_audit_reader(settings), (head,)).problems == []
    for path in list(tmp_path.rglob("*")):
        if path.is_file():
            path.unlink()
    for path, content in before.items():
        path.write_bytes(content)
    assert verify_log(open_audit_reader(settings)).problems == [], (
        "this is what it cannot show alone"
    )
    assert "turned back" in verify_log(open_audit_reader(settings), (head,)).problems[0]


@pytest.mark.promise("A7-audit")
def test_a_history_made_anew_with_a_new_key_is_shown_by_a_head_kept_elsewhere(
    tmp_path: Path,
) -> None:
    settings = settings_in(tmp_path)
    write(settings, 5)
    head = newest_head(open_audit_reader(settings).ledger())
    assert head is not None
    for path in list(tmp_path.rglob("*")):
        if path.is_file():
            path.unlink()
    write(settings, 9)
    write(settings, 9)
    assert verify_log(open_audit_reader(settings)).problems == []
    assert "another key" in verify_log(open_audit_reader(settings), (head,)).problems[0]


WRITER = """
import sys
from pathlib import Path
from carrel.settings import AuditSettings, Settings
from carrel.wiring.audit import open_audit
from tests.stores.test_audit_tampering import record, settings_in
audit = open_audit(settings_in(Path(sys.argv[1]), anchor_every_lines=int(sys.argv[2])))
for number in range(100000):
    audit.write(record(number))
    if number % 3 == 0:
        audit.flush()
    if number == int(sys.argv[3]):
        audit.close()
        audit = open_audit(settings_in(Path(sys.argv[1]), anchor_every_lines=int(sys.argv[2])))
    if number % 10 == 0:
        print(number, flush=True)
"""


@pytest.mark.promise("A7-audit")
@pytest.mark.parametrize("seed", range(4))
def test_processes_killed_at_any_moment_leave_a_log_that_verifies(
    seed: int, tmp_path: Path
) -> None:
    source = random.Random(seed)
    settings = settings_in(tmp_path)
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    for _ in range(3):
        words = [str(tmp_path), str(source.choice([1, 5, 50])), str(source.randrange(200))]
        killed = [
            warm.start(
                [sys.executable, "-c", WRITER, *words], stdout=subprocess.PIPE, env=environment
            )
            for _ in range(2)
        ]
        for process in killed:
            assert process.stdout is not None
            for _ in range(source.randrange(1, 60)):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
        found = verify_log(open_audit_reader(settings))
        assert found.problems == []
        assert found.lines > 0
    write(settings, 3)
    found = verify_log(open_audit_reader(settings))
    assert found.problems == []
    assert found.open_ends, "those that were killed"


@pytest.mark.promise("A7-audit")
@pytest.mark.parametrize("cut", [2, 40, 200])
def test_a_line_torn_by_a_crash_is_no_tampering_and_the_next_line_is_whole(
    cut: int, tmp_path: Path
) -> None:
    settings = settings_in(tmp_path, anchor_every_lines=1000, max_file_bytes=65536)
    audit = opened(settings)
    for number in range(5):
        audit.write(record(number))
    assert audit.flush()
    # The machine stops: the last line is there in part, and the process never closes.
    os.truncate(settings.audit_file, settings.audit_file.stat().st_size - cut)
    write(settings, 2)
    found = verify_log(open_audit_reader(settings))
    assert (found.problems, found.torn_lines) == ([], 1)


@pytest.mark.promise("A7-audit")
def test_a_torn_anchor_is_no_tampering(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    write(settings, 3)
    with anchor_places(settings).anchors.open("ab") as file:
        file.write(b'{"number":99,"prev')
    assert verify_log(open_audit_reader(settings)).problems == []
    write(settings, 3)
    found = verify_log(open_audit_reader(settings))
    assert found.problems == []
    assert any("cut off" in notice for notice in found.notices)


@pytest.mark.promise("A7-audit")
def test_a_log_from_before_there_were_anchors_is_adopted_and_then_guarded(tmp_path: Path) -> None:
    from carrel.stores.json_lines.audit import JsonLinesAudit

    settings = settings_in(tmp_path)
    for _ in range(2):
        older = JsonLinesAudit(settings.audit_file)
        for number in range(5):
            older.write(record(number))
        older.close()
    found = verify_log(open_audit_reader(settings))
    assert (found.problems, found.is_anchored) == ([], False)
    write(settings, 2)
    found = verify_log(open_audit_reader(settings))
    assert (found.problems, found.is_anchored, found.chains) == ([], True, 3)
    lines = lines_of(settings.audit_file)
    settings.audit_file.write_bytes(b"".join(lines[7:]))
    assert verify_log(open_audit_reader(settings)).problems


@pytest.mark.promise("A7-audit")
@pytest.mark.parametrize("limit", ["size", "age"])
def test_old_files_expire_and_that_is_told_from_deletion(limit: str, tmp_path: Path) -> None:
    chosen: dict[str, object] = (
        {"max_total_bytes": 16384} if limit == "size" else {"max_age_days": 1.0}
    )
    settings = settings_in(tmp_path, **chosen, anchor_every_lines=9)
    several = [opened(settings) for _ in range(2)]
    for number in range(200):
        when = SystemClock().now() - timedelta(days=3 if number < 100 else 0)
        several[number % 2].write(record(number)._replace(timestamp=when))
        assert several[number % 2].flush()
    for audit in several:
        audit.close()
    files = audit_files(settings.audit_file)
    if limit == "size":
        assert sum(file.stat().st_size for file in files) < 16384 + 2 * 4096 + 2000
    found = verify_log(open_audit_reader(settings))
    assert found.problems == []
    assert any("expired" in notice for notice in found.notices)
    phases = [orjson.loads(line)["phase"] for line in read_lines(settings.audit_file)]
    assert "expired" in phases, "and the log itself says so"
    files[0].unlink()
    assert verify_log(open_audit_reader(settings)).problems


@pytest.mark.promise("A7-audit")
def test_anchors_are_compacted_and_go_on_guarding(tmp_path: Path) -> None:
    from carrel.stores.json_lines.anchors import AnchorFile

    settings = settings_in(tmp_path)
    history(settings)
    places = anchor_places(settings)
    size = places.anchors.stat().st_size
    AnchorFile(*places, max_file_bytes=1024).add(
        AnchorEvent.HEAD, {"chain": "none", "sequence": 0, "digest": NOTHING_BEFORE}
    )
    lines = lines_of(places.anchors)
    checkpoint = read_anchor(lines[0])
    assert checkpoint is not None
    assert (len(lines), checkpoint.event) == (1, AnchorEvent.CHECKPOINT)
    assert places.anchors.stat().st_size < size
    assert verify_log(open_audit_reader(settings)).problems == []
    write(settings, 3)
    assert verify_log(open_audit_reader(settings)).problems == []
    audit_files(settings.audit_file)[1].unlink()
    assert verify_log(open_audit_reader(settings)).problems


@pytest.mark.promise("A7-audit")
def test_a_restored_log_is_said_to_be_one(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    write(settings, 3)
    kept = {file: file.read_bytes() for file in audit_files(settings.audit_file)}
    write(settings, 30)
    for file in audit_files(settings.audit_file):
        file.unlink()
    for file, content in kept.items():
        file.write_bytes(content)
    assert verify_log(open_audit_reader(settings)).problems
    anchor_restored_log(settings)
    write(settings, 2)
    found: Verification = verify_log(open_audit_reader(settings))
    assert found.problems == []
    assert any("replaced by a backup" in notice for notice in found.notices)
    cut_the_tail(settings, random.Random(1))
    assert verify_log(open_audit_reader(settings)).problems


@pytest.mark.promise("A7-audit")
def test_a_running_log_verifies_while_it_is_written(tmp_path: Path) -> None:
    settings = settings_in(tmp_path, anchor_every_lines=1)
    audit = opened(settings)
    for number in range(40):
        audit.write(record(number))
        if number % 4 == 0:
            assert verify_log(open_audit_reader(settings)).problems == []
    audit.close()
    assert verify_log(open_audit_reader(settings)).problems == []
    last = lines_of(settings.audit_file)[-1]
    assert hash_in(last) is not None
