"""Queries, forms and cookies as browsers and programs send them."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from carrel.doors.http.exchange import Exchange, Header
from carrel.policy.authorization.errors import OAuthError

_LARGEST_FORM = 64 * 1024
_MOST_FIELDS = 60


def query_of(exchange: Exchange) -> dict[str, list[str]]:
    return _parsed(exchange.scope.get("query_string", b""))


def form_of(exchange: Exchange) -> dict[str, list[str]]:
    content_type = exchange.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if content_type != b"application/x-www-form-urlencoded":
        raise OAuthError("invalid_request", "The body must be application/x-www-form-urlencoded")
    if len(exchange.body) > _LARGEST_FORM:
        raise OAuthError("invalid_request", "The form is too large")
    return _parsed(exchange.body)


def _parsed(text: bytes) -> dict[str, list[str]]:
    try:
        return parse_qs(
            text.decode("ascii"),
            keep_blank_values=True,
            max_num_fields=_MOST_FIELDS,
            encoding="utf-8",
            errors="strict",
        )
    except ValueError:
        raise OAuthError("invalid_request", "The parameters cannot be read") from None


def cookie_of(exchange: Exchange, name: str) -> str | None:
    try:
        found = SimpleCookie(exchange.headers.get(b"cookie", b"").decode("latin-1")).get(name)
    except CookieError:
        return None
    return None if found is None else found.value


def set_cookie(name: str, value: str, *, seconds: int, is_secure: bool) -> Header:
    """A cookie that scripts cannot read and other sites cannot send with a form."""
    secure = "; Secure" if is_secure else ""
    return (
        b"set-cookie",
        f"{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}".encode(),
    )
