"""What is written down: masked, chained, and there when the call may change something."""

from __future__ import annotations

import asyncio
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from carrel.policy.audit import AuditRecord, Chain, mask_parameters
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


def test_what_is_just_short_enough_is_kept_whole_at_every_depth() -> None:
    text, longer = "x" * 500, "x" * 501
    cut = f"{text}… (501 characters)"
    items, more = {f"k{n}": n for n in range(20)}, {f"k{n}": n for n in range(21)}
    kept = {**{f"k{n}": n for n in range(20)}, "…": "1 more"}
    assert mask_parameters({"a": text, "b": longer, "c": None, "d": 1.5, "e": True}) == {
        "a": text, "b": cut, "c": None, "d": 1.5, "e": True,
    }  # fmt: skip
    assert mask_parameters({"in": {"a": text, "b": longer, "c": None, "d": 1.5}}) == {
        "in": {"a": text, "b": cut, "c": None, "d": 1.5}
    }
    assert mask_parameters(items) == items
    assert mask_parameters(more) == kept
    assert mask_parameters({"in": items}) == {"in": items}
    assert mask_parameters({"in": more}) == {"in": kept}
    assert mask_parameters({"in": list(range(20))}) == {"in": list(range(20))}
    assert mask_parameters({"in": tuple(range(21))}) == {"in": [*range(20), "… 1 more"]}
    assert mask_parameters({"k" * 101: 1, "in": {"k" * 101: 1}}) == {
        "k" * 100: 1,
        "in": {"k" * 100: 1},
    }
    assert mask_parameters({"a": {"b": {"c": {"d": 1}}}}) == {"a": {"b": {"c": {"d": 1}}}}
    assert mask_parameters({"a": {"b": {"c": {"d": {}}}}}) == {"a": {"b": {"c": {"d": "…"}}}}
    assert mask_parameters({"a": [[[1]]]}) == {"a": [[[1]]]}
    assert mask_parameters({"a": [[[[1]]]]}) == {"a": [[["…"]]]}
    assert mask_parameters(None) == mask_parameters({}) == {}


def test_a_line_names_only_what_there_is() -> None:
    bare = json.loads(Chain("a").line(record(parameters=None)))
    assert not {"client_id", "parameters", "error_code", "duration_ms", "after"} & set(bare)
    chain = Chain("a", "f" * 64)
    full = json.loads(
        chain.line(record(client_id="c", parameters={}, error_code="e", duration_ms=0.0))
    )
    assert (full["client_id"], full["parameters"], full["error_code"]) == ("c", {}, "e")
    assert (full["duration_ms"], full["after"]) == (0.0, "f" * 64)
    assert "after" not in json.loads(chain.line(record())), "only the first line names it"


def test_a_line_that_is_too_large_keeps_the_size_and_hash_of_its_parameters() -> None:
    def line(signs: int) -> dict[str, object]:
        content = {"q": "x" * signs}
        facts: dict[str, object] = json.loads(Chain("a").line(record(parameters=content)))
        return facts

    chained = {"chain", "sequence", "previous", "hash"}
    body = {name: value for name, value in line(0).items() if name not in chained}
    most = 32 * 1024 - len(json.dumps(body, separators=(",", ":")).encode())
    assert line(most)["parameters"] == {"q": "x" * most}
    shortened = line(most + 1)
    assert isinstance(shortened["parameters"], dict)
    assert shortened["parameters"]["left_out_bytes"] == 32 * 1024 + 1
    assert len(shortened["parameters"]["sha256"]) == 64
    assert (shortened["user_id"], shortened["action"]) == ("ada", "tool:x")
    long_name = json.loads(Chain("a").line(record(user_agent="u" * 40_000)))
    assert long_name["user_agent"] == "u" * 300


def test_what_json_cannot_hold_is_written_as_it_looked() -> None:
    odd = json.loads(Chain("a").line(record(parameters={"n": 2**70})))
    assert odd["parameters"] == str({"n": 2**70})
    assert odd["timestamp"] == "2026-01-01T00:00:00+00:00"
