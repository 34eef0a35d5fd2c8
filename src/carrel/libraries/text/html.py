"""A tolerant HTML reader for foreign pages: a tree of elements, nothing fetched, depth bounded."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree.ElementTree import Element

from carrel.libraries.text.budget import MAX_DEPTH, current_budget

_VOID = frozenset(
    (
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    )
)
# Elements whose text is for programs.
_DROPPED = frozenset({"script", "style", "noscript", "template", "iframe", "object"})
# An opening tag ends an open element of these names, looked for no further than the fence.
_ENDED_BY = {
    "li": ({"li"}, {"ul", "ol"}),
    "dt": ({"dt", "dd"}, {"dl"}),
    "dd": ({"dt", "dd"}, {"dl"}),
    "tr": ({"tr", "td", "th"}, {"table"}),
    "td": ({"td", "th"}, {"tr", "table"}),
    "th": ({"td", "th"}, {"tr", "table"}),
    "tbody": ({"thead", "tbody", "tfoot", "tr", "td", "th"}, {"table"}),
}
_ENDS_A_PARAGRAPH = frozenset(
    {
        *("p", "div", "section", "article", "table", "ul", "ol", "dl", "figure", "blockquote"),
        *("pre", "h1", "h2", "h3", "h4", "h5", "h6"),
    }
)
_CHARSET = re.compile(
    rb"""<meta[^<>]{0,300}charset\s{0,5}=\s{0,5}["']?([\w-]{1,40})""", re.IGNORECASE
)
_HEAD_BYTES = 4_096


def parse_html(content: bytes | str) -> Element:
    """The root of a page, whatever its faults; names are in lower case."""
    text = content if isinstance(content, str) else _decode(content)
    tree = _Tree()
    tree.feed(text.replace("\x00", ""))
    tree.close()
    return tree.root


def has_class(node: Element, *names: str) -> bool:
    """Whether the element is of one of these classes."""
    return not set(names).isdisjoint((node.get("class") or "").split())


def page_metas(root: Element) -> dict[str, str]:
    """The `meta` elements of a page by name in lower case; the first of each name counts."""
    found: dict[str, str] = {}
    for node in root.iter("meta"):
        name = (node.get("name") or node.get("property") or "").strip().lower()
        value = (node.get("content") or "").strip()
        if name and value:
            found.setdefault(name, value)
    return found


def _decode(content: bytes) -> str:
    found = _CHARSET.search(content[:_HEAD_BYTES])
    for name in (found.group(1).decode("ascii", "replace") if found else "utf-8", "utf-8"):
        try:
            return content.decode(name)
        except (LookupError, UnicodeDecodeError):
            continue
    return content.decode("utf-8", "replace")


class _Tree(HTMLParser):
    """Builds elements; what is opened too deep becomes a neighbour instead of a child."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("html")
        self._open = [self.root]
        self._dropped: str | None = None
        self._budget = current_budget()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._budget.step()
        if self._dropped is not None:
            return
        if tag in _DROPPED:
            self._dropped = tag
            return
        if tag == "html":
            return
        if tag in _ENDED_BY:
            names, fence = _ENDED_BY[tag]
            self._end_open(names, fence)
        elif tag in _ENDS_A_PARAGRAPH and self._open[-1].tag == "p":
            self._open.pop()
        node = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].append(node)
        if tag not in _VOID and len(self._open) < MAX_DEPTH:
            self._open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        # `<div/>` opens in HTML; inside MathML and SVG it is an element without content.
        if tag not in _VOID and self._is_foreign() and self._open[-1].tag == tag:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if self._dropped is not None:
            if tag == self._dropped:
                self._dropped = None
            return
        for place in range(len(self._open) - 1, 0, -1):
            if self._open[place].tag == tag:
                del self._open[place:]
                return

    def handle_data(self, data: str) -> None:
        if self._dropped is not None:
            return
        self._budget.step()
        node = self._open[-1]
        if len(node):
            last = node[-1]
            last.tail = (last.tail or "") + data
        else:
            node.text = (node.text or "") + data

    def _end_open(self, names: set[str], fence: set[str]) -> None:
        first = None
        for place in range(len(self._open) - 1, 0, -1):
            tag = self._open[place].tag
            if tag in fence:
                break
            if tag in names:
                first = place
        if first is not None:
            del self._open[first:]

    def _is_foreign(self) -> bool:
        return any(node.tag in {"math", "svg"} for node in self._open)
