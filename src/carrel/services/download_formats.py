"""What a downloaded file is, by its first bytes and never by what a server says of it."""

from __future__ import annotations

import re
from typing import Literal

DownloadFormat = Literal["pdf", "jats", "html", "tex"]
SNIFFED_BYTES = 65_536
_SUFFIXES: dict[DownloadFormat, str] = {
    "pdf": ".pdf",
    "jats": ".xml",
    "html": ".html",
    "tex": ".tex",
}
TITLES: dict[DownloadFormat, str] = {
    "pdf": "a PDF",
    "jats": "JATS XML",
    "html": "a web page",
    "tex": "TeX source",
}
# A PDF may have some bytes before its mark.
_PDF_BYTES = 1024
_PROLOGUE = re.compile(
    rb"^(?:\xef\xbb\xbf)?\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*(?:\[.*?\])?>\s*)*",
    re.DOTALL | re.IGNORECASE,
)
_HTML = re.compile(rb"<!doctype\s+html|<(?:html|head|body)\b", re.IGNORECASE)
_ARTICLE = re.compile(rb"<(?:[a-z]+:)?(?:article|pmc-articleset|book|book-part)\b", re.IGNORECASE)
_RECORD = re.compile(rb"<(?:oai-pmh|records?)\b", re.IGNORECASE)
_TEX = re.compile(
    rb"\\(?:document(?:class|style)|begin\s*\{|input\b|magnification\b|bye\b|section)"
)
_LOGIN = re.compile(
    rb"type\s*=\s*[\"']?password|captcha|cf-challenge|just a moment|shibboleth|openathens"
    rb"|(?:sign|log)[\s-]?in\b.{0,200}(?:institution|account|access)|access denied"
    rb"|enable (?:javascript|cookies)",
    re.IGNORECASE | re.DOTALL,
)


def sniff_format(head: bytes) -> DownloadFormat | None:
    """The format of a file by its beginning; None where it is none of those that are read."""
    if b"%PDF-" in head[:_PDF_BYTES]:
        return "pdf"
    if head[:2] == b"\x1f\x8b" or head[257:262] == b"ustar":
        return "tex"
    prologue = _PROLOGUE.match(head)
    root = head[prologue.end() if prologue else 0 :][:200]
    if _HTML.match(root) or _HTML.search(head[: prologue.end() if prologue else 0]):
        return "html"
    if _ARTICLE.match(root) or (_RECORD.match(root) and b"<article" in head):
        return "jats"
    if b"\0" not in head and _TEX.search(head):
        return "tex"
    return "html" if _HTML.search(head[:2000]) else None


def suffix_of(found: DownloadFormat, head: bytes) -> str:
    """How the name of such a file ends."""
    return ".gz" if head[:2] == b"\x1f\x8b" else _SUFFIXES[found]


def is_login_page(head: bytes) -> bool:
    """Whether a web page asks for a log-in or a proof of being human."""
    return _LOGIN.search(head) is not None
