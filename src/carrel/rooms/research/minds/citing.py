"""What a model may cite: papers that it was shown, by id. Everything else is taken out and
counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from carrel.libraries.discovery.records import Paper

_ID_IN_TEXT = re.compile(r"\s*\[\s*id:\s*([^\[\]]*?)\s*\]", re.IGNORECASE)
_BETWEEN_IDS = re.compile(r"\s*[,;]\s*(?:id:\s*)?", re.IGNORECASE)
_OTHER_IN_TEXT = re.compile(
    r"\s*[\[(]?\b(?:(?:doi:\s*|https?://[^\s/]+/)?10\.\d{4,9}/[^\s\])]+|PMID:?\s*\d+|arXiv:\s*\d{4}\.\d{4,5}(?:v\d+)?)[\])]?",
    re.IGNORECASE,
)


class Citations:
    """Goes through one answer, and counts what it takes out of it."""

    def __init__(self, paper_ids: Iterable[str]) -> None:
        self._there = frozenset(paper_ids)
        self._removed: set[str] = set()

    @property
    def removed(self) -> int:
        return len(self._removed)

    def kept(self, named: Sequence[str]) -> tuple[str, ...]:
        """Those of the ids that were shown, each once."""
        names = dict.fromkeys(
            name.strip().removeprefix("[id:").removesuffix("]").strip() for name in named
        )
        self._removed.update(name for name in names if name and name not in self._there)
        return tuple(name for name in names if name in self._there)

    def text(self, written: str) -> str:
        """A text without the ids, DOIs and other numbers of papers in it that name none that was
        shown.
        """
        return _OTHER_IN_TEXT.sub(
            self._taken_out, _ID_IN_TEXT.sub(self._looked_at, written)
        ).strip()

    def texts(self, written: Sequence[str]) -> tuple[str, ...]:
        """The same for each, without those that are empty or said before."""
        return tuple(dict.fromkeys(filter(None, map(self.text, written))))

    def _looked_at(self, found: re.Match[str]) -> str:
        names = _BETWEEN_IDS.split(found[1])
        self._removed.update(name for name in names if name not in self._there)
        shown = [name for name in names if name in self._there]
        return f" [id: {', '.join(shown)}]" if shown else ""

    def _taken_out(self, found: re.Match[str]) -> str:
        self._removed.add(found[0].strip())
        return ""


def is_quoted(quotation: str, papers: Sequence[Paper]) -> bool:
    """Whether a sentence stands in one of the papers."""
    said = " ".join(quotation.split()).strip('“”"')
    return bool(said) and any(
        said in " ".join(f"{paper.title} {paper.abstract}".split()) for paper in papers
    )
