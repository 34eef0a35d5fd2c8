"""Reading style and locale XML with the standard parser, refusing what could expand without end."""

import html
import re
from xml.etree import ElementTree

NAMESPACE = "{http://purl.org/net/xbiblio/csl}"
XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
SIZE_LIMIT = 8_000_000

Element = ElementTree.Element

_declaration = re.compile(r"<!(DOCTYPE|ENTITY)", re.IGNORECASE)


class XmlRefusedError(ValueError):
    """The text is not XML that we read."""


def parse_xml(text: str) -> Element:
    if len(text) > SIZE_LIMIT:
        raise XmlRefusedError("it is larger than any style")
    if _declaration.search(text):
        raise XmlRefusedError("document type declarations are not allowed")
    text = text.lstrip("\ufeff \t\r\n")
    try:
        root = ElementTree.fromstring(  # noqa: S314
            text.encode("utf-8", "surrogatepass") if text.startswith("<?xml") else text
        )
    except (ElementTree.ParseError, ValueError, LookupError) as problem:
        raise XmlRefusedError(f"it is not well-formed XML ({problem})") from None
    for element in root.iter():
        for name, value in element.attrib.items():
            if "&" in value:
                element.set(name, html.unescape(value))  # styles that escaped their entities twice
        if isinstance(element.tag, str) and element.tag.startswith(NAMESPACE):
            element.tag = element.tag[len(NAMESPACE) :]
    return root
