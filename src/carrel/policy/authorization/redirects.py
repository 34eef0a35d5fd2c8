"""Which addresses a browser may be sent back to."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import SplitResult, urlsplit

from carrel.policy.origin import is_loopback

_LONGEST = 2000
# Schemes that run, show or read something by themselves instead of starting an app.
_DANGEROUS_SCHEMES = {
    "javascript", "data", "vbscript", "file", "ftp", "blob", "about", "ws", "wss", "mailto", "tel",
    "view-source", "filesystem", "urn",
}  # fmt: skip


def problem_with_redirect(uri: str, allowed_hosts: Collection[str] = ("*",)) -> str | None:
    """Why an address cannot be registered, or None when it can."""
    parts = _split(uri)
    if parts is None:
        return "it is not an absolute address of printable characters"
    if "#" in uri:
        return "it has a fragment"
    if parts.username is not None or parts.password is not None or "\\" in uri or "*" in parts.netloc:
        return "its host is not plain"
    match parts.scheme.lower():
        case "https":
            if not parts.hostname:
                return "it has no host"
            is_allowed = "*" in allowed_hosts or parts.hostname in allowed_hosts or is_loopback(parts.hostname)
            return None if is_allowed else f"{parts.hostname} is not among auth.redirect_hosts"
        case "http":
            return None if parts.hostname and is_loopback(parts.hostname) else "plain http is only for this machine itself"
        case scheme:
            return f"{scheme}: is not a scheme that starts an app" if scheme in _DANGEROUS_SCHEMES else None


def is_registered(uri: str, registered: Collection[str]) -> bool:
    """Whether an address is one of those registered: letter by letter, but a loopback address may use any port."""
    if uri in registered:
        return True
    asked = _split(uri)
    if asked is None or asked.scheme != "http" or not asked.hostname or not is_loopback(asked.hostname):
        return False
    return problem_with_redirect(uri) is None and any(_differs_in_port_only(asked, _split(known)) for known in registered)


def _differs_in_port_only(asked: SplitResult, known: SplitResult | None) -> bool:
    return known is not None and (known.scheme, known.hostname, known.path, known.query) == (
        asked.scheme, asked.hostname, asked.path, asked.query,
    )  # fmt: skip


def shown_address(uri: str) -> str:
    """The part of an address that tells a person where they will be sent."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else f"{parts.scheme}: (an app on this device)"


def form_action_source(uri: str) -> str:
    """The address as a Content-Security-Policy source, because browsers hold redirects after a form to the policy."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in {"http", "https"} else f"{parts.scheme}:"


def _split(uri: str) -> SplitResult | None:
    if not uri or len(uri) > _LONGEST or not uri.isascii() or not uri.isprintable() or any(sign in uri for sign in " \"'<>;,"):
        return None
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme and (parts.netloc or parts.path) else None
