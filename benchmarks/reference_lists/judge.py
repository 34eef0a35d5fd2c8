"""Judges the reading of printed references: fields of rendered items found again, by style.

`make judge-references` reports on styles and items that the tagger was not fitted on.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.reference_lists.generation import Half, PrintedReference, generate
from carrel.libraries.identifiers import Doi, NotAnIdentifierError
from carrel.libraries.text.folding import text_key
from carrel.libraries.works.cited_works import CitedWork
from carrel.libraries.works.keys import family_key, title_key
from carrel.libraries.works.reference_features import split_tokens
from carrel.libraries.works.reference_parsing import parse_reference

SEED = 2016


def compare(reference: PrintedReference, work: CitedWork) -> Iterator[tuple[str, str]]:
    """For each field that is printed: right, unknown or wrong."""
    item = reference.item
    printed = _printed(reference)
    yield "title", _grade(text_key(item["title"]), work.title and text_key(work.title))
    yield "title key", _grade(title_key(item["title"]), work.title and title_key(work.title))
    families = _families(reference)
    found = [family_key(name) for name in work.authors]
    yield "first author", _grade(families[0], found[0] if found else None)
    yield "all authors", _grade(families, found or None)
    for name, value in (
        ("year", str(work.year) if work.year else None),
        ("container", work.container and text_key(work.container)),
        ("volume", work.volume),
        ("issue", work.issue),
        ("publisher", work.publisher and text_key(work.publisher)),
    ):
        if name in printed:
            yield name, _grade(printed[name], value)
        elif value is not None:
            yield name, "wrong"
    if "pages" in printed:
        yield "pages", _grade(printed["pages"], work.pages)
    doi = _doi(item.get("DOI"))
    if doi and doi in reference.text.lower():
        yield "doi", _grade(doi, work.doi)
    elif work.doi is not None and work.doi != doi:
        yield "doi", "wrong"


def _grade(gold: object, found: object) -> str:
    return "unknown" if found is None else ("right" if gold == found else "wrong")


def _doi(value: object) -> str | None:
    try:
        return Doi.parse(str(value)).value
    except NotAnIdentifierError:
        return None


def _printed(reference: PrintedReference) -> dict[str, str]:
    """The fields as printed, by the labels of the tokens."""
    texts: dict[str, list[str]] = defaultdict(list)
    for token, label in zip(split_tokens(reference.masked), reference.labels, strict=True):
        texts[label].append(token.text)
    found: dict[str, str] = {}
    for name in ("container", "publisher"):
        if name in texts:
            found[name] = text_key(" ".join(texts[name]))
    for name in ("volume", "issue"):
        if name in texts:
            found[name] = texts[name][0]
    if "year" in texts:
        found["year"] = texts["year"][0][:4]
    if "pages" in texts:
        found["pages"] = "".join("-" if one in "-–‐—" else one for one in texts["pages"])
    return found


def _families(reference: PrintedReference) -> list[str | None]:
    """Family names of the authors whose names are printed."""
    printed = text_key(
        "".join(
            token.text
            for token, label in zip(split_tokens(reference.masked), reference.labels, strict=True)
            if label == "author"
        )
    )
    names = []
    for person in reference.item["author"]:
        name = person.get("literal") or f"{person.get('family', '')}, {person.get('given', '')}"
        family = text_key(str(person.get("family") or person.get("literal") or ""))
        if family and family in printed:
            names.append(family_key(name))
    return names or [None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--half", choices=["fit", "calibrate", "report"], default="report")
    parser.add_argument("--styles", type=int, default=200)
    parser.add_argument("--per-style", type=int, default=10)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--show", type=int, default=0, help="wrong titles to print")
    chosen = parser.parse_args()
    half: Half = chosen.half
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    by_confidence: dict[float, Counter[bool]] = defaultdict(Counter)
    styles = set()
    shown = 0
    for reference in generate(chosen.data, half, chosen.seed, chosen.styles, chosen.per_style):
        work = parse_reference(reference.text, label="-")
        grades = dict(compare(reference, work))
        styles.add(reference.style)
        for name, grade in grades.items():
            counts[name][grade] += 1
        is_right = all(grades.get(name) == "right" for name in ("title", "first author"))
        by_confidence[work.confidence][is_right] += 1
        if shown < chosen.show and grades["title"] != "right":
            shown += 1
            print(
                f"{reference.style}: {reference.text[:260]}\n    {work.title!r} {work.authors[:3]}"
            )
    print(f"{sum(counts['title'].values()):,} entries in {len(styles)} styles, half {half}")
    print(f"{'field':14}{'right':>8}{'unknown':>9}{'wrong':>8}{'of':>8}")
    for name, by_grade in counts.items():
        total = sum(by_grade.values())
        shares = [100 * by_grade[grade] / total for grade in ("right", "unknown", "wrong")]
        print(f"{name:14}{shares[0]:8.1f}{shares[1]:9.1f}{shares[2]:8.1f}{total:8,}")
    print("confidence: title and first author right")
    for confidence, by_truth in sorted(by_confidence.items()):
        total = sum(by_truth.values())
        print(f"  {confidence:.2f}: {by_truth[True] / total:.3f} of {total:,}")


if __name__ == "__main__":
    main()
