"""What alerts found, as Markdown for people and as an Atom feed for readers of feeds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from xml.etree import ElementTree

from carrel.core.answer import Text
from carrel.core.caller import Call, library_name
from carrel.core.clock import Clock
from carrel.core.work_notices import (
    NoNotices,
    NoticesAbout,
    WorkNotice,
    describe_notice,
    find_notices,
    sort_notices,
)
from carrel.rooms.literature.alert_models import (
    AlertWork,
    AlertWorksListed,
    FollowedWork,
    GetAlertDigest,
    ListAlertWorks,
)
from carrel.rooms.literature.alert_ports import Alert, AlertStore, DeskHoldings, KeptWork
from carrel.rooms.literature.alerts import Alerts

_ATOM = "http://www.w3.org/2005/Atom"
_TAGS = re.compile(r"</?(?:i|b|em|strong|sub|sup|scp?|italic|bold)\b[^<>]{0,100}>", re.IGNORECASE)
# What XML 1.0 cannot hold, not even escaped.
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~])")
_UNSAFE_IN_LINK = re.compile(r"[\s()<>\"\\]")


@dataclass(frozen=True, slots=True)
class DigestEntry:
    """A work to tell of, and where the desk has it."""

    number: int
    found_at: str
    work: AlertWork
    held: tuple[str, ...] = ()
    is_told: bool = False


@dataclass(frozen=True, slots=True)
class DigestPart:
    """The works of one alert, newest first, and how many more there are."""

    alert: Alert
    entries: Sequence[DigestEntry]


class AlertDigests:
    """Tells of works that alerts found, marked with what the caller's desk has."""

    def __init__(
        self,
        alerts: Alerts,
        store: AlertStore,
        holdings: DeskHoldings,
        clock: Clock,
        notices: NoticesAbout | None = None,
    ) -> None:
        self._notices = notices or NoNotices()
        self._alerts = alerts
        self._store = store
        self._holdings = holdings
        self._clock = clock

    async def write(self, question: GetAlertDigest, call: Call) -> Text:
        """The digest; a Markdown digest of what is new is told once, then counts as told."""
        now = self._clock.now()
        since = ""
        if question.days is not None:
            since = (now - timedelta(days=question.days)).isoformat(timespec="seconds")
        # A feed is read again and again, by readers that know its entries by their ids.
        tells_once = question.days is None and question.format == "markdown"
        parts: list[DigestPart] = []
        left = question.limit
        for alert in await self._alerts.select(question.name, call):
            works = await self._store.list_works(
                alert.id, found_since=since, only_untold=tells_once, limit=max(left, 1)
            )
            left -= len(works)
            parts.append(DigestPart(alert, await self._entries(works, call)))
            if left <= 0:
                break
        if question.format == "atom":
            name, feed_id = "all alerts", library_name(call.caller.user_id)
            if question.name is not None and parts:
                name, feed_id = parts[0].alert.name, parts[0].alert.id
            return Text(write_atom(name, feed_id, parts), "application/atom+xml")
        text = write_markdown(parts, now.date().isoformat())
        if tells_once:
            at = now.isoformat(timespec="seconds")
            for part in parts:
                numbers = [entry.number for entry in part.entries]
                await self._store.mark_told(part.alert.id, numbers, at)
        return Text(text, "text/markdown")

    async def list_works(self, question: ListAlertWorks, call: Call) -> AlertWorksListed:
        """Works of the last days, newest first; none of them counts as told by this."""
        now = self._clock.now()
        since = (now - timedelta(days=question.days)).isoformat(timespec="seconds")
        found: list[FollowedWork] = []
        for alert in await self._alerts.select(question.name, call):
            works = await self._store.list_works(
                alert.id, found_since=since, only_untold=False, limit=question.limit + 1
            )
            found += [_follow(alert, each) for each in await self._entries(works, call)]
        found.sort(key=lambda each: each.found_at, reverse=True)
        return AlertWorksListed(works=found[: question.limit], left_out=len(found) > question.limit)

    async def _entries(self, works: Sequence[KeptWork], call: Call) -> list[DigestEntry]:
        read = [AlertWork.model_validate_json(each.body) for each in works]
        keys = [each.keys for each in read]
        held = await self._holdings.find(keys, call)
        # A work may have been retracted since it was found.
        since = await find_notices(self._notices, keys)
        return [
            DigestEntry(
                kept.number,
                kept.found_at,
                _with_notices(work, notices),
                where,
                is_told=bool(kept.told_at),
            )
            for kept, work, notices, where in zip(works, read, since, held, strict=True)
        ]


def _follow(alert: Alert, entry: DigestEntry) -> FollowedWork:
    held = {kind: name for kind, _, name in (each.partition(":") for each in entry.held)}
    return FollowedWork(
        alert=alert.name,
        found_at=entry.found_at,
        is_new=not entry.is_told,
        in_corpus=held.get("paper"),
        in_library=held.get("ref"),
        work=entry.work,
    )


def _with_notices(work: AlertWork, notices: Sequence[WorkNotice]) -> AlertWork:
    if not notices:
        return work
    every = sort_notices(dict.fromkeys((*work.notices, *notices)))
    return work.model_copy(update={"notices": list(every)})


def write_markdown(parts: Sequence[DigestPart], day: str) -> str:
    """One section for each alert, one item for each work."""
    total = sum(len(part.entries) for part in parts)
    if not total:
        return "Nothing new.\n"
    lines = [f"# New works, {day}", ""]
    for part in parts:
        if not part.entries:
            continue
        count = len(part.entries)
        lines += [f"## {_plain(part.alert.name)} ({count})", ""]
        for entry in part.entries:
            lines += _markdown_entry(entry)
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _markdown_entry(entry: DigestEntry) -> list[str]:
    work = entry.work
    title = _plain(work.title or "(no title)")
    address = _UNSAFE_IN_LINK.sub(_percent, work.url)
    lines = [f"- [{title}]({address})" if address else f"- **{title}**"]
    about = [_plain(part) for part in (_people(work), work.venue, work.issued or "") if part]
    if about:
        lines.append(f"  {'. '.join(about)}.")
    lines += [f"  **{describe_notice(each)}**" for each in work.notices]
    if entry.held:
        lines.append(f"  Already here: {', '.join(_plain(each) for each in entry.held)}.")
    lines.append(f"  {_plain(work.id)} · {', '.join(work.found_by)}")
    return lines


def write_atom(name: str, feed_id: str, parts: Sequence[DigestPart]) -> str:
    """An Atom feed (RFC 4287) with ids that never change for the same work of an alert."""
    ElementTree.register_namespace("", _ATOM)
    feed = ElementTree.Element(f"{{{_ATOM}}}feed")
    _put(feed, "id", f"urn:carrel:alerts:{feed_id}")
    _put(feed, "title", f"Carrel: {name}")
    times = [entry.found_at for part in parts for entry in part.entries]
    created = [part.alert.created_at for part in parts]
    _put(feed, "updated", max(times, default=max(created, default="1970-01-01T00:00:00+00:00")))
    _put(_put(feed, "author", ""), "name", "Carrel")
    entries = [(entry, part.alert) for part in parts for entry in part.entries]
    for entry, alert in sorted(entries, key=lambda each: each[0].found_at, reverse=True):
        _put_entry(feed, entry, alert)
    text = ElementTree.tostring(feed, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _put_entry(feed: ElementTree.Element, entry: DigestEntry, alert: Alert) -> None:
    work = entry.work
    element = _put(feed, "entry", "")
    _put(element, "id", f"urn:carrel:alert:{alert.id}:{entry.number}")
    _put(element, "title", work.title or "(no title)")
    _put(element, "updated", entry.found_at)
    for author in work.authors:
        _put(_put(element, "author", ""), "name", author)
    if work.url:
        link = _put(element, "link", "")
        link.set("href", _UNSAFE_IN_LINK.sub(_percent, _NOT_XML.sub("", work.url)))
        link.set("rel", "alternate")
    category = _put(element, "category", "")
    category.set("term", _NOT_XML.sub("", alert.name))
    about = [part for part in (work.venue, work.issued or "", work.id) if part]
    said = [describe_notice(each) for each in work.notices]
    held = [f"Already here: {', '.join(entry.held)}"] if entry.held else []
    summary = "\n".join([*said, *held, " · ".join(about), work.abstract]).strip()
    _put(element, "summary", summary)


def _put(parent: ElementTree.Element, name: str, text: str) -> ElementTree.Element:
    child = ElementTree.SubElement(parent, f"{{{_ATOM}}}{name}")
    if text:
        child.text = _NOT_XML.sub("", _TAGS.sub("", text))
    return child


def _people(work: AlertWork) -> str:
    names = ", ".join(work.authors)
    return f"{names} et al" if work.author_count > len(work.authors) else names


def _plain(text: str) -> str:
    """Text of others in Markdown: one line, with nothing that is read as markup."""
    return _MARKDOWN.sub(r"\\\1", " ".join(_NOT_XML.sub("", _TAGS.sub("", text)).split()))


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found.group().encode())
