"""The normal form of a request: equal for equal questions, and free of keys and addresses."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

# Who asks, and not what is asked.
_NOT_OF_THE_QUESTION = frozenset({"mailto", "email", "api_key", "tool"})


@dataclass(frozen=True, slots=True)
class RequestKey:
    """What makes two requests the same question. The scheme is not part of it."""

    method: str
    host: str
    path: str
    parameters: tuple[tuple[str, str], ...]
    body: str = ""

    @property
    def digest(self) -> str:
        parts = [self.method, self.host, self.path, [list(pair) for pair in self.parameters]]
        text = json.dumps([*parts, self.body], ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()


def request_key(method: str, url: str, body: str = "") -> RequestKey:
    """Parameters in any order, escaped in any way; `body` is JSON or a form, as it was sent."""
    parts = urlsplit(url)
    port = "" if parts.port in {None, 80, 443} else f":{parts.port}"
    return RequestKey(
        method.upper(),
        f"{(parts.hostname or '').lower()}{port}",
        unquote(parts.path).rstrip("/") or "/",
        _pairs(parts.query),
        _normal_body(body),
    )


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    found = parse_qsl(text, keep_blank_values=True)
    return tuple(sorted(pair for pair in found if pair[0].lower() not in _NOT_OF_THE_QUESTION))


def _normal_body(body: str) -> str:
    if not body:
        return ""
    try:
        return json.dumps(json.loads(body), sort_keys=True, separators=(",", ":"))
    except ValueError:
        return json.dumps([list(pair) for pair in _pairs(body) if pair[1]])
