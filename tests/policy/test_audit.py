"""What is written down: masked, chained, and there when the call may change something."""

from __future__ import annotations

import asyncio
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from carrel.policy.audit import AuditRecord, mask_parameters
from carrel.stores.json_lines.audit import JsonLinesAudit

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def record(**changes: object) -> AuditRecord:
    facts: dict[str, object] = {
        "timestamp": datetime(2026, 1, 1, tzinfo=UTC),
        "request_id": "r",
        "phase": "started",
        "user_id": "ada",
        "client_id": None,
        "door": "test",
        "action": "tool:x",
        "resource": "mcp://tools/x",
        "parameters": {"q": "é"},
        "result": "started",
        "error_code": None,
        "duration_ms": None,
        "ip_address": "127.0.0.1",
        "user_agent": "pytest",
    }
    return AuditRecord(**{**facts, **changes})  # type: ignore[arg-type]


def test_secrets_are_never_written() -> None:
    shown = mask_parameters(
        {
            "api_key": "abc",
            "Password": "x",
            "deep": {"access_token": "y", "list": [{"client_secret": "z"}]},
            "q": "ok",
        }
    )
    assert shown == {
        "api_key": "***",
        "Password": "***",
        "deep": {"access_token": "***", "list": [{"client_secret": "***"}]},
        "q": "ok",
    }


def test_long_values_are_cut_and_say_how_long_they_were() -> None:
    shown = mask_parameters({"content": "x" * 5000, "many": list(range(100))})
    assert len(str(shown)) < 900
    assert "5000 characters" in str(shown)
    assert "80 more" in str(shown)


@given(st.dictionaries(st.text(), JSON, max_size=30))
def test_whatever_was_sent_can_be_written_down(parameters: dict[str, object]) -> None:
    assert len(json.dumps(mask_parameters(parameters))) < 200_000


def test_each_line_carries_the_hash_of_the_one_before(tmp_path: Path) -> None:
    audit = JsonLinesAudit(tmp_path / "audit.jsonl")
    for number in range(3):
        audit.write(record(request_id=str(number)))
    audit.close()
    lines = (tmp_path / "audit.jsonl").read_bytes().splitlines()
    previous = "0" * 64
    for line in lines:
        facts = json.loads(line)
        assert facts["previous"] == previous
        body = line[: line.rindex(b',"hash":')] + b"}"
        assert hashlib.sha256(body).hexdigest() == facts["hash"]
        previous = facts["hash"]
    assert [json.loads(line)["phase"] for line in lines] == [
        "opened",
        "started",
        "started",
        "started",
        "closed",
    ]
    assert [json.loads(line)["sequence"] for line in lines] == [1, 2, 3, 4, 5]


def test_a_required_record_is_in_the_file_when_it_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"

    async def scene() -> int:
        audit = JsonLinesAudit(file)
        audit.write(record())
        await audit.write_durably(record())
        kept = len(file.read_bytes().splitlines())
        audit.close()
        return kept

    assert asyncio.run(scene()) == 3


def test_the_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    audit = JsonLinesAudit(tmp_path / "audit.jsonl")
    audit.write(record())
    audit.close()
    assert (tmp_path / "audit.jsonl").stat().st_mode & 0o777 == 0o600
