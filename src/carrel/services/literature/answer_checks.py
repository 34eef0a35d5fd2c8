"""Whether an answer is whole and of the kind that was asked for; a failed one is never kept."""

from __future__ import annotations

import json
import re

import orjson

from carrel.services.fetching import HttpAnswer
from carrel.services.literature.announced_limits import service_key
from carrel.services.literature.errors import (
    BudgetSpentError,
    KeyRefusedError,
    RateLimitedError,
    ServiceFailedError,
    UnreadableAnswerError,
    WorkLookupError,
)

_HTML = re.compile(
    rb"\s*(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_ROOT = re.compile(rb"<([A-Za-z_][\w.:-]*)[^<>]*?(/?)>")
_BEFORE_ROOT = re.compile(
    rb"^\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*(?:\[.*?\])?>\s*)*", re.DOTALL
)
_TAIL_BYTES = 400
_PAGE = "it is a web page in place of"
# A page that a service sends with this status says that we ask too often, or have spent too much.
_RATE_IS_FORBIDDEN = frozenset({"openalex"})
_TOO_MANY_IS_BUDGET = frozenset({"openalex"})


def judge_answer(
    service: str,
    answer: HttpAnswer,
    accept: str,
    *,
    has_key: bool,
    retry_after_seconds: float | None = None,
) -> WorkLookupError | None:
    """The failure that an answer is, or None if the caller may have it.

    Statuses that say something about the question, such as 400, 404 or 414, are no failures here.
    """
    key, status = service_key(service), answer.status
    if status == 200:
        cause = find_fault(answer, accept)
        is_page = cause.startswith(_PAGE)
        return UnreadableAnswerError(service, cause, is_final=is_page) if cause else None
    if status == 403 and key in _RATE_IS_FORBIDDEN:
        cause = "it was asked too often in a second (status 403)"
        return RateLimitedError(service, cause, status, retry_after_seconds)
    if status == 401 or (status == 403 and has_key):
        cause = f"it does not accept the key (status {status})"
        if not has_key:
            cause = f"it wants a key (status {status})"
        return KeyRefusedError(service, cause, status)
    if status == 429 and key in _TOO_MANY_IS_BUDGET:
        cause = "what may be spent there today is spent (status 429)"
        return BudgetSpentError(service, cause, status, retry_after_seconds)
    if status == 429:
        cause = "it was asked too often (status 429)"
        return RateLimitedError(service, cause, status, retry_after_seconds)
    if status in {402, 403, 408, 425} or status >= 500:
        cause = f"it answered with status {status}"
        return ServiceFailedError(service, cause, status, retry_after_seconds)
    return None


def find_fault(answer: HttpAnswer, accept: str) -> str:
    """What is wrong with the body of a 200, in words; empty if it is whole."""
    body = answer.body
    if not body.strip():
        return "it is empty"
    wanted = f"{accept} {answer.content_type}".lower()
    is_page = _HTML.match(body[:4096]) is not None
    if "json" in accept.lower() or ("json" in wanted and "xml" not in accept.lower()):
        return _json_fault(body, is_page=is_page)
    if "xml" in accept.lower() or ("xml" in wanted and "html" not in wanted):
        return _xml_fault(body, is_page=is_page and "html" not in accept.lower())
    return ""


def _json_fault(body: bytes, *, is_page: bool) -> str:
    if is_page:
        return f"{_PAGE} JSON"
    try:
        orjson.loads(body)
        return ""
    except orjson.JSONDecodeError:
        pass
    try:
        # Takes NaN and lone surrogates, which services do send.
        json.loads(body)
    except (ValueError, RecursionError):
        is_begun = body.lstrip()[:1] in {b"{", b"["}
        return "it is JSON that breaks off or is damaged" if is_begun else "it is not JSON"
    return ""


def _xml_fault(body: bytes, *, is_page: bool) -> str:
    """Looks at both ends; whoever reads it finds what is wrong between."""
    if is_page:
        return f"{_PAGE} XML"
    start = _BEFORE_ROOT.match(body[:65_536])
    root = _ROOT.match(body, start.end() if start else 0)
    if root is None:
        return "it is not XML"
    if root.group(2):
        return ""
    tail = body[-_TAIL_BYTES:].rstrip()
    end = rb"</" + re.escape(root.group(1)) + rb"\s*>(?:\s*<!--.*-->)*$"
    is_whole = re.search(end, tail, re.DOTALL)
    return "" if is_whole else "it is XML that breaks off"
