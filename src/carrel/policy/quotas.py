"""Quotas: how many calls and how much cost a person, and a group together, may use in a day.

A day is one of UTC. A call counts as one and costs what the rate limits charge for it; tokens of a
language model are added when they are known, so that the last use of a day may go over it.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple, Protocol

from carrel.core.caller import Caller
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError, UnavailableError
from carrel.core.operation import Entry, Operation

log = logging.getLogger("carrel.quotas")

Measure = Literal["calls", "cost"]
# Groups and allotments are looked up again after so long, by each process.
_REMEMBERED_SECONDS = 5.0
_MOST_REMEMBERED = 4096
_TOKENS_PER_COST = 1000.0
# Pages of one's own access and of administration are free: there one sees that nothing is left.
_FREE_ROOMS = frozenset({"admin"})


class QuotaExceededError(CarrelError):
    """What a person or a group may use in a day is used up."""

    code = "quota_exceeded"
    is_retryable = True

    def __init__(self, subject: Subject, measure: Measure, most: float, seconds: int) -> None:
        self.retry_after_seconds = max(1, seconds)
        whose = f"The quota of the group {subject.name}" if subject.is_group else "Your quota"
        unit = "calls" if measure == "calls" else "cost units"
        super().__init__(
            f"{whose} of {most:g} {unit} a day is used up",
            next_step="It begins anew at midnight UTC, "
            f"in {_hours(self.retry_after_seconds)}; an administrator can raise it.",
            details={
                "retry_after": self.retry_after_seconds,
                "measure": measure,
                "quota": most,
                "group": subject.name if subject.is_group else None,
            },
        )


class Subject(NamedTuple):
    """Whose use is counted: one person's, or that of all members of a group together."""

    name: str
    is_group: bool = False

    @property
    def key(self) -> str:
        return f"{'group' if self.is_group else 'user'}:{self.name}"

    @classmethod
    def parse(cls, key: str) -> Subject:
        kind, _, name = key.partition(":")
        return cls(name, kind == "group")


@dataclass(frozen=True, slots=True)
class Allotment:
    """The most that may be used in a day; None is no limit."""

    calls: float | None = None
    cost: float | None = None

    @property
    def is_limited(self) -> bool:
        return self.calls is not None or self.cost is not None


@dataclass(frozen=True, slots=True)
class Use:
    """What was used in a day."""

    calls: float = 0.0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Share:
    """A subject, what it may use and what it has used."""

    subject: Subject
    allotment: Allotment
    use: Use
    # Whether an administrator has set it, rather than the settings.
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class GroupQuota:
    """What the settings allow a group: all members together, and each of them."""

    together: Allotment = Allotment()
    each: Allotment = Allotment()


@dataclass(frozen=True, slots=True)
class QuotaRules:
    """The quotas that the settings name."""

    person: Allotment = Allotment()
    groups: Mapping[str, GroupQuota] | None = None
    # By operation or scope, before the cost that the operation has.
    costs: Mapping[str, float] | None = None
    cost_per_1000_tokens: float = 1.0


class QuotaBook(Protocol):
    """Counts use by day. Raises UnavailableError."""

    async def charge(
        self, day: str, wanted: Sequence[tuple[Subject, Allotment]], use: Use
    ) -> Subject | None:
        """Adds the use to all subjects at once, or to none and returns the one it is too much for.

        Atomic over processes and servers.
        """
        ...

    async def add(self, day: str, subjects: Sequence[Subject], use: Use) -> None:
        """Adds a use however much there was; a negative one takes back."""
        ...

    async def used(self, day: str, subjects: Sequence[Subject] | None = None) -> dict[Subject, Use]:
        """The use of a day, of some or of everybody."""
        ...

    async def allotments(self) -> dict[Subject, Allotment]:
        """What administrators have set."""
        ...

    async def set_allotment(self, subject: Subject, allotment: Allotment | None) -> None:
        """None goes back to the settings."""
        ...

    async def forget_before(self, day: str) -> None: ...


class Groups(Protocol):
    """Knows the groups of people."""

    async def of(self, user_id: str) -> Sequence[str]: ...


class NoGroups:
    """Nobody is in a group."""

    async def of(self, user_id: str) -> Sequence[str]:
        return ()


class Quotas(Protocol):
    """Counts what callers use in a day; raises QuotaExceededError where nothing is left."""

    async def charge(self, caller: Caller, entry: Entry) -> None: ...

    async def give_back(self, caller: Caller, entry: Entry) -> None:
        """Takes back the charge of a call that was refused before it ran."""
        ...

    async def check(self, user_id: str) -> None:
        """Raises QuotaExceededError where a person, or a group of theirs, has nothing left."""
        ...

    async def add_tokens(self, user_id: str, tokens: int) -> None:
        """Adds the tokens that a language model took for a person."""
        ...


class NoQuotas:
    """Counts nothing."""

    async def charge(self, caller: Caller, entry: Entry) -> None:
        return None

    async def give_back(self, caller: Caller, entry: Entry) -> None:
        return None

    async def check(self, user_id: str) -> None:
        return None

    async def add_tokens(self, user_id: str, tokens: int) -> None:
        return None


class DailyQuotas:
    """Charges a book by the rules of the settings and what administrators have set."""

    def __init__(self, book: QuotaBook, groups: Groups, clock: Clock, rules: QuotaRules) -> None:
        self.book = book
        self._groups = groups
        self._clock = clock
        self._rules = rules
        self._costs = dict(rules.costs or {})
        self._group_rules = dict(rules.groups or {})
        self._members: dict[str, tuple[float, tuple[str, ...]]] = {}
        self._set: tuple[float, dict[Subject, Allotment]] | None = None
        self._last_day = ""

    async def charge(self, caller: Caller, entry: Entry) -> None:
        if not caller.is_limited or _is_free(entry):
            return
        day = self._day()
        try:
            wanted = await self._subjects(caller.user_id)
            use = Use(1.0, self._cost(entry))
            refused = await self.book.charge(day, wanted, use)
        except UnavailableError as error:
            # As the rate limits do: a count that cannot be kept stops nobody's work.
            log.error("quotas cannot be counted", extra={"reason": error.message})
            return
        if day != self._last_day:
            self._last_day = day
            await self.book.forget_before(_yesterday(day))
        if refused is not None:
            used = (await self.book.used(day, [refused])).get(refused, Use())
            raise self._refusal(refused, dict(wanted)[refused], used, use)

    async def give_back(self, caller: Caller, entry: Entry) -> None:
        if not caller.is_limited or _is_free(entry):
            return
        try:
            subjects = [subject for subject, _ in await self._subjects(caller.user_id)]
            await self.book.add(self._day(), subjects, Use(-1.0, -self._cost(entry)))
        except UnavailableError as error:
            log.error("quotas cannot be counted", extra={"reason": error.message})

    async def check(self, user_id: str) -> None:
        wanted = await self._subjects(user_id)
        used = await self.book.used(self._day(), [subject for subject, _ in wanted])
        for subject, allotment in wanted:
            use = used.get(subject, Use())
            if _measure_over(allotment, use) is not None:
                raise self._refusal(subject, allotment, use, Use())

    async def add_tokens(self, user_id: str, tokens: int) -> None:
        cost = tokens / _TOKENS_PER_COST * self._rules.cost_per_1000_tokens
        if cost > 0:
            subjects = [subject for subject, _ in await self._subjects(user_id)]
            await self.book.add(self._day(), subjects, Use(0.0, cost))

    async def shares_of(self, user_id: str) -> list[Share]:
        """A person's own share of today, then those of the groups."""
        wanted = await self._subjects(user_id)
        used = await self.book.used(self._day(), [subject for subject, _ in wanted])
        own = await self.book.allotments()
        return [
            Share(subject, allotment, used.get(subject, Use()), subject in own)
            for subject, allotment in wanted
        ]

    async def all_shares(self) -> list[Share]:
        """Everybody who has used something today or has an allotment of their own."""
        used, own = await self.book.used(self._day()), await self.book.allotments()
        named = {Subject(name, is_group=True) for name in self._group_rules}
        found = []
        for subject in sorted({*used, *own, *named}, key=lambda each: each.key):
            allotment = await self._allotment(subject)
            found.append(Share(subject, allotment, used.get(subject, Use()), subject in own))
        return found

    @property
    def seconds_left(self) -> int:
        """Until the day ends."""
        now = self._clock.now().astimezone(UTC)
        tomorrow = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), UTC)
        return math.ceil((tomorrow - now).total_seconds())

    async def set_allotment(self, subject: Subject, allotment: Allotment | None) -> None:
        """Sets what a subject may use from now on, within seconds in every process."""
        await self.book.set_allotment(subject, allotment)
        self._set = None

    async def _subjects(self, user_id: str) -> list[tuple[Subject, Allotment]]:
        person = Subject(user_id)
        found = [(person, await self._allotment(person))]
        for name in await self._groups_of(user_id):
            group = Subject(name, is_group=True)
            allotment = await self._allotment(group)
            if allotment.is_limited or name in self._group_rules:
                found.append((group, allotment))
        return found

    async def _allotment(self, subject: Subject) -> Allotment:
        own = (await self._own_allotments()).get(subject)
        if own is not None:
            return own
        if subject.is_group:
            rule = self._group_rules.get(subject.name)
            return Allotment() if rule is None else rule.together
        names = await self._groups_of(subject.name)
        each = [self._group_rules[name].each for name in names if name in self._group_rules]
        limited = [one for one in each if one.is_limited]
        return _most_generous(limited) if limited else self._rules.person

    async def _groups_of(self, user_id: str) -> tuple[str, ...]:
        now = self._clock.monotonic()
        known = self._members.get(user_id)
        if known is None or known[0] < now:
            if len(self._members) >= _MOST_REMEMBERED:
                self._members.clear()
            names = tuple(await self._groups.of(user_id))
            known = self._members[user_id] = (now + _REMEMBERED_SECONDS, names)
        return known[1]

    async def _own_allotments(self) -> dict[Subject, Allotment]:
        now = self._clock.monotonic()
        if self._set is None or self._set[0] < now:
            self._set = (now + _REMEMBERED_SECONDS, await self.book.allotments())
        return self._set[1]

    def _cost(self, entry: Entry) -> float:
        names = (entry.name, *sorted(entry.scopes))
        return next((self._costs[name] for name in names if name in self._costs), entry.cost)

    def _refusal(
        self, subject: Subject, allotment: Allotment, used: Use, more: Use
    ) -> QuotaExceededError:
        after = Use(used.calls + more.calls, used.cost + more.cost)
        measure = _measure_over(allotment, after, is_strict=more != Use()) or "cost"
        most = allotment.calls if measure == "calls" else allotment.cost
        return QuotaExceededError(subject, measure, most or 0.0, self.seconds_left)

    def _day(self) -> str:
        return self._clock.now().astimezone(UTC).date().isoformat()


def _is_free(entry: Entry) -> bool:
    return isinstance(entry, Operation) and entry.room in _FREE_ROOMS


def _measure_over(allotment: Allotment, use: Use, *, is_strict: bool = False) -> Measure | None:
    """Which measure is used up, or with `is_strict` more than used up."""
    if allotment.calls is not None and _is_over(use.calls, allotment.calls, is_strict):
        return "calls"
    if allotment.cost is not None and _is_over(use.cost, allotment.cost, is_strict):
        return "cost"
    return None


def _is_over(used: float, most: float, is_strict: bool) -> bool:
    return used > most if is_strict else used >= most


def _most_generous(allotments: Sequence[Allotment]) -> Allotment:
    """For each measure the highest; somebody in a group without a limit has none."""
    calls = [each.calls for each in allotments]
    costs = [each.cost for each in allotments]
    return Allotment(_highest(calls), _highest(costs))


def _highest(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None


def _yesterday(day: str) -> str:
    return (datetime.fromisoformat(day) - timedelta(days=1)).date().isoformat()


def _hours(seconds: int) -> str:
    hours, minutes = divmod(math.ceil(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
