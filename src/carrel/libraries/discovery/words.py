"""Words of scientific prose in one normal form: case, accents, Greek, British spelling and plurals
folded away.
"""

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
    """One word in normal form: `Haemorrhages` and `hemorrhage` meet."""
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
    """A text cut into what stands between words (at even places) and the words (at odd ones):
    joined again it is the text.
    """
    return _TOKENS_AND_GAPS.split(text)


@lru_cache(maxsize=400_000)
def short_form(word: str) -> str | None:
    """A word written as short forms are (`AML`, `mPFC`, `GABA`), without the s of a plural; None
    for any other word.
    """
    plain = word.removesuffix("s")
    if not 2 <= len(plain) <= LONGEST_SHORT_FORM or not plain.isalnum() or not plain.isascii():
        return None
    return plain if sum(letter.isupper() for letter in plain) >= 2 else None


def has_capitals(key: str) -> bool:
    """Whether a key is a short form that kept its capitals; normal forms have none but what cannot
    be folded.
    """
    return key.isascii() and key != key.lower()


def is_shouted(text: str) -> bool:
    """Whether a text is set in capitals, so that its capitals tell nothing; how it begins is enough
    to see.
    """
    opening = text[:200]
    return sum(map(str.isupper, opening)) > sum(map(str.islower, opening))


def normal_phrase(text: str) -> str:
    """A phrase as the key concepts are known by: normal words with one space between."""
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
    """The nouns an adjective may come from (`hypoxic`: `hypoxia`), likeliest first; the caller
    knows which exist.
    """
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
    """The noun of a long adjective whose ending leaves no doubt (`neurodegenerative`:
    `neurodegeneration`).
    """
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
    """Whether a word can be the head of a concept: not an adverb, participle or adjective by its
    ending, nor a number.
    """
    return len(word) > 2 and not word.isdigit() and not word.endswith(_NOT_A_HEAD)
