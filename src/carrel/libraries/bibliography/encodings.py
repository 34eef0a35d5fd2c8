"""Text out of bytes whose encoding nobody wrote down correctly."""

import codecs
import re

from carrel.libraries.bibliography.imports import Recovery

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(
    rb"^\s*%+\s*(?:-\*-\s*coding:|Encoding:|Saved with string encoding)\s*([^\r\n]{1,60})",
    re.IGNORECASE | re.MULTILINE,
)
_NAMES_OF_OTHERS = {
    "unicode (utf-8)": "utf-8",
    "western (iso latin 1)": "cp1252",
    "western (windows latin 1)": "cp1252",
}
_DECLARATION_WITHIN_BYTES = 2000
_CP1252_HOLES = {0x81: "\x81", 0x8D: "\x8d", 0x8F: "\x8f", 0x90: "\x90", 0x9D: "\x9d"}


def decode(content: bytes) -> tuple[str, list[Recovery]]:
    """The text, with a warning for each line that was not in the encoding of the rest."""
    for bom, name in _BOMS:
        if content.startswith(bom):
            return content[len(bom) :].decode(name, errors="replace"), []
    try:
        return content.decode("utf-8"), []
    except UnicodeDecodeError:
        pass
    declared = _declared_encoding(content)
    if declared is not None:
        try:
            return content.decode(declared), []
        except UnicodeDecodeError:
            pass
    return _line_by_line(content)


def _declared_encoding(content: bytes) -> str | None:
    found = _DECLARED.search(content[:_DECLARATION_WITHIN_BYTES])
    if not found:
        return None
    name = (
        found.group(1).decode("ascii", errors="replace").strip().removesuffix("-*-").strip().lower()
    )
    try:
        codec = codecs.lookup(_NAMES_OF_OTHERS.get(name, name)).name
    except LookupError:
        return None
    return None if codec == "utf-8" else codec


def _line_by_line(content: bytes) -> tuple[str, list[Recovery]]:
    """Old files are often joined from parts in different encodings, so each line is judged
    alone.
    """
    lines: list[str] = []
    warnings: list[Recovery] = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        try:
            lines.append(line.decode("utf-8"))
        except UnicodeDecodeError:
            lines.append("".join(_cp1252(byte) for byte in line))
            warnings.append(Recovery(number, "This line is not UTF-8; it was read as Windows-1252"))
    return "\n".join(lines), warnings


def _cp1252(byte: int) -> str:
    return _CP1252_HOLES.get(byte) or bytes((byte,)).decode("cp1252")
