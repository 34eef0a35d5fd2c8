"""Dates of PubMed's XML: names or numbers of months, seasons, and ranges in words."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from carrel.libraries.bibliography.dates import month_number
from carrel.libraries.literature.dates import iso_date, read_date_text
from carrel.libraries.literature.xml_text import child, children, text_at


def published_date(element: Element | None) -> str | None:
    """`PubDate` and its like; `2000 Spring` is the year alone, a range its start."""
    if element is None:
        return None
    if written := text_at(element, "MedlineDate"):
        return read_date_text(written)
    month = text_at(element, "Month")
    return iso_date(
        text_at(element, "Year"), month_number(month) if month else None, text_at(element, "Day")
    )


def article_date(article: Element | None) -> str | None:
    """The date of the issue, or that of the article where it says the same more precisely."""
    issue = published_date(child(article, "Journal", "JournalIssue", "PubDate"))
    for each in children(article, "ArticleDate"):
        exact = published_date(each)
        if exact is not None and (issue is None or exact.startswith(issue)):
            return exact
    return issue
