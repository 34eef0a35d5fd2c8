"""The literature room's part of the web console."""

from __future__ import annotations

from carrel.core.pages import ConsolePage, NavigationEntry, RoomPages
from carrel.rooms.literature.pages.additions_page import add_works, draw_addition
from carrel.rooms.literature.pages.alerts_page import draw_alerts, run_alerts, send_digest
from carrel.rooms.literature.pages.completion_page import change_records, draw_completion
from carrel.rooms.literature.pages.home_share import share_with_home
from carrel.rooms.literature.pages.retractions_page import check_draft, draw_retractions
from carrel.rooms.literature.pages.search_page import draw_search
from carrel.rooms.literature.pages.text_page import draw_text_offer, find_text
from carrel.rooms.literature.pages.work_page import draw_citations, draw_work, open_work

CONSOLE = RoomPages(
    name="literature",
    folder="carrel.rooms.literature.pages",
    pages=(
        ConsolePage("/literature", draw=draw_search),
        ConsolePage("/literature/add", act=add_works),
        ConsolePage("/literature/addition/{job_id}", draw=draw_addition),
        ConsolePage("/literature/alerts", draw=draw_alerts, act=run_alerts),
        ConsolePage("/literature/alerts/digest", act=send_digest),
        ConsolePage("/literature/retractions", draw=draw_retractions, act=check_draft),
        ConsolePage("/literature/completion", draw=draw_completion, act=change_records),
        ConsolePage("/literature/work", draw=open_work),
        ConsolePage("/literature/work/{work_id}", draw=draw_work),
        ConsolePage("/literature/citations/{work_id}", draw=draw_citations),
        ConsolePage("/literature/text/{work_id}", draw=draw_text_offer, act=find_text),
    ),
    navigation=(
        NavigationEntry("/literature", "literature.navigation", "literature", "search_literature"),
    ),
    share=share_with_home,
)
