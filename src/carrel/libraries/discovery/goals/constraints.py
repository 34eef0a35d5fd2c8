"""Constraints in the wording of a goal: exclusions, periods, routes, what is held equal."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from carrel.libraries.discovery.goals.goal_language import goal_language, verb_forms
from carrel.libraries.discovery.goals.records import Constraint, ConstraintKind

_UNIT = r"(?:second|minute|hour|day|week|month|season|year|decade|generation|century|centurie)s?"
_COUNT = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|\d+|few|several)"
_PUBLISHED = r"(?:papers?|stud(?:y|ies)|literature|work|articles?|publications?|research|trials?)"
_YEAR = r"(?:1[5-9]|20)\d\d"
_BESIDES = (
    "besides|apart from|aside from|other than|except(?: for)?|excluding|leaving aside|"
    "not counting|with the exception of"
)


_WORDS = r"(?P<np>[^\s,.;:?!()]+(?:\s+[^\s,.;:?!()]+){0,5})"
"""A few words up to a comma; what ends a noun phrase among them is looked for afterwards."""

_FEW_WORDS = r"(?P<np>[^\s,.;:?!()]+(?:\s+[^\s,.;:?!()]+){0,3}?)"


@lru_cache(maxsize=1)
def _stops() -> frozenset[str]:
    """Words that end a noun phrase: verbs, prepositions, conjunctions, auxiliaries."""
    language = goal_language()
    small = ("auxiliaries", "conjunctions", "prepositions")
    stops = frozenset(word for group in small for word in language.words[group])
    verbs = frozenset(form for form in language.verbs if not form.endswith("ing"))
    return (stops | verbs) - {"of", "and", "or", "control", "work"}


def _noun_phrase_of(words: str) -> str:
    """The words up to the first that ends a noun phrase; empty where that is the first."""
    kept: list[str] = []
    for word in words.split():
        if word.lower() in _stops():
            break
        kept.append(word)
    while kept and kept[-1].lower() in {"and", "or", "of"}:
        kept.pop()
    return " ".join(kept)


Maker = Callable[[re.Match[str], str], Iterator[Constraint]]


def find_constraints(
    goal: str, kept: frozenset[ConstraintKind] = frozenset()
) -> tuple[str, tuple[Constraint, ...]]:
    """The goal without its constraints, unless their kind is `kept` in it, and all of them."""
    found: list[Constraint] = []
    rest = goal
    for pattern, make in _rules():

        def take(match: re.Match[str], make: Maker = make) -> str:
            given = match.groupdict().get("np")
            phrase = "" if given is None else _noun_phrase_of(given)
            if given is not None and not phrase:
                return match[0]
            made = tuple(make(match, phrase))
            found.extend(made)
            if any(one.kind in kept for one in made):
                return match[0]
            left = given[_length_of(given, phrase) :] if given else ""
            return f" , {left}" if left or match.end() < len(match.string) else " "

        rest = pattern.sub(take, rest)
    found.extend(_narrowing(rest))
    return rest, tuple(found)


def _length_of(words: str, phrase: str) -> int:
    """The length of the beginning of `words` that makes up the phrase."""
    found = re.match(r"\s*" + r"\s+".join(map(re.escape, phrase.split())), words)
    return found.end() if found else len(words)


def _tidy(text: str) -> str:
    return " ".join(text.strip(" ,.;:?!").split())


def _parts(names: str) -> tuple[str, ...]:
    pieces = re.split(r"\s*(?:,|\band\b|\bor\b|\bnor\b)\s*(?:no\b|not\b|any\b)?", names)
    return tuple(
        _tidy(re.sub(r"^(?:the|an?|any|new|better)\s+", "", piece))
        for piece in pieces
        if piece.strip()
    )


def _named(kind: ConstraintKind, wording: str = "{np}") -> Maker:
    def make(match: re.Match[str], phrase: str) -> Iterator[Constraint]:
        for name in _parts(phrase):
            yield Constraint(kind, wording.format(np=name), (name,))

    return make


def _whole(kind: ConstraintKind) -> Maker:
    def make(match: re.Match[str], phrase: str) -> Iterator[Constraint]:
        # What follows the noun phrase is no part of the constraint.
        text = match[0]
        if phrase:
            text = text[: match.start("np") - match.start()] + phrase
        yield Constraint(kind, _tidy(text))

    return make


def _years(match: re.Match[str], phrase: str) -> Iterator[Constraint]:
    first = last = None
    years = [int(year) for year in re.findall(_YEAR, match[0])]
    word = match["when"].lower()
    if len(years) == 2:
        first, last = sorted(years)
    elif word in {"since", "from"}:
        first = years[0]
    elif word == "after":
        first = years[0] + 1
    elif word == "before":
        last = years[0] - 1
    elif word == "in":
        first = last = years[0]
    else:
        last = years[0]
    is_published = re.search(rf"\b(?:{_PUBLISHED}|published)\b", match[0], re.IGNORECASE)
    kind = ConstraintKind.PUBLISHED if is_published else ConstraintKind.PERIOD
    yield Constraint(kind, _tidy(match[0]), (), first, last)


def _exclusions_in(match: re.Match[str], phrase: str) -> Iterator[Constraint]:
    """`need no X and no Y`: each X is a thing the answer must do without."""
    text = _tidy(match[0])
    if re.match(r"(?:no\s+)?[a-z]+ing\s", phrase):
        # `without raising mortality`: what must not happen, not a thing to do without.
        yield Constraint(ConstraintKind.REQUIRED, f"without {phrase}")
        return
    names = _parts(re.sub(r"^(?:no|not|without)\s+", "", phrase))
    for name in names:
        yield Constraint(ConstraintKind.EXCLUDED, f"no {name}", (name,))
    if not names:
        yield Constraint(ConstraintKind.REQUIRED, text)


def _prefix_exclusions(match: re.Match[str], phrase: str) -> Iterator[Constraint]:
    for found in re.finditer(r"\bnon-?([a-z][a-z-]+)", match["words"], re.IGNORECASE):
        if not goal_language().has("names_with_non", found[1]):
            yield Constraint(
                ConstraintKind.EXCLUDED, f"not {found[1].lower()}", (found[1].lower(),)
            )
    rest = re.sub(r"\bnon-?[a-z][a-z-]+,?\s*", "", match["words"], flags=re.IGNORECASE)
    for word in re.findall(r"[a-z]+(?:-[a-z]+)+", rest, re.IGNORECASE):
        yield Constraint(ConstraintKind.REQUIRED, word.lower())


def _answer_noun() -> str:
    nouns = goal_language().words["answer_nouns"] | {"method", "exercise", "control"}
    forms = {*nouns, *(f"{noun}s" for noun in nouns), "therapies", "strategies", "policies"}
    return "(?:" + "|".join(sorted(forms, key=len, reverse=True)) + ")"


@lru_cache(maxsize=1)
def _rules() -> tuple[tuple[re.Pattern[str], Maker], ...]:
    np, few, kinds = _WORDS, _FEW_WORDS, ConstraintKind
    held = (
        r"(?:is|are|has been|have been|was|were|being)?\s*(?:fully\s+)?(?:accounted for|"
        r"controlled(?: for)?|adjusted for|held (?:fixed|constant|equal)|taken into account|"
        r"factored out|corrected for|equal(?:ised|ized)|matched)"
    )
    unwanted = "|".join(
        form for verb in ("cause", "induce", "trigger", "worsen", "provoke", "aggravate")
        for form in verb_forms(verb)
    )  # fmt: skip
    needing = "need|require|use|involve|demand|rely on|depend on|contain|have|want"
    rules: list[tuple[str, Maker]] = [
        (
            rf"(?:,\s*)?\b(?:from|in|using|only)?\s*(?:the\s+)?(?:{_PUBLISHED}\s+)?(?:published\s+)?"
            rf"\b(?P<when>since|after|before|until|up to|between|from|by|in)\s+{_YEAR}"
            rf"(?:\s*(?:and|to|-|–)\s*{_YEAR})?",
            _years,
        ),
        (
            rf"\b(?:once|after|when|if|even when)\s+{few}\s+{held}",
            _named(kinds.HELD_EQUAL, "{np} held equal"),
        ),
        (
            rf"\b(?:controlling|adjusting|correcting|accounting)\s+for\s+{np}",
            _named(kinds.HELD_EQUAL, "{np} held equal"),
        ),
        (
            rf"\b(?:regardless|irrespective)\s+of\s+{np}",
            _named(kinds.HELD_EQUAL, "{np} held equal"),
        ),
        (r",?\s*\b(?:given|granted|assuming|provided) that\s+[^,.;?!]+", _whole(kinds.GIVEN)),
        (
            rf",?\s*\b(?:rather than|instead of|and not|not)\s+(?:via|through|by way of|by)\s+{np}",
            _named(kinds.RIVAL, "against the rival route through {np}"),
        ),
        (
            rf"\b(?:via|by way of|mediated by|by means of)\s+{np}",
            _named(kinds.VIA, "through {np}"),
        ),
        (rf"\bby\s+(?!using\b)[a-z]+ing\s+(?:the\s+)?{np}", _named(kinds.VIA, "through {np}")),
        (
            rf"\bthrough\s+(?!the same\b|same\b|which\b|what\b){np}",
            _named(kinds.VIA, "through {np}"),
        ),
        (
            rf"(?P<words>\bnon-?[a-z][a-z-]+(?:\s*,\s*|\s+and\s+|\s+)(?:[a-z]+(?:-[a-z]+)*(?:\s*,\s*|\s+and\s+|\s+)){{0,3}}?)"
            rf"(?={_answer_noun()}\b)",
            _prefix_exclusions,
        ),
        (
            # `What besides rain fills lakes`: the word in -s after the name is the verb.
            rf"(?<=what )(?:{_BESIDES})\s+(?P<np>[\w-]+(?:\s+[\w-]+){{0,2}}?)"
            r"(?=\s+\w+[^\Ws]s\s+\w)",
            _named(kinds.EXCLUDED, "not {np}"),
        ),
        (
            rf",?\s*\b(?:{_BESIDES}|but not|instead of|rather than)\s+{np}",
            _named(kinds.EXCLUDED, "not {np}"),
        ),
        (
            rf"(?:\s*,)?\s*\b(?:(?:that|which)\s+)?(?:(?:do|does|would|will|should)\s+not|don['’]t|"
            rf"doesn['’]t|without|not|never)\s+"
            rf"(?:{unwanted}|lead to|leading to|risk|risking)\s+{np}",
            _named(kinds.EXCLUDED, "without {np} as a consequence"),
        ),
        (
            rf"\b(?:do not|don['’]t|never)\s+(?:use|include|consider|propose|suggest)\s+{np}",
            _exclusions_in,
        ),
        (rf"[,(]\s*(?:but\s+)?(?:no|not)\s+(?!only\b){np}", _exclusions_in),
        (rf",?\s*\b(?:known|borrowed|taken|familiar)\s+from\s+{np}", _whole(kinds.GIVEN)),
        (
            r"\bbut\s+(?:do|does|would|will|should|must|can)\s*not\s+[^,.;?!]+",
            _whole(kinds.REQUIRED),
        ),
        (
            rf"\b(?:at least\s+)?{_COUNT}\s+{_UNIT}\s+(?:ahead|in advance|earlier|before)\b",
            _whole(kinds.PERIOD),
        ),
        (r",?\s*\bso that\s+[^.;?!]+", _whole(kinds.REQUIRED)),
        (
            rf"\b(?:that|which)\s+(?:{needing})\s+(?P<np>no\s+[^,.;?!]+)",
            _exclusions_in,
        ),
        (
            r"\b(?:that|which)\s+(?:do|does|would|will|should|can|need)\s+(?:not|without)\s+[^,.;?!]+",
            _whole(kinds.REQUIRED),
        ),
        (rf"\b(?:and\s+)?(?:without|with no)\s+{np}", _exclusions_in),
        (
            rf"\b(?:that\s+)?(?:last|lasts|lasting|persist|persists|persisting|hold|holds)\s+(?:for\s+)?"
            rf"(?:longer than|more than|at least|over|beyond)\s+{_COUNT}\s+{_UNIT}",
            _whole(kinds.PERIOD),
        ),
        (
            rf"\b(?:within|in|over|for|after|during)\s+(?:the\s+)?(?:first|last|next|previous|past|"
            rf"coming|following)\s+(?:{_COUNT}\s+)?{_UNIT}(?:\s+of\s+(?:an?\s+|the\s+)?\w+)?",
            _whole(kinds.PERIOD),
        ),
        (rf"\b(?:within|for at least|for more than)\s+{_COUNT}\s+{_UNIT}", _whole(kinds.PERIOD)),
        (r"\b(?:at present|today|nowadays|currently)\b", _whole(kinds.PERIOD)),
        (
            rf"\b(?:earlier|sooner|faster|longer|cheaper|later)\s+than\s+{np}",
            _whole(kinds.REQUIRED),
        ),
        (
            r"\bbefore\s+[^,.;?!]+?\s+(?:is|are|can be|appears?|begins?|occurs?)\b[^,.;?!]*",
            _whole(kinds.PERIOD),
        ),
    ]
    return tuple((re.compile(text, re.IGNORECASE), make) for text, make in rules)


def _narrowing(rest: str) -> Iterator[Constraint]:
    """Adjectives and adverbs that narrow the answer, and `some … but not all`."""
    language = goal_language()
    words = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", rest)
    for place, word in enumerate(words):
        plain = word.lower()
        near = words[place + 1 : place + 4]
        is_of_answer = place < 2 or any(language.has("answer_nouns", each) for each in near)
        narrows = plain in language.words["narrowing_adjectives"] and is_of_answer
        if narrows or plain in language.words["ways_in"]:
            yield Constraint(ConstraintKind.REQUIRED, plain)
    if re.search(r"\b(?:why|how|what|do|does|did)\b.*\bsome\s+\w+", rest, re.IGNORECASE):
        yield Constraint(ConstraintKind.REQUIRED, "some but not all")
