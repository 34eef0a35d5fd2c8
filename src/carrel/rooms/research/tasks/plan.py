"""The plan of an assistant's work: which task is next, from what is stored and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from random import Random

from carrel.rooms.research.agents.ranking import players
from carrel.rooms.research.hypothesis_views import rank_by_strength
from carrel.rooms.research.records import (
    Hypothesis,
    Project,
    Review,
    StepDone,
    StepKey,
    StepKind,
)
from carrel.rooms.research.tasks.records import Pair, ResearchTask, Role, TaskMaterial

ROLES: tuple[Role, ...] = ("generate", "review", "compare", "evolve", "summarise")
# How much one task holds: set by hand so that five hypotheses take 11 tasks, ten 20.
GENERATED_EACH, REVIEWED_EACH, CHILDREN_EACH, PAIRS_EACH = 3, 2, 2, 4
# More tasks of generation where answers had fewer hypotheses than were asked for.
_MOST_ADDED_TASKS = 2
# Matches of the first round per hypothesis, and how many everybody plays at least.
_MATCHES_EACH, _LEAST_MATCHES = 1.5, 2
_CHILDREN_SHARE, _MOST_CHILDREN, _FEWEST_TO_EVOLVE = 0.4, 6, 3
# Of so many matches of a judge one is repeated the other way round, and one pair has a broken
# entry.
_REPEAT_EVERY, _BROKEN_EVERY = 10, 20
# A worker counts as active for so long after it last took, renewed or finished a task.
ACTIVE_SECONDS = 600.0
_GENERATED, _EVOLVED = 1, 2


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing for this worker now, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """A task to lease: a stored one that is free, or a new one."""

    role: Role
    step: StepKey
    material: TaskMaterial
    stored: ResearchTask | None = None


@dataclass(frozen=True)
class WorkState:
    """What is stored of a project's work; `draft_ids` are what its run made before."""

    project: Project
    hypotheses: Sequence[Hypothesis]
    reviews: Sequence[Review]
    tasks: Sequence[ResearchTask]
    draft_ids: Sequence[str]
    has_run: bool = True

    @cached_property
    def live(self) -> dict[str, Hypothesis]:
        """Those in the tournament: neither rejected nor superseded."""
        return players(self.hypotheses)

    @cached_property
    def makers(self) -> dict[str, str]:
        """The worker of each hypothesis that an assistant made."""
        return {
            one: task.worker
            for task in self.tasks
            if task.state == "done" and task.role in {"generate", "evolve"}
            for one in task.made_ids
        }

    @cached_property
    def children(self) -> set[str]:
        return {one for task in self.done("evolve") for one in task.made_ids}

    @cached_property
    def reviewed(self) -> set[str]:
        """Those with a review by an assistant."""
        return {one for task in self.done("review") for one in task.material.hypothesis_ids}

    def done(self, role: Role) -> list[ResearchTask]:
        return [task for task in self.tasks if task.role == role and task.state == "done"]

    def active_others(self, worker: str) -> set[str]:
        return {
            task.worker
            for task in self.tasks
            if task.worker and task.worker != worker and task.idle_seconds < ACTIVE_SECONDS
        }

    def pairs(self) -> list[Pair]:
        """Pairs of live hypotheses that were judged or are being judged, as matches."""
        return [
            pair
            for task in self.tasks
            if task.role == "compare" and (task.state == "done" or task.is_held)
            for pair in task.material.pairs
            if pair.kind == "match" and {pair.first, pair.second} <= set(self.live)
        ]


def list_drafts(steps: Sequence[StepDone]) -> list[str]:
    """What a run made before an assistant took over."""
    made = {StepKind.GENERATE, StepKind.EVOLVE}
    return [one for step in steps if step.kind in made for one in step.result_ids]


def plan_sizes(count: int) -> list[int]:
    """How many hypotheses each task of generation asks for, as even as possible."""
    tasks = -(-count // GENERATED_EACH)
    return [count // tasks + (number < count % tasks) for number in range(tasks)]


def list_generation(state: WorkState) -> list[tuple[int, int]]:
    """Number and size of the tasks of generation that are not done; more of them where answers were
    short, unless one was given back.
    """
    if not state.has_run:
        return []
    sizes = plan_sizes(state.project.hypothesis_count)
    done = {task.step.number: len(task.made_ids) for task in state.done("generate")}
    missing = [(number, size) for number, size in enumerate(sizes, 1) if number not in done]
    lacking = state.project.hypothesis_count - sum(done.values())
    number = max(done, default=0) + 1
    if missing or lacking <= 0 or number > len(sizes) + _MOST_ADDED_TASKS:
        return missing
    return [(number, min(GENERATED_EACH, lacking))]


def count_children(generated: int) -> int:
    """How many are evolved from so many."""
    if generated < _FEWEST_TO_EVOLVE:
        return 0
    return min(_MOST_CHILDREN, max(1, round(generated * _CHILDREN_SHARE)))


def count_matches(entries: int) -> int:
    """Matches of the first round."""
    return min(-int(-entries * _MATCHES_EACH // 1), entries * (entries - 1) // 2)


def count_left(state: WorkState) -> dict[Role, int]:
    """About how many tasks of each role are left, with those under way."""
    generation = list_generation(state)
    wanted = sum(size for _, size in generation)
    made = [one for one in state.live if one not in state.children]
    if state.draft_ids and wanted:
        made = [one for one in made if one not in set(state.draft_ids)]
    first_round = len(made) + wanted
    children = count_children(first_round)
    evolved = len(state.children & set(state.live))
    expected_children = children if not state.done("evolve") else evolved
    unreviewed = sum(one not in state.reviewed for one in made) + wanted
    new_children = max(0, expected_children - len(state.children & state.reviewed))
    played = len(state.pairs())
    matches = max(0, count_matches(first_round) + _LEAST_MATCHES * expected_children - played)
    left: dict[Role, int] = {
        "generate": len(generation),
        "review": -(-unreviewed // REVIEWED_EACH) + -(-new_children // REVIEWED_EACH),
        "compare": -(-matches // PAIRS_EACH),
        "evolve": max(0, -(-children // CHILDREN_EACH) - len(state.done("evolve"))),
        "summarise": int(_needs_summary(state) or bool(wanted or unreviewed or matches)),
    }
    return {role: count for role, count in left.items() if count > 0}


class Planner:
    """Plans for one worker; phases follow one another, tasks of a phase are independent."""

    def __init__(self, state: WorkState, worker: str, roles: Collection[Role] = ()) -> None:
        self._state = state
        self._worker = worker
        self._roles = frozenset(roles) or frozenset(ROLES)
        self._asked = frozenset(roles)
        self._others = state.active_others(worker)
        self._held_by_others: list[ResearchTask] = []
        self._not_mine: list[str] = []

    def next_task(self) -> PlannedTask | Waiting | None:
        """The next task, why there is none now, or None when all is done."""
        phases = (
            self._first_texts,
            self._first_matches,
            self._evolution,
            self._reviews,
            self._last_matches,
            self._summary,
        )
        for phase in phases:
            open_steps = list(phase())
            for planned in open_steps:
                found = self._offer(planned)
                if found is not None:
                    return found
            if any(not self._is_given_up(planned) for planned in open_steps):
                return self._waiting(open_steps)
        return None

    def _offer(self, planned: PlannedTask) -> PlannedTask | None:
        """The task if this worker may have it."""
        stored = planned.stored
        if stored is not None and stored.is_held:
            self._held_by_others.append(stored)
            return None
        if planned.role not in self._roles:
            return None
        if self._worker in self._gave_back(planned):
            return None
        if planned.role in {"generate", "evolve"} and not self._may_write():
            self._not_mine.append(
                "another worker writes the hypotheses; yours are the reviews and matches"
            )
            return None
        if planned.role == "compare":
            return self._fill_pairs(planned)
        return planned

    def _may_write(self) -> bool:
        """One worker writes while it is active, so that another can compare what it wrote."""
        writers = {
            task.worker
            for task in self._state.tasks
            if task.role in {"generate", "evolve"} and (task.state == "done" or task.is_held)
        }
        is_asked = bool(self._asked & {"generate", "evolve"})
        return is_asked or self._worker in writers or not writers & self._others

    def _is_given_up(self, planned: PlannedTask) -> bool:
        """A task that was given back, while nobody else is here to take it, holds up nothing."""
        if planned.stored is not None and planned.stored.is_held:
            return False
        gave_back = self._gave_back(planned)
        return bool(gave_back) and not ({self._worker, *self._others} - gave_back)

    def _gave_back(self, planned: PlannedTask) -> set[str]:
        """Workers who failed at this task; at any of its kind where it is matches."""
        tasks = [planned.stored] if planned.stored is not None else []
        if planned.role == "compare":
            tasks = [task for task in self._state.tasks if task.role == "compare"]
        return {one.worker for task in tasks for one in task.holders if one.gave_back}

    def _waiting(self, open_steps: Sequence[PlannedTask]) -> Waiting:
        roles = ", ".join(dict.fromkeys(one.role for one in open_steps))
        if self._held_by_others:
            held = self._held_by_others[0]
            return Waiting(
                f"{held.role} is with {held.worker} until {held.lease_until}, and what comes next "
                f"needs it. If that was you, give worker={held.worker!r} to take it up again."
            )
        if self._not_mine:
            return Waiting(f"What is left now is {roles}: {self._not_mine[0]}.")
        if not any(one.role in self._roles for one in open_steps):
            return Waiting(f"What is left now is {roles}, for which you did not ask in roles.")
        return Waiting(
            f"What is left now ({roles}) was given back by you after three answers that failed; "
            "another worker may take it."
        )

    def _stored(self, step: StepKey) -> ResearchTask | None:
        return next((task for task in self._state.tasks if task.step == step), None)

    def _planned(self, role: Role, step: StepKey, material: TaskMaterial) -> PlannedTask:
        return PlannedTask(role, step, material, self._stored(step))

    def _first_texts(self) -> Iterable[PlannedTask]:
        """Generation, and reviews of what is there already."""
        generation = list(self._generation())
        yield from generation
        is_open = any(not self._is_given_up(planned) for planned in generation)
        yield from self._reviews(set(self._state.draft_ids) if is_open else set())

    def _generation(self) -> Iterable[PlannedTask]:
        share = len(plan_sizes(self._state.project.hypothesis_count))
        kept = {one.id for one in self._state.hypotheses if one.decision.approval == "approved"}
        drafts = [one for one in self._state.draft_ids if one not in kept]
        for number, size in list_generation(self._state):
            step = StepKey(StepKind.GENERATE, round=_GENERATED, number=number)
            superseded = tuple(drafts[number - 1 :: share]) if number <= share else ()
            yield self._planned("generate", step, TaskMaterial(count=size, supersedes=superseded))

    def _reviews(self, without: Collection[str] = ()) -> Iterable[PlannedTask]:
        """One task for two hypotheses, children apart from the others; others' before one's own."""
        state = self._state
        missing = [one for one in state.live if one not in state.reviewed and one not in without]
        missing.sort(key=lambda one: state.makers.get(one) == self._worker)
        stages = [
            [one for one in missing if one not in state.children],
            [one for one in missing if one in state.children],
        ]
        taken: set[str] = set()
        for task in state.tasks:
            wanted = [one for one in task.material.hypothesis_ids if one in missing]
            if task.role == "review" and task.state != "done" and wanted:
                taken.update(wanted)
                yield PlannedTask("review", task.step, task.material, task)
        for stage in stages:
            free = [one for one in stage if one not in taken]
            for first in range(0, len(free), REVIEWED_EACH):
                pack = free[first : first + REVIEWED_EACH]
                step = StepKey(StepKind.REVIEW, round=_GENERATED, hypothesis_id=pack[0])
                yield self._planned("review", step, TaskMaterial(hypothesis_ids=tuple(pack)))

    def _first_matches(self) -> Iterable[PlannedTask]:
        entries = [one for one in self._state.live if one not in self._state.children]
        if not self._state.done("evolve"):
            yield from self._matches(count_matches(len(entries)) - len(self._state.pairs()))

    def _last_matches(self) -> Iterable[PlannedTask]:
        played = self._played()
        least = min(_LEAST_MATCHES, len(self._state.live) - 1)
        short = sum(max(0, least - played[one]) for one in self._state.live)
        yield from self._matches(short)

    def _played(self) -> Counter[str]:
        return Counter(one for pair in self._state.pairs() for one in (pair.first, pair.second))

    def _matches(self, wanted: int) -> Iterable[PlannedTask]:
        tasks = [task for task in self._state.tasks if task.role == "compare"]
        for task in tasks:
            if task.is_held:
                yield PlannedTask("compare", task.step, task.material, task)
        if wanted <= 0:
            return
        # Pairs are chosen for a worker: those of a pack that was not finished go into a new one.
        step = StepKey(StepKind.MATCH, round=_GENERATED, number=len(tasks) + 1)
        yield PlannedTask("compare", step, TaskMaterial(count=min(PAIRS_EACH, wanted)))

    def _fill_pairs(self, planned: PlannedTask) -> PlannedTask | None:
        """The task with pairs that this worker may judge; None where there is none."""
        state = self._state
        own = {one for one, maker in state.makers.items() if maker == self._worker}
        barred = own if self._others else set()
        met = Counter(frozenset((pair.first, pair.second)) for pair in state.pairs())
        played = self._played()
        count = planned.material.count
        random = Random(f"{state.project.seed}:{planned.step.label}:{self._worker}")  # noqa: S311
        pairs: list[Pair] = []
        for _ in range(count):
            found = self._choose_pair(barred, met, played, random)
            if found is None:
                break
            met[frozenset(found)] += 1
            played.update(found)
            is_own = bool(own & set(found))
            swapped = random.random() < 0.5
            pairs.append(Pair(first=found[0], second=found[1], is_swapped=swapped, is_own=is_own))
        if not pairs:
            self._not_mine.append(
                "nobody compares hypotheses of their own while another worker is active"
            )
            return None
        pairs += self._guards(pairs, random)
        material = TaskMaterial(count=count, pairs=tuple(pairs))
        return PlannedTask("compare", planned.step, material, planned.stored)

    def _choose_pair(
        self, barred: set[str], met: Counter[frozenset[str]], played: Counter[str], random: Random
    ) -> tuple[str, str] | None:
        """Who has played least, against the nearest in strength whom they have not met; children
        against the strongest of those they were made from.
        """
        state = self._state
        open_pairs = [
            pair
            for pair in combinations([one for one in state.live if one not in barred], 2)
            if not met[frozenset(pair)]
        ]
        if not open_pairs:
            return None

        def rank(pair: tuple[str, str]) -> tuple[float, ...]:
            strengths = [state.live[name].rating.strength for name in pair]
            least, most = sorted(played[name] for name in pair)
            if state.children:
                are_new = state.children.issuperset(pair)
                return least, are_new, -max(strengths), most, random.random()
            return least, most, abs(strengths[0] - strengths[1]), random.random()

        return min(open_pairs, key=rank)

    def _guards(self, pairs: Sequence[Pair], random: Random) -> list[Pair]:
        """A repeat and a broken pair now and then, which show how far a judge can be relied on."""
        judged = [
            pair
            for task in self._state.done("compare")
            if task.worker == self._worker
            for pair in task.material.pairs
            if pair.kind == "match"
        ]
        before, after = len(judged), len(judged) + len(pairs)
        guards: list[Pair] = []
        again = [pair for pair in judged if {pair.first, pair.second} <= set(self._state.live)]
        if after // _REPEAT_EVERY > before // _REPEAT_EVERY and again:
            pair = random.choice(again)
            changed = {"is_swapped": not pair.is_swapped, "kind": "repeat"}
            guards.append(pair.model_copy(update=changed))
        if after // _BROKEN_EVERY > before // _BROKEN_EVERY:
            pair, swapped = random.choice(list(pairs)), random.random() < 0.5
            guards.append(pair.model_copy(update={"is_swapped": swapped, "kind": "broken"}))
        return guards

    def _evolution(self) -> Iterable[PlannedTask]:
        state = self._state
        entries = [one for one in state.live.values() if one.id not in state.children]
        tasks = -(-count_children(len(entries)) // CHILDREN_EACH)
        leaders = [one.id for one in rank_by_strength(entries)]
        left = count_children(len(entries))
        for number in range(1, tasks + 1):
            step = StepKey(StepKind.EVOLVE, round=_EVOLVED, number=number)
            stored = self._stored(step)
            count, left = min(CHILDREN_EACH, left), left - CHILDREN_EACH
            if stored is None or stored.state != "done":
                first = CHILDREN_EACH * (number - 1)
                parents = (*leaders, *leaders)[first : first + CHILDREN_EACH + 1]
                ids = tuple(dict.fromkeys(parents))
                yield self._planned("evolve", step, TaskMaterial(count=count, hypothesis_ids=ids))

    def _summary(self) -> Iterable[PlannedTask]:
        if _needs_summary(self._state):
            number = len(self._state.done("summarise")) + 1
            step = StepKey(StepKind.META_REVIEW, round=number)
            ids = tuple(one.id for one in rank_by_strength(self._state.live.values()))
            yield self._planned("summarise", step, TaskMaterial(hypothesis_ids=ids))


def _needs_summary(state: WorkState) -> bool:
    """Whether the tournament has others than when it was last summed up."""
    summaries = state.done("summarise")
    told = set(summaries[-1].material.hypothesis_ids) if summaries else set()
    return bool(state.live) and not set(state.live) <= told
