"""A TeX source put together: its main file with what it includes, without comments and macros."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from carrel.libraries.text.budget import current_budget

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_INPUT = re.compile(
    r"\\(?:input|include|subfile|subfileinclude)\s{0,5}(?:\{([^{}\n]{1,300})\}|([^\s{}\\]{1,300}))"
    r"|\\(?:sub)?import\s{0,5}\{([^{}\n]{0,300})\}\s{0,5}\{([^{}\n]{1,300})\}"
)
_CLASS = re.compile(r"\\document(?:class|style)\b")
_BIBLIOGRAPHY = re.compile(r"\\(?:bibliography\s{0,5}\{[^{}]{0,1000}\}|printbibliography\b[^\n]*)")
_DEFINITION = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareRobustCommand)\*?\s{0,5}"
    r"\{?\s{0,5}\\([A-Za-z@]{1,60})\s{0,5}\}?\s{0,5}(?:\[(\d)\])?(?=\s{0,5}\{)"
    r"|\\(?:def|gdef|edef)\s{0,5}\\([A-Za-z@]{1,60})((?:#\d){0,9})\s{0,5}(?=\{)"
    r"|\\DeclareMathOperator(\*?)\s{0,5}\{?\s{0,5}\\([A-Za-z@]{1,60})\s{0,5}\}?(?=\s{0,5}\{)"
)
_COMMAND = re.compile(r"\\([A-Za-z@]+)")
_ARGUMENT = re.compile(r"\\[A-Za-z]+|\\.|[^\\{}]", re.DOTALL)
_PARAMETER = re.compile(r"#(\d)")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_VERBATIM = re.compile(r"\\begin\{(verbatim|lstlisting|minted|Verbatim|comment)\*?\}")
_DEEPEST_INPUT = 10
_MOST_INPUTS = 500
_MOST_EXPANSIONS = 50_000
_DEEPEST_EXPANSION = 20
# A macro with a longer body is a layout, which is not worth repeating.
_LONGEST_BODY = 2_000


@dataclass(frozen=True, slots=True)
class Macro:
    """What a command of the author's stands for, with `#1` for its arguments."""

    body: str
    arguments: int = 0


@dataclass(frozen=True, slots=True)
class TexSource:
    """The preamble and the body of a document, comments gone, simple macros written out."""

    preamble: str
    body: str


def assemble_tex(files: Mapping[str, str]) -> TexSource | None:
    """The document of files by their names; None where none of them is one."""
    main = find_main_file(files)
    if main is None:
        return None
    text = _include(files, main, strip_comments(files[main]), [_MOST_INPUTS], 0)
    text = _put_bibliography(files, main, text)
    preamble, _, body = text.partition(r"\begin{document}")
    if not body:
        preamble, body = "", text
    body = body.partition(r"\end{document}")[0]
    macros, preamble_rest = read_macros(preamble)
    more, body = read_macros(body)
    known = macros | more
    return TexSource(expand_macros(preamble_rest, known), expand_macros(body, known))


def find_main_file(files: Mapping[str, str]) -> str | None:
    """The file with the document in it: with a title and the longest, where there are several."""
    found = [name for name, text in files.items() if _CLASS.search(strip_comments(text[:50_000]))]
    if not found:
        # Plain TeX and fragments: one file alone is the text.
        texts = [name for name in files if name.lower().endswith((".tex", ".ltx"))]
        return texts[0] if len(texts) == 1 else None
    return max(
        found,
        key=lambda name: (
            r"\begin{document}" in files[name],
            r"\title" in files[name],
            r"\begin{abstract}" in files[name],
            "/" not in name,
            len(files[name]),
        ),
    )


def strip_comments(text: str) -> str:
    """The text without comments, but for those in verbatim passages, which are text."""
    pieces, position = [], 0
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    while found := _VERBATIM.search(text, position):
        end = text.find(f"\\end{{{found.group(1)}", found.end())
        if end < 0:
            break
        pieces += [_without_comments(text[position : found.start()]), text[found.start() : end]]
        position = end
    pieces.append(_without_comments(text[position:]))
    return "".join(pieces)


def _without_comments(text: str) -> str:
    lines = []
    for line in text.split("\n"):
        kept = _COMMENT.sub(r"\1", line) if "%" in line else line
        # A line that is a comment alone is none: an empty one would part paragraphs.
        if kept.strip() or not line.strip():
            lines.append(kept)
    return "\n".join(lines)


def _include(files: Mapping[str, str], main: str, text: str, left: list[int], depth: int) -> str:
    folder = PurePosixPath(main).parent
    budget = current_budget()

    def take(found: re.Match[str]) -> str:
        name = found.group(1) or found.group(2) or f"{found.group(3)}/{found.group(4)}"
        known = _named_file(files, folder, name.strip())
        left[0] -= 1
        if known is None or left[0] < 0 or depth >= _DEEPEST_INPUT:
            return ""
        inner = strip_comments(files[known])
        budget.spend_output(len(inner))
        inner = inner.partition(r"\begin{document}")[2] or inner
        inner = inner.partition(r"\end{document}")[0]
        return _include(files, main, inner, left, depth + 1)

    return _INPUT.sub(take, text)


def _named_file(files: Mapping[str, str], folder: PurePosixPath, name: str) -> str | None:
    for base in (folder, PurePosixPath()):
        for ending in ("", ".tex", ".ltx", ".bbl"):
            path = str(base / f"{name}{ending}")
            plain = "/".join(part for part in path.split("/") if part not in {"", "."})
            if plain in files:
                return plain
    return None


def _put_bibliography(files: Mapping[str, str], main: str, text: str) -> str:
    """The list that BibTeX wrote, in the place of the command that asks for it."""
    if r"\begin{thebibliography}" in text:
        return text
    stem = main.rpartition(".")[0]
    lists = [name for name in files if name.lower().endswith(".bbl")]
    chosen = f"{stem}.bbl" if f"{stem}.bbl" in files else lists[0] if len(lists) == 1 else None
    if chosen is None:
        return text
    content = "\n" + strip_comments(files[chosen]) + "\n"
    if found := _BIBLIOGRAPHY.search(text):
        return text[: found.start()] + content + text[found.end() :]
    head, mark, tail = text.rpartition(r"\end{document}")
    return head + content + mark + tail if mark else text + content


def read_macros(text: str) -> tuple[dict[str, Macro], str]:
    """The author's simple commands, and the text without their definitions."""
    macros: dict[str, Macro] = {}
    pieces, position = [], 0
    budget = current_budget()
    while found := _DEFINITION.search(text, position):
        budget.step()
        start = found.end()
        while start < len(text) and text[start] in " \t\n":
            start += 1
        end = end_of_group(text, start)
        if end is None:
            break
        body = text[start + 1 : end - 1]
        name = found.group(1) or found.group(3) or found.group(6)
        if found.group(6):
            star = found.group(5)
            macros[name] = Macro(f"\\operatorname{star}{{{body}}}")
        elif len(body) <= _LONGEST_BODY:
            count = int(found.group(2) or 0) or len(found.group(4) or "") // 2
            macros[name] = Macro(body, count)
        pieces.append(text[position : found.start()])
        position = end
    pieces.append(text[position:])
    return macros, "".join(pieces)


def end_of_group(text: str, start: int) -> int | None:
    """The place behind the brace that closes the one at `start`; None where there is none."""
    if start >= len(text) or text[start] != "{":
        return None
    depth, budget = 0, current_budget()
    for found in _BRACE.finditer(text, start):
        budget.step()
        sign = found.group()
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                return found.end()
    return None


def expand_macros(text: str, macros: Mapping[str, Macro]) -> str:
    """The author's commands written out; those that call themselves stay as they are."""
    left = [_MOST_EXPANSIONS]
    return _expand(text, macros, left, 0) if macros else text


def _expand(text: str, macros: Mapping[str, Macro], left: list[int], depth: int) -> str:
    budget = current_budget()
    pieces, position = [], 0
    for found in _COMMAND.finditer(text):
        if found.start() < position:
            continue
        macro = macros.get(found.group(1))
        if macro is None:
            continue
        left[0] -= 1
        if left[0] < 0 or depth >= _DEEPEST_EXPANSION:
            break
        budget.step()
        given, end = _take_arguments(text, found.end(), macro)
        body = _fill(macro.body, given)
        budget.spend_output(len(body))
        shown = _expand(body, macros, left, depth + 1)
        pieces += [text[position : found.start()], shown]
        # `\foo bar` is two words where \foo ends in a letter's command.
        if shown and re.search(r"\\[A-Za-z]+$", shown) and text[end : end + 1].isalpha():
            pieces.append(" ")
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def _fill(body: str, given: list[str]) -> str:
    def take(found: re.Match[str]) -> str:
        place = int(found.group(1)) - 1
        return given[place] if 0 <= place < len(given) else ""

    return _PARAMETER.sub(take, body)


def _take_arguments(text: str, position: int, macro: Macro) -> tuple[list[str], int]:
    given: list[str] = []
    for _ in range(macro.arguments):
        while position < len(text) and text[position] in " \t\n":
            position += 1
        end = end_of_group(text, position)
        if end is not None:
            given.append(text[position + 1 : end - 1])
            position = end
        elif found := _ARGUMENT.match(text, position):
            given.append(found.group())
            position = found.end()
        else:
            break
    if not macro.arguments and r"\xspace" not in macro.body:
        # The blank that ends a command is no blank of the text, and `\foo{}` is `\foo`.
        if text[position : position + 2] == "{}":
            position += 2
        elif text[position : position + 1] == " ":
            position += 1
    return given, position
