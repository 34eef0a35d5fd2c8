"""`search_desk`: one search over all rooms that are open to the caller, in one ranked answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import Field

from carrel.core.answer import Explained, Explanation
from carrel.core.caller import Call, Caller
from carrel.core.decorators import collect_operations, operation
from carrel.core.errors import CarrelError, InsufficientPermissionsError
from carrel.core.operation import Answer, Operation, Question
from carrel.core.quoting import QuotedSource
from carrel.libraries.query.desk_ranking import RoomHit, rank_hits
from carrel.libraries.text.snippets import Marker
from carrel.libraries.text.words import Phrase, split_words

DESK_PURPOSE = "One search over everything that is open to you."
MAX_QUERY_CHARACTERS = 500
MAX_HITS = 50
# Hits that each room gives, of which the best of all are shown.
HITS_PER_ROOM = 20
# Long enough for a room that makes its index at the first question.
_ROOM_SECONDS = 60.0
_TIMEOUT_SECONDS = 75.0
# What of a hit's text is looked at, and searched for its snippet.
_JUDGED_CHARACTERS = 4_000


class SearchDesk(Question):
    """A search over all rooms."""

    query: str = Field(min_length=1, max_length=MAX_QUERY_CHARACTERS)
    limit: int = Field(default=10, ge=1, le=MAX_HITS)


class NextCall(Answer):
    """An operation to call, with its arguments."""

    operation: str
    arguments: dict[str, Any]


class DeskHit(Answer):
    """One thing found, in which room, and what to call to read it."""

    room: str
    kind: str
    id: str
    title: str
    snippet: str
    next: NextCall


class SearchedRoom(Answer):
    """What a room gave: how many of the hits are its own, and why there are none."""

    room: str
    hits: int
    message: str = Field(default="", exclude_if=lambda message: not message)
    # False where it could not be searched, or not by this caller.
    is_searched: bool = Field(default=True, exclude_if=lambda is_searched: is_searched)


class DeskAnswer(Answer):
    """Hits of all rooms, best first, and the rooms that were searched or left out."""

    hits: list[DeskHit]
    rooms: list[SearchedRoom]


class NothingOnDesk(Explanation):
    """Why no room has anything, room by room."""

    rooms: dict[str, str]


@dataclass(frozen=True, slots=True)
class DeskCandidate:
    """A hit of one room; `text` is what it is judged by, its best passage where it is long.

    `is_named`: the query is an identifier of it. Without a `snippet` one is made of the text.
    """

    kind: str
    id: str
    title: str
    text: str
    operation: str
    arguments: Mapping[str, Any]
    is_named: bool = False
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class RoomFindings:
    """The best hits of a room in its own order; `message` says why there are none."""

    candidates: Sequence[DeskCandidate] = ()
    message: str = ""
    is_searched: bool = True


class RoomSearch(Protocol):
    """How a room takes part in the search over the desk."""

    @property
    def scopes(self) -> frozenset[str]:
        """What a caller needs to search the room."""
        ...

    async def search(self, query: str, call: Call, count: int) -> RoomFindings:
        """The best hits that the caller may see; what was named by an identifier first."""
        ...


def _found_things(
    arguments: Mapping[str, Any], answer: DeskAnswer, caller: Caller
) -> Iterable[QuotedSource]:
    return [QuotedSource(hit.kind, hit.id, hit.title) for hit in answer.hits]


@dataclass(frozen=True, slots=True)
class DeskSearch:
    """The search over the rooms that were given, by name."""

    rooms: Mapping[str, RoomSearch] = field(default_factory=dict)

    @operation(
        title="Search the desk",
        description=(
            "Search papers, references, notes and hypotheses at once, with plain words or an "
            "identifier. Best first; each hit says what to call next."
        ),
        scopes=frozenset(),
        quotes=_found_things,
        timeout_seconds=_TIMEOUT_SECONDS,
        cost=2.0,
        command="find",
        phrases=(
            "search everything; find anything about …; what do I have on … anywhere; look for … "
            "in all rooms at once; search papers, notes and references together; everything I "
            "have about a topic; look everywhere for …; search the whole desk; is there anything "
            "anywhere about …; look in papers and notes at the same time; do I have anything at "
            "all about …; anything on … in any room"
        ),
    )
    async def search_desk(self, question: SearchDesk, call: Call) -> DeskAnswer | Explained:
        open_rooms = {
            name: room for name, room in self.rooms.items() if room.scopes <= call.caller.scopes
        }
        if not open_rooms:
            needed = frozenset(scope for room in self.rooms.values() for scope in room.scopes)
            raise InsufficientPermissionsError(needed, call.caller.scopes)
        found = await self._search(question.query, open_rooms, call)
        answer = _merge(question, found, self._left_out(call.caller))
        if answer.hits:
            return answer
        reasons = {room.room: room.message for room in answer.rooms}
        message = " ".join(f"{name}: {reason}" for name, reason in reasons.items())
        return Explained(answer, NothingOnDesk(message=message, rooms=reasons))

    async def _search(
        self, query: str, rooms: Mapping[str, RoomSearch], call: Call
    ) -> dict[str, RoomFindings]:
        """What each room found. A room that fails says so; where all fail, the first error is
        raised.
        """
        results = await asyncio.gather(
            *(
                asyncio.wait_for(room.search(query, call, HITS_PER_ROOM), _ROOM_SECONDS)
                for room in rooms.values()
            ),
            return_exceptions=True,
        )
        found: dict[str, RoomFindings] = {}
        errors: list[CarrelError] = []
        for name, result in zip(rooms, results, strict=True):
            match result:
                case RoomFindings():
                    found[name] = result
                case CarrelError():
                    errors.append(result)
                    found[name] = _not_searched(
                        f"{result.message.rstrip('.')}. {result.next_step}".strip()
                    )
                case TimeoutError():
                    found[name] = _not_searched("It did not answer in time; ask it alone.")
                case _:
                    raise result
        if len(errors) == len(rooms):
            raise errors[0]
        return found

    def _left_out(self, caller: Caller) -> dict[str, str]:
        return {
            name: f"Left out: it needs the scope {', '.join(sorted(room.scopes))}."
            for name, room in self.rooms.items()
            if not room.scopes <= caller.scopes
        }


def _merge(
    question: SearchDesk, found: Mapping[str, RoomFindings], left_out: Mapping[str, str]
) -> DeskAnswer:
    placed = [
        (room, place, candidate)
        for room, findings in found.items()
        for place, candidate in enumerate(findings.candidates)
    ]
    order = rank_hits(
        question.query,
        [
            RoomHit(
                room,
                place,
                candidate.title,
                candidate.text[:_JUDGED_CHARACTERS],
                candidate.is_named,
            )
            for room, place, candidate in placed
        ],
    )[: question.limit]
    marker = Marker([Phrase((word,)) for word in split_words(question.query)])
    hits = [_show(placed[at][0], placed[at][2], marker) for at in order]
    shown = [hit.room for hit in hits]
    rooms = [
        SearchedRoom(
            room=name,
            hits=shown.count(name),
            message=_room_message(findings),
            is_searched=findings.is_searched,
        )
        for name, findings in sorted(
            found.items(), key=lambda each: shown.index(each[0]) if each[0] in shown else MAX_HITS
        )
    ]
    rooms += [
        SearchedRoom(room=name, hits=0, message=message, is_searched=False)
        for name, message in left_out.items()
    ]
    return DeskAnswer(hits=hits, rooms=rooms)


def _not_searched(message: str) -> RoomFindings:
    return RoomFindings(message=message, is_searched=False)


def _room_message(findings: RoomFindings) -> str:
    if findings.candidates:
        return ""
    return findings.message or "Nothing here has these words."


def _show(room: str, candidate: DeskCandidate, marker: Marker) -> DeskHit:
    return DeskHit(
        room=room,
        kind=candidate.kind,
        id=candidate.id,
        title=candidate.title,
        snippet=candidate.snippet or marker.snippet([candidate.text[:_JUDGED_CHARACTERS]]),
        next=NextCall(operation=candidate.operation, arguments=dict(candidate.arguments)),
    )


def desk_search_operation(rooms: Mapping[str, RoomSearch]) -> Operation[SearchDesk]:
    """The operation over these rooms."""
    (search,) = collect_operations("desk", DeskSearch(rooms))
    return search
