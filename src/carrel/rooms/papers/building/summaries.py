"""The summaries of a paper: those that were filed, and the `simple` one that needs no model and
says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from carrel.core.paper_record import FiledSummary, Heading, PaperRecord
from carrel.libraries.text.plain_text import plain_text

SIMPLE = "simple"
NO_MODEL_NOTE = (
    "*No language model wrote this: it is the paper's own abstract and the outline of "
    "its sections.*"
)
_NO_ABSTRACT = "The source gives no abstract."
_NOT_IN_A_TAG = re.compile(r"[^a-z0-9_-]")
_PREVIEW_CHARACTERS = 320
_LONGEST_OUTLINE = 200


@dataclass(frozen=True, slots=True)
class SummaryShelf:
    """A paper's summaries by template, the one shown first, and the words of all of them for the
    index.
    """

    summaries: tuple[FiledSummary, ...]
    preferred: str
    preview: str
    searchable: str

    @property
    def templates(self) -> tuple[str, ...]:
        return tuple(summary.template for summary in self.summaries)

    def named(self, template: str) -> FiledSummary:
        return next(summary for summary in self.summaries if summary.template == template)


def template_tag(name: str) -> str:
    """A template's name as it appears in file names and in the snapshot."""
    return _NOT_IN_A_TAG.sub("_", name.strip().lower())[:64] or SIMPLE


def shelve(paper: PaperRecord) -> SummaryShelf:
    """Filed summaries win; where nobody filed `simple`, the abstract and the outline take its
    place.
    """
    filed = {
        tag: replace(summary, template=tag)
        for summary in paper.summaries
        for tag in [template_tag(summary.template)]
    }
    words = {tag: plain_text(summary.markdown) for tag, summary in filed.items()}
    if SIMPLE not in filed:
        filed[SIMPLE] = FiledSummary(SIMPLE, simple_summary(paper), language=paper.language)
        words[SIMPLE] = _own_words(paper)
    preferred = _preferred(filed)
    ordered = [preferred, *(tag for tag in sorted(filed) if tag != preferred)]
    preview = words[preferred][:_PREVIEW_CHARACTERS]
    shelf = tuple(filed[tag] for tag in sorted(filed))
    return SummaryShelf(
        shelf, preferred, preview, " ".join(words[tag] for tag in ordered if words[tag])
    )


def simple_summary(paper: PaperRecord) -> str:
    """Abstract and outline, and the note that this is all it is."""
    pieces = ["## Abstract", paper.abstract or _NO_ABSTRACT]
    if outline := _outline(paper.headings):
        pieces += ["## Outline", outline]
    return "\n\n".join([*pieces, NO_MODEL_NOTE])


def _outline(headings: tuple[Heading, ...]) -> str:
    top = min((heading.level for heading in headings), default=0)
    return "\n".join(
        f"{'  ' * (heading.level - top)}- {heading.title}"
        for heading in headings[:_LONGEST_OUTLINE]
    )


def _own_words(paper: PaperRecord) -> str:
    """What a search may find: the note and the labels are ours, not the paper's, and stay out."""
    return " ".join(
        [
            plain_text(paper.abstract or ""),
            *(heading.title for heading in paper.headings[:_LONGEST_OUTLINE]),
        ]
    ).strip()


def _preferred(filed: dict[str, FiledSummary]) -> str:
    asked = next(
        (
            template_tag(summary.prompt_template)
            for summary in filed.values()
            if summary.prompt_template
        ),
        None,
    )
    return asked if asked in filed else SIMPLE
