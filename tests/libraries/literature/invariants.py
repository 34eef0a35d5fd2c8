"""What must hold for every record that a reader makes, whatever a service sent."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any

from carrel.libraries.identifiers import ArxivId, Doi, Isbn, Pmcid, Pmid
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.records import ServiceRecord, WorkIds

_TAG = re.compile(r"</?(?!(?:i|b|sub|sup)>)[a-zA-Z][\w:-]*(?:\s[^<>]*)?/?>")
_ISSN = re.compile(r"\d{4}-\d{3}[\dX]")


def check_damaged(read_work: Callable[[Any], ServiceRecord], raw: Any) -> None:
    """A damaged record is read as one that holds, or refused."""
    try:
        record = read_work(raw)
    except UnreadableRecordError:
        return
    if record.work.title and record.service_id:
        check_record(record, may_have_tags=True)


def check_record(record: ServiceRecord, *, may_have_tags: bool = False) -> None:
    """Identifiers in their normal form, ISO dates, one line of text, no other tags than ours."""
    work = record.work
    assert record.service_id
    assert work.title
    for text in (work.title, work.abstract, work.venue.name, *work.keywords, *work.subjects):
        assert text == " ".join(text.split()), text
        assert may_have_tags or not _TAG.search(text), text
    check_ids(work.ids)
    check_date(work.issued)
    for author in work.authors:
        assert bool(author.family) != bool(author.literal), author
        assert author.family == author.family.strip()
    for number in work.venue.issn:
        assert _ISSN.fullmatch(number)
    assert work.language is None or len(work.language) == 2
    for location in work.locations:
        assert location.url.startswith(("http://", "https://"))
        assert location.service == record.service
    for notice in work.notices:
        check_date(notice.date)
        assert notice.service == record.service
    for version in work.versions:
        check_ids(version.ids)
        assert version.ids.keys()
        assert version.service == record.service
    for cited in work.references or ():
        check_ids(cited.ids)
        assert cited.unstructured or cited.title or cited.ids.keys()


def check_date(written: str | None) -> None:
    if written is None:
        return
    assert re.fullmatch(r"\d{4}(?:-\d\d(?:-\d\d)?)?", written), written
    date.fromisoformat(f"{written}-01-01"[:10] if len(written) < 10 else written)


def check_ids(ids: WorkIds) -> None:
    for kind, value in (
        (Doi, ids.doi),
        (Pmid, ids.pmid),
        (Pmcid, ids.pmcid),
        (ArxivId, ids.arxiv),
        (Isbn, ids.isbn),
    ):
        assert value is None or kind.parse(value).value == value, value
