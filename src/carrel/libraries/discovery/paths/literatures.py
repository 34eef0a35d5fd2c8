"""Literatures and their profiles: which concepts co-occur with something more than by chance."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from math import log, sqrt

from carrel.libraries.discovery.concepts.words import LABORATORY
from carrel.libraries.discovery.paths.link_prediction import Company, Profile
from carrel.libraries.discovery.records import Concepts, Literature, Sphere, Standing, Tier
from carrel.libraries.discovery.tuned import LITERATURES


def _n_log_n(n: int) -> float:
    return n * log(n) if n > 0 else 0.0


class Counted:
    """Log-likelihood weights over `documents` documents; n·log n is precomputed in a table."""

    def __init__(self, documents: int) -> None:
        self.documents = documents
        self.n_log_n = array("d", map(_n_log_n, range(documents + 1)))

    @staticmethod
    def signed(inside: int, inside_size: int, outside: int, outside_size: int) -> float:
        """Signed log-likelihood ratio (G²): positive where the word is over-represented inside."""
        total, word = inside_size + outside_size, inside + outside
        cells = (inside, inside_size - inside, outside, outside_size - outside)
        margins = (inside_size, outside_size, word, total - word)
        ratio = 2 * (sum(map(_n_log_n, cells)) - sum(map(_n_log_n, margins)) + _n_log_n(total))
        return ratio if inside * outside_size > outside * inside_size else -ratio

    def expected(self, one: int, other: int) -> float:
        """In how many documents two things would meet by chance."""
        return one * other / self.documents if self.documents else 0.0


def cosine(both: int, one: int, other: int) -> float:
    """Documents with both, over the geometric mean of the documents with each."""
    return both / sqrt(one * other) if one and other else 0.0


def jaccard(both: int, one: int, other: int) -> float:
    """Documents with both, over the documents with either."""
    either = one + other - both
    return both / either if either else 0.0


def are_alike(index: Concepts, one: int, other: int) -> bool:
    """Whether two concepts are equal, related in the vocabulary's trees, nested or co-extensive."""
    if one == other:
        return True
    if index.vocabulary and index.vocabulary.is_kin(index.key(one), index.key(other)):
        return True
    for first in index.wordings(one):
        for second in index.wordings(other):
            if first <= second or second <= first:
                return True
    return _have_the_same_documents(index, one, other)


def _have_the_same_documents(index: Concepts, one: int, other: int) -> bool:
    fewer, more = sorted((index.frequency(one), index.frequency(other)))
    if fewer < LITERATURES.least_same_documents or fewer < LITERATURES.same_documents**2 * more:
        return False
    both = len(set(index.documents(one)).intersection(index.documents(other)))
    return cosine(both, fewer, more) >= LITERATURES.same_documents


MECHANISMS = frozenset({Sphere.CHEMICAL, Sphere.DISORDER, Sphere.PROCESS, Sphere.MIND, Sphere.CELL})


class Reader:
    """Reads literatures from one state of an index and keeps the profiles it has worked out."""

    def __init__(self, index: Concepts) -> None:
        self.index = index
        self.counted = Counted(len(index))
        self._generation = index.generation
        self._profiles: dict[int, Profile] = {}
        self._companies: dict[int | Literature, Company] = {}
        self._kinds: dict[int, int] = {}
        self.judged: dict[int, bool] = {}
        self._frequencies = index.frequencies()

    @cached_property
    def latest_year(self) -> int | None:
        """The year of the newest document, where any year is known."""
        years = (self.index.year_of(document) for document in range(self.index.numbered))
        return max((year for year in years if year is not None), default=None)

    @property
    def is_current(self) -> bool:
        """Whether the index is still as it was when reading began."""
        return self._generation == self.index.generation

    def literature(self, keys: Sequence[str]) -> Literature | None:
        """The documents on any of these concepts or narrower ones; None when there are none."""
        index, vocabulary = self.index, self.index.vocabulary
        numbers: dict[int, None] = {}
        for key in keys:
            for name in (
                key,
                *(vocabulary.narrower(vocabulary.preferred(key) or key) if vocabulary else ()),
            ):
                number = index.number(name)
                if number is not None and index.frequency(number):
                    numbers[number] = None
        if not numbers:
            return None
        documents = frozenset(
            document for number in numbers for document in index.documents(number)
        )
        return Literature(index.label(next(iter(numbers))), frozenset(numbers), documents)

    def joint_literature(self, keys: Sequence[str]) -> Literature | None:
        """The documents that speak of all these concepts together."""
        parts = [part for key in keys if (part := self.literature([key]))]
        if len(parts) < len(keys) or not parts:
            return None
        documents = frozenset.intersection(*(part.documents for part in parts))
        concepts = frozenset(number for part in parts for number in part.concepts)
        return (
            Literature(" ".join(part.label for part in parts), concepts, documents)
            if documents
            else None
        )

    def given_literature(
        self, label: str, ids: Iterable[str], keys: Sequence[str] = ()
    ) -> Literature:
        """A literature of given documents."""
        documents = (self.index.number_of_document(name) for name in ids)
        concepts = (self.index.number(key) for key in keys)
        return Literature(
            label,
            frozenset(number for number in concepts if number is not None),
            frozenset(document for document in documents if document is not None),
        )

    def counts(self, documents: Iterable[int]) -> Counter[int]:
        """In how many of the documents each concept occurs."""
        mentions_of = self.index.mentions_of
        counts: Counter[int] = Counter()
        for document in documents:
            counts.update(mentions_of(document))
        return counts

    def profile(
        self,
        counts: Mapping[int, int],
        size: int,
        without: frozenset[int],
        least: int = LITERATURES.least_meetings,
    ) -> Profile:
        """Concepts over-represented in some documents: root log-likelihoods, scaled to length 1."""
        # The hot loop: the log-likelihood ratio of co-occurrence, written out over the table of
        # `association.Counted`.
        frequencies, table, total = self._frequencies, self.counted.n_log_n, self.counted.documents
        if not 0 < size < total:
            return {}
        rest = total - size
        fixed = table[total] - table[size] - table[rest]
        weights = {}
        # Most concepts meet once or twice and are as frequent as many others: each such pair of
        # counts is worked out once.
        worked_out: dict[int, float] = {}
        for number, both in counts.items():
            if both < least:
                continue
            other = frequencies[number]
            counted = both * total + other
            weight = worked_out.get(counted)
            if weight is None:
                weight = 0.0
                if 1 < other < total and both * total > size * other:
                    ratio = (
                        fixed
                        + table[both]
                        + table[size - both]
                        + table[other - both]
                        + table[rest - other + both]
                    )
                    ratio -= table[other] + table[total - other]
                    weight = sqrt(2 * ratio) if ratio > 0 else 0.0
                worked_out[counted] = weight
            if weight and number not in without:
                weights[number] = weight
        length = sqrt(sum(weight * weight for weight in weights.values()))
        return {number: weight / length for number, weight in weights.items()} if length else {}

    def profile_beyond(self, number: int, literature: Literature) -> Profile:
        """The profile of a concept in documents outside a literature."""
        documents = [
            document
            for document in self.index.documents(number)
            if document not in literature.documents
        ]
        sample = spread(documents, LITERATURES.sample_documents)
        return self.profile(self.counts(sample), len(sample), literature.concepts | {number})

    def profile_everywhere(self, number: int) -> Profile:
        """The profile of a concept in the whole corpus; cached."""
        profile = self._profiles.get(number)
        if profile is None:
            profile = self._profiles[number] = self._sampled_profile(
                self.index.documents(number), frozenset({number})
            )
        return profile

    def company(self, number: int) -> Company:
        """The profiles of a concept; cached."""
        company = self._companies.get(number)
        if company is None:
            own, documents = frozenset({number}), self.index.documents(number)
            company = self._companies[number] = self._company(
                self.profile_everywhere(number), documents, own
            )
        return company

    def company_of(self, literature: Literature) -> Company:
        """The profiles of a literature, computed as for a concept; cached."""
        company = self._companies.get(literature)
        if company is None:
            own, documents = literature.concepts, sorted(literature.documents)
            company = self._companies[literature] = self._company(
                self._sampled_profile(documents, own), documents, own
            )
        return company

    def _company(
        self, mentioned: Profile, documents: Sequence[int], own: frozenset[int]
    ) -> Company:
        # Where no document names it in keywords or headings, all that speak of it stand for those
        # that are about it.
        about = [
            document for document in documents if not own.isdisjoint(self.index.names_of(document))
        ]
        subject = self._sampled_profile(about, own) if about else mentioned
        return Company(mentioned, subject, sum(map(self._recency, about or documents)))

    def _sampled_profile(self, documents: Sequence[int], own: frozenset[int]) -> Profile:
        sample = spread(documents, LITERATURES.sample_documents)
        return self.profile(self.counts(sample), len(sample), own, least=1)

    def _recency(self, document: int) -> float:
        year, latest = self.index.year_of(document), self.latest_year
        return (
            1.0
            if year is None or latest is None
            else 2.0 ** ((year - latest) / LITERATURES.half_life_years)
        )

    def coherence(self, number: int) -> float:
        """How much more two documents with the concept share than any two; near 1 if generic."""
        documents = spread(self.index.documents(number), LITERATURES.coherence_sample)
        size = len(documents)
        counts = self.counts(documents)
        counts.pop(number, None)
        shared = self._shared(counts.items())
        # Eight pairs of an ordinary sort are put to every concept, so that two chance neighbours
        # prove nothing.
        return (
            (shared / self._ordinary_share + 24) / (size * (size - 1) + 8)
            if self._ordinary_share
            else 1.0
        )

    @cached_property
    def _ordinary_share(self) -> float:
        documents = len(self.index)
        return (
            self._shared(enumerate(self._frequencies)) / (documents * (documents - 1))
            if documents > 1
            else 0.0
        )

    def _shared(self, counts: Iterable[tuple[int, int]]) -> float:
        rarity, frequencies = self._rarity, self._frequencies
        return sum([rarity(frequencies[number]) * n * (n - 1) for number, n in counts if n > 1])

    @cached_property
    def _rarity(self) -> Callable[[int], float]:
        """How rare a concept is, by its frequency; many concepts share one."""
        documents = len(self.index)
        return lru_cache(maxsize=None)(
            lambda frequency: log(documents / frequency) if frequency else 0.0
        )

    def rank_of_kind(self, number: int) -> int:
        """How well a concept bridges: 2 for a mechanism, a given name or a sure term, else less."""
        kind = self._kinds.get(number)
        if kind is None:
            kind = self._kinds[number] = self._kind(number)
        return kind

    def has_first_rank(self, number: int) -> bool:
        """Whether `rank_of_kind` is 2, without reading texts where it cannot be."""
        is_phrase = self.index.standing(number) in {Standing.PHRASE, Standing.WORD}
        return not (is_phrase and self.has_given_names) and self.rank_of_kind(number) == 2

    def _kind(self, number: int) -> int:
        standing = self.index.standing(number)
        if standing is Standing.TERM:
            sphere = self.index.sphere(number)
            return 2 if sphere in MECHANISMS or sphere is Sphere.UNKNOWN else 0
        if standing is Standing.NAMED:
            return (
                2
                if self.index.named_in(number)
                >= LITERATURES.subject_share * self.index.frequency(number)
                else 0
            )
        if self.has_given_names:
            # Beside names that people gave, phrases of texts are bridges of the second rank.
            is_bridge = standing is Standing.PHRASE and self.index.tier(number) > Tier.NEITHER
            return int(is_bridge)
        return int(self.index.tier(number))

    @cached_property
    def has_given_names(self) -> bool:
        """Whether most papers have keywords, headings or terms of a vocabulary."""
        index = self.index
        sample = spread(index.live_documents(), LITERATURES.names_sample)
        held = sum(
            bool(index.names_of(document))
            or any(index.standing(one) is Standing.TERM for one in index.mentions_of(document))
            for document in sample
        )
        return 2 * held > len(sample)

    def is_of_laboratory(self, number: int) -> bool:
        """Whether the papers of a concept are mostly of laboratory or clinic."""
        markers = {self.index.word_number(word) for word in LABORATORY} - {None}
        sample = spread(self.index.documents(number), LITERATURES.laboratory_sample)
        held = sum(not markers.isdisjoint(self.index.text_of(document)) for document in sample)
        return 2 * held >= len(sample)

    def is_broad(self, number: int, times: float = 1.0) -> bool:
        """Whether a concept occurs in so many papers that it says little."""
        documents = len(self.index)
        # In a small corpus one paper in a hundred is nothing: there the bound grows with the root
        # of its size. A word that no author gives as a keyword is sooner a word of all papers.
        is_word = self.index.standing(number) is Standing.WORD
        return self.index.frequency(number) > times * max(
            LITERATURES.never_broad,
            LITERATURES.broad_share * documents,
            (1 if is_word else 2) * sqrt(documents),
        )

    def is_close(self, number: int, literature: Literature) -> bool:
        """Whether a concept is nearly one of the literature's own."""
        return number in literature.concepts or any(
            are_alike(self.index, number, own) for own in literature.concepts
        )

    def are_close(self, one: int, other: int) -> bool:
        """Whether two concepts are nearly one."""
        return are_alike(self.index, one, other)


def spread(numbers: Sequence[int], most: int) -> Sequence[int]:
    """An evenly spaced sample of at most this many numbers."""
    if len(numbers) <= most:
        return numbers
    step = len(numbers) / most
    return [numbers[int(place * step)] for place in range(most)]
