"""The one XML reader for foreign input: no entities, nothing fetched, depth and time bounded.

Names come without their namespace prefix, declared or not, as exporting programs differ in them.
A document type declaration is skipped; one that declares entities is refused.
"""

from __future__ import annotations

import html.entities
from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from carrel.libraries.text.budget import MAX_DEPTH, current_budget, too_deep

__all__ = ["Element", "UnsafeXmlError", "XmlError", "XmlNode", "parse_xml", "parse_xml_nodes"]

# Between two chunks the clock is checked and a caller who has gone is noticed.
_CHUNK_BYTES = 65_536
_NAMED_CHARACTERS = {name: chr(code) for name, code in html.entities.name2codepoint.items()}


class XmlError(ValueError):
    """The text is not well-formed XML."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"{reason} (line {line})")
        self.line = line
        self.reason = reason


class UnsafeXmlError(XmlError):
    """The document declares entities, whose expansion could fill the memory or read other files."""


class XmlNode(Element):
    """An element with its line in the input and the look-ups that readers of formats use."""

    __slots__ = ("line",)

    line: int

    def __bool__(self) -> bool:
        """An element without children is still an element, unlike in ElementTree."""
        return True

    def all_text(self) -> str:
        """The text of the element and everything in it, in one line."""
        return " ".join("".join(self.itertext()).split())

    def each(self, name: str) -> Iterator[XmlNode]:
        return (child for child in self.nodes() if child.tag == name)

    def nodes(self) -> Iterator[XmlNode]:
        return iter(self)  # type: ignore[arg-type]

    def deep(self, name: str) -> Iterator[XmlNode]:
        """Every element of the name below this one, in document order."""
        return (node for node in self.iter(name) if node is not self)  # type: ignore[misc]

    def first(self, *path: str) -> XmlNode | None:
        node: XmlNode | None = self
        for name in path:
            node = next(node.each(name), None) if node is not None else None
        return node

    def at(self, *path: str) -> str:
        """The text at the end of a path of names, or nothing."""
        node = self.first(*path)
        return node.all_text() if node is not None else ""


def parse_xml(content: str | bytes) -> Element:
    """The root of a document. Raises XmlError, or InputTooCostlyError when it nests too deep."""
    builder = TreeBuilder()
    return _parse(content, lambda _: builder, None)


def parse_xml_nodes(
    content: str | bytes, on_break: Callable[[XmlError], None] | None = None
) -> XmlNode:
    """The root with line numbers. With `on_break`, a broken document is read up to where it breaks.

    Raises XmlError for what cannot be read at all, and InputTooCostlyError for too deep nesting.
    """

    def make_builder(parser: expat.XMLParserType) -> TreeBuilder:
        def make_node(name: str, attributes: dict[str, str]) -> XmlNode:
            node = XmlNode(name, attributes)
            node.line = parser.CurrentLineNumber
            return node

        return TreeBuilder(make_node)

    return _parse(content, make_builder, on_break)  # type: ignore[return-value]


def _parse(
    content: str | bytes,
    make_builder: Callable[[expat.XMLParserType], TreeBuilder],
    on_break: Callable[[XmlError], None] | None,
) -> Element:
    if isinstance(content, str):
        # What has been decoded is encoded as UTF-8 now, whatever its declaration says.
        parser = expat.ParserCreate("utf-8")
        content = content.lstrip("\ufeff").encode("utf-8", errors="replace")
    else:
        parser = expat.ParserCreate()
    builder = make_builder(parser)
    _connect(parser, builder, is_lenient=on_break is not None)
    content = content.lstrip(b" \t\r\n")
    budget = current_budget()
    error = None
    try:
        for start in range(0, len(content), _CHUNK_BYTES):
            parser.Parse(content[start : start + _CHUNK_BYTES], False)
            budget.check_time()
        parser.Parse(b"", True)
    except expat.ExpatError as broken:
        error = XmlError(broken.lineno, expat.ErrorString(broken.code))
    except (ValueError, LookupError) as broken:
        # An encoding that is unknown or of several bytes.
        if isinstance(broken, XmlError):
            raise
        error = XmlError(1, str(broken))
    root: Element | None = builder.close() if error is None or on_break is not None else None
    if error is not None and (on_break is None or root is None or not (root.text or len(root))):
        raise error from None
    if root is None:
        raise XmlError(1, "no element")
    _check_depth(root)
    _strip_prefixes(root)
    if error is not None and on_break is not None:
        on_break(error)
    return root


def _connect(parser: expat.XMLParserType, builder: TreeBuilder, *, is_lenient: bool) -> None:
    def refuse_entity(*_: object) -> None:
        raise UnsafeXmlError(parser.CurrentLineNumber, "entities are declared")

    def replace_entity(name: str, is_parameter: bool) -> None:
        """Characters by their HTML names, which external document types usually declare."""
        if is_parameter:
            return
        if name in _NAMED_CHARACTERS:
            builder.data(_NAMED_CHARACTERS[name])
        elif not is_lenient:
            raise XmlError(parser.CurrentLineNumber, f"undefined entity &{name};")

    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = refuse_entity
    parser.SkippedEntityHandler = replace_entity


def _check_depth(root: Element) -> None:
    """Level by level, because recursion is what too deep a document would break."""
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise too_deep("the XML")
        level = [child for node in level for child in node]


def _strip_prefixes(root: Element) -> None:
    for node in root.iter():
        if ":" in node.tag:
            node.tag = node.tag.rpartition(":")[2]
        for name in [name for name in node.attrib if ":" in name]:
            node.attrib[name.rpartition(":")[2]] = node.attrib.pop(name)
