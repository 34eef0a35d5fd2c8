"""Long texts of a hypothesis in blocks, with numbers in place of the ids of papers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from carrel.rooms.research.pages.addresses import source_address

_NUMBERED = re.compile(r"(\d{1,3})\. +(.*)")


@dataclass(frozen=True, slots=True)
class LinkedText:
    """Words, or the number of a paper with its address."""

    text: str
    path: str = ""


@dataclass(slots=True)
class TextBlock:
    """A paragraph, or a numbered step with the lines below it."""

    pieces: list[LinkedText]
    number: str = ""
    below: list[list[LinkedText]] = field(default_factory=list)


class PaperNumbers:
    """Numbers papers by the order in which a hypothesis cites them."""

    def __init__(self, paper_ids: Sequence[str]) -> None:
        self._numbers = {name: at for at, name in enumerate(dict.fromkeys(paper_ids), start=1)}
        names = sorted(self._numbers, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, names))) if names else None

    def rows(self) -> list[tuple[int, str]]:
        return [(number, name) for name, number in self._numbers.items()]

    def pieces(self, text: str) -> list[LinkedText]:
        """The text with a link in place of each id that is one of the papers."""
        if self._pattern is None:
            return [LinkedText(text)]
        found: list[LinkedText] = []
        end = 0
        for match in self._pattern.finditer(text):
            if match.start() > end:
                found.append(LinkedText(text[end : match.start()]))
            found.append(LinkedText(str(self._numbers[match[0]]), source_address(match[0])))
            end = match.end()
        if end < len(text):
            found.append(LinkedText(text[end:]))
        return found

    def blocks(self, text: str) -> list[TextBlock]:
        """Paragraphs and numbered steps; lines that are indented belong to the step above."""
        return list(self._read_blocks(text))

    def _read_blocks(self, text: str) -> Iterator[TextBlock]:
        step: TextBlock | None = None
        for line in text.splitlines():
            if step is not None and line.startswith(" "):
                step.below.append(self.pieces(line.strip()))
                continue
            if step is not None:
                yield step
                step = None
            if found := _NUMBERED.fullmatch(line):
                step = TextBlock(self.pieces(found[2]), found[1])
            elif line.strip():
                yield TextBlock(self.pieces(line.strip()))
        if step is not None:
            yield step
