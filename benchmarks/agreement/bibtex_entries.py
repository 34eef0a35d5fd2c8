"""A small BibTeX reader for expectations, independent of the readers under test.

It knows entries in braces or parentheses, values in braces, quotes or bare, `#`, and @string.
Expectations are written by programs, so nothing is repaired: broken syntax raises ValueError.
"""

import re
from dataclasses import dataclass, field

# One of JabRef's own expectations lacks the brace that opens its entry: `@Article,`.
_ENTRY = re.compile(r"@\s*(\w+)\s*([{(]|(?=,))")
_FIELD = re.compile(r"\s*([\w.:+/-]+)\s*=\s*")
_COMMANDS = {
    "l": "ł", "L": "Ł", "o": "ø", "O": "Ø", "ss": "ß", "ae": "æ", "AE": "Æ", "aa": "å", "AA": "Å",
    "i": "ı", "textendash": "–", "textemdash": "—", "textless": "<", "textgreater": ">",
    "textbackslash": "\\", "textasciitilde": "~", "ldots": "…",
}  # fmt: skip
_ACCENTS = {
    '"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "c": "\u0327",
    "v": "\u030c", "=": "\u0304", "u": "\u0306", ".": "\u0307", "H": "\u030b", "k": "\u0328",
    "r": "\u030a",
}  # fmt: skip
_ACCENT = re.compile(r"\\([\"'`^~=.]|[cvuHkr](?![A-Za-z]))\s*(?:\{\\?([A-Za-z])\}|\\?([A-Za-z]))")
_COMMAND = re.compile(r"\\([A-Za-z]+)(?:\{\}|\s+|(?=[^A-Za-z]|$))")
_ESCAPE = re.compile(r"\\([&%$#_{}])")


@dataclass(slots=True)
class ExpectedEntry:
    """An entry with its values as they stand between their delimiters."""

    type: str
    key: str
    fields: dict[str, str] = field(default_factory=dict)


def read_entries(text: str) -> list[ExpectedEntry]:
    entries: list[ExpectedEntry] = []
    strings: dict[str, str] = {}
    position = 0
    while found := _ENTRY.search(text, position):
        kind = found.group(1).lower()
        if kind in {"comment", "preamble"}:
            position = _group_end(text, found.end() - 1) if found.group(2) == "{" else found.end()
            continue
        closer = ")" if found.group(2) == "(" else "}"
        entry = ExpectedEntry(kind, "")
        position = found.end()
        if kind != "string":
            end = re.compile(rf"\s*([^,{re.escape(closer)}\s]*)\s*").match(text, position)
            assert end is not None
            entry.key, position = end.group(1), end.end()
        position = _read_fields(text, position, closer, entry, strings)
        if kind == "string":
            strings |= entry.fields
        else:
            entries.append(entry)
    return entries


def _read_fields(
    text: str, position: int, closer: str, entry: ExpectedEntry, strings: dict[str, str]
) -> int:
    while True:
        while text[position] in " \t\r\n,":
            position += 1
        if text[position] == closer:
            return position + 1
        found = _FIELD.match(text, position)
        if not found:
            raise ValueError(f"no field at {text[position : position + 40]!r}")
        value, position = _value(text, found.end(), strings)
        entry.fields.setdefault(found.group(1).lower(), value)


def _value(text: str, position: int, strings: dict[str, str]) -> tuple[str, int]:
    parts: list[str] = []
    while True:
        if text[position] == "{":
            end = _group_end(text, position)
            parts.append(text[position + 1 : end - 1])
        elif text[position] == '"':
            end = _quote_end(text, position)
            parts.append(text[position + 1 : end - 1])
        else:
            end = position
            while text[end] not in ",}) \t\r\n#":
                end += 1
            word = text[position:end]
            parts.append(strings.get(word.lower(), word))
        position = end
        more = re.compile(r"\s*#\s*").match(text, position)
        if not more:
            return "".join(parts), position
        position = more.end()


def _group_end(text: str, position: int) -> int:
    depth = 0
    while True:
        if text[position] == "\\":
            position += 1
        elif text[position] == "{":
            depth += 1
        elif text[position] == "}":
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1


def _quote_end(text: str, position: int) -> int:
    position += 1
    while text[position] != '"':
        position = _group_end(text, position) if text[position] == "{" else position + 1
    return position + 1


def plain_text(raw: str) -> str:
    """A value as text: accents and letters of TeX, escaped signs, and no braces."""

    def accented(found: re.Match[str]) -> str:
        return (found.group(2) or found.group(3)) + _ACCENTS[found.group(1)]

    text = _ACCENT.sub(accented, raw)
    text = _COMMAND.sub(lambda found: _COMMANDS.get(found.group(1), found.group()), text)
    text = _ESCAPE.sub(lambda found: f"\\{ord(found.group(1))};", text)
    text = text.replace("{", "").replace("}", "")
    return re.sub(r"\\(\d+);", lambda found: chr(int(found.group(1))), text)
