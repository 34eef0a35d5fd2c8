"""Style and locale XML, with what published styles get wrong put right."""

import html

from carrel.libraries.text.budget import InputTooCostlyError
from carrel.libraries.text.xml import Element, UnsafeXmlError, XmlError, parse_xml

SIZE_LIMIT = 8_000_000


class XmlRefusedError(ValueError):
    """The text is not XML that we read."""


def parse_csl_xml(text: str) -> Element:
    """The root of a style or locale. Raises XmlRefusedError."""
    if len(text) > SIZE_LIMIT:
        raise XmlRefusedError("it is larger than any style")
    try:
        root = parse_xml(text)
    except UnsafeXmlError:
        raise XmlRefusedError("entities in the document type are not allowed") from None
    except XmlError as problem:
        raise XmlRefusedError(f"it is not well-formed XML ({problem})") from None
    except InputTooCostlyError as problem:
        if problem.exceeded != "depth":
            raise
        raise XmlRefusedError("its elements are nested without end") from None
    for element in root.iter():
        for name, value in element.attrib.items():
            if "&" in value:
                element.set(name, html.unescape(value))  # styles that escaped their entities twice
    return root
