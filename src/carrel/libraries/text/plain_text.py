"""Markdown as plain text for search indexes."""

from __future__ import annotations

import re

from carrel.libraries.text.words import CJK, has_cjk

_HTML_TABLE = re.compile(r"<table\b.*?(?:</table\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,400}>")
_TABLE_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(?:```|~~~).*$", re.MULTILINE)
_LINE_MARK = re.compile(r"^[ \t]{0,3}(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+)", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*(?:[-*_][ \t]*){3,}$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\)){0,2000}\)")
_EMPHASIS = re.compile(r"(?<![\w*_])(\*{1,3}|_{1,3})(?=\S)([^*_\n]{1,500}?)(?<=\S)\1(?![\w*_])")
_CODE = re.compile(r"`+([^`\n]*)`+")
_BETWEEN_CJK = re.compile(f"(?<=[{CJK}])(?=[{CJK}])")


def plain_text(markdown: str) -> str:
    """The words a reader sees, in one line: no tables, tags, link targets or marks."""
    text = _without_comments(_HTML_TABLE.sub(" ", markdown)) if "<" in markdown else markdown
    text = _TABLE_ROW.sub("", text)
    text = _RULE.sub("", _FENCE.sub("", text))
    text = _LINK.sub(r"\1", _LINE_MARK.sub("", text))
    text = _EMPHASIS.sub(r"\2", _CODE.sub(r"\1", text))
    if "<" in text:
        text = _TAG.sub(" ", text)
    return " ".join(text.split())


def _without_comments(text: str) -> str:
    """An opening that is never closed is no comment; it is looked for once."""
    pieces: list[str] = []
    end = 0
    while (start := text.find("<!--", end)) >= 0 and (close := text.find("-->", start + 4)) >= 0:
        pieces.append(text[end:start])
        end = close + 3
    return " ".join([*pieces, text[end:]])


def spaced_for_index(text: str) -> str:
    """The text with a space between neighbouring CJK characters, as snapshots index it."""
    return _BETWEEN_CJK.sub(" ", text) if not text.isascii() and has_cjk(text) else text
