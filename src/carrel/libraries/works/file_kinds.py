"""What a file is, by its content first and its name second: a paper, a bibliography, or neither."""

from __future__ import annotations

import re
from enum import Enum

from carrel.libraries.bibliography import InputKind, is_bibliography, recognise
from carrel.libraries.text.front_matter import (
    FrontMatterError,
    load_front_matter,
    split_front_matter,
)

# How much of a file must be handed over for its kind to be told.
HEAD_BYTES = 64 * 1024
# What papers are made of, in words.
KINDS_TAKEN = "a PDF, JATS XML, Markdown, BibTeX, RIS, CSL-JSON or JSON lines"
# The PDF standard lets a file begin with other bytes before its header.
_PDF_HEADER_WITHIN = 1024
_ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"\xfd7zXZ\x00", b"7z\xbc\xaf", b"Rar!")
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"II*\x00", b"MM\x00*", b"BM")
_JATS = re.compile(rb"<(?:article|pmc-articleset)[\s>]|//NLM//DTD|JATS", re.IGNORECASE)
_SVG = re.compile(rb"<svg[\s>]|<!doctype svg", re.IGNORECASE)
# Comments, then a first command that only TeX sources begin with.
_TEX = re.compile(
    rb"(?:[ \t]*+(?:%[^\r\n]*+)?+[\r\n]++)*+[ \t]*+"
    rb"\\(?:documentclass\b|documentstyle\b|begin[ \t]{0,9}\{document\})"
)
_HTML = re.compile(rb"<!doctype html|<html[\s>]", re.IGNORECASE)
_ONE_JSON_OBJECT_A_LINE = re.compile(rb"\s*\{[^\n]*\}\s*(?:\n|\Z)")
_JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.xz", ".ndjson.gz", ".ndjson.xz")
_MARKDOWN = (".md", ".markdown")

# Names of front matter that say which work a text is, and those that describe one.
_IDENTIFYING = frozenset({"doi", "arxiv", "arxiv_id", "arxivid", "pmid", "pmcid", "eprint"})
_AUTHORS = frozenset({"authors", "author"})
_DESCRIBING = frozenset(
    {"abstract", "journal", "venue", "year", "publication_date", "volume", "booktitle"}
)
# Names that tools give to notes about works, which name the work as well.
_NOTE_NAMES = frozenset({"citekey", "aliases", "alias", "cssclasses", "status", "related", "up"})
_WIKILINK = re.compile(r"\[\[[^\[\]\n]{1,300}\]\]")
_ABSTRACT = re.compile(r"^#{1,3}[ \t]+(?:\d+\.?[ \t]+)?abstract\b", re.IGNORECASE | re.MULTILINE)
_REFERENCES = re.compile(
    r"^#{1,3}[ \t]+(?:\d+\.?[ \t]+)?(?:references|bibliography|literature cited)\b",
    re.IGNORECASE | re.MULTILINE,
)


class FileKind(Enum):
    """The kinds of files that are told apart."""

    PDF = "pdf"
    JATS = "jats"
    BIBLIOGRAPHY = "bibliography"
    JSON_RECORDS = "json records"
    MARKDOWN = "markdown"
    TEXT = "text"
    EMPTY = "empty"
    ARCHIVE = "archive"
    PICTURE = "picture"
    TEX = "tex"
    UNKNOWN = "unknown"


def recognise_file(name: str, head: bytes) -> FileKind:
    """The kind of a file with this name and these first bytes (HEAD_BYTES of them, or all)."""
    lower = name.lower()
    if not head.strip(b"\xef\xbb\xbf \t\r\n"):
        return FileKind.EMPTY
    if b"%PDF-" in head[:_PDF_HEADER_WITHIN]:
        return FileKind.PDF
    if lower.endswith(_JSON_LINES):
        return FileKind.JSON_RECORDS
    if head.startswith(_ARCHIVES):
        return FileKind.ARCHIVE
    if head.startswith(_PICTURES) or head[8:12] == b"WEBP":
        return FileKind.PICTURE
    if b"\x00" in head[:4096]:
        return FileKind.UNKNOWN
    return _recognise_text(lower, head)


def _recognise_text(name: str, head: bytes) -> FileKind:
    text = _decode(head)
    start = head[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"<") and _JATS.search(start):
        return FileKind.JATS
    if start.startswith(b"<") and _SVG.search(start):
        return FileKind.PICTURE
    if _TEX.match(start):
        return FileKind.TEX
    if _HTML.match(start):
        return FileKind.UNKNOWN
    if b'"paper_title"' in start:
        return FileKind.JSON_RECORDS
    if name.endswith(_MARKDOWN):
        return FileKind.MARKDOWN if text is not None else FileKind.UNKNOWN
    if start[:1] in (b"{", b"["):
        is_csl = b'"title"' in head and b'"type"' in head
        return FileKind.BIBLIOGRAPHY if is_csl else FileKind.UNKNOWN
    # Old bibliographies are in Latin-1; their readers know how to read that.
    if is_bibliography(head.decode("utf-8", "replace")):
        return FileKind.BIBLIOGRAPHY
    return FileKind.UNKNOWN if text is None else FileKind.TEXT


def _decode(head: bytes) -> str | None:
    """The text, whose last character may be cut if there is more; None if it is not UTF-8."""
    try:
        return head.decode("utf-8")
    except UnicodeDecodeError as error:
        is_cut = len(head) >= HEAD_BYTES and error.start >= len(head) - 3
        return head[: error.start].decode() if is_cut else None


def is_paper_text(text: str) -> bool:
    """Whether a Markdown text is a paper rather than a note, which may be about a paper.

    A paper names itself in its front matter, or has both an abstract and references; a note has
    links to other notes, or names that tools for notes write.
    """
    split = split_front_matter(text)
    body = split.body
    names: set[str] = set()
    if split.block is not None:
        try:
            names = {name.lower() for name in load_front_matter(split.block)}
        except FrontMatterError:
            names = set()
    if names & _NOTE_NAMES or _WIKILINK.search(body):
        return False
    if names & _IDENTIFYING or (names & _AUTHORS and names & _DESCRIBING):
        return True
    return bool(_ABSTRACT.search(body) and _REFERENCES.search(body))


_LIST_ENDINGS: dict[InputKind | None, str] = {
    InputKind.RIS: ".ris",
    InputKind.NBIB: ".nbib",
    InputKind.REFER: ".enw",
    InputKind.BIBTEX: ".bib",
}
# The ending under which a file of a kind is kept where only its content is known.
_ENDINGS = {FileKind.PDF: ".pdf", FileKind.JATS: ".xml", FileKind.MARKDOWN: ".md"}


def file_ending(kind: FileKind, head: bytes) -> str | None:
    """The ending that readers of the kind expect; None for what is no paper or is packed."""
    if head.startswith(_ARCHIVES):
        return None
    if kind is FileKind.TEXT:
        return ".md"
    if kind is FileKind.BIBLIOGRAPHY:
        start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        kind_of_list = recognise(head.decode("utf-8", "replace"))
        return {b"[": ".json", b"{": ".json", b"<": ".xml"}.get(start) or _LIST_ENDINGS.get(
            kind_of_list, ".bib"
        )
    if kind is FileKind.JSON_RECORDS:
        return ".jsonl" if _ONE_JSON_OBJECT_A_LINE.match(head) else ".json"
    return _ENDINGS.get(kind)
