"""Pages of reading papers part by part, of facets of a search, and of the map of the corpus."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from carrel.cli.page import (
    Column,
    Heading,
    Line,
    MakePage,
    Markdown,
    Note,
    Page,
    Part,
    Table,
    strong,
)
from carrel.rooms.papers.map_models import MapPaper, MapReport, MapSelection, PaperMap
from carrel.rooms.papers.models import FacetCount
from carrel.rooms.papers.page_images import PaperPages
from carrel.rooms.papers.reading import PaperPart
from carrel.rooms.papers.search_facets import SearchFacets


def draw_part(answer: PaperPart) -> Page:
    parts: list[Part] = [Line((strong(answer.title),))]
    parts += [Markdown(piece.text) for piece in answer.pieces]
    if answer.elsewhere:
        parts.append(Markdown(answer.elsewhere))
    if answer.found:
        parts.append(Heading("Found"))
        rows = [(each.excerpt, each.section, str(each.part)) for each in answer.found]
        parts.append(Table((Column("words"), Column("section"), Column("part", "right")), rows))
    parts.append(Note(f"Part {answer.part} of {answer.parts}."))
    paper = shlex.quote(answer.paper_id)
    step = f"carrel papers part {paper} --part {answer.part + 1}"
    return Page(parts, next_step=step if answer.part < answer.parts else "")


def draw_page_count(answer: PaperPages) -> Page:
    if not answer.pages:
        return Page((Line("There is no PDF of this paper."),))
    return Page((Line("1 page" if answer.pages == 1 else f"{answer.pages:,} pages"),))


def draw_search_facets(answer: SearchFacets) -> Page:
    parts: list[Part] = []
    groups: Mapping[str, Sequence[FacetCount]] = {
        "Years": answer.year,
        "Authors": answer.author,
        "Venues": answer.venue,
        "Keywords": answer.keyword,
        "Tags": answer.tag,
    }
    for title, facets in groups.items():
        if facets:
            rows = [(each.value, f"{each.paper_count:,}") for each in facets]
            parts += [Heading(title), Table((Column("value"), Column("papers", "right")), rows)]
    total = "" if answer.total is None else f" of {answer.total:,}"
    parts.append(Note(f"Counted in the {answer.counted:,} best papers{total}."))
    return Page(parts)


def draw_regions(answer: PaperMap) -> Page:
    if answer.state == "none":
        return Page((Line("There is no map yet."),), next_step="carrel papers map draws it.")
    rows = [
        (region.label, f"{region.first_year or ''}–{region.last_year or ''}", f"{region.papers:,}")
        for region in answer.regions
    ]
    columns = (Column("region"), Column("years"), Column("papers", "right"))
    about = f"{answer.papers:,} papers on the map, {answer.in_corpus:,} in the corpus."
    step = "" if answer.is_current else "carrel papers map places what is new."
    return Page((Table(columns, rows), Note(about)), next_step=step)


def draw_places(answer: Sequence[MapPaper]) -> Page:
    if not answer:
        return Page((Line("None of these is on the map."),))
    rows = [
        (each.title, str(each.year or ""), f"{each.x:.3f}", f"{each.y:.3f}", each.paper_id)
        for each in answer
    ]
    columns = (
        Column("paper"),
        Column("year", "right"),
        Column("x", "right"),
        Column("y", "right"),
        Column("paper_id", whole=True),
    )
    return Page((Table(columns, rows),))


def draw_selection(answer: MapSelection) -> Page:
    shown = draw_places(answer.papers)
    return Page((*shown.parts, Note(f"{answer.count:,} papers are within the outline.")))


def draw_map_report(answer: MapReport) -> Page:
    if answer.job_id is not None:
        step = f"carrel jobs show {answer.job_id}"
        return Page((Line("The map is being drawn."),), next_step=step)
    done = "drawn anew" if answer.is_drawn_anew else f"{answer.placed:,} papers placed on it"
    return Page(
        (
            Line(f"The map shows {answer.papers:,} papers; {done}."),
            Note(f"{answer.not_placed:,} share no word with others and are not on it."),
        )
    )


READING_PAGES: Mapping[str, MakePage] = {
    "read_paper_part": draw_part,
    "count_paper_pages": draw_page_count,
    "count_search_facets": draw_search_facets,
    "get_paper_map": draw_regions,
    "locate_on_map": draw_places,
    "select_on_map": draw_selection,
    "update_paper_map": draw_map_report,
}
