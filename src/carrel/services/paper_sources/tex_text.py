"""The text of a TeX document as Markdown: sections, lists, tables, references; maths as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from carrel.libraries.bibliography.bibtex.tex import to_plain
from carrel.libraries.text.budget import MAX_DEPTH, current_budget, too_deep
from carrel.services.paper_sources.tex_pieces import (
    LABEL,
    first_argument,
    float_kind,
    inside_environment,
    number_floats,
    one_line,
    split_items,
    write_equation,
)
from carrel.services.paper_sources.tex_source import assemble_tex, end_of_group
from carrel.services.paper_sources.tex_vocabulary import (
    CODE,
    EQUATIONS,
    FLOATS,
    HEADING_LEVELS,
    LEFT_OUT,
    LISTS,
    MARKS,
    SHOWN_LAST,
    SILENT_COMMANDS,
    STATEMENTS,
    WORDS,
)
from carrel.services.paper_sources.texts import join_article

_CITES = re.compile(r"(?:no)?[cC]ite[a-zA-Z]*|parencite|textcite|autocite|footcite")
_REFERENCES = frozenset({"ref", "eqref", "autoref", "cref", "Cref", "pageref", "nameref", "vref"})
_TOKEN = re.compile(
    r"\\begin\s{0,3}\{([A-Za-z]{1,40})\*?\}|\\end\s{0,3}\{[A-Za-z]{1,40}\*?\}"
    r"|\\([A-Za-z@]+)\*?|(\\[\(\[])|\\(.)|(\$\$?)|([{}])|(\n[ \t]*\n\s*)|(~)|(``|'')|(-{2,3})",
    re.DOTALL,
)
_ACCENTS = frozenset("`'^\"~=.")
_LETTER_ACCENTS = frozenset("cvuHrdbtk")
_OPTIONAL = re.compile(r"\s{0,20}\[[^\[\]]{0,2000}\]")
_ROW_END = re.compile(r"\\\\(?:\[[^\]]{0,40}\])?|\\tabularnewline")
_RULES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|cline\{[^}]*\}|cmidrule(?:\([^)]*\))?\{[^}]*\})"
)
_CELL_END = re.compile(r"(?<!\\)&")
_BIBITEM = re.compile(
    r"\\bibitem\s{0,5}(?:\[(?:[^\[\]]|\[[^\[\]]{0,200}\]){0,1000}\])?\s{0,5}\{([^{}]{0,200})\}"
)
_BIBLATEX_ENTRY = re.compile(r"\\entry\{([^{}]{1,200})\}")
_FEWEST_LETTERS = 400


@dataclass(frozen=True, slots=True)
class TexArticle:
    """A paper read from its TeX source."""

    title: str
    abstract: str
    body: str

    @property
    def markdown(self) -> str:
        return join_article(self.title, self.abstract, self.body)


def read_tex_article(files: Mapping[str, str]) -> TexArticle | None:
    """The article of source files by name; None where there is no document in them."""
    source = assemble_tex(files)
    if source is None:
        return None
    numbers = {
        key: str(place)
        for place, key in enumerate(
            dict.fromkeys(found.group(1).strip() for found in _BIBITEM.finditer(source.body)),
            start=1,
        )
    }
    writer = _Writer(numbers, number_floats(source.body))
    body = writer.write(source.body)
    if sum(map(str.isalpha, body)) < _FEWEST_LETTERS:
        return None
    whole = f"{source.preamble}\n{source.body}"
    return TexArticle(
        title=one_line(writer.write(first_argument(whole, "title"))),
        abstract=writer.write(_abstract(whole)),
        body=body,
    )


def _abstract(text: str) -> str:
    start = text.find(r"\begin{abstract}")
    if start >= 0:
        end = text.find(r"\end{abstract}", start)
        return text[start + len(r"\begin{abstract}") : end if end > 0 else None]
    return first_argument(text, "abstract")


class _Writer:
    """Writes TeX as Markdown; knows the numbers of references, figures and tables."""

    def __init__(self, numbers: Mapping[str, str], labels: Mapping[str, str]) -> None:
        self._numbers = numbers
        self._labels = labels
        self._floats = {"Figure": 0, "Table": 0, "Algorithm": 0}
        self._budget = current_budget()

    def write(self, text: str, depth: int = 0) -> str:
        """Blocks parted by empty lines."""
        pieces = self._walk(text, depth)
        paragraphs = "".join(pieces).split("\x02")
        blocks = (
            piece[1:] if piece.startswith("\x03") else one_line(piece) for piece in paragraphs
        )
        return "\n\n".join(block for block in blocks if block)

    def _inline(self, text: str, depth: int) -> str:
        return one_line(self.write(text, depth + 1))

    def _walk(self, text: str, depth: int) -> Iterator[str]:
        """Running text; \\x02 parts blocks, and \\x03 marks one whose lines stay."""
        if depth > MAX_DEPTH // 4:
            raise too_deep("the TeX source")
        position = 0
        while found := _TOKEN.search(text, position):
            self._budget.step()
            yield text[position : found.start()]
            shown, position = self._take(text, found, depth)
            yield shown
        yield text[position:]

    def _take(self, text: str, found: re.Match[str], depth: int) -> tuple[str, int]:
        """What a token and its arguments show, and the place behind them."""
        environment, command, display, sign, dollars, _, gap, tie, quote, dash = found.groups()
        end = found.end()
        if environment:
            return self._environment(text, environment, end, depth)
        if command:
            return self._command(text, command, end, depth)
        if display or dollars:
            return self._maths(text, display or dollars, end)
        if sign:
            return self._signed(text, sign, found.start(), end)
        if gap:
            return "\x02", end
        plain = {"~": " ", "``": "“", "''": "”", "--": "–", "---": "—"}
        return plain.get(tie or quote or dash or "", ""), end

    def _signed(self, text: str, sign: str, start: int, end: int) -> tuple[str, int]:
        if sign in _ACCENTS:
            stop = end_of_group(text, end) or min(end + 1, len(text))
            if text[end : end + 1] == "\\":
                stop = end + 2
            return to_plain(text[start:stop]), stop
        if sign == "\\":
            optional = _OPTIONAL.match(text, end)
            return " ", optional.end() if optional else end
        if sign == "$":
            return r"\$", end
        return (sign if sign in "%&#_{}" else " " if sign in " ,;:!/" else ""), end

    def _maths(self, text: str, opening: str, start: int) -> tuple[str, int]:
        closing = {"\\(": "\\)", "\\[": "\\]"}.get(opening, opening)
        end = start
        while True:
            end = text.find(closing, end)
            if end < 0:
                return "", start
            if text[end - 1] != "\\" or closing.startswith("\\"):
                break
            end += len(closing)
        tex = one_line(LABEL.sub("", text[start:end]))
        is_display = opening in {"$$", "\\["}
        shown = f"\x02$${tex}$$\x02" if is_display else f"${tex}$"
        return shown if tex else "", end + len(closing)

    def _argument(self, text: str, position: int) -> tuple[str, int]:
        """One argument in braces, options before it skipped."""
        while optional := _OPTIONAL.match(text, position):
            position = optional.end()
        place = position
        while place < len(text) and text[place] in " \t\n":
            place += 1
        end = end_of_group(text, place)
        return (text[place + 1 : end - 1], end) if end is not None else ("", position)

    def _command(self, text: str, name: str, end: int, depth: int) -> tuple[str, int]:
        if name in HEADING_LEVELS:
            title, end = self._argument(text, end)
            shown = self._inline(title, depth)
            return (f"\x02{'#' * HEADING_LEVELS[name]} {shown}\x02" if shown else ""), end
        if _CITES.fullmatch(name):
            keys, end = self._argument(text, end)
            return self._cite(name, keys), end
        if name in _REFERENCES:
            label, end = self._argument(text, end)
            shown = self._labels.get(label, label)
            return f"({shown})" if name == "eqref" else shown, end
        if name in SILENT_COMMANDS:
            for _ in range(SILENT_COMMANDS[name]):
                _, end = self._argument(text, end)
            return "", end
        handler = self._handlers().get(name)
        if handler is not None:
            argument, end = self._argument(text, end)
            return handler(argument, depth), end
        return self._other(text, name, end, depth)

    def _handlers(self) -> Mapping[str, Callable[[str, int], str]]:
        return {
            "footnote": lambda inner, depth: f" (note: {self._inline(inner, depth)})",
            "url": lambda inner, _: inner,
            "path": lambda inner, _: inner,
            "caption": lambda inner, depth: f"\x02{self._inline(inner, depth)}\x02",
            "abstract": lambda *_: "",
        }

    def _other(self, text: str, name: str, end: int, depth: int) -> tuple[str, int]:
        """Marks, accents and symbols; of any other command its argument is shown."""
        if name in SHOWN_LAST:
            first = ""
            for place in range(SHOWN_LAST[name]):
                skipped, end = self._argument(text, end)
                first = skipped if not place else first
            inner, end = self._argument(text, end)
            shown = self._inline(inner, depth)
            return f"[{shown}]({first})" if name == "href" and shown else shown, end
        if name in MARKS:
            inner, end = self._argument(text, end)
            shown, mark = self._inline(inner, depth), MARKS[name]
            is_bare = not shown or mark in shown if mark else True
            return shown if is_bare or "$" in shown else f"{mark}{shown}{mark}", end
        if name == "par":
            return "\x02", end
        if name in _LETTER_ACCENTS:
            inner, stop = self._argument(text, end)
            return (to_plain(f"\\{name}{{{inner}}}"), stop) if inner else ("", end)
        if text[end : end + 1] == "{" and text[end : end + 2] != "{}":
            inner, end = self._argument(text, end)
            return self._inline(inner, depth), end
        optional = _OPTIONAL.match(text, end)
        plain = to_plain(f"\\{name}{{}}")
        # A declaration such as \centering shows nothing, a symbol such as \ss itself.
        shown = WORDS.get(name, "" if plain.startswith("\\") or plain == name else plain)
        if text[end : end + 2] == "{}":
            return shown, end + 2
        if shown and text[end : end + 1] == " ":
            # The blank behind a command only ends its name.
            return shown, end + 1
        return shown, optional.end() if optional and not shown else end

    def _cite(self, name: str, keys: str) -> str:
        if name.startswith("nocite"):
            return ""
        named = [key.strip() for key in keys.split(",") if key.strip()]
        return f"[{', '.join(self._numbers.get(key, key) for key in named)}]" if named else ""

    def _environment(self, text: str, name: str, start: int, depth: int) -> tuple[str, int]:
        inner, end = inside_environment(text, name, start)
        self._budget.step()
        if name in LEFT_OUT:
            return "", end
        if name in EQUATIONS:
            return f"\x02{write_equation(name, inner)}\x02", end
        if name in CODE:
            optional = _OPTIONAL.match(inner)
            code = (inner[optional.end() :] if optional else inner).strip("\n")
            return f"\x02\x03```\n{code}\n```\x02", end
        if name in LISTS:
            return f"\x02\x03{self._list(inner, name, depth)}\x02", end
        if name == "thebibliography":
            return f"\x02{self._bibliography(inner)}\x02", end
        if name in {"tabular", "tabularx", "tabulary", "longtable", "array"}:
            return f"\x02\x03{self._table(inner, name, depth)}\x02", end
        if name in FLOATS:
            return self._float(name, inner, depth), end
        shown = self.write(_OPTIONAL.sub("", inner, count=1), depth + 1)
        if title := STATEMENTS.get(name):
            shown = f"**{title}.** {shown}"
        return "\x02" + "\x02".join(f"\x03{block}" for block in shown.split("\n\n")) + "\x02", end

    def _float(self, name: str, inner: str, depth: int) -> str:
        """The caption with the kind of the float, and its tables."""
        caption = self._inline(first_argument(inner, "caption"), depth)
        kind = float_kind(name)
        self._floats[kind] += 1
        shown = [f"**{kind} {self._floats[kind]}.** {caption}"] if caption else []
        for found in re.finditer(r"\\begin\{(tabular[xy]?)\*?\}", inner):
            rows, _ = inside_environment(inner, found.group(1), found.end())
            shown.append(self._table(rows, found.group(1), depth))
        return "\x02" + "\x02".join(f"\x03{block}" for block in shown if block) + "\x02"

    def _list(self, inner: str, name: str, depth: int) -> str:
        is_numbered = name in {"enumerate", "compactenum"}
        items = split_items(inner)
        lines: list[str] = []
        for item in items:
            label = _OPTIONAL.match(item)
            head = label.group().strip()[1:-1] if label else ""
            text = self._inline(item[label.end() :] if label else item, depth)
            named = f"**{self._inline(head, depth)}** " if head else ""
            if text:
                lines.append(f"{f'{len(lines) + 1}.' if is_numbered else '-'} {named}{text}")
        return "\n".join(lines)

    def _table(self, inner: str, name: str, depth: int) -> str:
        if name in {"tabularx", "tabulary"}:
            _, place = self._argument(inner, 0)
            inner = inner[place:]
        _, place = self._argument(inner, 0)
        rows = [
            [
                self._inline(cell, depth).replace("|", "\\|")
                for cell in _CELL_END.split(_RULES.sub("", row))
            ]
            for row in _ROW_END.split(inner[place:])
        ]
        rows = [row for row in rows if any(row)]
        if not rows:
            return ""
        width = max(map(len, rows))
        self._budget.spend_output(3 * width * len(rows))
        lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
        return "\n".join([lines[0], f"|{'---|' * width}", *lines[1:]])

    def _bibliography(self, inner: str) -> str:
        entries = _BIBITEM.split(inner)[2::2]
        shown = (self._inline(entry.replace(r"\newblock", " "), 0) for entry in entries)
        lines = [f"{place}. {text}" for place, text in enumerate(filter(None, shown), start=1)]
        return "## References\x02\x03" + "\n".join(lines) if lines else ""
