"""General scientific English: how common a word is in the prose of every field."""

import lzma
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).parent / "data" / "general_words.txt.xz"


@cache
def _levels() -> dict[str, int]:
    # `benchmarks/general_words.py` makes the file and says from which texts.
    lines = lzma.decompress(_TABLE.read_bytes()).decode("ascii").splitlines()
    return {word: int(level) for word, level in (line.split(" ") for line in lines)}


def general_level(word: str) -> int:
    """Half octaves by which all fields use a normal word more than one text in 5,000; else 0."""
    return _levels().get(word, 0)
