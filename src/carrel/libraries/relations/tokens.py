"""Words of a sentence with their class, and the operations that they put on a thing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from carrel.libraries.relations.lexicon import Lexicon
from carrel.libraries.relations.records import Operation

_TOKEN = re.compile(
    r"[(\[]|[)\]]|\d+(?:,\d{3})+|[;:?!,—]|[^\s,;:()\[\]?!—]+(?:\([^\s()]*\)[^\s,;:()\[\]?!—]*)*"
)
_HAS_LETTER = re.compile(r"\w")
_QUOTES = "'\"“”‘’*"
_PUNCTUATION = {mark: mark for mark in ",;:?!"} | {"—": ",", "–": ",", "-": ","}
_HEADINGS = frozenset(
    {
        "BACKGROUND", "OBJECTIVE", "OBJECTIVES", "AIM", "AIMS", "METHODS", "RESULTS", "CONCLUSION",
        "CONCLUSIONS", "PURPOSE", "INTRODUCTION", "FINDINGS", "INTERPRETATION", "DISCUSSION",
        "SIGNIFICANCE", "SUMMARY", "Summary", "Abstract", "ABSTRACT", "RATIONALE", "CONTEXT",
    }
)  # fmt: skip
_LATIN = frozenset({"vitro", "vivo", "situ", "silico", "utero", "planta", "addition", "turn"})
_PLURALS = frozenset(
    {
        "mice",
        "data",
        "people",
        "women",
        "men",
        "children",
        "bacteria",
        "genes",
        "phenomena",
        "criteria",
    }
)
_THEN = frozenset({"thus", "therefore", "thereby", "hence"})
_ARTICLES = frozenset({"the", "a", "an", "its", "their", "this", "these", "both"})
_ADJECTIVE_ENDINGS = (
    "al",
    "ic",
    "ous",
    "ive",
    "ary",
    "able",
    "ible",
    "ful",
    "less",
    "est",
    "-based",
    "-like",
    "-dependent",
)
_COMPARATIVES = frozenset(
    {"higher", "lower", "greater", "smaller", "larger", "fewer", "longer", "shorter"}
)
_NOUNS_LIKE_ADJECTIVES = frozenset(
    {
        "signal", "survival", "trial", "animal", "mineral", "interval", "removal", "potential",
        "material", "metal", "crystal", "capital", "proposal", "topic", "traffic", "fabric",
        "logic", "clinic", "drive", "boundary", "library", "salary", "forest", "interest", "test",
        "harvest",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """A word or mark: lower-case text, place in the sentence, class, end with its brackets."""

    word: str
    start: int
    end: int
    tag: str

    @property
    def is_plural(self) -> bool:
        """Whether it looks like a plural noun."""
        return self.word in _PLURALS or (
            self.word.endswith("s") and not self.word.endswith(("ss", "is", "us"))
        )

    @property
    def is_adjective(self) -> bool:
        """Whether it ends as adjectives do."""
        if self.word in _NOUNS_LIKE_ADJECTIVES:
            return False
        return self.word.endswith(_ADJECTIVE_ENDINGS) or self.word in _COMPARATIVES


def read_tokens(sentence: str, lexicon: Lexicon) -> list[Token]:
    """The tokens outside brackets."""
    found: list[Token] = []
    depth = 0
    for match in _TOKEN.finditer(sentence):
        piece = match[0]
        if piece in "([":
            depth += 1
        elif piece in ")]":
            depth = max(0, depth - 1)
        elif depth == 0 and not found and piece in _HEADINGS:
            continue
        elif depth == 0 and (piece in _PUNCTUATION or _HAS_LETTER.search(piece)):
            token = _token(piece, match.start(), lexicon)
            if not found and token.tag == "finite":
                token = replace(token, tag="word")
            if token.word in _LATIN and found and found[-1].word == "in":
                found[-1] = replace(found[-1], tag="word")
            found.append(token)
    return _with_unknown_verbs(found, lexicon)


def _with_unknown_verbs(tokens: list[Token], lexicon: Lexicon) -> list[Token]:
    """Tag verbs that no list has, by their ending and the article that follows."""
    for place in range(1, len(tokens) - 1):
        token, before, after = tokens[place], tokens[place - 1], tokens[place + 1]
        if token.word in _THEN and before.tag in ("modal", "be", "have", "conjunction"):
            tokens[place] = replace(token, tag="adverb")
            continue
        if before.tag == "adverb" and place > 1:
            before = tokens[place - 2]
        if token.tag != "word" or before.tag != "word":
            continue
        tag = _unknown_verb(token, before, after, lexicon)
        if tag:
            tokens[place] = replace(token, tag=tag)
    return tokens


def _unknown_verb(token: Token, before: Token, after: Token, lexicon: Lexicon) -> str:
    word = token.word
    if word in lexicon.never_nouns:
        return "finite"
    has_article = after.word in _ARTICLES
    if not (has_article or after.word == "to") or word in lexicon.classes or before.is_adjective:
        return ""
    if before.is_plural:
        is_verb = has_article and not token.is_plural and not word.endswith(("ed", "ing", "ly"))
        return "finite" if is_verb and word not in lexicon.triggers else ""
    if token.is_plural and word not in lexicon.triggers:
        return "finite"
    is_trigger = word in lexicon.triggers
    return "past" if word.endswith("ed") and not is_trigger else ""


def _token(piece: str, start: int, lexicon: Lexicon) -> Token:
    if piece in _PUNCTUATION:
        return Token(piece, start, start + 1, _PUNCTUATION[piece])
    left = len(piece) - len(piece.lstrip(_QUOTES))
    stripped = piece.strip(_QUOTES).rstrip(".") or piece
    start += left if stripped != piece else 0
    word = stripped.lower().replace("’", "'")
    if stripped == "A" and start > 0:
        return Token(word, start, start + 1, "word")
    return Token(word, start, start + len(stripped), _tag(word, lexicon))


def _tag(word: str, lexicon: Lexicon) -> str:
    tag = lexicon.classes.get(word)
    if tag is not None:
        return "word" if tag == "noun" else tag
    if word in lexicon.finite_verbs:
        return "finite"
    if word in lexicon.past_verbs:
        return "past"
    if word.endswith("ly") and len(word) > 4:
        return "adverb"
    return "word"


_CONTINUES = frozenset({"of", "in", "for", "from"})
_RAISED = frozenset(
    {"increased", "higher", "elevated", "greater", "enhanced", "more", "high", "raised", "increase"}
)


def find_operations(tokens: Sequence[Token], lexicon: Lexicon) -> tuple[Operation, ...]:
    """The operations in the head of a noun phrase: up to the first preposition but `of`."""
    found = []
    is_joined = False
    for place, token in enumerate(tokens):
        following = tokens[place + 1].word if place + 1 < len(tokens) else ""
        if (
            token.tag == "preposition"
            and token.word != "of"
            and not _continues(tokens, place, lexicon)
        ):
            break
        factor = _factor(token.word, place, following, lexicon)
        # "inhibition or degradation of X" lowers X once.
        if factor == -1 and is_joined:
            is_joined = False
            continue
        is_joined = (factor == -1 and following in ("or", "and")) or (
            is_joined and token.tag == "conjunction"
        )
        if factor != 1:
            has_owner = "-" in token.word or "−" in token.word
            follows = token.word in lexicon.lowering_nouns and not _leads_on(tokens, place, lexicon)
            found.append(Operation(token.start, token.end, factor, has_owner, follows))
    return tuple(found)


def _leads_on(tokens: Sequence[Token], place: int, lexicon: Lexicon) -> bool:
    """Whether what a lowering noun lowers comes after it: `loss of X`, `loss or decline of X`."""
    after = [token.word for token in tokens[place + 1 : place + 3]]
    if after[:1] in (["and"], ["or"]):
        return after[-1] in lexicon.lowering_nouns or after[-1] in lexicon.lowering_nouns_with_of
    return bool(after) and after[0] in _CONTINUES


def _continues(tokens: Sequence[Token], place: int, lexicon: Lexicon) -> bool:
    return (
        place > 0
        and tokens[place].word in _CONTINUES
        and (
            tokens[place - 1].word in lexicon.lowering_nouns
            or tokens[place - 1].word in lexicon.lowering_nouns_with_of
            or tokens[place - 1].word in lexicon.unknown
        )
    )


def _factor(word: str, place: int, following: str, lexicon: Lexicon) -> int:
    parts = word.split("-")
    if word in lexicon.unknown or parts[-1] in lexicon.unknown:
        return 0
    if word in lexicon.unknown_with_of and following == "of":
        return 0
    if word in lexicon.lowering_nouns or parts[-1] in lexicon.lowering_nouns:
        return -1
    if word in lexicon.lowering_nouns_with_of and following in ("of", "in"):
        return -1
    if word in lexicon.lowering_adjectives or (
        len(parts) > 1 and parts[-1] in ("deficient", "null", "depleted", "lacking")
    ):
        return -1
    if word in lexicon.lowering_gerunds and (place == 0 or following):
        return -1
    return -1 if word.endswith(("-/-", "−/−", "(-/-)", "(−/−)")) else 1


def find_direction(tokens: Sequence[Token], lexicon: Lexicon) -> int:
    """1 or -1 where a noun phrase speaks of more or less of something, else 0."""
    for token in tokens:
        if token.tag == "preposition" and token.word != "of":
            return 0
        if token.word in _RAISED:
            return 1
        if token.word in lexicon.lowering_adjectives or token.word in lexicon.lowering_nouns:
            return -1
    return 0
