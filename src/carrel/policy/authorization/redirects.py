"""Which redirect addresses are safe: web sites, this machine, and apps by their own scheme."""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import SplitResult, parse_qsl, urlsplit

from carrel.policy.origin import Authority, MalformedAuthorityError, is_loopback

LONGEST_REDIRECT = 2000
# Known MCP clients whose scheme is not a reversed domain; each asks the person before it acts on an
# address. `auth.redirect_schemes` replaces this list.
APP_SCHEMES = (
    "antigravity", "claude", "cursor", "goose", "kiro", "lmstudio", "raycast", "trae", "vscode",
    "vscode-insiders", "vscodium",
    "windsurf", "windsurf-next", "zed",
)  # fmt: skip
# First labels of a private-use scheme besides country codes (RFC 8252, 7.1: reversed domain).
_TOP_LEVEL_DOMAINS = frozenset(
    {
        "academy", "app", "biz", "blog", "chat", "cloud", "codes", "com", "community", "dev",
        "digital", "edu", "foundation", "gov",
        "group", "health", "info", "institute", "int", "live", "media", "mil", "mobi", "name",
        "net", "network", "news", "online",
        "org", "page", "pro", "run", "science", "site", "software", "space", "studio", "systems",
        "team", "tech", "technology",
        "tools", "university", "wiki", "works", "world", "xyz", "zone",
    }
)  # fmt: skip
# Handlers of operating system vendors: they start parts of the system, not a client.
_SYSTEM_DOMAINS = ("com.microsoft.", "com.apple.", "com.android.")
# Refused even if the operator lists them: they run, show, read or fetch something themselves.
_NEVER = frozenset(
    {
        "about", "blob", "chrome", "chrome-extension", "content", "data", "facetime", "feed",
        "file", "filesystem", "ftp", "ftps",
        "gopher", "help", "http", "https", "intent", "itms-services", "jar", "javascript", "ldap",
        "ldaps", "mailto", "mhtml",
        "moz-extension", "nfs", "resource", "res", "search", "search-ms", "sftp", "shell", "sip",
        "sips", "smb", "sms", "ssh", "tel",
        "telnet", "urn", "vbscript", "view-source", "wais", "ws", "wss", "wyciwyg",
    }
)  # fmt: skip
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{0,63}")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
# Our own answer adds these; an address that has one already would let two readers see two answers.
_ANSWERED = frozenset({"code", "state", "iss", "error", "error_description"})
_ONLY_FOR_THIS_MACHINE = "plain http is only for this machine itself"


def problem_with_scheme(scheme: str) -> str | None:
    """Why the operator cannot name a scheme as an app's, or None."""
    if not _SCHEME.fullmatch(scheme):
        return "a scheme is letters, digits, + - and . in lower case"
    if _is_dangerous(scheme):
        return "it starts something by itself instead of an app"
    return None


def problem_with_redirect(
    uri: str, allowed_hosts: Collection[str] = ("*",), app_schemes: Collection[str] = APP_SCHEMES
) -> str | None:
    """Why an address cannot be registered, or None when it can."""
    parts = _split(uri)
    if parts is None:
        return f"it is not an absolute address of at most {LONGEST_REDIRECT} printable characters"
    if "#" in uri:
        return "it has a fragment"
    if "*" in uri:
        return "it has a wildcard"
    if "\\" in uri or "@" in parts.netloc:
        return "its host is not plain"
    if not _ANSWERED.isdisjoint(name for name, _ in parse_qsl(parts.query, keep_blank_values=True)):
        return "its query has a parameter of the answer"
    match parts.scheme:
        case "https":
            host = _host(parts)
            if host is None:
                return "it has no plain host"
            is_allowed = "*" in allowed_hosts or host in allowed_hosts or is_loopback(host)
            return None if is_allowed else f"{host} is not among auth.redirect_hosts"
        case "http":
            host = _host(parts)
            return None if host is not None and is_loopback(host) else _ONLY_FOR_THIS_MACHINE
        case scheme:
            return _problem_with_app(scheme, parts, app_schemes)


def _problem_with_app(scheme: str, parts: SplitResult, app_schemes: Collection[str]) -> str | None:
    if _is_dangerous(scheme) or not (scheme in app_schemes or _is_reversed_domain(scheme)):
        return (
            f"{scheme[:40]}: is not the scheme of an app known here; use https, a loopback "
            f"address, or a domain of yours written "
            "backwards such as com.example.app:/callback (the operator may name others in "
            "auth.redirect_schemes)"
        )
    if not parts.netloc and not parts.path.startswith("/"):
        return "an app's address goes on with a slash, such as com.example.app:/callback"
    return None


def _is_dangerous(scheme: str) -> bool:
    return scheme in _NEVER or scheme.startswith(
        ("ms-", "microsoft-", "windows", "chrome", "x-apple")
    )


def _is_reversed_domain(scheme: str) -> bool:
    labels = scheme.split(".")
    first = labels[0]
    if len(labels) < 2 or not all(_LABEL.fullmatch(label) for label in labels):
        return False
    # Windows takes names such as ie.http for schemes, too.
    if (len(labels) == 2 and _is_dangerous(labels[1])) or f"{scheme}.".startswith(_SYSTEM_DOMAINS):
        return False
    return (len(first) == 2 and first.isalpha()) or first in _TOP_LEVEL_DOMAINS


def is_registered(uri: str, registered: Collection[str]) -> bool:
    """Whether an address is registered, exactly; a loopback address may use any port."""
    if uri in registered:
        return True
    asked = _split(uri)
    if (
        asked is None
        or asked.scheme != "http"
        or not asked.hostname
        or not is_loopback(asked.hostname)
    ):
        return False
    return problem_with_redirect(uri) is None and any(
        _differs_in_port_only(asked, _split(known)) for known in registered
    )


def _differs_in_port_only(asked: SplitResult, known: SplitResult | None) -> bool:
    return known is not None and (known.scheme, known.hostname, known.path, known.query) == (
        asked.scheme, asked.hostname, asked.path, asked.query,
    )  # fmt: skip


def display_address(uri: str) -> str:
    """The part of a redirect address that identifies its destination to a person."""
    parts = urlsplit(uri)
    return (
        f"{parts.scheme}://{parts.netloc}"
        if parts.netloc
        else f"{parts.scheme}: (an app on this device)"
    )


def form_action_source(uri: str) -> str:
    """The address as a Content-Security-Policy source for the form's redirect."""
    parts = urlsplit(uri)
    return (
        f"{parts.scheme}://{parts.netloc}"
        if parts.scheme in {"http", "https"}
        else f"{parts.scheme}:"
    )


def _host(parts: SplitResult) -> str | None:
    """The host in canonical form, or None if parsers could disagree about it."""
    try:
        return Authority.parse(parts.netloc).host
    except MalformedAuthorityError:
        return None


def _split(uri: str) -> SplitResult | None:
    if (
        not uri
        or len(uri) > LONGEST_REDIRECT
        or not uri.isascii()
        or not uri.isprintable()
        or any(sign in uri for sign in " \"'<>;,`{}|^")
    ):
        return None
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme and (parts.netloc or parts.path) else None
