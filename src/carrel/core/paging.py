"""Pages of answers that come in pages, and what is said of one past the last."""

from __future__ import annotations

from carrel.core.answer import Explanation


class PastTheEnd(Explanation):
    """Beside an empty answer: the page asked for lies past the last one."""

    page: int
    pages: int | None = None
    total: int | None = None


def explain_past_end(page: int, limit: int, total: int | None, things: str) -> PastTheEnd:
    """Says how many pages there are; `total` is None where that is not counted."""
    if total is None:
        message = f"Page {page:,} is past the end. Ask for page 1, or a lower one."
        return PastTheEnd(message=message, page=page)
    pages = -(-total // limit)
    have = "there is 1 page" if pages == 1 else f"there are {pages:,} pages"
    message = f"Page {page:,} is past the end; {have} ({total:,} {things}, {limit} a page)."
    return PastTheEnd(message=message, page=page, pages=pages, total=total)
