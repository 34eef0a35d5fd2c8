"""Measures find_duplicates: planted duplicates and near twins among real references, by halves.

`python -m benchmarks.reference_duplicates DATA [--count N]` prints precision and recall of what is
offered as certain, the kinds of near twins offered so, and the time for N references.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from carrel.rooms.references.duplicates import find_duplicate_groups

Item = dict[str, Any]
_LIBRARIES = ("elife_refs_library", "covid19-review_library", "deep-review_library")


def _drop_identifiers(item: Item, chance: random.Random) -> None:
    for field in ("DOI", "PMID", "PMCID", "URL", "ISBN"):
        item.pop(field, None)


def _abbreviate_names(item: Item, chance: random.Random) -> None:
    for person in item.get("author", []):
        if isinstance(person.get("given"), str):
            person["given"] = " ".join(f"{part[0]}." for part in person["given"].split() if part)


def _cut_authors(item: Item, chance: random.Random) -> None:
    if len(item.get("author", [])) > 3:
        item["author"] = [*item["author"][:3], {"literal": "others"}]


def _change_case(item: Item, chance: random.Random) -> None:
    item["title"] = chance.choice([str.upper, str.title, str.lower])(str(item["title"]))


def _misspell(item: Item, chance: random.Random) -> None:
    title = str(item["title"])
    at = chance.randrange(1, len(title) - 1)
    item["title"] = title[:at] + title[at + 1 :]


def _move_year(item: Item, chance: random.Random) -> None:
    parts = (item.get("issued") or {}).get("date-parts")
    if parts and parts[0]:
        item["issued"] = {"date-parts": [[int(parts[0][0]) + chance.choice([-1, 1])]]}


def _drop_year(item: Item, chance: random.Random) -> None:
    item.pop("issued", None)


def _abbreviate_venue(item: Item, chance: random.Random) -> None:
    venue = str(item.get("container-title") or "")
    item["container-title"] = " ".join(f"{word[:4]}." for word in venue.split()) or None
    if not venue:
        item.pop("container-title")


def _drop_place(item: Item, chance: random.Random) -> None:
    for field in ("volume", "issue", "page"):
        item.pop(field, None)


def _add_markup(item: Item, chance: random.Random) -> None:
    item["title"] = f"<i>{item['title']}</i>."


_NOISE: tuple[Callable[[Item, random.Random], None], ...] = (
    _abbreviate_names, _cut_authors, _change_case, _misspell, _move_year, _drop_year,
    _abbreviate_venue, _drop_place, _add_markup,
)  # fmt: skip


def make_duplicate(item: Item, chance: random.Random) -> Item:
    """The same work as another program or service may describe it."""
    made = copy.deepcopy(item)
    if chance.random() < 0.7:
        _drop_identifiers(made, chance)
    for noise in chance.sample(_NOISE, chance.randint(1, 3)):
        noise(made, chance)
    return made


def make_near_twins(item: Item, chance: random.Random) -> dict[str, tuple[Item, Item]]:
    """Two works each that are like one another, by kind."""
    plain = copy.deepcopy(item)
    _drop_identifiers(plain, chance)
    plain |= {"volume": str(chance.randint(500, 900)), "page": str(chance.randint(20_000, 90_000))}
    title = str(plain["title"]).rstrip(".")
    year = ((plain.get("issued") or {}).get("date-parts") or [[2015]])[0][0]
    book = {
        "type": "book", "title": title, "author": plain.get("author", []),
        "publisher": "Springer", "ISBN": "9780262033848",
    }  # fmt: skip
    chapter = {**book, "type": "chapter", "container-title": "Handbook of " + title.split()[-1]}
    return {
        "part 1 and part 2": (
            {**plain, "title": f"{title}: Part 1"},
            {**plain, "title": f"{title}: Part 2", "page": str(int(plain["page"]) + 9)},
        ),
        "part I and part II": (
            {**plain, "title": f"{title}. I. Theory"},
            {**plain, "title": f"{title}. II. Theory"},
        ),
        "preprint and article": (
            {**plain, "type": "article", "container-title": "bioRxiv", "volume": None,
             "page": None, "DOI": f"10.1101/{chance.randrange(10**6)}"},
            {**plain, "DOI": f"10.1038/{chance.randrange(10**6)}"},
        ),
        "erratum and article": (
            {**plain, "title": f"Erratum: {title}"},
            {**plain},
        ),
        "erratum with the DOI of the article": (
            {**plain, "title": f"Correction to: {title}", "DOI": "10.1038/x"},
            {**plain, "DOI": "10.1038/x"},
        ),
        "editions of a book": (
            {**book, "edition": "1", "issued": {"date-parts": [[2001]]}, "ISBN": "9780262033848"},
            {**book, "edition": "2", "issued": {"date-parts": [[2009]]}, "ISBN": "9780131103627"},
        ),
        "editions told by the year": (
            {**book, "issued": {"date-parts": [[int(year)]]}},
            {**book, "issued": {"date-parts": [[int(year) + 2]]}},
        ),
        "two chapters of one book": (
            {**chapter, "title": "Introduction", "page": "1-10"},
            {**chapter, "title": "Methods", "page": "11-30"},
        ),
        "two introductions in one book": (
            {**chapter, "title": "Introduction", "page": "1-10"},
            {**chapter, "title": "Introduction", "page": "101-110"},
        ),
        "chapter and its book": ({**chapter, "title": "Introduction"}, {**book}),
        "letter and reply": ({**plain}, {**plain, "title": f"Reply to: {title}"}),
    }  # fmt: skip


def _read(data: Path) -> list[Item]:
    items: list[Item] = []
    for name in _LIBRARIES:
        items += json.loads((data / "citations" / f"{name}.csl.json").read_text("utf-8"))
    return [
        item
        for item in items
        if len(re.sub(r"\W", "", str(item.get("title") or ""))) > 12 and item.get("author")
    ]


def judge(items: Sequence[Item], seed: int) -> None:
    """Plant a duplicate of every fifth reference, and near twins of some others."""
    chance = random.Random(seed)
    library = [{**copy.deepcopy(item), "id": f"r{at}"} for at, item in enumerate(items)]
    truth: set[frozenset[str]] = set()
    for at in range(0, len(items), 5):
        made = make_duplicate(items[at], chance)
        library.append({**made, "id": f"d{at}"})
        truth.add(frozenset({f"r{at}", f"d{at}"}))
    twins: dict[frozenset[str], str] = {}
    for at in range(1, len(items), 5):
        # A work of its own, so that the twins are like each other alone.
        base = {**items[at], "title": f"{items[at]['title']} in sample {at}"}
        kinds = make_near_twins(base, chance)
        kind = list(kinds)[(at // 5) % len(kinds)]
        one, other = ({k: v for k, v in each.items() if v is not None} for each in kinds[kind])
        isbn = {} if "ISBN" not in one else {"ISBN": f"{9780000000000 + at}"}
        for name, each in (("a", one), ("b", other)):
            keep = isbn if kind != "editions of a book" else {}
            library.append({**each, **keep, "id": f"{name}{at}"})
        twins[frozenset({f"a{at}", f"b{at}"})] = kind
    chance.shuffle(library)
    groups = find_duplicate_groups(library)
    certain: set[frozenset[str]] = set()
    possible: set[frozenset[str]] = set()
    for group in groups:
        ids = [library[at]["id"] for at in group.members]
        pairs = {frozenset({a, b}) for i, a in enumerate(ids) for b in ids[i + 1 :]}
        (certain if group.certainty == "certain" else possible).update(pairs)
    planted = {pair for pair in certain if all(each[0] in "rd" for each in pair)}
    right = certain & truth
    # Pairs of the real libraries that nobody planted are listed, not counted as wrong or right.
    real = {pair for pair in planted - truth if all(each[0] == "r" for each in pair)}
    wrong = certain - truth - real
    print(f"references {len(library)}, planted {len(truth)}, near twins {len(twins)}")
    print(f"certain: precision {len(right) / max(1, len(right) + len(wrong)):.4f}, "
          f"recall {len(right) / len(truth):.4f}; certain or possible: recall "
          f"{len((certain | possible) & truth) / len(truth):.4f}")  # fmt: skip
    print("not planted, certain in the real libraries:", len(real))
    asked = Counter(twins.values())
    offered = Counter(twins[pair] for pair in certain if pair in twins)
    shown = Counter(twins[pair] for pair in possible if pair in twins)
    for kind, count in asked.items():
        print(f"  {kind}: {count} pairs, certain {offered[kind]}, possible {shown[kind]}")
    by_id = {each["id"]: each for each in library}
    for pair in sorted(map(sorted, wrong))[:5]:
        print("  wrong:", *(_describe(by_id[each]) for each in pair), sep="\n    ")
    for pair in sorted(map(sorted, real))[:4]:
        print("  real:", *(_describe(by_id[each]) for each in pair), sep="\n    ")


def _describe(item: Item) -> str:
    year = (item.get("issued") or {}).get("date-parts")
    return f"{item['id']} {item.get('type')} {year} {item.get('DOI')} {str(item['title'])[:90]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--count", type=int, default=100_000)
    options = parser.parse_args()
    items = _read(options.data)
    random.Random(72).shuffle(items)
    for name, half in (("first half", items[::2]), ("second half", items[1::2])):
        print(f"== {name}")
        judge(half, 72)
    many = make_large_library(items, options.count)
    begun = time.process_time()
    groups = find_duplicate_groups(many)
    print(f"{len(many)} references: {time.process_time() - begun:.1f} s, {len(groups)} groups")


def make_large_library(items: Sequence[Item], count: int) -> list[Item]:
    """References of words and names of the real ones, a twentieth of them twice."""
    chance = random.Random(1)
    words = sorted({word for item in items for word in str(item["title"]).split()})
    people = [person for item in items for person in item["author"]]
    made: list[Item] = []
    while len(made) < count:
        if made and chance.random() < 0.05:
            made.append(make_duplicate(chance.choice(made), chance))
            continue
        made.append(
            {
                "type": "article-journal",
                "title": " ".join(chance.sample(words, chance.randint(5, 12))),
                "author": chance.sample(people, chance.randint(1, 6)),
                "issued": {"date-parts": [[chance.randint(1980, 2024)]]},
                "DOI": f"10.5555/{len(made)}",
                "container-title": chance.choice(["Nature", "Cell", "Science", "eLife"]),
                "volume": str(chance.randint(1, 400)),
                "page": str(chance.randint(1, 9999)),
            }
        )
    return [{**item, "id": f"m{at}"} for at, item in enumerate(made)]


if __name__ == "__main__":
    main()
