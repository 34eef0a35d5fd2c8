"""Text of XML elements of service answers, whichever reader made the elements.

Works on `XmlNode` and on plain elements of a streaming reader alike, with or without namespaces.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

_MARKS = {"i": "i", "italic": "i", "em": "i", "b": "b", "bold": "b", "strong": "b"}
_MARKS |= {"sub": "sub", "inf": "sub", "sup": "sup"}
# Children of MathML scripts: the base is plain, what follows is below or above it.
_SCRIPTS = {"msub": ("", "sub"), "msup": ("", "sup"), "msubsup": ("", "sub", "sup")}
_UNSEEN = frozenset({"annotation", "annotation-xml", "tex-math"})
_LINES = frozenset({"br", "break", "p", "sec", "title"})
_MAX_DEPTH = 60


def local_name(element: Element) -> str:
    """The name of an element without its namespace or prefix; comments have none."""
    tag = element.tag
    if not isinstance(tag, str):
        return ""
    return tag if tag.isalnum() else tag.rpartition("}")[2].rpartition(":")[2]


def children(element: Element | None, name: str) -> Iterator[Element]:
    # Dumps have many millions of elements, so that plain names are compared at once.
    for inner in element if element is not None else ():
        if inner.tag == name or local_name(inner) == name:
            yield inner


def child(element: Element | None, *path: str) -> Element | None:
    """The first element at the end of a path of names."""
    for name in path:
        element = next(children(element, name), None)
    return element


def descendants(element: Element | None, name: str) -> Iterator[Element]:
    for inner in element.iter() if element is not None else ():
        if inner is not element and (inner.tag == name or local_name(inner) == name):
            yield inner


def plain_text(element: Element | None) -> str:
    """All text in one line, without markup."""
    if element is None:
        return ""
    text = "".join(element.itertext()) if len(element) else element.text or ""
    return " ".join(text.split())


def text_at(element: Element | None, *path: str) -> str:
    return plain_text(child(element, *path))


def marked_text(element: Element | None) -> str:
    """The text in one line with `<i>`, `<b>`, `<sub>` and `<sup>` kept, formulas in one line."""
    if element is None:
        return ""
    return " ".join("".join(_pieces(element, 0)).split())


def _pieces(element: Element, depth: int) -> Iterator[str]:
    yield element.text or ""
    if depth >= _MAX_DEPTH:
        for inner in element:
            yield from inner.itertext()
            yield inner.tail or ""
        return
    marks = _SCRIPTS.get(local_name(element), ())
    for place, inner in enumerate(element):
        name = local_name(inner)
        mark = marks[place] if place < len(marks) else _MARKS.get(name, "")
        if name and name not in _UNSEEN:
            yield from _wrap("".join(_pieces(inner, depth + 1)), mark)
            if name in _LINES:
                yield " "
        yield inner.tail or ""


def _wrap(text: str, mark: str) -> Iterator[str]:
    """Spaces at the ends stay outside the mark, so that words neither join nor split."""
    words = text.strip()
    if not mark or not words:
        yield text
        return
    yield " " if text[0].isspace() else ""
    yield f"<{mark}>{words}</{mark}>"
    yield " " if text[-1].isspace() else ""
