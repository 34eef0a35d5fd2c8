"""Ids of a library that come near one that it does not have."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

_SHOWN = 3
_LONGEST = 100
_FEWEST_CHARACTERS = 3
# Comparing letter by letter is slow; in a larger library only ids that contain the word are near.
_MOST_COMPARED = 5_000
_LEAST_ALIKE = 0.6


def find_nearest_ids(wanted: Sequence[str], known: Iterable[str]) -> list[str]:
    """Up to three ids: written otherwise, then containing the word or within it, then alike."""
    folded = {name: _fold(name) for name in known if len(name) <= _LONGEST}
    found: dict[str, None] = {}
    for word in wanted[:_SHOWN]:
        given = _fold(word[:_LONGEST])
        if given:
            found.update(dict.fromkeys(_near(given, folded)))
    return list(found)[:_SHOWN]


def _near(given: str, folded: dict[str, str]) -> list[str]:
    near = [name for name, plain in folded.items() if plain == given]
    if len(given) >= _FEWEST_CHARACTERS:
        near += [
            name
            for name, plain in folded.items()
            if given in plain or (len(plain) >= _FEWEST_CHARACTERS and plain in given)
        ]
    if not near and len(folded) <= _MOST_COMPARED:
        names = {plain: name for name, plain in reversed(folded.items())}
        alike = difflib.get_close_matches(given, list(names), n=_SHOWN, cutoff=_LEAST_ALIKE)
        near = [names[plain] for plain in alike]
    return near[:_SHOWN]


def _fold(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))
