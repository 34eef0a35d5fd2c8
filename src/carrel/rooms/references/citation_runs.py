"""A formatted citation as runs of text with their looks, so that no page has to trust its HTML."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html.parser import HTMLParser

from pydantic import Field

from carrel.core.operation import Answer


class CitationRun(Answer):
    """Some text of a citation and how it looks."""

    text: str
    is_italic: bool = Field(default=False, exclude_if=lambda value: not value)
    is_bold: bool = Field(default=False, exclude_if=lambda value: not value)
    is_raised: bool = Field(default=False, exclude_if=lambda value: not value)
    is_lowered: bool = Field(default=False, exclude_if=lambda value: not value)
    is_small_caps: bool = Field(default=False, exclude_if=lambda value: not value)


@dataclass(frozen=True, slots=True)
class _Look:
    is_italic: bool = False
    is_bold: bool = False
    is_raised: bool = False
    is_lowered: bool = False
    is_small_caps: bool = False


_LOOKS = {
    "i": "is_italic",
    "em": "is_italic",
    "b": "is_bold",
    "strong": "is_bold",
    "sup": "is_raised",
    "sub": "is_lowered",
}


def read_citation_runs(html: str) -> list[CitationRun]:
    """The runs of a citation in the HTML of our citation processor; unknown tags are dropped."""
    reader = _RunReader()
    reader.feed(html)
    reader.close()
    return reader.collect()


class _RunReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[tuple[str, _Look]] = []
        self._found: list[tuple[str, _Look]] = []

    @property
    def _look(self) -> _Look:
        return self._open[-1][1] if self._open else _Look()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        look = self._look
        if tag in _LOOKS:
            look = replace(look, **{_LOOKS[tag]: True})
        elif tag == "span":
            look = _read_style(look, dict(attrs).get("style") or "")
        elif tag == "div" and self._found:
            self._found.append((" ", look))
        if tag != "br":
            self._open.append((tag, look))

    def handle_endtag(self, tag: str) -> None:
        while self._open:
            closed, _ = self._open.pop()
            if closed == tag:
                return

    def handle_data(self, data: str) -> None:
        self._found.append((data, self._look))

    def collect(self) -> list[CitationRun]:
        """Runs of the same look as one, with single spaces."""
        runs: list[tuple[str, _Look]] = []
        ends_in_space = True
        for data, look in self._found:
            words = data.split()
            text = " ".join(words)
            if data[:1].isspace() and not ends_in_space:
                text = f" {text}"
            if words and data[-1:].isspace():
                text = f"{text} "
            if not text:
                continue
            ends_in_space = text.endswith(" ")
            if runs and runs[-1][1] == look:
                runs[-1] = (runs[-1][0] + text, look)
            else:
                runs.append((text, look))
        if runs:
            runs[-1] = (runs[-1][0].rstrip(), runs[-1][1])
        return [
            CitationRun(
                text=text,
                is_italic=look.is_italic,
                is_bold=look.is_bold,
                is_raised=look.is_raised,
                is_lowered=look.is_lowered,
                is_small_caps=look.is_small_caps,
            )
            for text, look in runs
            if text
        ]


def _read_style(look: _Look, style: str) -> _Look:
    told = style.replace(" ", "").lower()
    if "font-variant:small-caps" in told:
        return replace(look, is_small_caps=True)
    if "font-style:normal" in told:
        return replace(look, is_italic=False)
    if "font-weight:normal" in told:
        return replace(look, is_bold=False)
    return look
