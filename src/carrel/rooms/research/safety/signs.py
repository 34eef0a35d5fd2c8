"""The signs rules are made of: what a text wants done (acts), to or with what (objects), how and to whom (means, ends)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from carrel.rooms.research.safety.patterns import ANYWHERE, PARTS, WORDS
from carrel.rooms.research.safety.wording import plain_wording


class Sign(StrEnum):
    """One thing a text can show."""

    MAKE = "making"
    MAKE_OUTRIGHT = "making arms outright"
    DEPLOY = "deploying"
    WORSEN = "making a pathogen worse"
    FEARED_FORM = "a feared form of a pathogen"
    HARM_PEOPLE = "harm to people"
    INSTRUCT = "step-by-step instructions"
    KILL_SELF = "harm to oneself"
    EVADE = "evading notice"
    NO_CONSENT = "no consent"
    WEAPON = "weapon of mass harm"
    EXPLOSIVE = "explosive"
    PATHOGEN = "pathogen"
    GRAVE_PATHOGEN = "pathogen of the gravest kind"
    TOXIN = "toxin or poison"
    DRUG = "drug of abuse"
    ILLICIT = "illicit trade"
    PEOPLE = "people"
    CAPTIVE = "people who cannot refuse"
    PUBLIC_PLACE = "public place or supply"
    LIVELIHOOD = "crops, herds or vital systems"
    FOE = "a foe"
    ENEMY = "an enemy or a country"
    BREACH = "breaking in or stealing"
    SECURED = "guarded laboratory or material"
    RUIN = "ruining"
    INTERVENE = "acting on people"
    HACK = "breaking into systems"
    PERSECUTE = "persecution of a group"
    SUBSTANCE = "substance"
    CARE_SYSTEM = "hospital or medical device"
    ILL_WILL = "a wish to harm"
    SEEK = "looking for the best means"
    ROLE = "a part to be played"
    VILLAIN = "someone who means harm"
    DEFEATED = "protection that is to fail, or only a frame"
    PROTECT = "protection, treatment or detection"
    LOOK_BACK = "history, ethics or policy"
    EXPLAIN = "explaining what happens"


def _alternatives(block: str) -> list[str]:
    found: list[str] = []
    for line in block.strip().split("\n"):
        if line.startswith("|") and found:
            found[-1] += line
        else:
            found.extend(line.split("   "))
    return found


def _filled(expression: str) -> str:
    # Thrice, since a part may have parts that have parts.
    for _ in range(3):
        for name, block in PARTS.items():
            expression = expression.replace("{" + name + "}", "|".join(_alternatives(block)))
    return expression


def _compiled(sign: Sign) -> re.Pattern[str]:
    expression = _filled("|".join(_alternatives(WORDS[sign.name])))
    return re.compile(expression if sign.name in ANYWHERE else rf"\b(?:{expression})", re.IGNORECASE)


@cache
def _patterns() -> dict[Sign, re.Pattern[str]]:
    """Compiled at the first check: most sessions never make one."""
    return {sign: _compiled(sign) for sign in Sign}


@dataclass(frozen=True)
class Signs:
    """The signs a text shows, each with the words that show it."""

    shown: dict[Sign, tuple[str, ...]]

    def all(self, *signs: Sign) -> bool:
        """Whether every one of the signs is there."""
        return all(sign in self.shown for sign in signs)

    def any(self, *signs: Sign) -> bool:
        """Whether one of the signs is there."""
        return any(sign in self.shown for sign in signs)

    def words(self, signs: Iterable[Sign]) -> tuple[str, ...]:
        """The words that show the signs."""
        return tuple(dict.fromkeys(word for sign in signs for word in self.shown.get(sign, ())))


def _without_what_is_defeated(text: str) -> str:
    """A vaccine that is to fail, a screening to be got round or an opening `For a seminar,` protects nobody."""
    for sign in (Sign.EVADE, Sign.DEFEATED):
        text = _patterns()[sign].sub(" , ", text)
    return text


def read_signs(text: str) -> Signs:
    """Every sign a text shows."""
    plain = plain_wording(text)
    shown = {}
    for sign, pattern in _patterns().items():
        read = _without_what_is_defeated(plain) if sign is Sign.PROTECT else plain
        words = tuple(dict.fromkeys(found.group(0).strip().lower() for found in pattern.finditer(read)))
        if words:
            shown[sign] = words
    return Signs(shown)
