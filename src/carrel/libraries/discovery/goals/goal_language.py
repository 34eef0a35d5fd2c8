"""The English of goals as word sets, read from `goal_language.toml`."""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from carrel.libraries.discovery.concepts.words import normal_word

_FILE = Path(__file__).with_name("goal_language.toml")
_DOUBLING = frozenset("bdgmnprt")
_VOWELS = frozenset("aeiou")


@dataclass(frozen=True)
class GoalLanguage:
    """Words by what they do in a goal; verbs in every form, nouns in their normal form."""

    verbs: dict[str, str]
    words: dict[str, frozenset[str]]
    senses: dict[str, tuple[str, ...]]
    wordings: dict[str, str]
    asked_for: dict[str, str]

    def has(self, group: str, word: str) -> bool:
        """Whether a word as written, or its normal form, stands in a group of words."""
        plain = word.lower()
        return plain in self.words[group] or normal_word(plain) in self.words[group]


def verb_forms(verb: str) -> frozenset[str]:
    """The forms of a regular verb, and of those in `_IRREGULAR`."""
    if verb in _IRREGULAR:
        return frozenset((verb, *_IRREGULAR[verb].split()))
    stem = verb.removesuffix("e")
    forms = {verb, f"{verb}s", f"{stem}ed", f"{stem}ing"}
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        forms.add(f"{verb}es")
    if verb.endswith("y") and verb[-2] not in _VOWELS:
        forms.update((f"{verb[:-1]}ies", f"{verb[:-1]}ied"))
    if verb[-1] in _DOUBLING and verb[-2] in _VOWELS and verb[-3:-2] not in _VOWELS:
        forms.update((f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"))
    return frozenset(forms)


_IRREGULAR = {
    "find": "finds found finding",
    "know": "knows knew known knowing",
    "show": "shows showed shown showing",
    "make": "makes made making",
    "keep": "keeps kept keeping",
    "give": "gives gave given giving",
    "take": "takes took taken taking",
    "get": "gets got getting",
    "hold": "holds held holding",
    "drive": "drives drove driven driving",
    "lead": "leads led leading",
    "bring": "brings brought bringing",
    "cut": "cuts cutting",
    "arise": "arises arose arisen arising",
    "underlie": "underlies underlay underlain underlying",
    "foresee": "foresees foresaw foreseen foreseeing",
    "foretell": "foretells foretold foretelling",
    "forecast": "forecasts forecasting",
    "hurt": "hurts hurting",
    "fight": "fights fought fighting",
    "grow": "grows grew grown growing",
    "shrink": "shrinks shrank shrunk shrinking",
    "lose": "loses lost losing",
    "become": "becomes became becoming",
    "begin": "begins began begun beginning",
    "beat": "beats beaten beating",
    "win": "wins won winning",
    "teach": "teaches taught teaching",
    "build": "builds built building",
    "have": "has had having",
    "tell": "tells told telling",
    "mean": "means meant meaning",
    "run": "runs ran running",
    "overcome": "overcomes overcame overcoming",
    "understand": "understands understood understanding",
    "act": "acts acted acting",
}


@lru_cache(maxsize=1)
def goal_language() -> GoalLanguage:
    """The language of goals, read once."""
    found = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    verbs: dict[str, str] = {}
    words = {name: frozenset(listed.split()) for name, listed in found["words"].items()}
    groups = {**found["relation_verbs"], "": found["words"]["other_verbs"]}
    for relation, listed in groups.items():
        for verb in listed.split():
            for form in verb_forms(verb):
                verbs.setdefault(form, relation)
    return GoalLanguage(
        verbs,
        words,
        {word: tuple(senses) for word, senses in found["senses"].items()},
        dict(found["wordings"]),
        dict(found["asked_for"]),
    )
