"""JSON-RPC messages: what is a request, what is answered, and with which words it is refused."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from carrel.core.errors import NotFoundError, RateLimitExceededError
from carrel.doors.json_input import salvage_request_id
from carrel.doors.mcp.json_rpc import (
    META_CAPABILITIES,
    META_VERSION,
    MOST_MESSAGES_IN_A_BATCH,
    ProtocolError,
    Reply,
    check_batch,
    check_envelope,
    check_message,
    failure,
    names_modern_version,
    progress_notification,
    progress_token,
    protocol_failure,
    refusal,
)

GOOD = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def refused(message: object, *, is_modern: bool = False) -> tuple[object, int, str, int]:
    reply = check_message(message, is_modern=is_modern)
    assert isinstance(reply, Reply)
    facts = orjson.loads(reply.body)
    return facts["id"], facts["error"]["code"], facts["error"]["message"], reply.status


def test_a_request_is_read_and_what_wants_no_answer_gets_none() -> None:
    assert check_message(GOOD, is_modern=False) == (1, "ping", {})
    named = {**GOOD, "id": "a", "params": {"x": 1}}
    assert check_message(named, is_modern=True) == ("a", "ping", {"x": 1})
    assert check_message({"jsonrpc": "2.0", "method": "ping"}, is_modern=False) is None
    for name in ("result", "error"):
        answer: dict[str, object] = {"jsonrpc": "2.0", "id": 1, name: {}}
        assert check_message(answer, is_modern=False) is None
        assert refused(answer, is_modern=True)[2] == 'Invalid request: "method" must be a string'


@pytest.mark.parametrize(
    ("message", "shown_id", "words"),
    [
        ([], None, "a message must be a JSON object"),
        ({**GOOD, "jsonrpc": "1.0"}, 1, '"jsonrpc" must be "2.0"'),
        ({**GOOD, "jsonrpc": "1.0", "id": True}, None, '"jsonrpc" must be "2.0"'),
        ({**GOOD, "method": 7}, 1, '"method" must be a string'),
        ({"jsonrpc": "2.0", "id": 1}, 1, '"method" must be a string'),
        ({**GOOD, "method": None, "result": {}}, 1, '"method" must be a string'),
        ({**GOOD, "id": None}, None, '"id" must be a string or an integer'),
        ({**GOOD, "id": True}, None, '"id" must be a string or an integer'),
        ({**GOOD, "id": 1.5}, None, '"id" must be a string or an integer'),
    ],
)
def test_what_is_no_request_is_refused_with_the_reason(
    message: object, shown_id: object, words: str
) -> None:
    assert refused(message) == (shown_id, -32600, f"Invalid request: {words}", 400)


def test_params_that_are_no_object_are_refused_in_the_form_of_the_era() -> None:
    wrong = {**GOOD, "params": []}
    assert refused(wrong) == (1, -32602, "params must be an object", 200)
    assert refused(wrong, is_modern=True) == (1, -32602, "params must be an object", 400)


def test_an_envelope_lacks_nothing() -> None:
    good = {META_VERSION: "2026-07-28", META_CAPABILITIES: {}}
    check_envelope({"_meta": good})
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "params._meta must be an object with"),
        ({"_meta": []}, "params._meta must be an object with"),
        ({"_meta": {META_VERSION: "2026-07-28"}}, f"params._meta lacks {META_CAPABILITIES}"),
        ({"_meta": {META_CAPABILITIES: {}}}, f"params._meta lacks {META_VERSION}"),
        ({"_meta": {**good, META_VERSION: 7}}, f"{META_VERSION} must be a string"),
        ({"_meta": {**good, META_VERSION: "2025-06-18"}}, "Unsupported protocol version"),
        ({"_meta": {**good, META_CAPABILITIES: []}}, f"{META_CAPABILITIES} must be an object"),
    ]
    for params, words in wrong:
        with pytest.raises(ProtocolError) as found:
            check_envelope(params)
        assert found.value.message.startswith(words)


def test_a_batch_is_as_long_as_it_may_be() -> None:
    def problem(count: int, version: str = "2025-03-26") -> str | None:
        reply = check_batch([GOOD] * count, version)
        if reply is None:
            return None
        assert reply.status == 400
        return str(orjson.loads(reply.body)["error"]["message"])

    assert problem(1) is None
    assert problem(MOST_MESSAGES_IN_A_BATCH) is None
    assert "a batch of 101 messages" in str(problem(MOST_MESSAGES_IN_A_BATCH + 1))
    assert "an empty batch" in str(problem(0))
    assert "has no batches" in str(problem(1, "2025-06-18"))


def test_progress_is_sent_under_the_token_that_was_given() -> None:
    assert progress_token({"_meta": {"progressToken": "t"}}) == "t"
    assert progress_token({"_meta": {"progressToken": 0}}) == 0
    odd: list[dict[str, Any]] = [
        {},
        {"_meta": []},
        {"_meta": {}},
        {"_meta": {"progressToken": True}},
    ]
    for params in odd:
        assert progress_token(params) is None
    full = orjson.loads(progress_notification("t", 1.0, 2.0, "half"))["params"]
    assert full == {"progressToken": "t", "progress": 1.0, "total": 2.0, "message": "half"}
    bare = orjson.loads(progress_notification("t", 1.0, None, None))["params"]
    assert bare == {"progressToken": "t", "progress": 1.0}


def test_failures_carry_their_data_and_status() -> None:
    assert "data" not in orjson.loads(failure(1, -1, "no").body)["error"]
    assert orjson.loads(failure(1, -1, "no", {}).body)["error"]["data"] == {}
    unknown = ProtocolError(-32601, "no such method")
    assert protocol_failure(1, unknown, is_modern=True).status == 404
    assert protocol_failure(1, unknown, is_modern=False).status == 200
    assert protocol_failure(1, ProtocolError(-1, "x"), is_modern=True).status == 200
    waits = refusal(1, RateLimitExceededError(7))
    assert (waits.status, waits.headers) == (429, ((b"retry-after", b"7"),))
    assert orjson.loads(waits.body)["error"]["data"]["retry_after"] == 7
    missing = refusal(1, NotFoundError("note", "n1"))
    assert (missing.status, missing.headers) == (404, ())
    assert "retry_after" not in orjson.loads(missing.body)["error"]["data"]


def test_the_era_is_read_from_the_envelope() -> None:
    assert names_modern_version({"params": {"_meta": {META_VERSION: 7}}})
    others: list[Any] = [
        [],
        {},
        {"params": []},
        {"params": {"_meta": []}},
        {"params": {"_meta": {}}},
    ]
    for message in others:
        assert not names_modern_version(message)


def test_an_id_is_saved_from_a_message_that_cannot_be_taken() -> None:
    for raw, found in {
        b'{"id":7}': 7,
        b'{"id":"a"}': "a",
        b'{"id":9007199254740991}': 2**53 - 1,
        b'{"id":9007199254740992}': None,
        b'{"id":-9007199254740992}': None,
        b'{"id":true}': None,
        b'{"id":1.5}': None,
        b'{"id":"\\ud800"}': None,
        b"[7]": None,
        b"{": None,
        b'{"id":7}' + b" " * (1024 * 1024 - 8): 7,
        b'{"id":7}' + b" " * (1024 * 1024 - 7): None,
    }.items():
        assert salvage_request_id(raw) == found, raw[:40]
