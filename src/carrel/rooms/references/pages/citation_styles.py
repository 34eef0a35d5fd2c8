"""The choice of a citation style: what was asked for, and what comes near where it is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from carrel.core.errors import CarrelError
from carrel.core.pages import PageRequest
from carrel.rooms.references.citation_runs import CitationRun, read_citation_runs
from carrel.rooms.references.models import Citations, FoundStyle

USUAL_STYLES = ("apa", "vancouver", "ieee", "nature", "chicago", "mla", "harvard")
LOCALES = ("en-US", "en-GB", "de-DE", "fr-FR", "es-ES", "it-IT", "pt-BR", "ja-JP", "zh-CN")
_STYLES_NEAR = 20
# The codes of what the person can mend on the same page.
_MENDED_HERE = frozenset({"style_not_found", "citation_failed"})


@dataclass(frozen=True, slots=True)
class CitedEntry:
    """One line of a bibliography."""

    id: str
    runs: Sequence[CitationRun]

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


@dataclass(frozen=True, slots=True)
class StyledCitations:
    """Citations in the style that was asked for; `problem` says why there are none."""

    style: str
    locale: str
    entries: Sequence[CitedEntry] = ()
    html: str = ""
    notices: Sequence[str] = ()
    problem: str = ""
    near: Sequence[FoundStyle] = ()

    @property
    def text(self) -> str:
        return "\n".join(entry.text for entry in self.entries)


async def cite_in_style(
    request: PageRequest, ids: Sequence[str], kind: str = "bibliography"
) -> StyledCitations:
    """The references in the style and language of the address. Raises CarrelError."""
    style = request.query.text("style")[:200]
    locale = request.query.text("locale")
    chosen: dict[str, Any] = {"locale": locale} if locale in LOCALES else {}
    if style:
        chosen["style"] = style
    try:
        answer: Citations = await request.ask(
            "cite_references", ids=list(ids), format="html", kind=kind, **chosen
        )
    except CarrelError as error:
        if error.code not in _MENDED_HERE:
            raise
        near = await _find_near(request, style)
        return StyledCitations(style, locale, problem=error.message, near=near)
    entries = [CitedEntry(entry.id, read_citation_runs(entry.text)) for entry in answer.entries]
    if kind != "bibliography":
        entries = [CitedEntry("", read_citation_runs(answer.text))]
    return StyledCitations(
        answer.style, locale, entries, html=_as_html(answer), notices=answer.notices
    )


def _as_html(answer: Citations) -> str:
    """What is copied as HTML: a block for each entry."""
    if answer.kind != "bibliography":
        return answer.text
    return "\n".join(f"<p>{entry.text.strip()}</p>" for entry in answer.entries)


async def _find_near(request: PageRequest, style: str) -> Sequence[FoundStyle]:
    words = " ".join(style.replace("-", " ").split())
    if not words:
        return ()
    found = await request.ask("list_citation_styles", query=words, limit=_STYLES_NEAR)
    near: Sequence[FoundStyle] = found.styles
    return near
