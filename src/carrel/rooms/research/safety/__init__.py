"""The safety check: weighted evidence of a wish to harm in goals and hypotheses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from carrel.rooms.research.safety.evidence import Evidence, lexicon, read_passages

_WELCOME = (
    "Questions of prevention, treatment, detection, history or policy on the same matter "
    "are welcome."
)


@dataclass(frozen=True)
class KindOfHarm:
    """The subject of a refusal, and what may be asked instead."""

    rule: str
    wish: str
    advice: str = _WELCOME

    @property
    def reason(self) -> str:
        return f"It reads as a wish {self.wish}"


KINDS = {
    "bio": KindOfHarm(
        "biological_weapon",
        "to make a pathogen more dangerous or to bring one upon people.",
    ),
    "chem": KindOfHarm("chemical_weapon", "to make or use a chemical weapon."),
    "poison": KindOfHarm("poisoning", "to poison someone or what people eat and drink."),
    "nuclear": KindOfHarm(
        "radiological_harm",
        "to get or use radioactive material as a weapon, or to make a reactor fail.",
    ),
    "explosives": KindOfHarm("explosives", "to make or use explosives or fire against people."),
    "firearms": KindOfHarm("illegal_weapons", "to make, hide or use weapons outside the law."),
    "drugs": KindOfHarm("illegal_drugs", "to make, move or push drugs outside the law."),
    "assault": KindOfHarm("sexual_violence", "to drug, groom or overpower someone."),
    "self_harm": KindOfHarm(
        "self_harm",
        "to end one's life or to lead others to harm themselves.",
        "If this is about you, please speak to someone now: a local crisis line or "
        "emergency number answers at any hour.",
    ),
    "eating": KindOfHarm(
        "eating_disorder",
        "to starve, to purge or to lead others to it.",
        "If this is about you, a doctor or a helpline for eating disorders can help. "
        "Questions of treatment are welcome.",
    ),
    "coerced": KindOfHarm(
        "no_consent",
        "to act on people who have not agreed or cannot refuse.",
        "Studies with informed consent and an ethics committee's approval are welcome.",
    ),
    "ethnic": KindOfHarm("persecution", "to single out a group of people for exclusion or harm."),
    "cyber": KindOfHarm(
        "attack_on_care",
        "to break into, disable or rob systems that patients or laboratories depend on.",
    ),
    "torture": KindOfHarm("torture", "to make people in someone's power suffer or speak."),
    "animals": KindOfHarm("animal_cruelty", "to make animals suffer for its own sake."),
    "fraud": KindOfHarm(
        "scientific_fraud",
        "to invent, bend or hide results.",
        "Questions of how to find or prevent fraud are welcome.",
    ),
    "evasion": KindOfHarm(
        "evading_controls",
        "to get dangerous material or work past the rules and those who keep them.",
    ),
    "sabotage": KindOfHarm(
        "sabotage",
        "to ruin crops, herds, nature or systems that lives depend on.",
    ),
    "surveillance": KindOfHarm(
        "surveillance", "to follow, watch or name people behind their backs."
    ),
    "discrimination": KindOfHarm(
        "discrimination", "to treat people worse for what they are, and to hide it."
    ),
    "disinformation": KindOfHarm(
        "disinformation",
        "to make people believe what is false.",
        "Questions of how lies spread, are noticed or answered are welcome.",
    ),
    "swindle": KindOfHarm("swindle", "to cheat people of money or sell them what does not work."),
    "environment": KindOfHarm("environmental_harm", "to pollute or plunder nature unseen."),
    "other": KindOfHarm("other_harm", "to harm people."),
}


_MOST_SIGNS = 6
_MOST_WORDS = 8


Outcome = Literal["start", "hold", "refuse"]


@dataclass(frozen=True)
class SafetyDecision:
    """May start, waits for a person, or is refused; by which rule, why, and which words showed it.

    Only goals wait: a hypothesis competes unless it is refused, since people may have approved its
    goal knowing what it speaks of.
    """

    outcome: Outcome
    rule: str
    reason: str
    signs: tuple[str, ...]
    words: tuple[str, ...]
    advice: str

    @property
    def allowed(self) -> bool:
        return self.outcome == "start"

    @property
    def is_refused(self) -> bool:
        return self.outcome == "refuse"


class Weights(BaseModel):
    """Weights of evidence, in all and by kind of harm, as `make fit-safety` fitted them."""

    model_config = ConfigDict(frozen=True)

    start: float
    held_from: float
    refused_from: float
    weights: dict[str, float]
    kinds: dict[str, dict[str, float]]


@cache
def fitted() -> Weights:
    """Loaded at the first check: most sessions never make one."""
    return Weights.model_validate_json(
        (Path(__file__).parent / "weights.json").read_text(encoding="utf-8")
    )


def weigh(evidence: Evidence, table: Weights) -> float:
    """How strongly the evidence speaks for a wish to harm."""
    weights = table.weights
    return table.start + sum(
        weights[name] * shown.share for name, shown in evidence.items() if name in weights
    )


def likeliest_kind(evidence: Evidence, table: Weights) -> str:
    """The kind of harm that the concepts speak for most."""
    return max(
        table.kinds,
        key=lambda kind: sum(
            weight for name, weight in table.kinds[kind].items() if not name or name in evidence
        ),
    )


def check_goal(text: str) -> SafetyDecision:
    """Whether a research goal may be worked on."""
    table = fitted()
    evidence = max(read_passages(text), key=lambda passage: weigh(passage, table))
    weight = weigh(evidence, table)
    signs, words = _what_weighed(evidence, table)
    if weight < table.held_from:
        reason = (
            "What it shows does not add up to a wish to harm."
            if signs
            else "It shows none of the signs of a wish to harm."
        )
        return SafetyDecision("start", "none", reason, signs, words, "")
    kind = KINDS[likeliest_kind(evidence, table)]
    is_refused = weight >= table.refused_from
    reads = kind.reason if is_refused else f"It may be a wish {kind.wish}"
    reason = f"{reads} What weighed most: {', '.join(f'“{word}”' for word in words)}."
    outcome: Outcome = "refuse" if is_refused else "hold"
    return SafetyDecision(outcome, kind.rule, reason, signs, words, kind.advice)


def check_hypothesis(title: str, text: str = "") -> SafetyDecision:
    """Whether a hypothesis may compete, checked line by line: quotations are no plan."""
    for part in (title, *text.split("\n")):
        decision = check_goal(part)
        if decision.is_refused:
            return decision
    return check_goal(title)


def safety_score(text: str) -> float:
    """0 if the text is refused, else 1, as reviews store it."""
    return 0.0 if check_goal(text).is_refused else 1.0


def _what_weighed(evidence: Evidence, table: Weights) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The concepts and words with the most weight for harm; pairs count for both concepts."""
    by_concept: dict[str, float] = {}
    by_word: dict[str, float] = {}
    for name, shown in evidence.items():
        weight = table.weights.get(name, 0.0) * shown.share
        for concept in shown.concepts:
            by_concept[concept] = by_concept.get(concept, 0.0) + weight / len(shown.concepts)
        if shown.concepts:
            for word in shown.words:
                by_word[word] = by_word.get(word, 0.0) + weight / len(shown.words)
    labels = lexicon().labels
    signs = tuple(labels[concept] for concept in _heaviest(by_concept, _MOST_SIGNS))
    return signs, tuple(_heaviest(by_word, _MOST_WORDS))


def _heaviest(weights: dict[str, float], most: int) -> list[str]:
    spoke = [name for name, weight in weights.items() if weight > 0]
    return sorted(spoke, key=lambda name: -weights[name])[:most]
