"""Plain goals put together from parts, harmful and ordinary with the same openings, matters and
acts, so that only the wish tells them apart.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_NOTHING = "_"


@dataclass(frozen=True)
class Composed:
    """A goal put together from parts."""

    goal: str
    harmful: bool
    kind: str


def composed(each: int, seed: int) -> Iterator[Composed]:
    """So many harmful and as many ordinary goals of every kind."""
    chance = random.Random(seed)
    for head, patterns in _blocks().items():
        sort, _, kind = head.partition(" ")
        if sort in {"harmful", "ordinary"}:
            made = {_made(chance, patterns) for _ in range(each)}
            yield from (Composed(goal, sort == "harmful", kind) for goal in sorted(made))
        if sort == "text":
            made = {_sentence(_filled(chance, chance.choice(patterns))) for _ in range(each)}
            yield from (Composed(goal, False, kind) for goal in sorted(made))
        if sort == "act":
            for frames, harmful in (("wish", True), ("study", False)):
                made = {_framed(chance, frames, patterns) for _ in range(each)}
                yield from (Composed(goal, harmful, kind) for goal in sorted(made))


@cache
def _blocks() -> dict[str, list[str]]:
    text = (Path(__file__).parent / "patterns.txt").read_text(encoding="utf-8")
    found = re.findall(r"^\[([\w ]+)\]\n(.+?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL)
    return {head: body.strip().replace("\n", "").split("|") for head, body in found}


def _made(chance: random.Random, patterns: list[str]) -> str:
    opening = chance.choice(_blocks()["opening"])
    text = _filled(chance, chance.choice(patterns))
    return _sentence(text if opening == _NOTHING else f"{opening} {text}")


def _framed(chance: random.Random, frames: str, acts: list[str]) -> str:
    """An act in the frame of a wish or of a study."""
    frame = chance.choice(_blocks()[frames])
    return _sentence(_filled(chance, frame.replace("{act}", chance.choice(acts))))


def _filled(chance: random.Random, text: str) -> str:
    while "{" in text:
        text = re.sub(
            r"\{(\w+)\}", lambda part: chance.choice(_blocks()[f"part {part.group(1)}"]), text
        )
    return text


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith("?") else ".")
