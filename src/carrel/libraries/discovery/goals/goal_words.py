"""The language of goals: tokens of a sentence, and words that ask without naming a subject."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.discovery.concepts.words import FUNCTION_WORDS, normal_word
from carrel.libraries.discovery.tuned import GOALS

_ASKING = """
    find discover identify investigate explore examine understand develop design propose search look
    determine uncover reveal elucidate
    study research generate suggest predict explain improve enhance want need help novel new
    potential possible promising
    effective innovative alternative hidden unknown unexplored understudied overlooked candidate
    idea hypothesis hypothesi option way
    approach strategy target therapeutic therapy treatment intervention drug repurposing repurpose
    repurposed mechanism cause pathway
    role link connection association relationship relation correlation factor driver biomarker
    marker goal question thing please tell
    test check know
    whether medication medicine compound substance inhibitor antibiotic remedy cure prevention
    evidence effect impact influence contribution
    interplay crosstalk interaction involvement importance function reason explanation origin basis
    early late common general main major
    first best better good bad high low early novel current future long short term related different
    various certain
    specific key important existing known safe
"""
# Verbs that say how one thing bears on another, in their plain form; other forms are made from
# them.
_RELATING = """
    accelerate account act activate affect aggravate alleviate alter ameliorate amplify antagonize
    arise assist associate attenuate avert
    become begin benefit block boost bring change combat compare complicate connect contribute
    control correlate counter counteract
    create cure damage decrease degrade delay depend deplete destabilize deteriorate diminish
    disrupt drive ease elevate eliminate emerge
    enable encourage evoke exacerbate facilitate fight follow foster govern halt hamper happen harm
    hasten heal hinder impair impede
    improve increase induce influence inhibit initiate interact interfere interrupt involve join
    kill lead lessen limit link lower maintain
    make manage mediate mimic mitigate moderate modify modulate mean originate overcome override
    participate play postpone potentiate
    precede precipitate predispose preserve prevent produce prolong promote protect provoke quicken
    raise reactivate reduce regulate
    reinforce relate release relieve remedy repair replace repress rescue resist restore result
    retard reverse rise sensitize shape shield
    shorten silence slow soothe spare spread stabilize stimulate stop strengthen suppress survive
    sustain tackle tame tolerate treat trigger
    underlie undo upregulate downregulate use weaken worsen explain gate tune steer couple bear
    matter work exist occur differ vary
    respond react need share join unite enter leave cause speed
"""
# What is spoken of in every field and narrows nothing by itself.
_GENERIC = """
    adult age aged animal baby body candidate cell child childhood clinic cohort community condition
    country data deficiency disease
    disorder dynamic elderly environment gene group health healthy human illness individual infant
    laboratory level life man model
    molecule mouse organism participant patient people person physiology population process
    progression protein rat rate region risk
    science sex society species subject symptom syndrome system tissue volunteer woman work world
    zone efficiency efficacy severity outcome
    onset incidence prevalence recovery remission relapse prognosis signaling signalling
    percent survival performance success failure quality quantity number amount presence absence
    lack loss excess
"""
SETTINGS: frozenset[str] = frozenset(
    {"in", "among", "amongst", "during", "within", "across", "under", "at", "inside", "throughout"}
)
"""What follows says where, when or for whom, once two other things are named."""

AUXILIARIES: frozenset[str] = frozenset(
    {"do", "does", "did", "can", "could", "may", "might", "will", "would", "should"}
)
"""What announces a verb."""

WAYS: frozenset[str] = frozenset({"via", "through"})
"""What follows is the way from one thing to another."""

AGENTS: frozenset[str] = frozenset({"by", "with", "using", "due", "because"})
"""What follows acts on what went before (`caused by`, `treated with`)."""

_ASPECT_ENDINGS = """
    tion sion ment ance ence ancy ency cy ity ness ing ism age ure th ship ability wth lysis genesis
    stasis activity rate level score
"""
_ASPECTS = tuple(_ASPECT_ENDINGS.split())

# The commonest small words of other languages that goals are asked in, none of which is an English
# word of science.
_FOREIGN = """
    le la les des du une pour dans avec est sont que qui quels quelle quelles comment peut peuvent
    par sur aux chez et ou au entre leur
    der das und ist fur mit wie kann konnen eine einen einem dem den des bei von zu auf gegen
    zwischen welche welcher welches durch nicht
    el los las del para con por como una uno es son puede pueden cual cuales entre sobre al
    il lo gli di che per della delle dei puo possono nel nella tra sono come quali
    os um uma dos das em pelo pela mais pode podem quais het een van voor met zijn welke hoe
"""


def _forms(verb: str) -> set[str]:
    stem = verb.removesuffix("e")
    doubled = verb + verb[-1]
    return {
        verb,
        f"{verb}s",
        f"{stem}ed",
        f"{stem}ing",
        f"{verb}d",
        f"{doubled}ed",
        f"{doubled}ing",
    }


RELATING: frozenset[str] = frozenset(
    normal_word(form) for verb in _RELATING.split() for form in _forms(verb)
)
ASKING: frozenset[str] = frozenset(normal_word(word) for word in _ASKING.split()) | RELATING
GENERIC: frozenset[str] = frozenset(normal_word(word) for word in _GENERIC.split())
FOREIGN: frozenset[str] = frozenset(
    word for word in _FOREIGN.split() if word not in FUNCTION_WORDS and word not in ASKING
)


def is_aspect(word: str) -> bool:
    """Whether a word names an aspect (`deficiency`, `growth`) of the thing named before it."""
    return word in GENERIC or (len(word) > 4 and word.endswith(_ASPECTS))


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_BREAK = re.compile(r"[.,;:!?()\[\]{}\"“”/|]|\s[-–—]\s")


@dataclass(frozen=True)
class Token:
    """A word of a goal: its normal form, its spelling, and what its case and punctuation tell."""

    word: str
    text: str
    is_after_break: bool
    is_capital: bool
    begins_sentence: bool

    @property
    def is_small(self) -> bool:
        """Whether it is a function word in English or another language that goals are asked in."""
        plain = self.text.lower()
        return (
            plain in FUNCTION_WORDS
            or self.word in FUNCTION_WORDS
            or plain in FOREIGN
            or self.word in FOREIGN
        )


def tokens_of(text: str) -> list[Token]:
    """The words of a text in their order."""
    found: list[Token] = []
    last = 0
    for match in _WORD.finditer(text):
        gap, written = text[last : match.start()], match[0]
        if gap in {".", ". "} and found and _is_short_genus(found[-1].text, written):
            gap = " "
        begins = not found or bool(re.search(r"[.!?]", gap))
        is_capital = written[0].isupper() and written[1:].islower()
        found.append(
            Token(normal_word(written), written, bool(_BREAK.search(gap)), is_capital, begins)
        )
        last = match.end()
    return found


def _is_short_genus(before: str, word: str) -> bool:
    """Whether a full stop behind a capital shortens a genus (`C. elegans`)."""
    return len(before) == 1 and before.isupper() and word.islower() and len(word) > 2


def looks_foreign(tokens: Sequence[Token]) -> bool:
    """Whether a text has more function words of other languages than English ones."""
    foreign = sum(token.text.lower() in FOREIGN or token.word in FOREIGN for token in tokens)
    english = sum(
        token.is_small and token.text.lower() not in FOREIGN and token.word not in FOREIGN
        for token in tokens
    )
    return foreign >= 2 and foreign > english


def is_title_case(tokens: Sequence[Token]) -> bool:
    """Whether nearly every word is capitalised, so that capitals mark no names."""
    later = [
        token for token in tokens if not token.begins_sentence and token.word not in FUNCTION_WORDS
    ]
    return len(later) > 2 and sum(
        token.text[0].isupper() for token in later
    ) > GOALS.title_case_share * len(later)
