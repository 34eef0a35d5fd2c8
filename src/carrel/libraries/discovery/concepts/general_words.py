"""General scientific English: how common a word is in the prose of every field."""

import lzma
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).parent / "data" / "general_words.txt.xz"


@cache
def general_levels() -> Mapping[str, int]:
    """The level of every word that all fields use; see `general_level`."""
    # `benchmarks/general_words.py` makes the file and says from which texts.
    lines = lzma.decompress(_TABLE.read_bytes()).decode("ascii").splitlines()
    return {word: int(level) for word, level in (line.split(" ") for line in lines)}


def general_level(word: str) -> int:
    """Half octaves by which all fields use a normal word more than one text in 5,000; else 0."""
    return general_levels().get(word, 0)
