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
_SEARCHED_BYTES = 20_000
_ERROR_NAMES = ("error", "ERROR", "errCode", "errMsg")
_ERROR_IN_JSON = re.compile(rb'"(?:error|errCode|errMsg)"', re.IGNORECASE)
_ERROR_IN_XML = re.compile(rb"<(?:ERROR|error|errMsg)>|/api/errors")
_ATOM_TOTAL = re.compile(rb"totalResults[^>]{0,200}>\s*([0-9]{1,9})\s*<")
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


def is_worth_keeping(answer: HttpAnswer) -> bool:
    """Whether a later call may have the answer: not one that tells of an error in a 200.

    Whether it is an error is for whoever reads it; asking once more is all that a doubt costs.
    """
    if answer.status != 200:
        return True
    head = answer.body[:_SEARCHED_BYTES]
    if _ERROR_IN_XML.search(head):
        return False
    total = _ATOM_TOTAL.search(head)
    if total is not None and int(total.group(1)) and b"<entry" not in answer.body:
        # arXiv gives an empty page inside of the total now and then.
        return False
    if answer.body.lstrip()[:1] != b"{" or not _ERROR_IN_JSON.search(answer.body):
        return True
    try:
        found = orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        return False
    inner = found.get("esearchresult")
    parts = [found, inner if isinstance(inner, dict) else {}]
    return not any(part.get(name) for part in parts for name in _ERROR_NAMES)


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
