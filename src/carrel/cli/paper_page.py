"""Pages of one paper: its metadata as a title block with fields, and its summary."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

from carrel.cli.generic_page import make_generic_page
from carrel.cli.page import (
    Fields,
    Heading,
    Inline,
    Item,
    Line,
    Markdown,
    Page,
    Paragraph,
    Part,
    Verbatim,
    dim,
    join_inline,
)
from carrel.cli.paper_names import GUESS_NOTE, mark_guess, notice_lines, title_line
from carrel.core.answer import Text
from carrel.rooms.papers.models import PaperMetadata

_RELATIONS = {"published_as": "published as", "version_of": "another version"}
# What the title block of a summary says already.
_IN_TITLE_BLOCK = {
    "paper_id",
    "paper_title",
    "paper_authors",
    "publication_date",
    "publication_venue",
    "paper_institutions",
    "keywords",
    "template_tag",
}


def draw_paper(paper: PaperMetadata) -> Page:
    """Title, people and where it appeared; then identifiers, subjects, and what can be read."""
    guesses = paper.inferred
    parts: list[Part] = [Heading(title_line(paper.title, guesses).text)]
    if paper.authors:
        parts.append(Line(mark_guess(", ".join(paper.authors), "authors", guesses)))
    place = _place(paper)
    if place:
        parts.append(Line(place))
    parts += notice_lines(paper.notices)
    parts.append(Fields([*_identifiers(paper), *_subjects(paper), *_readable(paper)]))
    if guesses:
        parts.append(GUESS_NOTE)
    name = shlex.quote(paper.paper_id)
    read = f"carrel papers source {name} reads it, " if paper.has_source else ""
    return Page(parts, next_step=f"{read}carrel papers bibtex {name} cites it")


def _place(paper: PaperMetadata) -> Inline:
    issue = f"({paper.issue})" if paper.issue else ""
    volume = f" {paper.volume}{issue}" if paper.volume else ""
    pages = f", {paper.pages}" if paper.pages else ""
    venue = "" if paper.venue == "unknown" else f"{paper.venue}{volume}{pages}"
    date = paper.year if paper.publication_date in {"", "unknown"} else paper.publication_date
    return join_inline(
        [
            mark_guess(venue, "venue", paper.inferred),
            mark_guess(
                date, "year" if "year" in paper.inferred else "publication_date", paper.inferred
            ),
        ]
    )


def _identifiers(paper: PaperMetadata) -> list[tuple[str, Inline]]:
    guesses = paper.inferred
    return [
        ("id", paper.paper_id),
        ("DOI", mark_guess(paper.doi or "", "doi", guesses)),
        ("arXiv", mark_guess(paper.arxiv_id or "", "arxiv_id", guesses)),
        ("PMID", paper.pmid or ""),
        ("PMCID", paper.pmcid or ""),
        ("ISBN", paper.isbn or ""),
        ("ISSN", paper.issn or ""),
        ("address", paper.url or ""),
        ("earlier ids", ", ".join(paper.former_ids)),
    ]


def _subjects(paper: PaperMetadata) -> list[tuple[str, Inline]]:
    guesses = paper.inferred
    return [
        ("type", (paper.type or "").replace("-", " ")),
        ("keywords", mark_guess(", ".join(paper.keywords), "keywords", guesses)),
        ("tags", ", ".join(paper.tags)),
        ("institutions", mark_guess("; ".join(paper.institutions), "institutions", guesses)),
        ("editors", ", ".join(paper.editors)),
        ("publisher", paper.publisher or ""),
        ("language", paper.language or ""),
        ("licence", paper.license or ""),
        ("text from", _text_origin(paper)),
    ]


def _text_origin(paper: PaperMetadata) -> str:
    found = paper.text_origin
    if found is None:
        return ""
    version = f"{found.version} version, " if found.version else ""
    licence = found.licence or "licence not stated"
    return f"{found.url} ({version}{found.format}, {licence}, {found.retrieved_at[:10]})"


def _readable(paper: PaperMetadata) -> list[tuple[str, Inline]]:
    """What there is to read, and what is said elsewhere about the paper."""
    texts = [
        "full text" if paper.has_source else "no full text",
        _count(paper.references, "reference"),
        _count(paper.figures, "figure or table", "figures and tables"),
    ]
    versions = [
        f"{_RELATIONS.get(each.relation, each.relation.replace('_', ' '))}: "
        f"{each.paper_id or each.doi}"
        for each in paper.versions
    ]
    return [
        ("to read", ", ".join(text for text in texts if text)),
        ("summaries", ", ".join(paper.available_summary_templates)),
        ("translations", ", ".join(paper.available_translations)),
        ("versions", "\n".join(versions)),
        ("notes", _notes(paper)),
        ("stated by", _origins(paper)),
    ]


def _notes(paper: PaperMetadata) -> Inline:
    lines: list[Inline] = [(note.title, " ", dim(note.id)) for note in paper.notes]
    return join_inline(lines, "\n")


def _origins(paper: PaperMetadata) -> str:
    """Where the fields come from, where that is not a list that somebody keeps."""
    others = [
        f"{field.replace('_', ' ')} {each.origin} ({each.confidence:.0%} sure)"
        for field, each in paper.origins.items()
    ]
    return "; ".join([*([paper.origin] if paper.origin else []), *others])


def _count(count: int | None, one: str, several: str | None = None) -> str:
    if not count:
        return ""
    return f"1 {one}" if count == 1 else f"{count:,} {several or f'{one}s'}"


def draw_summary(answer: Text) -> Page:
    """The summary below the paper's title block; a part of one as it is."""
    try:
        value = json.loads(answer.body)
    except ValueError:
        return Page((Verbatim(answer.body),))
    if not isinstance(value, dict):
        return make_generic_page(value)
    parts = list(_summary_head(value))
    shown = json.dumps(list(value.values())[-1:], ensure_ascii=False)
    for name, each in value.items():
        # An abstract that the summary repeats is shown once.
        is_repeated = name == "abstract" and isinstance(each, str) and _inside(each, shown)
        if name not in _IN_TITLE_BLOCK and not is_repeated:
            parts += _summary_part(name, each)
    return Page(parts)


def _inside(text: str, encoded: str) -> bool:
    return json.dumps(text.strip(), ensure_ascii=False)[1:-1] in encoded


def _summary_head(value: dict[str, Any]) -> Sequence[Part]:
    title, people = value.get("paper_title"), value.get("paper_authors")
    names = ", ".join(map(str, people)) if isinstance(people, list) else str(people or "")
    place = join_inline(
        [str(value.get(name) or "") for name in ("publication_venue", "publication_date")]
    )
    parts: list[Part] = [Heading(str(title))] if title else []
    parts += [Line(line) for line in (names, place) if line]
    keywords = value.get("keywords")
    if isinstance(keywords, list) and keywords:
        parts.append(Line((dim(", ".join(map(str, keywords))),)))
    return parts


def _summary_part(name: str, value: Any) -> Sequence[Part]:
    if value in (None, "", [], {}):
        return []
    heading = Heading(name.replace("_", " ").capitalize())
    if isinstance(value, str):
        # A text that brings headings of its own needs none of ours.
        return [Markdown(value)] if value.lstrip().startswith("#") else [heading, Markdown(value)]
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return [heading, *(Item("•", (Paragraph(each),)) for each in value)]
    if isinstance(value, list | dict):
        return [heading, *make_generic_page(value).parts]
    return [heading, Paragraph(str(value))]
