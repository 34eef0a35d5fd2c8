"""arXiv's Atom interface: pages of a search, and entries by identifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from carrel.libraries.identifiers import ArxivId
from carrel.libraries.literature.arxiv import is_error_entry, read_identifier
from carrel.libraries.literature.raw_fields import count_of
from carrel.libraries.text.budget import InputTooCostlyError
from carrel.libraries.text.xml import XmlError, XmlNode, parse_xml_nodes
from carrel.services.literature.answers import AnswerKind, ServiceAnswer
from carrel.services.literature.errors import ServiceFailedError, UnreadableAnswerError
from carrel.services.literature.listings import Account
from carrel.services.literature.service_client import ServiceClient
from carrel.services.literature.service_limits import ServiceLimits

NAME = "arxiv"
# arXiv asks for one connection and 3 s between requests, each of which may name many papers.
LIMITS = ServiceLimits(max_concurrent=1, interval_seconds=3.0)
# A page inside the total may come empty; so often it is asked for again.
_MORE_ATTEMPTS = 2


class ArxivRefusalError(ServiceFailedError):
    """arXiv does not take the question, such as a list with a malformed identifier."""


@dataclass(frozen=True, slots=True)
class FeedPage:
    """Entries of one answer, and how many there are in all."""

    entries: tuple[XmlNode, ...]
    total: int | None


class ArxivFeed:
    """Asks arXiv's interface; whoever makes it owns the client."""

    def __init__(
        self, client: ServiceClient, base_url: str, limits: ServiceLimits = LIMITS
    ) -> None:
        self._client = client
        self._address = f"{base_url.rstrip('/')}/api/query"
        self._limits = limits

    async def read_page(
        self, params: Mapping[str, str], start: int, size: int, account: Account
    ) -> FeedPage:
        """A page of a search. Raises ArxivRefusalError and other ServiceErrors.

        An empty page inside the total is asked for again, and is an error if it stays empty.
        """
        asked = {**params, "start": str(start), "max_results": str(size)}
        page = await self._ask(asked, AnswerKind.SEARCH, account)
        for _ in range(_MORE_ATTEMPTS):
            if page.entries or not page.total or start >= page.total:
                return page
            # Not from the cache, which would give the same empty page.
            page = await self._ask(asked, AnswerKind.PROBE, account)
        if not page.entries and page.total and start < page.total:
            cause = f"it gave no entries from {start} on, of {page.total} that it has"
            raise UnreadableAnswerError(NAME, cause)
        return page

    async def fetch(
        self, identifiers: Sequence[ArxivId], account: Account
    ) -> dict[ArxivId, XmlNode]:
        """The entries that arXiv has; one malformed id makes it refuse a list, which is halved."""
        names = ",".join(str(identifier) for identifier in identifiers)
        params = {"id_list": names, "max_results": str(len(identifiers))}
        try:
            page = await self._ask(params, AnswerKind.RECORD, account)
        except ArxivRefusalError:
            if len(identifiers) == 1:
                return {}
            half = len(identifiers) // 2
            first = await self.fetch(identifiers[:half], account)
            return {**first, **await self.fetch(identifiers[half:], account)}
        return _match_entries(page.entries, identifiers)

    async def _ask(self, params: Mapping[str, str], kind: AnswerKind, account: Account) -> FeedPage:
        answer = await self._client.ask(
            NAME,
            self._address,
            params=params,
            accept="application/atom+xml",
            limits=self._limits,
            kind=kind,
        )
        return _read_feed(account.add(answer))


def _read_feed(answer: ServiceAnswer) -> FeedPage:
    """The entries; raises for an error, which arXiv tells as an entry, with status 200 or 400."""
    try:
        feed = parse_xml_nodes(answer.body)
    except (XmlError, InputTooCostlyError) as error:
        if answer.status != 200:
            raise _refusal(answer, "") from error
        raise UnreadableAnswerError(NAME, str(error)) from error
    entries = tuple(feed.each("entry"))
    told = next((each.at("summary") or "error" for each in entries if is_error_entry(each)), "")
    if told or answer.status != 200:
        raise _refusal(answer, told)
    if feed.tag != "feed":
        raise UnreadableAnswerError(NAME, f"it is a {feed.tag} in place of a feed")
    return FeedPage(entries, count_of(feed.at("totalResults")))


def _refusal(answer: ServiceAnswer, told: str) -> ServiceFailedError:
    cause = f"it says {told[:300]!r}" if told else f"it answered with status {answer.status}"
    if answer.status in {200, 400}:
        return ArxivRefusalError(NAME, cause, answer.status)
    return ServiceFailedError(NAME, cause, answer.status)


def _match_entries(
    entries: Sequence[XmlNode], identifiers: Sequence[ArxivId]
) -> dict[ArxivId, XmlNode]:
    """Each identifier with its entry; one without a version matches any version."""
    found: dict[tuple[str, int | None], XmlNode] = {}
    for entry in entries:
        name = read_identifier(entry)
        if name is not None and entry.at("title"):
            found[name.value, name.version] = found[name.value, None] = entry
    return {
        identifier: node
        for identifier in identifiers
        if (node := found.get((identifier.value, identifier.version))) is not None
    }
