"""Entries drawn by seed, each field of one family of odd values."""

from __future__ import annotations

import random
from dataclasses import dataclass

from benchmarks.import_judge import pieces

_TITLES = (
    "{} and the Rise of Modern Networks", "The Rise of {} in Modern Networks", "On {}",
    "Modern Networks: {} Revisited", "The rise of {} in modern networks", "A Study of Old {}",
)  # fmt: skip
# The variable in which a field of odd values is looked for.
VARIABLES = {
    "pages": "page", "keywords": "keyword", "url": "URL", "doi": "DOI", "edition": "edition",
    "publisher": "publisher", "address": "publisher-place", "volume": "volume",
    "journal": "container-title", "booktitle": "container-title", "series": "collection-title",
    "note": "note", "abstract": "abstract", "language": "language", "isbn": "ISBN", "issn": "ISSN",
}  # fmt: skip
_FAMILIES_OF_FIELDS = {
    "pages": pieces.PAGES,
    "keywords": pieces.KEYWORDS,
    "url": pieces.LINKS,
    "doi": pieces.DOIS,
    **{name: families for name, families in pieces.PLAIN.items() if name in VARIABLES},
}


@dataclass(frozen=True)
class Draw:
    """One entry; the family of odd values behind each variable, or the tokens to be found."""

    key: str
    text: str
    families: dict[str, str]
    tokens: dict[str, str]


def draw_values(seed: int) -> Draw:
    """An entry with a few odd values."""
    dice = random.Random(f"values {seed}")
    families: dict[str, str] = {}
    lines: list[str] = []
    kind = dice.choice(["article", "book", "inproceedings", "incollection", "misc"])
    if dice.random() < 0.25:
        families["title"] = _choose(dice, pieces.TITLES)
        title = dice.choice(pieces.TITLES[families["title"]])
    else:
        families["title"] = _choose(dice, pieces.TEXTS)
        title = dice.choice(_TITLES).replace("{}", dice.choice(pieces.TEXTS[families["title"]]))
    lines.append(f"title = {{{title}}}")
    role = "editor" if dice.random() < 0.2 else "author"
    families[role] = _choose(dice, pieces.NAMES)
    names = [dice.choice(pieces.NAMES[families[role]])]
    if "others" not in names[0] and dice.random() < 0.4:
        names.insert(0, dice.choice(pieces.NAMES["family first"]))
    lines.append(f"{role} = {{{' and '.join(names)}}}")
    families["issued"] = _choose(dice, pieces.DATES)
    lines.append(dice.choice(pieces.DATES[families["issued"]]))
    fitting = [
        name
        for name in _FAMILIES_OF_FIELDS
        if (name != "journal" or kind == "article")
        and (name != "booktitle" or kind.startswith("in"))
    ]
    for name in dice.sample(fitting, 4):
        family = _choose(dice, _FAMILIES_OF_FIELDS[name])
        if VARIABLES[name] in families:
            continue
        families[VARIABLES[name]] = f"{name}: {family}"
        lines.append(f"{name} = {{{dice.choice(_FAMILIES_OF_FIELDS[name][family])}}}")
    key = f"v{seed}"
    return Draw(key, _entry(kind, key, lines), families, {})


def draw_places(seed: int) -> Draw:
    """An entry of any type whose fields hold tokens: where do they end up?"""
    dice = random.Random(f"places {seed}")
    kind = pieces.ENTRY_TYPES[seed % len(pieces.ENTRY_TYPES)]
    tokens = {"title": "Tokentitle"}
    lines = ["title = {Tokentitle}"]
    for number, name in enumerate(dice.sample(pieces.PLACED_FIELDS, 5)):
        tokens[name] = f"{731 + number}" if name in {"volume", "number"} else f"Token{name}"
        lines.append(f"{name} = {{{tokens[name]}}}")
    for name in dice.sample(pieces.PLACED_PEOPLE, 2):
        tokens[name] = f"Person{name}"
        lines.append(f"{name} = {{{tokens[name]}, Jane}}")
    for number, name in enumerate(dice.sample(pieces.PLACED_DATES, 2)):
        tokens[name] = f"19{71 + number}"
        lines.append(f"{name} = {{{tokens[name]}}}")
    key = f"p{seed}"
    return Draw(key, _entry(kind, key, lines), {"type": f"@{kind.lower()}"}, tokens)


def _choose(dice: random.Random, families: dict[str, list[str]]) -> str:
    return dice.choice(sorted(families))


def _entry(kind: str, key: str, lines: list[str]) -> str:
    fields = ",\n  ".join(lines)
    return f"@{kind}{{{key},\n  {fields}\n}}\n"
