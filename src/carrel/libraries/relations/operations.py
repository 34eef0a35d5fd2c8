"""Lowering and unknown operations inside a subject or object."""

from collections.abc import Sequence

from carrel.libraries.relations.lexicon import Lexicon
from carrel.libraries.relations.records import Operation
from carrel.libraries.relations.tokens import Token

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
            found.append(Operation(token.start, token.end, factor, has_owner))
    return tuple(found)


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
