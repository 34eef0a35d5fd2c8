"""A term that opens a note or an entry starts with a capital, as a sentence does."""

from .casing import apply_case
from .tokens import TERM, Tokens


def with_capital_term(tokens: Tokens) -> Tokens:
    """The same, but a term that comes first starts with a capital."""
    is_term = False
    for place, token in enumerate(tokens):
        if token is TERM:
            is_term = True
        elif token.__class__ is str and (is_term or any(letter.isalnum() for letter in token)):
            if is_term:
                return [
                    *tokens[:place],
                    *apply_case([token], "capitalize-first", True),
                    *tokens[place + 1 :],
                ]
            return tokens
    return tokens
