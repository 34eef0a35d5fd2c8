"""Random valid configuration files with comments, odd spacing and line ends, for three formats."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

WORDS = st.text(
    st.characters(
        codec="utf-8",
        exclude_categories=("Cs", "Cc"),
        exclude_characters="\x7f\u2028\u2029\x85\ufeff",
    ),
    max_size=8,
)
KEYS = st.one_of(st.sampled_from(["a", "b", "other", "x-y", "ümlaut", "with space"]), WORDS).filter(
    lambda key: key not in {"carrel", "mcpServers"} and key.strip() == key and key != ""
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**40), 2**40),
    WORDS,
    st.just("} // not /* a */ , comment"),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
TABLES = st.dictionaries(KEYS, VALUES, max_size=4)


@st.composite
def jsonc_texts(draw: st.DrawFn, key: str) -> str:
    """A JSON text with comments, with or without the table of servers."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    values = draw(TABLES)
    if draw(st.booleans()):
        items = list(values.items())
        items.insert(draw(st.integers(0, len(items))), (key, draw(TABLES)))
        values = dict(items)
    writer = _JsoncWriter(draw, end, is_one_line=draw(st.booleans()))
    return writer.gap() + writer.write(values, 0) + writer.gap()


class _JsoncWriter:
    def __init__(self, draw: st.DrawFn, end: str, *, is_one_line: bool) -> None:
        self._draw, self._end, self._is_one_line = draw, end, is_one_line
        self._step = draw(st.sampled_from(["  ", "    ", "\t", " "]))

    def gap(self) -> str:
        """White space, now and then with a comment in it."""
        kinds = ["", "", "", " ", "/* c, } */", " /* \u00fc { */ "]
        if not self._is_one_line:
            kinds += [f" // c }} ,{self._end}", self._end, f"{self._end}  // d{self._end}\t"]
        return self._draw(st.sampled_from(kinds))

    def write(self, value: Any, depth: int) -> str:
        if isinstance(value, dict):
            return self._group(
                "{", [self._member(*pair, depth) for pair in value.items()], "}", depth
            )
        if isinstance(value, list):
            return self._group("[", [self.write(item, depth + 1) for item in value], "]", depth)
        return json.dumps(value, ensure_ascii=self._draw(st.booleans()))

    def _member(self, key: str, value: Any, depth: int) -> str:
        colon = self._draw(st.sampled_from([":", ": ", " : ", ":/* v */"]))
        return json.dumps(key, ensure_ascii=False) + colon + self.write(value, depth + 1)

    def _group(self, opening: str, parts: list[str], closing: str, depth: int) -> str:
        if not parts:
            return opening + self.gap() + closing
        is_broken = not self._is_one_line and self._draw(st.booleans())
        before = self._end + self._step * (depth + 1) if is_broken else ""
        body = ""
        for place, part in enumerate(parts):
            is_last = place == len(parts) - 1
            comma = "" if is_last and self._draw(st.booleans()) else ","
            body += self.gap() + before + part + self.gap() + comma
        after = self._end + self._step * depth if is_broken else ""
        return opening + body + self.gap() + after + closing


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    """A TOML text with tables, comments and strings over several lines."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines: list[str] = []
    comments = st.sampled_from(["", "", " # c", " # [mcp_servers.carrel]"])
    values = st.sampled_from(
        [
            '"x"', "1", "true", "[1, 2]", "'[mcp_servers.carrel]'", '"\\"#"', "{ a = 1 }",
            '[\n  "a", # [x]\n  "b",\n]', '"""\n[mcp_servers.carrel]\ncommand = 1\n"""',
            "'''\n# no\n'''", "1979-05-27T07:32:00Z",
        ]
    )  # fmt: skip

    def body(prefix: str) -> None:
        for place in range(draw(st.integers(0, 3))):
            key = draw(st.sampled_from([f"k{place}", f'"quoted {place}"', f"d{place}.e"]))
            lines.append(f"{prefix}{key} = {draw(values)}{draw(comments)}")
            lines.extend(draw(st.sampled_from([[], [""], ["# alone"], ["", "# two", ""]])))

    body("")
    names = draw(
        st.lists(
            st.sampled_from(
                ["model", "mcp_servers.other", "mcp_servers.b", 'x."mcp_servers".carrel']
            ),
            unique=True,
            max_size=4,
        )
    )
    for name in names:
        lines.append(f"{draw(st.sampled_from(['', '  ']))}[{name}]{draw(comments)}")
        body("")
    text = end.join(line.replace("\n", end) for line in lines)
    return text + (end if text and draw(st.booleans()) else "")


@st.composite
def yaml_texts(draw: st.DrawFn, key: str) -> str:
    """A YAML text in block style with comments, with or without the table of servers."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    step = draw(st.sampled_from(["  ", "    "]))
    comments = st.sampled_from(["", "", " # c", " # carrel: no"])
    values = st.sampled_from(
        [
            "x", '"y # no"', "'it''s'", "12", "true", "null", "[1, 2]", "{a: 1}", "",
            "|\n{i}line\n{i}carrel: no", ">-\n{i}folded\n{i}text", "\n{i}- one\n{i}- two: 2",
        ]
    )  # fmt: skip
    lines: list[str] = []

    def pairs(indent: str, prefix: str) -> None:
        for place in range(draw(st.integers(1, 3))):
            value = draw(values).replace("{i}", indent + step)
            comment = "" if "\n" in value else draw(comments)
            gap = "" if value.startswith("\n") or not value else " "
            lines.append(f"{indent}{prefix}{place}:{gap}{value}{comment}")
            lines.extend(draw(st.sampled_from([[], [], [""], [f"{indent}# mine"], ["# left"]])))

    lines.extend(draw(st.sampled_from([[], ["# top"], ["---"], ["", "# a", ""]])))
    if draw(st.booleans()):
        pairs("", "first")
    match draw(st.sampled_from(["none", "block", "braces", "empty"])):
        case "block":
            lines.append(f"{key}:{draw(comments)}")
            pairs(step, "dev")
        case "braces":
            lines.append(f"{key}: {{dev: {{enabled: true}}}}{draw(comments)}")
        case "empty":
            lines.append(f"{key}: {{}}{draw(comments)}")
        case _:
            pass
    if draw(st.booleans()):
        pairs("", "last")
    text = end.join(line.replace("\n", end) for line in lines)
    return text + (end if text and draw(st.booleans()) else "")
