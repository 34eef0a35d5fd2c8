"""Responses of the console with the headers that keep a browser safe."""

from __future__ import annotations

import gzip
import re
from urllib.parse import quote

from carrel.core.pages import PageFile, PageStream
from carrel.doors.http.messages import Header, HttpRequest, Response, StreamedResponse

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types carrel",
    )
)
# What a file may do where it is opened alone: an SVG drawing would otherwise run its scripts.
_FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
# For answers to programs and for what leads on: nothing in them is ever to be shown.
NOTHING_POLICY: Header = (
    b"content-security-policy",
    b"default-src 'none'; frame-ancestors 'none'; sandbox",
)
_PERMISSIONS = "camera=(), microphone=(), geolocation=(), payment=(), usb=()"

SECURITY_HEADERS: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # Not no-referrer: browsers then send `Origin: null`, which the origin check refuses.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", _PERMISSIONS.encode()),
)
_VARY: Header = (b"vary", b"cookie, accept-language, accept-encoding")
_HTML: Header = (b"content-type", b"text/html; charset=utf-8")
_SMALL_BYTES = 2_000
# Higher levels save a few per cent and cost twice the time.
_COMPRESSION_LEVEL = 4
_LOCAL_PATH = re.compile(r"/(?![/\\])[\x21-\x7e]*")


def html_response(
    status: int, body: str, headers: tuple[Header, ...] = (), *, is_secret: bool = False
) -> Response:
    kept = b"no-store" if is_secret else b"private, no-cache"
    return Response(
        status,
        # Half a surrogate pair, which JSON may hold, is no character.
        body.encode(errors="replace"),
        (
            _HTML,
            (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
            (b"cache-control", kept),
            _VARY,
            *SECURITY_HEADERS,
            *headers,
        ),
    )


def compress_page(request: HttpRequest, response: Response) -> Response:
    """The page packed, if it is large enough and the browser takes it."""
    if len(response.body) < _SMALL_BYTES or _HTML not in response.headers:
        return response
    if b"gzip" not in request.headers.get(b"accept-encoding", b""):
        return response
    packed = gzip.compress(response.body, _COMPRESSION_LEVEL, mtime=0)
    return Response(response.status, packed, (*response.headers, (b"content-encoding", b"gzip")))


def redirect_response(to: str, headers: tuple[Header, ...] = ()) -> Response:
    """Go there and read; only addresses of our own."""
    return Response(
        303,
        b"",
        (
            (b"location", local_path(to).encode("ascii")),
            (b"cache-control", b"no-store"),
            NOTHING_POLICY,
            *SECURITY_HEADERS,
            *headers,
        ),
    )


def file_response(file: PageFile) -> Response:
    kept = f"private, max-age={file.keep_seconds}" if file.keep_seconds else "private, no-cache"
    named = (_disposition(file.file_name),) if file.file_name else ()
    return Response(
        200,
        file.body,
        (
            (b"content-type", file.media_type.encode("ascii")),
            (b"content-security-policy", _FILE_POLICY.encode()),
            (b"cache-control", kept.encode()),
            _VARY,
            *SECURITY_HEADERS,
            *named,
        ),
    )


def stream_response(file: PageStream) -> StreamedResponse:
    """A file in pieces, which no browser keeps beside the saved one."""
    length = () if file.size_bytes is None else ((b"content-length", b"%d" % file.size_bytes),)
    return StreamedResponse(
        200,
        file.pieces,
        (
            (b"content-type", file.media_type.encode("ascii")),
            (b"content-security-policy", _FILE_POLICY.encode()),
            (b"cache-control", b"no-store"),
            *SECURITY_HEADERS,
            _disposition(file.file_name),
            *length,
        ),
    )


def _disposition(file_name: str) -> Header:
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", file_name)[:100]
    quoted = quote(file_name[:200], safe="")
    text = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quoted}"
    return (b"content-disposition", text.encode("ascii"))


def local_path(text: str) -> str:
    """The text if it is an address on this server, else the first page.

    Browsers read `//host`, `/\\host` and a tab within as another host.
    """
    quoted = quote(text, safe="%/:@!$&'()*+,;=~-._?#[]")
    return quoted if len(quoted) <= 8_000 and _LOCAL_PATH.fullmatch(quoted) else "/"
