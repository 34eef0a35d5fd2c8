"""The first page: search, what is here, what is new, what waits, and how to connect."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from carrel.core.errors import CarrelError
from carrel.core.pages import HomeShare, NewItem, PageRequest, PageView, RoomPages, WaitingItem

log = logging.getLogger("carrel.web")

_NEW_LINES = 10
_LINES_OF_ROOM = 4
# A room that takes longer is named as not read, so that the others are shown.
_SHARE_SECONDS = 10.0
# Stands for a count, to see whether a message says it.
_NUMBER = "\N{WHITE SQUARE}"


class AssistantConnection(Protocol):
    """How one assistant is connected: a command to type, a text to paste, or an address."""

    @property
    def client(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def kind(self) -> str:
        """`command`, `paste` or `address`."""
        ...

    @property
    def place(self) -> str:
        """The file that a text is pasted into."""
        ...

    @property
    def refresh(self) -> str:
        """What makes the assistant see it."""
        ...


@dataclass(frozen=True, slots=True)
class RoomFact:
    """One count of a room; `is_alone` where its message does not say the number itself."""

    text: str
    count: int
    path: str
    is_alone: bool


@dataclass(frozen=True, slots=True)
class RoomLine:
    """A room on the first page; `problem` says why it could not be read."""

    label: str
    icon: str
    path: str
    facts: Sequence[RoomFact] = ()
    problem: str = ""


@dataclass(slots=True)
class GatheredShares:
    """The shares of all rooms, put together."""

    rooms: list[RoomLine] = field(default_factory=list)
    waiting: list[WaitingItem] = field(default_factory=list)
    new: list[tuple[NewItem, str]] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether every room could be read, and none has anything."""
        return bool(self.rooms) and not any(
            room.problem or any(fact.count for fact in room.facts) for room in self.rooms
        )


class FirstPage:
    """Draws `/`."""

    def __init__(
        self, rooms: Sequence[RoomPages], connections: Sequence[AssistantConnection]
    ) -> None:
        self._rooms = [room for room in rooms if room.share is not None]
        self._connections = connections

    async def draw(self, request: PageRequest) -> PageView:
        shown = [room for room in self._rooms if _is_open(room, request)]
        shares = await asyncio.gather(*(_ask_share(room, request) for room in shown))
        gathered = _gather(shown, shares, request)
        return PageView(
            "home/home.html",
            "",
            {
                "gathered": gathered,
                "connections": self._connections,
                "may_search": request.offers("search_desk"),
                "may_add": any(
                    request.offers(each)
                    for each in ("add_paper", "add_references", "save_knowledge")
                ),
                "may_search_outside": request.offers("search_literature"),
                "may_start_research": request.offers("start_research"),
            },
            modules=("home/home.js",),
            styles=("home/home.css",),
        )


def _is_open(room: RoomPages, request: PageRequest) -> bool:
    """Whether the person may use anything that the room leads to."""
    return any(request.offers(entry.operation) for entry in room.navigation)


async def _ask_share(room: RoomPages, request: PageRequest) -> HomeShare | str:
    """The room's share, or one sentence why it could not be read."""
    assert room.share is not None
    try:
        return await asyncio.wait_for(room.share(request), _SHARE_SECONDS)
    except CarrelError as error:
        return f"{error.message.rstrip('.')}. {error.next_step}".strip()
    except TimeoutError:
        return request.translate("home.here.too_slow")
    except Exception:
        log.exception("a room's share of the first page failed", extra={"room": room.name})
        return request.translate("home.here.failed")


def _make_fact(message: str, count: int, path: str, request: PageRequest) -> RoomFact:
    says_number = _NUMBER in request.translate(message, count=_NUMBER)
    text = request.translate(message, count=count)
    return RoomFact(text, count, path, is_alone=not says_number)


def _gather(
    rooms: Sequence[RoomPages], shares: Sequence[HomeShare | str], request: PageRequest
) -> GatheredShares:
    gathered = GatheredShares()
    for room, share in zip(rooms, shares, strict=True):
        entry = room.navigation[0]
        if isinstance(share, str):
            line = RoomLine(entry.label, entry.icon, entry.path, problem=share)
            gathered.rooms.append(line)
            continue
        facts = [_make_fact(*fact, request) for fact in share.facts]
        gathered.rooms.append(RoomLine(entry.label, entry.icon, entry.path, facts))
        gathered.waiting += [each for each in share.waiting if each.count]
        gathered.new += [(each, entry.icon) for each in share.new]
    gathered.new = _mix_news(gathered.new)
    return gathered


def _mix_news(news: list[tuple[NewItem, str]]) -> list[tuple[NewItem, str]]:
    """The newest lines; one room has more than its share only where the others have too few."""
    news.sort(key=lambda pair: pair[0].at, reverse=True)
    first, later = list[tuple[NewItem, str]](), list[tuple[NewItem, str]]()
    for item, icon in news:
        is_crowd = sum(other == icon for _, other in first) >= _LINES_OF_ROOM
        (later if is_crowd else first).append((item, icon))
    chosen = [*first, *later][:_NEW_LINES]
    return sorted(chosen, key=lambda pair: pair[0].at, reverse=True)
