"""The audit log in files: in order, whole, rotated, shared by workers, and honest when it cannot be
written.
"""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from carrel.core.errors import AuditUnavailableError
from carrel.policy.audit import AuditRecord, QueueOptions, Retention, mask_parameters
from carrel.policy.audit_anchor import AnchorEvent, Anchors, AnchorTip
from carrel.policy.audit_verification import Verification, verify
from carrel.stores.audit_queue import AuditNotice, QueuedAudit
from carrel.stores.json_lines.anchors import AnchorFile
from carrel.stores.json_lines.audit import JsonLinesAudit, audit_files, read_lines


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
        "::1",
        "test",
    )


def written(file: Path, count: int) -> None:
    audit = JsonLinesAudit(file)
    for number in range(count):
        audit.write(record(number))
    audit.close()


def checked(file: Path) -> Verification:
    return verify(read_lines(file))


@pytest.mark.promise("A5")
def test_records_are_in_order_and_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "audit" / "audit.jsonl"
    written(file, 50)
    rows = [orjson.loads(line) for line in read_lines(file)]
    assert [row["sequence"] for row in rows] == list(range(1, 53))
    assert [row["request_id"] for row in rows[1:-1]] == [f"r{number}" for number in range(50)]
    assert (rows[0]["phase"], rows[-1]["phase"]) == ("opened", "closed")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    found = checked(file)
    assert (found.problems, found.open_ends, found.lines) == ([], [], 52)


@pytest.mark.promise("A5")
@pytest.mark.parametrize("odd", [2**70, "\ud800", {"a": {1, 2}}, {"\udfff": 1}, object()])
def test_whatever_a_call_carried_can_be_written_down(tmp_path: Path, odd: object) -> None:
    file = tmp_path / "audit.jsonl"
    audit = JsonLinesAudit(file)
    audit.write(record(1)._replace(parameters={"odd": odd}))
    audit.write(record(2))
    assert audit.flush()
    audit.close()
    assert [orjson.loads(line)["request_id"].strip("'") for line in read_lines(file)][1:3] == [
        "r1",
        "r2",
    ]
    assert checked(file).problems == []


@pytest.mark.promise("A5")
@pytest.mark.parametrize("at", [0, 1, 5, 9, -1])
def test_a_removed_line_shows(tmp_path: Path, at: int) -> None:
    file = tmp_path / "audit.jsonl"
    written(file, 10)
    lines = file.read_bytes().splitlines(keepends=True)
    del lines[at]
    file.write_bytes(b"".join(lines))
    found = checked(file)
    assert found.problems or found.open_ends


@pytest.mark.promise("A5")
def test_a_tail_cut_off_before_the_next_start_shows(tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    written(file, 10)
    written(file, 1)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:6] + lines[12:]))
    assert any("was last when it began is missing" in problem for problem in checked(file).problems)


@pytest.mark.promise("A5")
def test_a_changed_or_repeated_line_shows(tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    written(file, 10)
    whole = file.read_bytes()
    file.write_bytes(
        whole.replace(
            b'"request_id":"r4","phase":"started","user_id":"ada"',
            b'"request_id":"r4","phase":"started","user_id":"eve"',
        )
    )
    assert any("does not fit its hash" in problem for problem in checked(file).problems)
    lines = whole.splitlines(keepends=True)
    file.write_bytes(whole + lines[3])
    assert any("twice" in problem for problem in checked(file).problems)


@pytest.mark.promise("A5")
def test_full_files_are_put_aside_and_nothing_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    audit = JsonLinesAudit(file, retention=Retention(4096))
    for number in range(60):
        audit.write(record(number))
        audit.flush()
    audit.close()
    assert len(audit_files(file)) > 3
    assert all(part.stat().st_size < 4096 + 1000 for part in audit_files(file))
    found = checked(file)
    assert (found.problems, found.lines) == ([], 62 + len(audit_files(file)) - 1), (
        "each full file leaves a line that says so"
    )
    audit_files(file)[1].unlink()
    assert checked(file).problems


@pytest.mark.promise("A5")
def test_workers_share_the_files_each_with_its_own_chain(tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    workers = [JsonLinesAudit(file, retention=Retention(4096)) for _ in range(3)]
    for number in range(90):
        workers[number % 3].write(record(number))
        workers[number % 3].flush()
    for worker in workers:
        worker.close()
    found = checked(file)
    assert (found.problems, found.chains, found.lines) == ([], 3, 96 + len(audit_files(file)) - 1)


class StubbornSink:
    """A disk that is full until it is not."""

    def __init__(self) -> None:
        self.is_full = True
        self.kept: list[bytes] = []

    def append(self, lines: Sequence[bytes]) -> None:
        if self.is_full:
            raise OSError(28, "No space left on device")
        self.kept.extend(lines)

    def lines(self) -> list[bytes]:
        return self.kept

    def sync(self) -> None:
        return None

    def maintain(self, anchors: Anchors | None, *, is_thorough: bool) -> list[AuditNotice]:
        return []

    def space_problem(self) -> str | None:
        return None

    def last_hash(self) -> str | None:
        return None

    def close(self) -> None:
        return None


@pytest.mark.promise("A5")
def test_what_could_not_be_written_is_written_when_there_is_room_again() -> None:
    sink = StubbornSink()
    audit = QueuedAudit(sink)
    audit.write(record(1, "refused"))

    async def keep() -> None:
        with pytest.raises(AuditUnavailableError):
            await audit.write_durably(record(2))
        sink.is_full = False
        await audit.write_durably(record(3))

    asyncio.run(keep())
    audit.close()
    assert [orjson.loads(line)["request_id"] for line in sink.kept] == [
        "audit",
        "r1",
        "r2",
        "r3",
        "audit",
    ]
    assert verify(sink.kept).problems == []


@pytest.mark.promise("A5")
def test_a_log_that_failed_is_tried_again_without_calls() -> None:
    """A balancer that asks /ready sends a replica nothing until the log can be written again."""

    class RecoveringSink(StubbornSink):
        def __init__(self) -> None:
            super().__init__()
            self.has_appended = threading.Event()

        def last_hash(self) -> str | None:
            if self.is_full:
                raise OSError(5, "no connection")
            return None

        def append(self, lines: Sequence[bytes]) -> None:
            super().append(lines)
            self.has_appended.set()

    sink = RecoveringSink()
    audit = QueuedAudit(sink)

    async def refuse() -> None:
        with pytest.raises(AuditUnavailableError):
            await audit.write_durably(record(1))

    asyncio.run(refuse())
    assert audit.is_failing
    sink.is_full = False
    assert sink.has_appended.wait(30)
    assert audit.flush()
    assert not audit.is_failing
    audit.close()
    rows = [orjson.loads(line)["phase"] for line in sink.kept]
    assert rows == ["opened", "closed"]
    assert verify(sink.kept).problems == []


@pytest.mark.promise("A5")
def test_an_anchor_that_failed_is_made_without_calls(tmp_path: Path) -> None:
    class FailingAnchors(AnchorFile):
        is_away = False
        has_added = threading.Event()

        def add(self, event: AnchorEvent, facts: Mapping[str, object]) -> AnchorTip:
            if self.is_away:
                raise OSError(5, "no connection")
            tip = super().add(event, facts)
            if event is AnchorEvent.HEAD:
                self.has_added.set()
            return tip

    anchors = FailingAnchors(tmp_path / "anchors", tmp_path / "key.pem", tmp_path / "count")
    sink = StubbornSink()
    sink.is_full = False
    audit = QueuedAudit(
        sink, open_anchors=lambda: anchors, options=QueueOptions(anchor_every_lines=1)
    )
    # An anchor is made after a flush is answered, so a second flush ends after the anchor.
    audit.write(record(1))
    assert audit.flush() and audit.flush()
    anchors.is_away = True
    audit.write(record(2))
    assert audit.flush() and audit.flush()
    assert audit.is_failing
    anchors.has_added.clear()
    anchors.is_away = False
    assert anchors.has_added.wait(30)
    assert audit.flush() and audit.flush()
    assert not audit.is_failing
    audit.close()


@pytest.mark.promise("A5")
def test_a_full_queue_drops_reads_with_a_count_and_never_a_refusal() -> None:
    sink = StubbornSink()
    audit = QueuedAudit(sink, options=QueueOptions(most_waiting=10))
    # The thread that writes is not started before the queue is over-full, so that the test decides
    # what waits.
    audit._wake.set()
    for number in range(15):
        audit.write(record(number))
    for number in range(5):
        audit.write(record(100 + number, "refused"))
    sink.is_full = False
    assert audit.flush()
    audit.close()
    rows = [orjson.loads(line) for line in sink.kept]
    assert [row["request_id"] for row in rows if row["phase"] == "refused"] == [
        f"r{100 + number}" for number in range(5)
    ]
    assert [row["phase"] for row in rows if row["phase"].startswith("gap")] == [
        "gap of 5 records of reads"
    ]
    assert verify(sink.kept).problems == []


@pytest.mark.promise("A5")
def test_a_line_torn_by_a_full_disk_is_written_again_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "audit.jsonl"
    audit = JsonLinesAudit(file)
    audit.write(record(1))
    assert audit.flush()
    real_write = os.write
    halves = [True]

    def half(descriptor: int, text: bytes) -> int:
        return (
            real_write(descriptor, text[: len(text) // 2])
            if halves.pop()
            else real_write(descriptor, text)
        )

    monkeypatch.setattr(
        "carrel.stores.json_lines.audit.os.write",
        lambda d, t: half(d, t) if halves else real_write(d, t),
    )

    async def keep() -> None:
        with pytest.raises(AuditUnavailableError):
            await audit.write_durably(record(2))
        await audit.write_durably(record(3))

    asyncio.run(keep())
    audit.close()
    found = checked(file)
    assert (found.problems, found.torn_lines, found.lines) == ([], 1, 5)


@pytest.mark.promise("A5")
def test_secrets_are_masked_and_long_values_cut() -> None:
    shown = mask_parameters(
        {
            "api_key": "abc",
            "nested": {"Authorization": "Bearer x", "password": 1, "plain": "yes"},
            "list": [{"refresh_token": "t"}],
            "long": "x" * 1000,
            "many": list(range(100)),
            "deep": {"a": {"b": {"c": {"d": {"e": 1}}}}},
        }
    )
    assert isinstance(shown, dict)
    assert shown["api_key"] == "***"
    assert shown["nested"] == {"Authorization": "***", "password": "***", "plain": "yes"}
    assert shown["list"] == [{"refresh_token": "***"}]
    assert shown["long"].endswith("… (1000 characters)")
    assert len(shown["many"]) == 21
    assert "e" not in str(shown["deep"])
