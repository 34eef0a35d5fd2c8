"""Completes records of corpus and library: proposes what fills gaps, applies, takes back."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from carrel.core.caller import Call
from carrel.core.clock import Clock
from carrel.core.errors import CarrelError
from carrel.libraries.literature.csl_items import fill_csl_gaps, work_as_csl
from carrel.libraries.literature.records import MergedWork
from carrel.rooms.literature.alert_ports import Leases
from carrel.rooms.literature.asking import Failed
from carrel.rooms.literature.completion_models import (
    CompleteRecords,
    CompletionProposal,
    DifferentValue,
    ListCompletions,
    NotCompleted,
    ProposedValue,
    RecordsCompleted,
    ServiceFailure,
    ShownCompletion,
)
from carrel.rooms.literature.completion_ports import (
    CompletionState,
    CompletionStore,
    QueuedCompletion,
    RecordsToComplete,
    RecordToComplete,
)
from carrel.rooms.literature.completion_search import BATCH, CompletionSearch, FoundForRecord
from carrel.rooms.literature.work_views import name_work

log = logging.getLogger("carrel.literature")

# A record that services had nothing for is asked about again after so long.
ASK_AGAIN = timedelta(days=30)
_LEASE_SECONDS = 600.0
_MOST_ENTRIES = 5_000
_SHOWN_TEXT = 300
# Variables of which a difference is worth a decision.
_COMPARED = ("title", "issued", "container-title", "volume", "issue", "page", "DOI", "PMID")
_STATES_DONE: tuple[CompletionState, ...] = ("complete", "applied", "undone")


@dataclass(slots=True)
class _Round:
    """What one pass over the queue did."""

    failed: dict[str, Failed] = field(default_factory=dict)
    is_held_elsewhere: bool = False
    # No service answered for anything of a batch: the rest keeps waiting.
    is_silent: bool = False


class Completion:
    """The queue of one kind of records; nothing is changed before somebody applies it."""

    def __init__(
        self,
        store: CompletionStore,
        leases: Leases,
        records: RecordsToComplete,
        search: CompletionSearch,
        clock: Clock,
    ) -> None:
        self._store = store
        self._leases = leases
        self._records = records
        self._search = search
        self._clock = clock

    async def complete(self, question: CompleteRecords, call: Call) -> RecordsCompleted:
        """Proposes, applies or takes back, as the question says."""
        owner = call.caller.user_id
        if question.apply:
            return await self._apply(question, owner)
        if question.undo:
            return await self._undo(question, owner)
        without = await self._enqueue(question, call)
        done = _Round()
        if self._search.is_allowed:
            done = await self.run_queue(owner, guesses=question.guess, call=call)
        answer = await self._show(question, owner)
        failures = [
            ServiceFailure(service=each.service, failure=each.failure, reason=each.reason)
            for each in done.failed.values()
        ]
        told = _say_found(answer, done, is_allowed=self._search.is_allowed)
        return answer.model_copy(
            update={"message": told, "unanswered": failures, "without_identifier": without}
        )

    async def list_entries(self, question: ListCompletions, call: Call) -> RecordsCompleted:
        """What was proposed to the caller, or filled in for them."""
        owner, target = call.caller.user_id, self._records.target
        found = await self._store.list_entries(owner, target, [question.state], _MOST_ENTRIES)
        # The longest waiting first is for decisions; of what was done the last comes first.
        ordered = found if question.state == "proposed" else found[::-1]
        entries = [
            _show_entry(each, question.state, CompletionProposal.model_validate_json(each.body))
            for each in ordered[: question.limit]
        ]
        counts = await self._store.count(owner, target)
        message = f"{_count(counts.get(question.state, 0))} {question.state}."
        return self._answer(message, counts, entries, 0, [])

    async def run_queue(
        self, owner: str | None, *, guesses: bool = False, call: Call | None = None
    ) -> _Round:
        """Asks for everything that waits, of one owner or of everybody."""
        done = _Round()
        target = self._records.target
        lease, worker = f"completion:{target}:{owner or '*'}", f"run_{secrets.token_hex(8)}"
        if not await self._leases.take(lease, worker, _LEASE_SECONDS):
            done.is_held_elsewhere = True
            return done
        try:
            waiting = await self._store.list_entries(owner, target, ["waiting"], _MOST_ENTRIES)
            for first in range(0, len(waiting), BATCH):
                batch = waiting[first : first + BATCH]
                if call is not None:
                    await call.report_progress(first, len(waiting), "asking services")
                await self._ask_batch(batch, guesses, done)
                await self._leases.take(lease, worker, _LEASE_SECONDS)
                if done.is_silent:
                    break
        finally:
            await self._leases.release(lease, worker)
        return done

    async def _ask_batch(
        self, entries: Sequence[QueuedCompletion], guesses: bool, done: _Round
    ) -> None:
        pairs: list[tuple[QueuedCompletion, RecordToComplete]] = []
        for entry in entries:
            record = await self._records.find(entry.record_id, entry.owner)
            if record is None or not record.gaps:
                await self._save(entry, "complete", CompletionProposal())
            else:
                pairs.append((entry, record))
        named = [pair for pair in pairs if pair[1].identifiers]
        if named:
            found, failed = await self._search.find([record for _, record in named])
            done.failed.update((each.service, each) for each in failed)
            done.is_silent = all(each.work is None and each.unanswered for each in found)
            for (entry, record), each in zip(named, found, strict=True):
                await self._propose(entry, record, each)
        for entry, record in pairs:
            if not record.identifiers and guesses:
                await self._propose(entry, record, await self._search.guess(record))

    async def _propose(
        self, entry: QueuedCompletion, record: RecordToComplete, found: FoundForRecord
    ) -> None:
        proposal = make_proposal(record, found)
        if proposal.values or proposal.differences or proposal.contradiction:
            await self._save(entry, "proposed", proposal)
        elif not found.unanswered:
            await self._save(entry, "complete", proposal)
        # Else a service that did not answer may fill it: it goes on waiting.

    async def _enqueue(self, question: CompleteRecords, call: Call) -> int:
        """Queues records with gaps; how many of them have no identifier to ask by."""
        owner, target = call.caller.user_id, self._records.target
        before = (self._clock.now() - ASK_AGAIN).isoformat(timespec="seconds")
        known = await self._store.list_entries(owner, target, _STATES_DONE, _MOST_ENTRIES)
        skipped = (
            set()
            if question.ids
            else {each.record_id for each in known if each.updated_at >= before}
        )
        found = await self._records.list_gaps(question.ids, skipped, question.limit, call)
        now = self._now()
        rows = [
            QueuedCompletion(
                f"completion_{secrets.token_hex(8)}", owner, target, each.record_id, "waiting",
                CompletionProposal(title=each.title, gaps=list(each.gaps)).model_dump_json(),
                now, now,
            )
            for each in found
            if each.identifiers or question.guess
        ]  # fmt: skip
        await self._store.ask(rows)
        return sum(not each.identifiers for each in found)

    async def _apply(self, question: CompleteRecords, owner: str) -> RecordsCompleted:
        changed, not_done, entries = 0, list[NotCompleted](), list[ShownCompletion]()
        for entry in await self._chosen(question, owner, "proposed"):
            proposal = CompletionProposal.model_validate_json(entry.body)
            if not proposal.values or (
                proposal.is_guess and not question.guess and entry.record_id not in question.ids
            ):
                continue
            values = {each.field: each.value for each in proposal.values}
            try:
                receipt = await self._records.fill(entry.record_id, values, owner)
            except CarrelError as error:
                not_done.append(
                    NotCompleted(id=entry.record_id, code=error.code, reason=error.message)
                )
                continue
            filled = proposal.model_copy(update={"receipt": receipt})
            if await self._save(entry, "applied", filled):
                changed += 1
                entries.append(_show_entry(entry, "applied", filled))
        counts = await self._store.count(owner, self._records.target)
        message = f"{_count(changed)} completed."
        if not_done:
            message += f" {_count(len(not_done))} could not be changed."
        return self._answer(message, counts, entries, changed, not_done)

    async def _undo(self, question: CompleteRecords, owner: str) -> RecordsCompleted:
        changed, not_done, entries = 0, list[NotCompleted](), list[ShownCompletion]()
        for entry in await self._chosen(question, owner, "applied"):
            proposal = CompletionProposal.model_validate_json(entry.body)
            try:
                await self._records.take_back(entry.record_id, proposal.receipt, owner)
            except CarrelError as error:
                not_done.append(
                    NotCompleted(id=entry.record_id, code=error.code, reason=error.message)
                )
                continue
            if await self._save(entry, "undone", proposal):
                changed += 1
                entries.append(_show_entry(entry, "undone", proposal))
        counts = await self._store.count(owner, self._records.target)
        message = f"{_count(changed)} as before."
        return self._answer(message, counts, entries, changed, not_done)

    async def _chosen(
        self, question: CompleteRecords, owner: str, state: CompletionState
    ) -> list[QueuedCompletion]:
        found = await self._store.list_entries(owner, self._records.target, [state], _MOST_ENTRIES)
        if not question.ids:
            return found[: question.limit]
        return [each for each in found if each.record_id in question.ids]

    async def _show(self, question: CompleteRecords, owner: str) -> RecordsCompleted:
        proposed = await self._chosen(question, owner, "proposed")
        counts = await self._store.count(owner, self._records.target)
        entries = [
            _show_entry(each, "proposed", CompletionProposal.model_validate_json(each.body))
            for each in proposed
        ]
        return self._answer("", counts, entries, 0, [])

    def _answer(
        self,
        message: str,
        counts: Mapping[CompletionState, int],
        entries: list[ShownCompletion],
        changed: int,
        not_done: list[NotCompleted],
    ) -> RecordsCompleted:
        return RecordsCompleted(
            message=message,
            target=self._records.target,
            changed=changed,
            waiting=counts.get("waiting", 0),
            proposed=counts.get("proposed", 0),
            entries=entries,
            not_done=not_done,
        )

    async def _save(
        self, entry: QueuedCompletion, state: CompletionState, proposal: CompletionProposal
    ) -> bool:
        return await self._store.save(entry, state, proposal.model_dump_json(), self._now())

    def _now(self) -> str:
        return self._clock.now().isoformat(timespec="microseconds")


def make_proposal(record: RecordToComplete, found: FoundForRecord) -> CompletionProposal:
    """What of a found work fills the record's gaps, and what it says otherwise."""
    empty = CompletionProposal(
        title=record.title, gaps=list(record.gaps), unanswered=found.unanswered
    )
    if found.work is None:
        return empty
    name = name_work(found.work.work.ids, found.work.records)
    filled = fill_csl_gaps(dict(record.item), found.work)
    if filled.contradiction:
        return empty.model_copy(update={"contradiction": filled.contradiction, "found": name})
    custom = filled.item.get("custom") or {}
    values = [
        ProposedValue(
            field=variable,
            value=custom.get("arxiv_id") if variable == "arxiv_id" else filled.item[variable],
            origin=origin,
        )
        for variable, origin in filled.filled.items()
    ]
    return empty.model_copy(
        update={
            "values": values,
            "differences": _find_differences(record.item, found.work),
            "is_guess": found.is_guess,
            "found": name,
        }
    )


def _find_differences(item: Mapping[str, Any], found: MergedWork) -> list[DifferentValue]:
    offered = work_as_csl(found)
    differences = []
    for variable in _COMPARED:
        here, there = _plain(item.get(variable)), _plain(offered.get(variable))
        if here and there and _fold(here) != _fold(there) and not _is_part(here, there):
            differences.append(
                DifferentValue(
                    field=variable,
                    here=here[:_SHOWN_TEXT],
                    there=there[:_SHOWN_TEXT],
                    origin=found.origins.get(_ORIGINS.get(variable, variable), ""),
                )
            )
    return differences


_ORIGINS = {"container-title": "venue", "page": "pages", "DOI": "ids.doi", "PMID": "ids.pmid"}


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        parts = value.get("date-parts")
        if isinstance(parts, list) and parts and isinstance(parts[0], list):
            return "-".join(f"{int(each):02d}" for each in parts[0] if str(each).isdigit())
        return str(value.get("literal") or value.get("raw") or "")
    return " ".join(str(value).split()) if isinstance(value, str | int) else ""


def _fold(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _is_part(here: str, there: str) -> bool:
    """A year beside a full date, a short name beside a long one: no difference to decide."""
    one, other = sorted((_fold(here), _fold(there)), key=len)
    return other.startswith(one)


def _show_entry(
    entry: QueuedCompletion, state: CompletionState, proposal: CompletionProposal
) -> ShownCompletion:
    return ShownCompletion(
        id=entry.record_id,
        state=state,
        **proposal.model_dump(exclude={"receipt"}),
    )


def _count(number: int) -> str:
    return "1 record" if number == 1 else f"{number:,} records"


def _say_found(answer: RecordsCompleted, done: _Round, *, is_allowed: bool) -> str:
    said = []
    if answer.proposed:
        said.append(f"{_count(answer.proposed)} can be completed; apply fills them in.")
    if answer.waiting:
        reason = "settings forbid the network" if not is_allowed else "not every service answered"
        if done.is_held_elsewhere:
            reason = "another process is asking just now"
        verb = "waits" if answer.waiting == 1 else "wait"
        said.append(f"{_count(answer.waiting)} {verb}: {reason}; a later call asks again.")
    return " ".join(said) or "No gaps that services can fill."
