"""A sentence as a row of words, each in its normal form and with how it was written and what stands
before it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.discovery.function_words import FUNCTION_WORDS
from carrel.libraries.discovery.goal_words import FOREIGN
from carrel.libraries.discovery.words import normal_word

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_BREAK = re.compile(r"[.,;:!?()\[\]{}\"“”/|]|\s[-–—]\s")


@dataclass(frozen=True)
class Token:
    """One word: in normal form, as written, whether a stop stands before it, and whether it is
    written like a proper name.
    """

    word: str
    text: str
    is_after_break: bool
    is_capital: bool
    begins_sentence: bool

    @property
    def is_small(self) -> bool:
        """Whether it holds sentences together and names nothing, in English or another language
        goals are asked in.
        """
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
        begins = not found or bool(re.search(r"[.!?]", gap))
        is_capital = written[0].isupper() and written[1:].islower()
        found.append(
            Token(normal_word(written), written, bool(_BREAK.search(gap)), is_capital, begins)
        )
        last = match.end()
    return found


def looks_foreign(tokens: Sequence[Token]) -> bool:
    """Whether more small words of other languages stand in a text than English ones."""
    foreign = sum(token.text.lower() in FOREIGN or token.word in FOREIGN for token in tokens)
    english = sum(
        token.is_small and token.text.lower() not in FOREIGN and token.word not in FOREIGN
        for token in tokens
    )
    return foreign >= 2 and foreign > english


def is_title_case(tokens: Sequence[Token]) -> bool:
    """Whether capitals say nothing, since nearly every word has one."""
    later = [
        token for token in tokens if not token.begins_sentence and token.word not in FUNCTION_WORDS
    ]
    return len(later) > 2 and sum(token.text[0].isupper() for token in later) > 0.7 * len(later)
