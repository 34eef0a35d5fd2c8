"""Figures of one run: how high the right thing stood, and how long each question took."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Ask = Callable[[str], list[str]]


@dataclass(slots=True)
class Run:
    """The answers to a set of questions, best first, with the seconds each of them took."""

    answers: list[list[str]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def milliseconds(self, share: float) -> float:
        """The time within which this share of the questions was answered."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000


def ask_all(ask: Ask, questions: Sequence[str]) -> Run:
    """Ask one after the other; the first is asked once before, so that nothing is opened in it."""
    run = Run()
    if questions:
        ask(questions[0])
    for question in questions:
        start = time.perf_counter()
        answer = ask(question)
        run.seconds.append(time.perf_counter() - start)
        run.answers.append(answer)
    return run


def ndcg(ranked: Sequence[str], wanted: Mapping[str, int], depth: int = 10) -> float:
    """Normalised discounted cumulative gain of one answer."""
    gained = sum(
        (2 ** wanted.get(name, 0) - 1) / math.log2(place + 2)
        for place, name in enumerate(ranked[:depth])
    )
    best = sum(
        (2**gain - 1) / math.log2(place + 2)
        for place, gain in enumerate(sorted(wanted.values(), reverse=True)[:depth])
    )
    return gained / best if best else 0.0


def mean_ndcg(run: Run, wanted: Sequence[Mapping[str, int]]) -> float:
    return statistics.mean(map(ndcg, run.answers, wanted))


def mean_recall(run: Run, wanted: Sequence[Mapping[str, int]], depth: int = 100) -> float:
    """The share of the right documents among the first ones, averaged over the questions."""
    return statistics.mean(
        len(right.keys() & set(answer[:depth])) / len(right)
        for answer, right in zip(run.answers, wanted, strict=True)
    )


def share_within(run: Run, right: Sequence[frozenset[str]], depth: int) -> float:
    """The share of questions of which one right thing stood among the first `depth`."""
    return statistics.mean(
        bool(names & set(answer[:depth])) for answer, names in zip(run.answers, right, strict=True)
    )
