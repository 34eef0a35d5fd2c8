"""The papers room's part of the web console."""

from __future__ import annotations

from carrel.core.pages import ConsolePage, NavigationEntry, RoomPages
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
    ConsolePage("/papers", draw=draw_search),
    ConsolePage("/papers/add", act=add_paper),
    ConsolePage("/papers/export", draw=draw_export),
    ConsolePage("/papers/review", draw=draw_review),
    ConsolePage("/papers/paper/{paper_id}", draw=draw_paper, act=check_claim),
    ConsolePage("/papers/correct/{paper_id}", draw=draw_correction, act=correct_field),
    ConsolePage("/papers/figure/{paper_id}", draw=draw_figure),
    ConsolePage("/papers/page/{page}/{paper_id}", draw=draw_page_image),
    ConsolePage("/papers/map", draw=draw_map, act=start_drawing),
    ConsolePage("/papers/map/tile/{version}/{tile}", draw=draw_tile),
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
