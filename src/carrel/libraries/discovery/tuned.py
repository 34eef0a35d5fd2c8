"""The numbers of discovery that were fitted or chosen, as `tuned.toml` gives them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Group = TypeVar("Group")


@dataclass(frozen=True)
class MeaningNumbers:
    """Short forms and spellings: which keys are one concept."""

    short_form_preferred: int
    most_of_one_word: int
    sloppy_share: float
    one_species_share: float
    least_letters: int
    shortest_genus: int
    least_definitions: int
    one_meaning_share: float
    short_of_a_word: float


@dataclass(frozen=True)
class TermhoodNumbers:
    """Whether a phrase is a whole term."""

    few_documents: int
    many_documents: int
    least_occurrences: int
    closing_share: float
    piece_closing_share: float
    naming_share: float
    same_neighbour_share: float


@dataclass(frozen=True)
class KindNumbers:
    """Of what kind a concept is."""

    least_company: int
    form_counts: int
    overrules: int
    least_life_share: float
    least_evidence: float
    indexed_form_weight: float
    capitals_count: float


@dataclass(frozen=True)
class LiteratureNumbers:
    """Profiles of literatures, and what is too broad or too alike."""

    sample_documents: int
    coherence_sample: int
    laboratory_sample: int
    names_sample: int
    half_life_years: float
    least_meetings: int
    subject_share: float
    broad_share: float
    same_documents: float
    least_same_documents: int
    never_broad: float


@dataclass(frozen=True)
class PathNumbers:
    """Bridges and ends, and the prospect of a pair."""

    mention_power: float
    subject_power: float
    opportunity_power: float
    least_mention_likeness: float
    least_subject_likeness: float
    bridges_weighed: int
    bridges_followed: int
    bridges_compared: int
    ends_weighed: int
    documents_followed: int
    rare_documents: int
    half_a_paper: float


@dataclass(frozen=True)
class ConnectionNumbers:
    """Connections with their evidence."""

    unsaid_counts: float
    papers_quoted: int
    bridges_read_for_sign: int
    papers_on_bridge: int
    direct_counts: float
    papers_read_for_name: int
    ordinary_word: int
    capital_share: float
    name_share: float
    life_words: int
    plenty_of_papers: int
    trust: Mapping[str, float]
    bridges_read: int
    papers_for_bench: int
    methods_read: int
    bridges_may_be_broader: float
    least_coherence: float
    coherence_for_level: float
    signed_weight: float
    least_signed_coherence: float
    neighbours_read: int


@dataclass(frozen=True)
class GenerationNumbers:
    """Open and closed discovery, and evolution."""

    bridges_looked_at: int
    bridges_kept: int
    known_pair: int
    widened_below: int
    same_route: float
    most_support: int
    long_stem: int
    same_spelling: float
    least_expansions: int
    replaces_an_end: float
    leaves_an_end: float
    ends_kept: int
    each_assumption: int
    preferred: float
    another_sort: float
    no_direction: float
    surely_leads_somewhere: int
    looked_at: int
    least_narrower_documents: int
    narrower_tried: int
    least_in_one_system: int
    others_tried: int


@dataclass(frozen=True)
class ReviewNumbers:
    """Scores of a review."""

    plenty_of_methods: int
    one_bridge: float
    verified_bridge: float
    weights: Mapping[str, float]
    least_factor: float
    unsaid_counts: float
    denied_takes: float
    undirected_counts: float
    known_pair_counts: float
    expected_papers: int
    each_paper: float
    testability: Mapping[str, float]
    untested: float
    broad_share: float
    broad_below: float


@dataclass(frozen=True)
class TermNumbers:
    """Which phrases of the texts are terms, ends and bridges."""

    longest_name_words: int
    long_name_words: int
    english_share: float
    fewest_words_to_tell: int
    language_sample: int
    least_texts: int
    documents_read: int
    weights: Mapping[str, float]
    least_of_end: float
    least_of_bridge: float
    usual_octaves: float
    frequent_counts: float
    adjective_closes: float
    lone_adjective: float
    body_share: float
    article_share: float
    closes_often: float


@dataclass(frozen=True)
class GoalNumbers:
    """Names of the corpus in a goal."""

    least_documents: int
    least_in_context: int
    enough_documents: int
    most_papers: float
    one_name_share: float
    longest_words: int
    cohesive: float
    common_share: float
    too_much: float
    thin_counts: float
    loose_counts: float
    word_counts: float
    title_case_share: float
    near_spelling: float
    named_may_be_broader: float


TABLE: dict[str, dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("tuned.toml").read_text(encoding="utf-8")
)


def _read(name: str, group: type[Group]) -> Group:
    """A group of numbers; TypeError where the file has more or fewer than these."""
    return group(**{field: entry["value"] for field, entry in TABLE[name].items()})


MEANINGS = _read("meanings", MeaningNumbers)
TERMHOOD = _read("termhood", TermhoodNumbers)
KINDS = _read("kinds", KindNumbers)
LITERATURES = _read("literatures", LiteratureNumbers)
PATHS = _read("paths", PathNumbers)
CONNECTIONS = _read("connections", ConnectionNumbers)
GENERATION = _read("generation", GenerationNumbers)
REVIEW = _read("review", ReviewNumbers)
TERMS = _read("terms", TermNumbers)
GOALS = _read("goals", GoalNumbers)
