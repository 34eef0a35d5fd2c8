"""XML as other programs export it: prefixes nobody declared, ends cut off; entities that could do
harm are refused.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from carrel.libraries.bibliography.errors import UnreadableXmlError, UnsafeXmlError
from carrel.libraries.bibliography.imports import Imported
from carrel.libraries.text.budget import MAX_DEPTH, current_budget, too_deep


@dataclass(slots=True)
class Node:
    """An element without its namespace prefix, and the line where it begins."""

    name: str
    attributes: dict[str, str]
    line: int
    children: list["Node | str"] = field(default_factory=list)

    def raw_text(self) -> str:
        pieces: list[str] = []
        waiting: list[Iterator[Node | str]] = [iter(self.children)]
        while waiting:
            child = next(waiting[-1], None)
            if child is None:
                waiting.pop()
            elif isinstance(child, str):
                pieces.append(child)
            else:
                waiting.append(iter(child.children))
        return "".join(pieces)

    def text(self) -> str:
        return " ".join(self.raw_text().split())

    def each(self, name: str) -> Iterator["Node"]:
        return (child for child in self.children if isinstance(child, Node) and child.name == name)

    def nodes(self) -> Iterator["Node"]:
        return (child for child in self.children if isinstance(child, Node))

    def first(self, *path: str) -> "Node | None":
        node: Node | None = self
        for name in path:
            node = next(node.each(name), None) if node else None
        return node

    def at(self, *path: str) -> str:
        """The text at the end of a path of names, or nothing."""
        node = self.first(*path)
        return node.text() if node else ""

    def deep(self, name: str) -> Iterator["Node"]:
        for child in self.children:
            if isinstance(child, Node):
                if child.name == name:
                    yield child
                yield from child.deep(name)


class _Builder:
    """Collects what expat tells."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self._budget = current_budget()
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._entity
        self._open: list[Node] = []

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        node = Node(
            name.rpartition(":")[2],
            {key.rpartition(":")[2]: value for key, value in attributes.items()},
            self.parser.CurrentLineNumber,
        )
        if self._open:
            self._open[-1].children.append(node)
        elif self.root is None:
            self.root = node
        self._budget.step()
        if len(self._open) >= MAX_DEPTH:
            raise too_deep("the XML")
        self._open.append(node)

    def _end(self, _: str) -> None:
        self._open.pop()

    def _text(self, text: str) -> None:
        if self._open:
            self._open[-1].children.append(text)

    def _entity(self, *_: Any) -> None:
        raise UnsafeXmlError(self.parser.CurrentLineNumber)


def read_xml(content: str | bytes, report: Imported) -> Node:
    """The root of the document. Where it breaks off, what came before is kept and a warning says
    where.
    """
    builder = _Builder()
    if isinstance(content, str):
        content = content.lstrip("\ufeff").encode("utf-8", errors="replace")
        builder.parser = _told_utf8(builder)
    content = content.lstrip(b" \t\r\n")
    try:
        builder.parser.Parse(content, True)
    except expat.ExpatError as error:
        if builder.root is None or not builder.root.children:
            raise UnreadableXmlError(error.lineno, expat.ErrorString(error.code)) from error
        report.warn(
            error.lineno,
            f"The XML is broken here ({expat.ErrorString(error.code)}); what stands before was "
            f"read",
        )
    if builder.root is None:
        raise UnreadableXmlError(1, "no element")
    return builder.root


def _told_utf8(builder: _Builder) -> expat.XMLParserType:
    """Text is UTF-8 by now, whatever its declaration says."""
    old = builder.parser
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    for handler in (
        "StartElementHandler",
        "EndElementHandler",
        "CharacterDataHandler",
        "EntityDeclHandler",
    ):
        setattr(parser, handler, getattr(old, handler))
    return parser
