"""The papers room's part of the web console."""

from __future__ import annotations

from carrel.core.pages import NavigationEntry, Page, RoomPages
from carrel.rooms.papers.pages.corrections_page import correct_field, draw_correction
from carrel.rooms.papers.pages.home_share import find_path, share_with_home
from carrel.rooms.papers.pages.map_page import MAP_LIVE, draw_map, draw_tile, start_drawing
from carrel.rooms.papers.pages.reader_page import (
    check_claim,
    draw_figure,
    draw_page_image,
    draw_paper,
)
from carrel.rooms.papers.pages.review_page import draw_review
from carrel.rooms.papers.pages.search_page import add_paper, draw_export, draw_search

_PAPER_PAGES = (
    Page("/papers", draw=draw_search),
    Page("/papers/add", act=add_paper),
    Page("/papers/export", draw=draw_export),
    Page("/papers/review", draw=draw_review),
    Page("/papers/paper/{paper_id}", draw=draw_paper, act=check_claim),
    Page("/papers/correct/{paper_id}", draw=draw_correction, act=correct_field),
    Page("/papers/figure/{paper_id}", draw=draw_figure),
    Page("/papers/page/{page}/{paper_id}", draw=draw_page_image),
    Page("/papers/map", draw=draw_map, act=start_drawing),
    Page("/papers/map/tile/{version}/{tile}", draw=draw_tile),
)

CONSOLE = RoomPages(
    name="papers",
    folder="carrel.rooms.papers.pages",
    pages=_PAPER_PAGES,
    navigation=(
        NavigationEntry("/papers", "papers.navigation", "papers", "search_papers"),
        NavigationEntry("/papers/map", "papers.map.nav", "map", "get_paper_map"),
    ),
    live=(MAP_LIVE,),
    find_path=find_path,
    marks_words=True,
    share=share_with_home,
)
