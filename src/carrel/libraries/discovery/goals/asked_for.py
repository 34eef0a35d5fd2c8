"""The kind of answer a goal asks for, and the relation it speaks of, told by its wording."""

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache

from carrel.libraries.discovery.goals.goal_language import (
    Tag,
    TaggedWord,
    goal_language,
    verb_forms,
)
from carrel.libraries.discovery.goals.records import AskedFor, Constraint, ConstraintKind

_CHANGES = {"raises", "lowers", "treats"}
_MODAL = r"(?:can|could|might|may|should|would|do|does|did|will)"


@lru_cache(maxsize=1)
def _patterns() -> dict[AskedFor, re.Pattern[str]]:
    return {
        AskedFor[name.upper()]: re.compile(text, re.IGNORECASE | re.VERBOSE)
        for name, text in goal_language().asked_for.items()
    }


def classify_goal(
    rest: str, words: Sequence[TaggedWord], constraints: Sequence[Constraint], relation: str
) -> AskedFor:
    """The kind of answer asked for; `rest` is the goal without its constraints."""
    says = _patterns()
    text = " ".join(rest.replace(",", " ").split())
    # A compound is one word: `treatment-resistant` asks for no treatment.
    text = re.sub(r"(?<=\w)-(?=\w)", "_", text)
    has_route = any(one.kind is ConstraintKind.VIA for one in constraints)
    opening = words[0].text.lower() if words else ""
    if _denies(text, opening, relation):
        return AskedFor.NO_EFFECT
    if _is_transfer(text, words):
        return AskedFor.TRANSFER
    for kind in (AskedFor.EXTENT, AskedFor.PREDICTORS, AskedFor.CONDITIONS):
        if says[kind].search(text):
            return kind
    if opening not in {"find", "suggest", "why", "how", "make", "build"} and says[
        AskedFor.COMPARISON
    ].search(text):
        return AskedFor.COMPARISON
    if says[AskedFor.CAUSES].search(text) or _asks_what_causes(words):
        return AskedFor.CAUSES
    if has_route:
        return AskedFor.MECHANISM
    if _asks_what_could(text) and relation in _CHANGES:
        return AskedFor.INTERVENTIONS
    how = _how(text, words, relation)
    if how is not None:
        return how
    asked = _noun_asked_for(text, opening, relation)
    if asked is AskedFor.NOT_STATED and opening in _MAKING and constraints:
        # `Find electrodes that contain no indium`: what is asked for must meet conditions.
        return AskedFor.METHODS
    return asked


_MAKING = frozenset(("find", "design", "develop", "build", "invent"))
_SEARCHES = frozenset(
    ("why", "what", "which", "find", "suggest", "identify", "propose", "list", "name", "discover")
)
_YES_OR_NO = frozenset(("do", "does", "did", "can", "could", "might", "may", "will", "would"))


def _denies(text: str, opening: str, relation: str) -> bool:
    """Whether what is to be shown is that one thing does nothing to another."""
    if opening in _SEARCHES or re.match(r"\W*(?:do not|don['’]t)", text, re.IGNORECASE):
        return False
    if opening in _YES_OR_NO and relation:
        # `Does A lower B independently of C` asks for the effect.
        text = re.sub(r"\bindependent(?:ly)?\b", "", text)
    return bool(_patterns()[AskedFor.NO_EFFECT].search(text))


def _noun_asked_for(text: str, opening: str, relation: str) -> AskedFor:
    says = _patterns()
    if re.search(
        r"\b(?:ways?|means|strategies|approaches|steps) (?:to|of|for|that)\b", text, re.IGNORECASE
    ):
        return AskedFor.INTERVENTIONS if relation in _CHANGES else AskedFor.METHODS
    for kind in (AskedFor.INTERVENTIONS, AskedFor.MECHANISM, AskedFor.METHODS, AskedFor.EFFECT):
        if says[kind].search(text):
            return kind
    if says[AskedFor.CONNECTION].search(text):
        return AskedFor.CONNECTION
    if opening in _YES_OR_NO or opening in {"is", "are", "was", "were", "should"}:
        return AskedFor.EFFECT
    if opening == "which" and relation in {"raises", "lowers", "causes", "changes"}:
        return AskedFor.CAUSES
    if opening in _MAKING and re.search(r"\b(?:for|that|to)\b", text):
        return AskedFor.METHODS
    if relation in _CHANGES and re.search(r"\b(?:that|which)\b", text):
        return AskedFor.INTERVENTIONS
    if goal_language().verbs.get(opening) in {"lowers", "treats"}:
        return AskedFor.INTERVENTIONS
    return (
        AskedFor.EFFECT if re.search(r"\bwhether\b", text, re.IGNORECASE) else AskedFor.NOT_STATED
    )


def _is_transfer(text: str, words: Sequence[TaggedWord]) -> bool:
    """`Apply A to B`, `could A models rank B`, `what can A learn from B`."""
    if re.match(
        r"\W*(?:apply|use|adapt|transfer|borrow|carry|employ|bring|try|port)\b.*"
        r"\b(?:to|on|for|in|into)\b",
        text,
        re.IGNORECASE,
    ):
        return True
    if re.search(
        r"\b(?:learn(?:ed|t)? from|borrow(?:ed)? from|"
        r"be (?:applied|transferred|adapted) (?:to|for))\b",
        text,
    ):
        return True
    language = goal_language()
    if not re.match(r"\W*(?:can|could|might|may|would|will)\b", text, re.IGNORECASE):
        return False
    plain = [word.text.lower() for word in words]
    heads = [place for place, word in enumerate(plain) if language.has("method_heads", word)]
    return any(
        word in language.words["task_verbs"] and any(head < place for head in heads)
        for place, word in enumerate(plain)
    )


def _asks_what_causes(words: Sequence[TaggedWord]) -> bool:
    """`What … drives X`: a verb of the question word itself, with no auxiliary before it."""
    if not words or words[0].text.lower() not in {"what", "which", "apart"}:
        return any(
            one.text.lower() == "what"
            and after.tag is Tag.VERB
            and bool(goal_language().verbs.get(after.text.lower()))
            for one, after in itertools.pairwise(words)
        ) and not (words and words[0].tag is Tag.VERB and words[0].text.lower() == "tell")
    start = next((place for place, word in enumerate(words) if word.text.lower() == "what"), None)
    if start is None:
        return False
    language = goal_language()
    for word in words[start + 1 :]:
        if word.tag is Tag.AUXILIARY:
            return False
        if word.tag is Tag.VERB:
            relation = language.verbs.get(word.text.lower(), "")
            return relation in {"causes", "raises", "lowers", "changes", "treats"}
    return False


def _asks_what_could(text: str) -> bool:
    """`What could slow X`: the answer is what is to be done."""
    return bool(
        re.match(r"\W*(?:what|which\s+\w+)\s+(?:can|could|might|may|would)\b", text, re.IGNORECASE)
    )


def _how(text: str, words: Sequence[TaggedWord], relation: str) -> AskedFor | None:
    """`How can X be lowered` asks for interventions, `how does X lower Y` for a mechanism."""
    found = re.match(rf"\W*how (?P<modal>{_MODAL}|is|are|to)\b", text, re.IGNORECASE)
    if found is None and re.match(r"\W*how\s+\w", text, re.IGNORECASE) and relation:
        # `understand how A affects B`, once the asking is left out.
        is_effect = re.search(r"\b(?:affects?|influences?|impacts?)\b", text)
        return AskedFor.EFFECT if is_effect else AskedFor.MECHANISM
    if found is None:
        return None
    if _patterns()[AskedFor.EFFECT].search(text):
        return AskedFor.EFFECT
    modal = found["modal"].lower()
    is_passive = bool(re.search(r"\bbe (?:\w+(?:ed|en|t)|made|done|cut|held)\b", text))
    if modal in {"to", "should"} or (is_passive and modal in {"can", "could", "might", "may"}):
        return AskedFor.INTERVENTIONS if relation in _CHANGES else AskedFor.METHODS
    if modal == "can" and relation in _CHANGES:
        return AskedFor.INTERVENTIONS
    return AskedFor.MECHANISM


_SIGNS = {"raises": 1, "causes": 1, "lowers": -1, "treats": -1}
_SIGN_ASKED_FOR = {AskedFor.INTERVENTIONS: -1, AskedFor.CAUSES: 1}
"""What is wanted of an answer where no verb says it: treatments lower, causes raise."""


def find_direction(words: Sequence[TaggedWord], asked_for: AskedFor) -> int:
    """What an answer must do to the subject: 1 raise it, -1 lower it, 0 where that is not said.

    `slow the loss of X` wants more of X, `protect X` as well, `protect against X` less.
    """
    language, sign, after = goal_language(), _SIGN_ASKED_FOR.get(asked_for, 0), 0
    for place, word in enumerate(words):
        plain = word.text.lower()
        if word.tag is Tag.VERB and language.verbs.get(plain) in _SIGNS:
            following = words[place + 1].text.lower() if place + 1 < len(words) else ""
            sign, after = _SIGNS[language.verbs[plain]], place
            if plain in _keeping_verbs() and following not in {"against", "from"}:
                sign = 1
            break
    is_turned = any(
        language.has("lessening_heads", one.text) and other.text.lower() == "of"
        for one, other in itertools.pairwise(words[after:])
    )
    return -sign if is_turned else sign


@lru_cache(maxsize=1)
def _keeping_verbs() -> frozenset[str]:
    language = goal_language()
    return frozenset(form for verb in language.words["keeping_verbs"] for form in verb_forms(verb))


def find_relation(words: Sequence[TaggedWord]) -> str:
    """The relation of the first verb that says how one thing bears on another, or empty."""
    language = goal_language()
    found = [
        language.verbs[word.text.lower()]
        for word in words
        if word.tag is Tag.VERB and language.verbs.get(word.text.lower())
    ]
    return found[0] if found else ""


_MEDICINE = re.compile(
    r"\b(drugs?|medic\w+|antibiotics?|inhibitors?|(?:bio)?markers?|therap\w+|patients?|genes?|"
    r"proteins?|repurpos\w+|diseases?|treatments? for)\b",
    re.IGNORECASE,
)


def speaks_of_medicine(goal: str) -> bool:
    """Whether a goal asks for an answer that only the life sciences have."""
    return bool(_MEDICINE.search(goal))
