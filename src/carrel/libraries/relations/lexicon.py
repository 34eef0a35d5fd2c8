"""The lexicon of relations: triggers by kind, word classes and operations, from data files."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from importlib.resources import files
from typing import Any

from carrel.libraries.relations.records import RelationKind

_IRREGULAR = {
    "lead": ("leads", ("led",), "leading"),
    "drive": ("drives", ("drove", "driven"), "driving"),
    "give": ("gives", ("gave", "given"), "giving"),
    "bring": ("brings", ("brought",), "bringing"),
    "arise": ("arises", ("arose", "arisen"), "arising"),
    "underlie": ("underlies", ("underlay", "underlain"), "underlying"),
    "undermine": ("undermines", ("undermined",), "undermining"),
    "hold": ("holds", ("held",), "holding"),
    "break": ("breaks", ("broke", "broken"), "breaking"),
    "cut": ("cuts", ("cut",), "cutting"),
    "foretell": ("foretells", ("foretold",), "foretelling"),
    "bear": ("bears", ("bore", "borne"), "bearing"),
    "speed": ("speeds", ("sped", "speeded"), "speeding"),
    "find": ("finds", ("found",), "finding"),
    "show": ("shows", ("showed", "shown"), "showing"),
    "grow": ("grows", ("grew", "grown"), "growing"),
}
_DOUBLED = frozenset({"control", "curb", "stem", "spur", "compel", "permit", "deter"})
_VOWELS = "aeiou"


def third_person(base: str) -> str:
    """`inhibits`, `carries`, `suppresses`."""
    if base in _IRREGULAR:
        return _IRREGULAR[base][0]
    if base.endswith(("s", "x", "z", "ch", "sh")):
        return base + "es"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + "s"


def past_forms(base: str) -> tuple[str, ...]:
    """`inhibited`; both past tense and participle where they differ."""
    if base in _IRREGULAR:
        return _IRREGULAR[base][1]
    if base.endswith("e"):
        return (base + "d",)
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return (base[:-1] + "ied",)
    if base in _DOUBLED:
        return (base + base[-1] + "ed",)
    return (base + "ed",)


def gerund(base: str) -> str:
    """`inhibiting`."""
    if base in _IRREGULAR:
        return _IRREGULAR[base][2]
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith("ee"):
        return base[:-1] + "ing"
    if base in _DOUBLED:
        return base + base[-1] + "ing"
    return base + "ing"


_KIND_FILES = tuple(f"{kind.value}.toml" for kind in RelationKind)
_OPPOSED = "denied_"
_REVERSED = "reversed_"


class Form(Enum):
    """The form in which a trigger's first word stands."""

    BASE = "base"
    THIRD = "third person"
    PAST = "past"
    GERUND = "gerund"
    FIXED = "fixed"


class Frame(Enum):
    """How a trigger is placed between subject and object."""

    VERB = "verb"
    LATE = "verb, then something, then a preposition"
    PREDICATE = "after a form of be"
    BARE = "with or without a form of be"
    NOUN = "noun with its preposition after a form of be"
    AGENT = "Y noun after a form of be"
    ON = "noun of X on Y"
    IN = "noun of X in Y"
    BETWEEN = "noun between X and Y"
    ACT = "noun of Y by X"
    COMPOUND = "X-participle Y"


@dataclass(frozen=True)
class Trigger:
    """Words that say a relation. `rest` are the words after the first."""

    kind: RelationKind
    sign: int
    frame: Frame
    form: Form
    lemma: str
    rest: tuple[str, ...] = ()
    is_reversed: bool = False
    is_denied: bool = False


_VERB_TABLES = {
    "verbs": Frame.VERB,
    "verbs_with_preposition": Frame.VERB,
    "reversed_verbs": Frame.VERB,
    "verbs_with_late_preposition": Frame.LATE,
}
_FIXED_TABLES = {
    "predicates": Frame.PREDICATE,
    "denied_predicates": Frame.PREDICATE,
    "reversed_predicates": Frame.PREDICATE,
    "bare_predicates": Frame.BARE,
    "nouns": Frame.NOUN,
    "agents": Frame.AGENT,
    "nouns_on": Frame.ON,
    "nouns_in": Frame.IN,
    "nouns_between": Frame.BETWEEN,
    "acts": Frame.ACT,
    "compounds": Frame.COMPOUND,
}


@dataclass
class Lexicon:
    """Every list, ready for look-up by the lower-case word."""

    triggers: dict[str, list[Trigger]] = field(default_factory=dict)
    compounds: dict[str, Trigger] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)
    report_verbs: frozenset[str] = frozenset()
    finite_verbs: frozenset[str] = frozenset()
    past_verbs: frozenset[str] = frozenset()
    gerunds: frozenset[str] = frozenset()
    base_verbs: frozenset[str] = frozenset()
    never_nouns: frozenset[str] = frozenset()
    copulas: frozenset[str] = frozenset()
    to_chain: frozenset[str] = frozenset()
    ability: frozenset[str] = frozenset()
    support_verbs: frozenset[str] = frozenset()
    empty: frozenset[str] = frozenset()
    empty_heads: frozenset[str] = frozenset()
    qualities: frozenset[str] = frozenset()
    bearers: frozenset[str] = frozenset()
    lowering_nouns: frozenset[str] = frozenset()
    lowering_nouns_with_of: frozenset[str] = frozenset()
    unknown_with_of: frozenset[str] = frozenset()
    lowering_adjectives: frozenset[str] = frozenset()
    lowering_gerunds: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()
    aspects: frozenset[str] = frozenset()
    negations: frozenset[str] = frozenset()
    negating_phrases: tuple[tuple[str, ...], ...] = ()
    negation_exceptions: tuple[tuple[str, ...], ...] = ()
    hedging_auxiliaries: frozenset[str] = frozenset()
    hedges: frozenset[str] = frozenset()
    question_words: frozenset[str] = frozenset()
    question_openers: frozenset[str] = frozenset()
    question_verbs: frozenset[str] = frozenset()

    def add_kind(self, source: Mapping[str, Any]) -> None:
        """Add the triggers of one file: `kind`, `sign`, and tables of words by field."""
        kind, sign = RelationKind(source["kind"]), int(source["sign"])
        for table, frame in _VERB_TABLES.items():
            for phrase in _entries(source.get(table, {})):
                self._add_verb(kind, sign, frame, phrase, is_reversed=table.startswith(_REVERSED))
        for table, frame in _FIXED_TABLES.items():
            for phrase in _entries(source.get(table, {})):
                first, *rest = phrase
                trigger = Trigger(
                    kind,
                    sign,
                    frame,
                    Form.FIXED,
                    " ".join(phrase),
                    tuple(rest),
                    table.startswith(_REVERSED),
                    table.startswith(_OPPOSED),
                )
                if frame is Frame.COMPOUND:
                    self.compounds[first] = trigger
                else:
                    self._add(first, trigger)

    def _add_verb(
        self,
        kind: RelationKind,
        sign: int,
        frame: Frame,
        phrase: tuple[str, ...],
        *,
        is_reversed: bool,
    ) -> None:
        base, *rest = phrase
        forms = [
            (base, Form.BASE),
            (third_person(base), Form.THIRD),
            (gerund(base), Form.GERUND),
            *((past, Form.PAST) for past in past_forms(base)),
        ]
        for word, form in forms:
            trigger = Trigger(kind, sign, frame, form, " ".join(phrase), tuple(rest), is_reversed)
            self._add(word, trigger)

    def _add(self, word: str, trigger: Trigger) -> None:
        known = self.triggers.setdefault(word, [])
        if trigger not in known:
            known.append(trigger)
            known.sort(key=lambda one: -len(one.rest))


def _entries(table: Mapping[str, Any]) -> Iterable[tuple[str, ...]]:
    for listed in table.values():
        phrases = listed.split() if isinstance(listed, str) else listed
        for phrase in dict.fromkeys(phrases):
            yield tuple(phrase.split())


def _read(name: str) -> dict[str, Any]:
    text = files("carrel.libraries.relations.patterns").joinpath(name).read_text("utf-8")
    return tomllib.loads(text)


def build_lexicon(additions: Iterable[str] = ()) -> Lexicon:
    """The lexicon of the shipped files and of further kind files given as TOML text."""
    lexicon = Lexicon()
    for name in _KIND_FILES:
        lexicon.add_kind(_read(name))
    for text in additions:
        lexicon.add_kind(tomllib.loads(text))
    _add_grammar(lexicon, _read("grammar.toml"))
    _add_operations(lexicon, _read("operations.toml"))
    _add_context(lexicon, _read("context.toml"))
    return lexicon


@lru_cache(maxsize=1)
def standard_lexicon() -> Lexicon:
    """The shipped lexicon, built once."""
    return build_lexicon()


def _add_grammar(lexicon: Lexicon, grammar: Mapping[str, Any]) -> None:
    for name, words in grammar["classes"].items():
        for word in words.split():
            lexicon.classes.setdefault(word, name)
    verbs = grammar["verbs"]
    report, common = verbs["report"].split(), verbs["common"].split()
    lexicon.report_verbs = frozenset(
        form
        for base in report
        for form in (base, third_person(base), *past_forms(base), gerund(base))
    )
    every = {*report, *common}
    own = {
        trigger.lemma.split()[0]
        for triggers in lexicon.triggers.values()
        for trigger in triggers
        if trigger.form is Form.BASE
    }
    pasts = {past for base in every for past in past_forms(base)}
    lexicon.base_verbs = frozenset(every)
    lexicon.finite_verbs = frozenset(third_person(base) for base in every | own)
    lexicon.past_verbs = frozenset(pasts | set(verbs["irregular_past"].split()))
    lexicon.gerunds = frozenset(gerund(base) for base in every)
    lexicon.never_nouns = _words(verbs["never_nouns"])
    lexicon.copulas = _words(verbs["copulas"])
    lexicon.to_chain = _words(verbs["to_chain"])
    lexicon.ability = _words(verbs["ability"])
    lexicon.support_verbs = _words(verbs["support_verbs"])
    lexicon.empty = _words(grammar["empty"]["words"])
    lexicon.qualities = _words(grammar["empty"]["qualities"])
    lexicon.bearers = _words(grammar["empty"]["bearers"])
    lexicon.empty_heads = _words(grammar["empty"]["heads"])


def _add_operations(lexicon: Lexicon, operations: Mapping[str, Any]) -> None:
    lowering = operations["lowering"]
    lexicon.lowering_nouns = _words(lowering["nouns"])
    lexicon.lowering_nouns_with_of = _words(lowering["nouns_with_of"])
    lexicon.unknown_with_of = _words(operations["unknown"]["nouns_with_of"])
    lexicon.lowering_adjectives = _words(lowering["adjectives"])
    lexicon.lowering_gerunds = _words(lowering["gerunds"])
    lexicon.unknown = _words(operations["unknown"]["words"])
    lexicon.aspects = _words(operations["aspects"]["words"])


def _add_context(lexicon: Lexicon, context: Mapping[str, Any]) -> None:
    negation, hedges, questions = context["negation"], context["hedges"], context["questions"]
    lexicon.negations = _words(negation["before"])
    lexicon.negating_phrases = tuple(tuple(phrase.split()) for phrase in negation["phrases"])
    lexicon.negation_exceptions = tuple(tuple(phrase.split()) for phrase in negation["exceptions"])
    lexicon.hedging_auxiliaries = _words(hedges["auxiliaries"])
    lexicon.hedges = _words(hedges["words"])
    lexicon.question_words = _words(questions["words"])
    lexicon.question_openers = _words(questions["openers"])
    lexicon.question_verbs = _words(questions["verbs"])


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())
