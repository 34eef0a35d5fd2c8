"""Lays points out in the plane: neighbours attract each other, points drawn by chance repel."""

from __future__ import annotations

import cmath
import math
import random
from collections.abc import Callable, Sequence
from itertools import cycle

# Fitted on the choosing half of SciFact by `make judge-map`: trustworthiness .916 with 4 strangers
# an edge, .926 with 8; 400 epochs give no more than 200.
NEIGHBOURS = 10
EPOCHS = 200
_FIRST_STEP = 0.5
_STRANGERS = 8
_REPULSION = 1.0
_SOFTENING = 0.1
# The spread of the start: wide enough that far topics do not have to pass through each other.
START_SPREAD = 8.0

Edge = tuple[int, int, float]
_DIRECTIONS = [cmath.rect(1.0, 0.4 + math.tau * number / 8) for number in range(8)]


def connect_neighbours(neighbours: Sequence[Sequence[tuple[float, int]]]) -> list[Edge]:
    """Each pair of neighbours once, with the chance that it attracts in an epoch (0 to 1]."""
    weights: dict[tuple[int, int], float] = {}
    for number, near in enumerate(neighbours):
        if not near:
            continue
        best = max(_similarity(near[0][0]), 1e-6)
        for distance, other in near:
            weight = max(_similarity(distance) / best, 0.05) ** 2
            pair = (number, other) if number < other else (other, number)
            known = weights.get(pair, 0.0)
            # Neighbours in both directions hold together more than those in one.
            weights[pair] = known + weight - known * weight
    return [(one, other, weight) for (one, other), weight in sorted(weights.items())]


def lay_out(
    start: Sequence[complex],
    edges: Sequence[Edge],
    chance: random.Random,
    report_epoch: Callable[[], None] = lambda: None,
    epochs: int = EPOCHS,
) -> list[complex]:
    """Positions after all epochs; the same start, edges and chance give the same positions."""
    positions = list(start)
    strangers = list(range(len(positions)))
    order = list(edges)
    for epoch in range(epochs):
        step = 2.0 * _FIRST_STEP * (1.0 - epoch / epochs)
        chance.shuffle(order)
        chance.shuffle(strangers)
        _run_epoch(positions, order, cycle(strangers).__next__, chance.random, step)
        report_epoch()
    return positions


def _run_epoch(
    positions: list[complex],
    edges: Sequence[Edge],
    next_stranger: Callable[[], int],
    draw: Callable[[], float],
    step: float,
) -> None:
    # The inner loop of all: plain names and arithmetic, no calls but of strangers and chance.
    repulsion = step * _REPULSION
    for one, other, weight in edges:
        if draw() > weight:
            continue
        here = positions[one]
        away = here - positions[other]
        pull = away * (step / (2.0 + 2.0 * (away.real * away.real + away.imag * away.imag)))
        here -= pull
        positions[other] += pull
        for _ in range(_STRANGERS):
            away = here - positions[next_stranger()]
            square = away.real * away.real + away.imag * away.imag
            if square < 36.0:
                here += away * (repulsion / ((_SOFTENING + square) * (1.0 + square)))
        positions[one] = here


def separate(places: Sequence[complex], distance: float, rounds: int = 12) -> list[complex]:
    """Places moved apart until hardly two are nearer than `distance`, so that each can be seen."""
    moved = list(places)
    for _ in range(rounds):
        cells: dict[tuple[int, int], list[int]] = {}
        for number, place in enumerate(moved):
            cell = (int(place.real // distance), int(place.imag // distance))
            cells.setdefault(cell, []).append(number)
        for (column, row), inside in cells.items():
            around = [
                number
                for near_column in (column - 1, column, column + 1)
                for near_row in (row - 1, row, row + 1)
                for number in cells.get((near_column, near_row), ())
            ]
            for one in inside:
                _push_away(moved, one, around, distance)
    return moved


def _push_away(places: list[complex], one: int, around: Sequence[int], distance: float) -> None:
    here = places[one]
    for other in around:
        away = here - places[other]
        length = abs(away)
        if length < distance and other != one:
            # Two at the very same place part in a direction that depends on their numbers.
            direction = away / length if length > 1e-12 else _DIRECTIONS[(one + other) % 8]
            step = direction * ((distance - length) / 2)
            here += step
            places[other] -= step
    places[one] = here


def spread_start(plane: Sequence[complex]) -> list[complex]:
    """The plane moved to the middle and spread as the layout wants it at its start."""
    middle = sum(plane, 0j) / len(plane)
    centred = [point - middle for point in plane]
    spread = (sum(abs(point) ** 2 for point in centred) / len(centred) / 2) ** 0.5
    return [point * (START_SPREAD / spread) if spread > 1e-12 else point for point in centred]


def _similarity(distance: float) -> float:
    """The cosine of two vectors of length one by their distance."""
    return 1.0 - distance * distance / 2.0
