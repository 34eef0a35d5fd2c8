"""Printed references with known fields: real items rendered in styles taken by chance.

Items and styles fall into three sets by a hash of their id: `fit` for the weights, `calibrate` for
thresholds and confidences, and `report`.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from carrel.libraries.bibliography import read_bibliography
from carrel.libraries.csl import list_styles, render_bibliography
from carrel.libraries.text.folding import fold_text
from carrel.libraries.works.reference_features import ReferenceToken, split_tokens
from carrel.libraries.works.reference_identifiers import MASK, take_identifiers

Half = Literal["fit", "calibrate", "report"]
_LIBRARIES = (
    "items",
    "deep-review_library",
    "covid19-review_library",
    "elife_refs_library",
)
_NOT_PRINTED = ("note", "abstract", "annote", "keyword", "citation-label", "custom")
_NAME_FIELDS = (
    "family",
    "given",
    "literal",
    "non-dropping-particle",
    "dropping-particle",
    "suffix",
)
_LEAD = re.compile(r"^\s*(?:\[\d{1,4}\]|\(\d{1,4}\)|\d{1,4}[.)]?)\s+")
_SHORT_WORDS = frozenset({"of", "the", "and", "in", "for", "on", "de", "der", "&"})


@dataclass(frozen=True, slots=True)
class PrintedReference:
    """A rendered entry, its item, and the label of each token of its masked text."""

    text: str
    masked: str
    style: str
    item: dict[str, Any]
    labels: tuple[str, ...]


def half_of(name: str) -> Half:
    """The set that an item or style belongs to: half are for fitting, a quarter for each other."""
    first, second, *_ = hashlib.sha256(name.encode()).digest()
    return "fit" if first % 2 else ("calibrate" if second % 2 else "report")


def load_items(data: Path) -> list[dict[str, Any]]:
    """Items with a title and a person, of the citation libraries and the BibTeX samples."""
    items: list[dict[str, Any]] = []
    for name in _LIBRARIES:
        items.extend(json.loads((data / "citations" / f"{name}.csl.json").read_bytes()))
    for path in sorted((data / "bibliography").rglob("*.bib")):
        try:
            found = read_bibliography(path.read_bytes())
            items.extend(each.item for each in found.items)
        except Exception:  # noqa: BLE001 - samples of broken files are among them
            continue
    kept = []
    for item in items:
        title = item.get("title")
        people = item.get("author")
        if isinstance(title, str) and people and 8 <= len(title) <= 300 and "{" not in title:
            kept.append({k: v for k, v in item.items() if k not in _NOT_PRINTED})
    return kept


def generate(
    data: Path, half: Half, seed: int, styles: int, per_style: int
) -> Iterator[PrintedReference]:
    """Entries of one set; those whose fields are not found in the text again are left out."""
    chance = random.Random(f"{seed}/{half}")
    items = [item for item in load_items(data) if half_of(str(item.get("title"))) == half]
    named = [style for style in list_styles("") if half_of(style.parent or style.id) == half]
    # One style of each family, so that the many journals of one publisher count once.
    families = {style.parent or style.id: style for style in named}
    chosen = chance.sample(sorted(families), min(styles, len(families)))
    for family in chosen:
        yield from _render(families[family].id, chance.sample(items, per_style), chance)


def _render(
    style: str, items: list[dict[str, Any]], chance: random.Random
) -> Iterator[PrintedReference]:
    for number, original in enumerate(items):
        item = vary_item({**original, "id": str(number)}, chance)
        try:
            (entry,) = render_bibliography([item], style)
        except Exception:  # noqa: BLE001 - a style without a bibliography, an item it cannot print
            continue
        text = _LEAD.sub("", " ".join(entry.text.split()))
        masked = take_identifiers(text).text
        labels = label_tokens(masked, item)
        if labels is not None:
            yield PrintedReference(text, masked, style, item, tuple(labels))


def vary_item(item: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The item with identifiers, container and names as other lists would have them."""
    item = dict(item)
    if chance.random() < 0.5:
        for name in ("DOI", "URL", "PMID", "PMCID", "accessed", "ISSN"):
            item.pop(name, None)
    container = item.get("container-title")
    if isinstance(container, str) and chance.random() < 0.35:
        item["container-title"] = abbreviate(container, "." if chance.random() < 0.5 else "")
        item.pop("container-title-short", None)
    return item


def abbreviate(container: str, dot: str) -> str:
    """`J. Biol. Chem.` for The Journal of Biological Chemistry."""
    words = [word for word in container.split() if word.lower() not in _SHORT_WORDS]
    if len(words) < 2:
        return container
    return " ".join(
        word
        if len(word) < 5
        else (word[:1] if word == "Journal" else word[: 3 + len(word) % 3]) + dot
        for word in words
    )


def label_tokens(masked: str, item: dict[str, Any]) -> list[str] | None:
    """The label of each token; None where title or first author cannot be found."""
    tokens = split_tokens(masked)
    labels = ["other"] * len(tokens)
    squashed = [fold_text(token.text) if token.text[0].isalnum() else "" for token in tokens]
    title = _mark_text(squashed, labels, str(item["title"]), "title")
    if title is None:
        return None
    people = _mark_people(tokens, squashed, labels, item.get("author"), "author")
    if people is None or people > 60:
        return None
    for names, label in (
        (
            ("container-title", "container-title-short", "collection-title", "event-title"),
            "container",
        ),
        (("publisher",), "publisher"),
    ):
        for name in names:
            value = item.get(name)
            if (
                isinstance(value, str)
                and len(value) > 1
                and _mark_text(squashed, labels, value, label)
            ):
                break
    _mark_people(tokens, squashed, labels, item.get("editor"), "editor")
    _mark_numbers(tokens, squashed, labels, item)
    _close_gaps(tokens, labels)
    return labels


def _mark_text(squashed: list[str], labels: list[str], value: str, label: str) -> int | None:
    """Labels the place where the value stands; returns the number of its first token."""
    words = [fold_text(token.text) for token in split_tokens(value) if token.text[0].isalnum()]
    wanted = "".join(words)
    if not wanted:
        return None
    for first in range(len(squashed)):
        if not squashed[first] or labels[first] != "other":
            continue
        place, at = 0, first
        while (
            at < len(squashed) and labels[at] == "other" and wanted.startswith(squashed[at], place)
        ):
            place += len(squashed[at])
            at += 1
            if place == len(wanted):
                for number in range(first, at):
                    labels[number] = label
                return first
    return None


def _mark_people(
    tokens: list[ReferenceToken], squashed: list[str], labels: list[str], people: Any, label: str
) -> int | None:
    """Labels the names; returns where they begin."""
    parts, families = _name_parts(people)
    free = [number for number, one in enumerate(labels) if one == "other"]
    start = next((number for number in free if squashed[number] in families), None)
    if start is None:
        return None

    def belongs(number: int) -> bool:
        word = squashed[number]
        if labels[number] != "other" or tokens[number].text == MASK:
            return False
        return word in parts if word else tokens[number].text in ",.&;-–‐’'—…/"

    first = last = start
    while first > 0 and belongs(first - 1):
        first -= 1
    while last + 1 < len(tokens) and belongs(last + 1):
        last += 1
    while last > start and not squashed[last] and tokens[last].text != ".":
        last -= 1
    while not squashed[first]:
        first += 1
    labels[first : last + 1] = [label] * (last + 1 - first)
    return first


def _name_parts(people: Any) -> tuple[set[str], set[str]]:
    """Words that may stand in the list of names, and family names, folded."""
    parts: set[str] = {"and", "und", "et", "al", "others", "y", "e", "u", "a"}
    families: set[str] = set()
    for person in people or ():
        for name in _NAME_FIELDS:
            words = [fold_text(token.text) for token in split_tokens(str(person.get(name) or ""))]
            parts.update(part for word in words for part in (word, word[:1]))
            if name in {"family", "literal"}:
                families.update(word for word in words if len(word) > 1)
        given = str(person.get("given") or "")
        initials = [fold_text(token.text)[:1] for token in split_tokens(given)]
        parts.update("".join(initials[:size]) for size in range(1, 5))
        parts.add(fold_text(given).replace(" ", "").replace(".", ""))
    return parts, families


def _mark_numbers(
    tokens: list[ReferenceToken], squashed: list[str], labels: list[str], item: dict[str, Any]
) -> None:
    year = str((((item.get("issued") or {}).get("date-parts") or [[""]])[0] or [""])[0])
    container: int = max((n for n, one in enumerate(labels) if one == "container"), default=-1)

    def find(value: str, start: int) -> int | None:
        places: list[int] = [*range(max(start, 0), len(tokens)), *range(max(start, 0))]
        for place in places:
            if labels[place] == "other" and squashed[place] == fold_text(value):
                return place
        return None

    for number, word in enumerate(squashed):
        if year and labels[number] == "other" and re.fullmatch(rf"{re.escape(year)}[a-z]?", word):
            labels[number] = "year"
    last = container
    for name in ("volume", "issue"):
        value = str(item.get(name) or "")
        at = find(value, last + 1) if value and " " not in value else None
        if at is not None and tokens[at].text != MASK:
            labels[at] = name
            last = at
    pages = [
        token.text for token in split_tokens(str(item.get("page") or "")) if token.text[0].isalnum()
    ]
    if pages:
        at = find(pages[0], last + 1)
        if at is not None:
            labels[at] = "pages"
            if at + 2 < len(tokens) and tokens[at + 1].text in "-–‐—" and squashed[at + 2]:
                labels[at + 1] = labels[at + 2] = "pages"


def _close_gaps(tokens: list[ReferenceToken], labels: list[str]) -> None:
    """Marks inside a field belong to it."""
    for number in range(1, len(tokens) - 1):
        if labels[number] == "other" and not tokens[number].text[0].isalnum():
            after = next(
                (
                    place
                    for place in range(number + 1, len(tokens))
                    if tokens[place].text[0].isalnum()
                ),
                None,
            )
            if after is not None and labels[number - 1] == labels[after] != "other":
                labels[number] = labels[after]
