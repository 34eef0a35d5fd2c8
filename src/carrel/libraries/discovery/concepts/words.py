"""Words of scientific prose in one normal form, and the function words that name nothing."""

import re
import unicodedata
from functools import lru_cache

_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta",
    "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi",
    "ρ": "rho", "σ": "sigma",
    "ς": "sigma", "τ": "tau", "υ": "upsilon", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
}  # fmt: skip

_BRITISH = (
    (re.compile("haem"), "hem"),
    (re.compile("aemi"), "emi"),
    (re.compile("anaesth"), "anesth"),
    (re.compile("paed"), "ped"),
    (re.compile("oedem"), "edem"),
    (re.compile("^oes"), "es"),
    (re.compile("^foet"), "fet"),
    (re.compile("rrhoea"), "rrhea"),
    (re.compile("sulph"), "sulf"),
    (re.compile("^leuco(?!v)"), "leuko"),
    (re.compile("(tum|behavi|col|hum|lab|neighb|fav|fl)our"), r"\1or"),
    (re.compile("(fib|cent|lit|met)re(s?)$"), r"\1er\2"),
    (re.compile("isation"), "ization"),
    (re.compile("^ageing$"), "aging"),
)

_IRREGULAR = {
    "mice": "mouse", "rats": "rat", "men": "man", "women": "woman", "children": "child",
    "feet": "foot", "teeth": "tooth",
    "criteria": "criterion", "phenomena": "phenomenon", "bacteria": "bacterium",
    "mitochondria": "mitochondrion",
    "nuclei": "nucleus", "stimuli": "stimulus", "fungi": "fungus", "loci": "locus", "foci": "focus",
    "indices": "index",
    "matrices": "matrix", "cortices": "cortex", "axes": "axis", "crises": "crisis",
    "diagnoses": "diagnosis",
    "hypotheses": "hypothesis", "viscera": "viscus", "larvae": "larva", "vertebrae": "vertebra",
    "geese": "goose",
    "leaves": "leaf", "lives": "life", "halves": "half", "calves": "calf", "lenses": "lens",
    "viruses": "virus",
    "sinuses": "sinus", "fetuses": "fetus", "uses": "use", "causes": "cause", "diseases": "disease",
    "bases": "base",
    "doses": "dose", "responses": "response", "gases": "gas",
}  # fmt: skip

_INVARIANT = frozenset(
    (
        "series",
        "species",
        "diabetes",
        "rabies",
        "herpes",
        "scabies",
        "always",
        "perhaps",
        "has",
        "was",
        "its",
        "as",
    )
)

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_TOKENS_AND_GAPS = re.compile(r"([^\W_]+(?:['’][^\W_]+)?)")
LONGEST_SHORT_FORM = 10


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 3 or not word.endswith("s") or word in _INVARIANT:
        return word
    if word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("yses"):
        return word[:-2] + "is"
    if word.endswith("oses") and len(word) > 7:
        return word[:-2] + "is"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=400_000)
def normal_word(word: str) -> str:
    """A word in normal form: `Haemorrhages` becomes `hemorrhage`."""
    plain = word.casefold().replace("’", "'")
    plain = plain.removesuffix("'s")
    plain = plain.replace("'", "")
    if not plain.isascii():
        plain = "".join(_GREEK.get(letter, letter) for letter in plain)
        # Folded once more: a raised capital comes apart into a plain one.
        decomposed = unicodedata.normalize("NFKD", plain).casefold()
        plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    for pattern, american in _BRITISH:
        plain = pattern.sub(american, plain)
    return _singular(plain)


def words_of(text: str) -> list[str]:
    """The words of a text as written, hyphens counting as spaces."""
    return _TOKEN.findall(text)


def words_and_gaps(text: str) -> list[str]:
    """Split a text into gaps (even positions) and words (odd ones); joined, it is the text."""
    return _TOKENS_AND_GAPS.split(text)


@lru_cache(maxsize=400_000)
def short_form(word: str) -> str | None:
    """The word as a short form (`AML`, `mPFC`) without a plural s, or None if it is none."""
    plain = word.removesuffix("s")
    if not 2 <= len(plain) <= LONGEST_SHORT_FORM or not plain.isalnum() or not plain.isascii():
        return None
    return plain if sum(letter.isupper() for letter in plain) >= 2 else None


def has_capitals(key: str) -> bool:
    """Whether a key is a short form: normal forms have no ASCII capitals."""
    return key.isascii() and key != key.lower()


def is_shouted(text: str) -> bool:
    """Whether the first 200 characters are mostly capitals, so that case tells nothing."""
    opening = text[:200]
    return sum(map(str.isupper, opening)) > sum(map(str.islower, opening))


def normal_phrase(text: str) -> str:
    """A phrase as a concept's key: normal words with single spaces."""
    return " ".join(normal_word(word) for word in _TOKEN.findall(text))


_NOUN_ENDINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("emic", ("emia",)),
    ("xic", ("xia",)),
    ("gic", ("gia", "gy")),
    ("eptic", ("epsy", "epsis")),
    ("otic", ("osis",)),
    ("etic", ("etes", "esis")),
    ("itic", ("itis",)),
    ("ytic", ("ysis",)),
    ("matory", ("mation",)),
    ("atory", ("ation",)),
    ("onic", ("onia", "on")),
    ("ic", ("ia", "y", "is", "e")),
    ("inous", ("ine",)),
    ("ous", ("", "us")),
    ("ive", ("ion",)),
    ("al", ("", "e", "y")),
)


@lru_cache(maxsize=200_000)
def nouns_behind(adjective: str) -> tuple[str, ...]:
    """Nouns an adjective may derive from (`hypoxic`: `hypoxia`), likeliest first, unchecked."""
    return tuple(
        adjective[: -len(ending)] + noun
        for ending, nouns in _NOUN_ENDINGS
        if adjective.endswith(ending) and len(adjective) - len(ending) >= 3
        for noun in nouns
    )


_SURE_NOUN_ENDINGS = (
    ("emic", "emia"), ("xic", "xia"), ("otic", "osis"), ("itic", "itis"), ("ytic", "ysis"),
    ("eptic", "epsy"), ("betic", "betes"),
    ("matory", "mation"), ("erative", "eration"),
)  # fmt: skip


def sure_noun_behind(adjective: str) -> str | None:
    """The noun of a long adjective with an unambiguous ending (`neurodegenerative`), or None."""
    if len(adjective) < 8:
        return None
    return next(
        (
            adjective[: -len(ending)] + noun
            for ending, noun in _SURE_NOUN_ENDINGS
            if adjective.endswith(ending)
        ),
        None,
    )


_NOT_A_HEAD = ("ly", "ed", "ous", "ive", "able", "ible", "ical", "ular", "inal", "ional")


@lru_cache(maxsize=400_000)
def may_end_a_concept(word: str) -> bool:
    """Whether a word can head a term: no number, adverb, participle or adjective by its ending."""
    return len(word) > 2 and not word.isdigit() and not word.endswith(_NOT_A_HEAD)


_CLOSED_CLASS = """
a about above across after again against all almost alone along already also although always am
among an and another
any are around as at away back be became because become becomes been before being below best better
between beyond
both but by can cannot could despite did do does doing done down due during each either else enough
especially etc
even ever every few first for former four from further had has have having he hence her here hers
herself him himself
his how however i if in indeed instead into is it its itself just know last later latter least less
like likely made
mainly make makes many may me meanwhile might mine more moreover most mostly much must my near
nearly neither never
nevertheless next no nor not nothing now nowhere of off often on once one only onto or other others
otherwise our ours
out over own part per perhaps quite rather really same second seem seems several she should since
six so some soon
still such ten than that the their theirs them themselves then there thereby therefore these they
third this those
though three through throughout thus to together too toward towards two under unless until up upon
us used very via
was we well were what when whenever where whereas whether which while who whole whom whose why will
with within
without would yet you your
"""

_TALK_OF_PAPERS = """
aim article attempt author based comment compare comparison conclude conclusion consider
contribution current
demonstrate describe description determine discuss discussion editorial elucidate essay establish
evaluate evaluation
evidence examine example explain explore finding following give given goal high hypothesis identify
illustrate
importance important include including indicate insight introduction investigate investigation issue
kind large letter
literature low main manner new note novel objective observation observe observed obtain obtained
overview paper
particular performed perspective possible present presence previous problem propose proposed prove
provide purpose
question recent related relation relationship relevance remain remark report reported result reveal
review role show
shown significant significantly similar single small statement strong study suggest survey term
think topic understand
understanding unknown useful using variety various view way work year
"""

_NEEDS_COMPANY = """
approach activity analysis area aspect basis case cell challenge change characteristic class
component concentration
condition context control correlation course data decrease detail development difference
distribution effect
experiment factor feature field form framework function group human identification importance
improvement increase
influence interaction key knowledge level light line material measurement mechanism member method
mode model nature
number outcome pattern patient phase point potential procedure process product production property
protein quality
range rate reaction reduction region response sample series set site size source stage state step
strategy structure
subject support surface system technique test theory therapy time tissue treatment type unit use
value
"""

_SAYS_LITTLE = """
ability abnormal absence academic acute adult advance advantage agent altered alternative animal
appropriate assessment
association background basic behavior biological biology causal causation cellular central clinical
combination common
comparative complex complexity computational consequence contributor core critical decision defect
definition
detection determinant diagnosis direct disease disorder distinct diverse diversity dynamic early
effective efficacy
efficient element emerging endogenous essential event experimental expression extent external
fundamental funding future
general genetic global health heterogeneity homeostasis impact implication improved increased
individual induction
inhibition initial intermediate internal intervention involvement late link local long loss major
management mediator
medicine minor modulation molecular molecule multiple native natural negative normal novel
occurrence onset open
optimal organism organization origin other overall particular partial pathogenesis pathological
pathology pathway
performance physiological physiology population positive precise preclinical primary principle
progression promising
prognosis program protective quantitative rapid reduced regulation regulator relative representation
requirement
research risk science scientific secondary sensitivity severity short signal specific specificity
spontaneous stable
standard statistical subset subtype successful sufficient susceptibility systematic systemic target
task tool
total toxicity trait transition trial underlying unique variability variable variant variation
"""

SAYS_LITTLE: frozenset[str] = frozenset(_SAYS_LITTLE.split())
"""Words of all sciences: alone, or with each other and words that need company, they name nothing
in particular.
"""

FUNCTION_WORDS: frozenset[str] = frozenset(_CLOSED_CLASS.split()) | frozenset(
    _TALK_OF_PAPERS.split()
)
"""Words no free phrase crosses."""

JOINING = frozenset(("and", "or"))
"""Words behind which a name may still be going on (`hematopoietic stem and progenitor cells`)."""

NEEDS_COMPANY: frozenset[str] = frozenset(_NEEDS_COMPANY.split())
"""Words that may end a concept (`growth factor`) but never are one alone."""
