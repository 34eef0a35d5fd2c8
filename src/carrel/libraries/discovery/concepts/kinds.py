"""The semantic type of a concept, from its name, its context and the index."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import log1p
from pathlib import Path

from carrel.libraries.discovery.records import Concept, Concepts, Kind
from carrel.libraries.discovery.tuned import KINDS

_DATA = tomllib.loads((Path(__file__).parent / "data" / "kinds.toml").read_text(encoding="utf-8"))
_FORMS = tuple(
    (
        Kind(form["kind"]),
        re.compile(rf"\b({'|'.join(form['words'])})$|({'|'.join(form['endings'])})$"),
    )
    for form in _DATA["form"]
)
_NOT_A_SUBSTANCE = re.compile(rf"({'|'.join(_DATA['not_a_substance'])})$")
# `Genus species`: a Latin word and an epithet, as the normal form leaves them.
_BINOMIAL = re.compile(
    r"^([a-z]{3,}(us|um|is|a|i|er|ella|e)|[a-z]) [a-z]{4,}(us|um|is|ae|a|ens|i|e)$"
)
_GENUS = re.compile(r"^[a-z]+(bacterium|bacter|coccus|mona|ella|plasma|myce|vibrio|virus) [a-z]+$")
# As authors write genes and proteins: capitals with a number (`TDP-43`), or a short run of capitals
# with a small letter in front.
_SYMBOL = re.compile(
    r"^(?=.*\d)(?=.*[A-Zα-ω])[A-Za-zα-ω][A-Za-z0-9α-ω/-]{2,9}$|^[a-z][A-Z][A-Za-z0-9]{2,}$|^[A-Z]{2,}-?[α-ωκ]\w?$"
)

_BEFORE = tuple(
    (Kind(kind), re.compile(rf"\b({'|'.join(words)})$")) for kind, words in _DATA["before"].items()
)
_AFTER = tuple(
    (Kind(kind), re.compile(rf"^({'|'.join(words)})\b")) for kind, words in _DATA["after"].items()
)
_TREES = tuple((start, Kind(kind)) for start, kind in _DATA["trees"].items())
_COMPANY = {Kind(kind): tuple(words) for kind, words in _DATA["behind"].items()}
_CHANGEABLE = frozenset(
    {Kind.SUBSTANCE, Kind.MATERIAL, Kind.GENE, Kind.PROCESS, Kind.CELL, Kind.BEHAVIOUR, Kind.EXPOSURE, Kind.ORGANISM}  # noqa: E501
)  # fmt: skip


def kind_of(concept: Concept) -> Kind:
    """The kind recorded for a concept, else the kind its name suggests."""
    return (
        concept.kind
        if concept.kind is not Kind.UNKNOWN
        else kind_by_form(concept.key, concept.label)
    )


_GENERAL = {
    Kind.SUBSTANCE: Kind.MATERIAL,
    Kind.EXPOSURE: Kind.EXPOSURE,
    Kind.EVENT: Kind.EVENT,
}


def generalise_kind(concept: Concept) -> Concept:
    """The concept with a kind that any field has: no gene, cell or disease."""
    return replace(concept, kind=_GENERAL.get(kind_of(concept), Kind.THING))


def drive(kind: Kind) -> int:
    """How likely a kind is the cause in a link, from 3 (substance, exposure) to 0."""
    if kind in {Kind.SUBSTANCE, Kind.EXPOSURE}:
        return 3
    if kind in _CHANGEABLE or kind is Kind.EVENT:
        return 2
    return 1 if kind is Kind.ANATOMY else 0


def can_be_changed(kind: Kind) -> bool:
    """Whether an experiment can manipulate this kind; other kinds are only observed."""
    return kind in _CHANGEABLE


def is_method_name(key: str) -> bool:
    """Whether a name has the form of a research method."""
    return bool(_FORMS[0][1].search(key))


@lru_cache(maxsize=50_000)
def kind_by_form(key: str, label: str = "") -> Kind:
    """The kind by the form of a name: its last word, a binomial, a gene symbol."""
    if _GENUS.match(key):
        return Kind.ORGANISM
    for kind, pattern in _FORMS:
        if kind is Kind.SUBSTANCE and _NOT_A_SUBSTANCE.search(key):
            continue
        if pattern.search(key):
            return kind
    if label[:1].isupper() and _BINOMIAL.match(key):
        return Kind.ORGANISM
    return Kind.GENE if _SYMBOL.match(label) else Kind.UNKNOWN


def kind_by_trees(trees: Sequence[str]) -> Kind:
    """The kind by MeSH tree numbers; the most frequent branch decides."""
    found = Counter(kind for tree in trees if (kind := _kind_of_tree(tree)) is not Kind.UNKNOWN)
    return found.most_common(1)[0][0] if found else Kind.UNKNOWN


def kind_in_company(key: str, label: str, sentences: Iterable[str]) -> Kind:
    """The kind by name and context; sentences are normal words padded with single spaces."""
    votes: Counter[Kind] = Counter()
    by_form = kind_by_form(key, label)
    if by_form is not Kind.UNKNOWN:
        votes[by_form] += KINDS.form_counts
    for sentence in sentences:
        before, named, after = sentence.partition(f" {key} ")
        if named:
            votes.update(kind for kind, pattern in _BEFORE if pattern.search(before.strip()))
            votes.update(kind for kind, pattern in _AFTER if pattern.match(after.strip()))
    if not votes:
        return Kind.UNKNOWN
    (first, most), *rest = votes.most_common()
    if by_form is not Kind.UNKNOWN and (
        votes[by_form] == most or most < KINDS.overrules * votes[by_form]
    ):
        return by_form
    return (
        first if most >= KINDS.least_company and (not rest or most > rest[0][1]) else Kind.UNKNOWN
    )


def _kind_of_tree(tree: str) -> Kind:
    for start, kind in _TREES:
        if tree.startswith(start):
            return kind
    return Kind.UNKNOWN


_CAPITALS = re.compile(r"[A-Z]{3,6}")
_DRUG = re.compile(r"(mab|nib|inhibitor|vaccine)$")


def kind_in_index(index: Concepts, number: int) -> Kind:
    """The kind by the vocabulary's trees, else by the name and the phrases that it begins."""
    key = index.key(number)
    told = kind_by_trees(index.trees(number))
    if told is Kind.GENE and _DRUG.search(key):
        # Made by genes, and given as a drug.
        return Kind.SUBSTANCE
    if told is not Kind.UNKNOWN:
        return told
    evidence = {kind: _company(index, key, words) for kind, words in _COMPANY.items()}
    form = kind_by_form(key, index.label(number))
    if form is not Kind.UNKNOWN:
        evidence[form] = evidence.get(form, 0.0) + KINDS.indexed_form_weight
    elif _CAPITALS.fullmatch(index.label(number)):
        evidence[Kind.GENE] += KINDS.capitals_count
    best = max(evidence, key=lambda kind: evidence[kind])
    return best if evidence[best] >= KINDS.least_evidence else Kind.UNKNOWN


def _company(index: Concepts, key: str, words: tuple[str, ...]) -> float:
    met = [papers for word in words if (papers := index.papers_of_phrase(f"{key} {word}"))]
    # One such phrase may be chance; two different ones are not.
    return log1p(sum(met)) if len(met) > 1 else 0.5 * min(1, len(met))
