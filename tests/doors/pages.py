"""Walks the pages of an answer by their cursors and puts them together again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

_MARKER = re.compile(r"\n\[truncated: \d+ more chars[^\]\n]*\]\Z")
BESIDE = {"quoted_from", "explanation", "next_cursor", "cut"}
MOST_PAGES = 400

Ask = Callable[[dict[str, Any]], dict[str, Any]]


def page_facts(result: Mapping[str, Any]) -> dict[str, Any]:
    """`next_cursor` and `cut` of a tool result, wherever its kind of answer has them."""
    if "structuredContent" in result:
        return dict(result["structuredContent"])
    facts: dict[str, Any] = {}
    for block in result["content"]:
        facts.update(block.get("_meta", {}))
    return facts


def text_length(result: Mapping[str, Any]) -> int:
    """The characters of all text blocks."""
    return sum(len(block.get("text", "")) for block in result["content"])


def walk(ask: Ask, arguments: dict[str, Any]) -> tuple[Any, list[dict[str, Any]]]:
    """The whole answer from its pages, and the pages as they came."""
    pages = [ask(arguments)]
    while "next_cursor" in (facts := page_facts(pages[-1])):
        assert len(pages) < MOST_PAGES
        pages.append(ask({**arguments, "cursor": facts["next_cursor"]}))
    whole = _answer(pages[0])
    shown = _shown(pages[0])
    for page in pages[1:]:
        whole = _merged(whole, _answer(page), shown, _shown(page), _root(page))
        shown = _shown(page)
    return strip_marker(whole), pages


def _root(page: Mapping[str, Any]) -> str:
    if "structuredContent" not in page:
        return "text"
    return "result" if isinstance(_answer(page), list) else ""


def _answer(page: Mapping[str, Any]) -> Any:
    if "structuredContent" not in page:
        return page["content"][0]["text"]
    structured = {k: v for k, v in page["structuredContent"].items() if k not in BESIDE}
    text = page["content"][0]["text"]
    if text in [each for each in structured.values() if isinstance(each, str)]:
        return structured  # A text of somebody's arrives as itself, its place and size beside it.
    answer = json.loads(text)
    assert structured == ({"result": answer} if isinstance(answer, list) else answer), (
        "text and structured content hold the same"
    )
    return answer


def _shown(page: Mapping[str, Any]) -> dict[str, Any]:
    return dict(page_facts(page).get("cut", {}).get("shown", {}))


def _merged(whole: Any, part: Any, before: Any, now: Any, path: str) -> Any:
    if isinstance(whole, str) and isinstance(part, str):
        return strip_marker(whole) + part if path in now else (whole or part)
    if isinstance(whole, list) and isinstance(part, list):
        if path not in now and whole:
            return whole
        begins = now.get(path, {"from": 0})["from"]
        if part and begins < len(whole):
            assert begins == len(whole) - 1, "a page goes on where the last one ended"
            joined = _merged(whole[-1], part[0], before, now, f"{path}[{begins}]")
            return [*whole[:-1], joined, *part[1:]]
        return [*whole, *part]
    if isinstance(whole, dict) and isinstance(part, dict):
        names = list(dict.fromkeys((*whole, *part)))
        return {
            name: _merged(whole[name], part[name], before, now, f"{path}.{name}" if path else name)
            if name in whole and name in part
            else (whole if name in whole else part)[name]
            for name in names
        }
    return whole


def strip_marker(value: Any) -> Any:
    """A text without the marker that says how much of it follows."""
    return _MARKER.sub("", value) if isinstance(value, str) else value
