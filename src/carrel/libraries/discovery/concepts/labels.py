"""The label of a concept: how most papers write it."""

from collections.abc import Sequence
from typing import Protocol

from carrel.libraries.discovery.concepts.words import normal_word
from carrel.libraries.discovery.tuned import TERMS


class Writings(Protocol):
    """Keys as papers write them."""

    def key(self, number: int) -> str: ...
    def label(self, number: int) -> str: ...
    def count(self, number: int) -> int: ...
    def frequency(self, key: str) -> int: ...
    def number(self, key: str) -> int | None: ...


def write_label(key: str, forms: Sequence[int], writings: Writings) -> str:
    """A concept as a reader would write it; `forms` are its other keys.

    Where only the short form is written (`AMPK`), that is the label; otherwise the key's own
    writing.
    """
    count = writings.count

    # Equals by spelling, so that the order in which papers came decides nothing.
    def by_count(number: int) -> tuple[int, str]:
        return -count(number), writings.key(number)

    if forms and key.count(" ") >= TERMS.long_name_words:
        best = min(forms, key=by_count)
        if count(best) > writings.frequency(key):
            return writings.label(best)
    own = [form for form in forms if normal_word(writings.key(form)) == key]
    spelled = writings.number(key)
    choice = own if spelled is None else [spelled, *own]
    if not choice:
        return key
    return writings.label(min(choice, key=by_count))
