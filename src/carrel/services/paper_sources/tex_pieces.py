"""Pieces of LaTeX sources: environments, arguments, items, displays and numbers of floats."""

from __future__ import annotations

import re

from carrel.libraries.text.budget import current_budget
from carrel.services.paper_sources.tex_source import end_of_group
from carrel.services.paper_sources.tex_vocabulary import ALIGNED, FLOATS

_FLOAT = re.compile(rf"\\begin\{{({'|'.join(sorted(FLOATS))})\*?\}}")
_NAME = re.compile(r"\\label\s{0,3}\{([^{}]{1,200})\}")
LABEL = re.compile(r"\\label\s{0,3}\{[^{}]{0,200}\}|\\(?:nonumber|notag)\b")
_SPACE = re.compile(r"[ \t\n]+")


def float_kind(name: str) -> str:
    return "Table" if "table" in name else "Algorithm" if name == "algorithm" else "Figure"


def number_floats(body: str) -> dict[str, str]:
    """The labels of figures, tables and algorithms with their numbers, as they are counted."""
    counts: dict[str, int] = {}
    found: dict[str, str] = {}
    for each in _FLOAT.finditer(body):
        kind = float_kind(each.group(1))
        counts[kind] = counts.get(kind, 0) + 1
        inner, _ = inside_environment(body, each.group(1), each.end())
        found.update((label.group(1), str(counts[kind])) for label in _NAME.finditer(inner))
    return found


def first_argument(text: str, name: str) -> str:
    found = re.search(rf"\\{name}\s{{0,5}}(?:\[[^\[\]]{{0,500}}\])?\s{{0,5}}(?={{)", text)
    end = end_of_group(text, found.end()) if found else None
    return text[found.end() + 1 : end - 1] if found and end is not None else ""


def one_line(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def inside_environment(text: str, name: str, start: int) -> tuple[str, int]:
    """The text up to the matching end, and the place behind it; all of it where none is."""
    budget, depth = current_budget(), 1
    pattern = re.compile(rf"\\(begin|end)\s{{0,3}}\{{{re.escape(name)}\*?\}}")
    for found in pattern.finditer(text, start):
        budget.step()
        depth += 1 if found.group(1) == "begin" else -1
        if depth == 0:
            return text[start : found.start()], found.end()
    return text[start:], len(text)


def split_items(inner: str) -> list[str]:
    """The items of a list, those of lists inside it left in them."""
    items: list[str] = []
    depth, last = 0, None
    for found in re.finditer(r"\\begin\{|\\end\{|\\item\b", inner):
        if found.group() == r"\item":
            if depth == 0:
                if last is not None:
                    items.append(inner[last : found.start()])
                last = found.end()
        else:
            depth += 1 if found.group().startswith(r"\begin") else -1
    if last is not None:
        items.append(inner[last:])
    return items


def write_equation(name: str, inner: str) -> str:
    tex = one_line(LABEL.sub("", inner))
    if not tex:
        return ""
    if name in ALIGNED:
        if name == "alignat":
            tex = re.sub(r"^\{\d+\}", "", tex)
        return f"$$\\begin{{aligned}} {tex} \\end{{aligned}}$$"
    return f"$${tex}$$"
