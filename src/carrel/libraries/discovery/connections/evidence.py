"""Evidence: sentences quoted verbatim from papers, and what they say that things do."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from carrel.libraries.discovery.concepts.kinds import is_method_name
from carrel.libraries.discovery.connections.candidates import Evidence, SentenceRelation, SignCount
from carrel.libraries.discovery.connections.sentences import (
    PaperReader,
    ReadPaper,
    RelationReader,
    Sentence,
    count_signs,
)
from carrel.libraries.discovery.records import Concepts, Literature, Place, Standing, Tier
from carrel.libraries.discovery.tuned import CONNECTIONS
from carrel.libraries.relations import standard_lexicon

_CONTRARY = re.compile(
    r"\b(no (?:\w+ "
    r")?(?:effect|evidence|difference|change|association|correlation|influence|relation\w*|role)"
    r"|(?<!whether or )not(?! only| just| merely| yet| fully| well| "
    r"been)|neither|nor|fail(?:s|ed)? to|lack(?:s|ed)? of|unrelated"
    r"|unaffected|unchanged|unlikely|independent(?:ly)? of|rather than)\b",
    re.IGNORECASE,
)


def is_contrary(sentence: str) -> bool:
    """Whether a sentence contains a negation, which may concern something else."""
    return bool(_CONTRARY.search(sentence))


@dataclass(frozen=True)
class _Found:
    evidence: Evidence

    @property
    def order(self) -> tuple[bool, bool, bool]:
        """Names as themselves first, then sentences that say a direction, then titles."""
        relation = self.evidence.relation
        return (
            self.evidence.is_in_longer_name or self.evidence.place is Place.KEYWORDS,
            relation is None or not relation.sign or relation.is_asked,
            self.evidence.place is not Place.TITLE,
        )


class Quoter:
    """Finds sentences in papers that name given concepts."""

    def __init__(self, index: Concepts, papers: PaperReader) -> None:
        self._index = index
        self._papers = papers
        self._relations = RelationReader()

    def newest(
        self, documents: Iterable[int], most: int = CONNECTIONS.papers_quoted
    ) -> list[ReadPaper]:
        """The newest of some papers, read."""
        newest_first = sorted(
            documents, key=lambda document: (-(self._index.year_of(document) or 0), document)
        )[:most]
        found = (self._papers.paper(self._index.id_of(document)) for document in newest_first)
        return [read for read in found if read is not None]

    def quote(
        self,
        documents: Iterable[int],
        concept: int,
        literature: Literature,
        most: int,
        label: str = "",
    ) -> tuple[Evidence, ...]:
        """The best sentences on a concept within a literature: titles first, then the newest.

        Only sentences that name both support the link. Without any, the best sentence that names
        the concept alone is returned, marked with `label`.
        """
        said: list[_Found] = []
        alone: list[_Found] = []
        for read in self.newest(documents):
            found = self._from_paper(read, concept, literature, label or self._index.label(concept))
            if found is not None:
                (said if found.evidence.speaks_of_both else alone).append(found)
        said.sort(key=lambda found: found.order)
        alone.sort(key=lambda found: found.order)
        return tuple(found.evidence for found in said[:most] or alone[:1])

    def signs(
        self, documents: Iterable[int], concept: int, literature: Literature, *, bridge_acts: bool
    ) -> SignCount:
        """What the newest papers say a concept does to a literature's subject, or the reverse."""
        found = (
            self._told_by(read, concept, literature, bridge_acts=bridge_acts)
            for read in self.newest(documents)
        )
        return count_signs(one for one in found if one is not None)

    def acting_on(self, read: ReadPaper, bridge: int) -> dict[int, SentenceRelation]:
        """What a paper says that concepts do to a bridge, one signed relation for each."""
        document = self._index.number_of_document(read.paper.id)
        own = self._names(read, [bridge])
        found: dict[int, SentenceRelation] = {}
        for sentence in read.sentences:
            if not any(f" {name} " in sentence.normal for name in own):
                continue
            if not self._relations.has_any(sentence):
                continue
            for concept in self._index.mentions_of(document) if document is not None else ():
                if concept == bridge or concept in found:
                    continue
                relation = self._relation(
                    sentence, own, self._names(read, [concept]), bridge_acts=False
                )
                if relation is not None and relation.sign:
                    found[concept] = relation
        return found

    def _told_by(
        self, read: ReadPaper, concept: int, literature: Literature, *, bridge_acts: bool
    ) -> SentenceRelation | None:
        # The first signed relation that a paper states in this direction, its title first.
        wanted, own = self._names(read, [concept]), self._own_names(read, literature)
        for sentence in read.sentences:
            relation = self._relation(sentence, wanted, own, bridge_acts=bridge_acts)
            if relation is not None and relation.sign:
                return relation
        return None

    def _relation(
        self,
        sentence: Sentence,
        wanted: Sequence[str],
        own: Sequence[str],
        *,
        bridge_acts: bool | None = None,
    ) -> SentenceRelation | None:
        wanted, own = self._free(sentence, wanted), self._free(sentence, own)
        if not wanted or not own:
            return None
        return self._relations.relation(sentence, wanted, own, bridge_acts=bridge_acts)

    def _free(self, sentence: Sentence, names: Sequence[str]) -> list[str]:
        """The names that a sentence has, less a single word that only heads longer names there.

        `Calcium intake` and `food intake` are intakes, but what is said of one holds for no other.
        """
        return [
            name
            for name in names
            if f" {name} " in sentence.normal
            and (" " in name or not all(self._heads_longer_name(sentence, name)))
        ]

    def _heads_longer_name(self, sentence: Sentence, name: str) -> Iterator[bool]:
        before = ""
        for word in sentence.normal.split():
            if word == name:
                longer = self._index.number(f"{before} {name}") if before else None
                yield longer is not None and self._index.tier(longer) is Tier.END
            before = word

    def _own_names(self, read: ReadPaper, literature: Literature) -> list[str]:
        document = self._index.number_of_document(read.paper.id)
        mentioned = self._index.mentions_of(document) if document is not None else ()
        return self._names(read, [n for n in mentioned if n in literature.concepts])

    def contrary(
        self, documents: Iterable[int], concept: int, literature: Literature, most: int
    ) -> tuple[Evidence, ...]:
        """Sentences that name both and contain a negation."""
        every = self.quote(documents, concept, literature, CONNECTIONS.papers_quoted)
        return tuple(
            evidence for evidence in every if evidence.is_contrary and evidence.speaks_of_both
        )[:most]

    def _from_paper(
        self, read: ReadPaper, concept: int, literature: Literature, label: str
    ) -> _Found | None:
        # The paper's best sentence, with what it is ordered by.
        document = self._index.number_of_document(read.paper.id)
        own = self._own_names(read, literature)
        wanted = self._names(read, [concept])
        alone: _Found | None = None
        both: _Found | None = None
        for sentence in read.sentences:
            named = self._named(sentence, wanted)
            if named is None:
                continue
            other = self._named(sentence, own)
            evidence = Evidence(
                read.paper.id,
                read.paper.year,
                sentence.place,
                sentence.number,
                sentence.text,
                other is not None,
                is_contrary(sentence.text),
                "" if other is not None else label,
                named or bool(other),
                None if other is None else self._relation(sentence, wanted, own),
            )
            found = _Found(evidence)
            if other is None:
                alone = alone or found
            elif both is None or found.order < both.order:
                both = found
        return both or alone or self._from_keywords(read, document, concept, label)

    def _names(self, read: ReadPaper, numbers: Iterable[int]) -> list[str]:
        """Every name of some concepts, and the short forms that the paper has for them."""
        return [
            name
            for number in numbers
            for form in self._index.forms(number)
            for name in read.names_of(form)
        ]

    def _from_keywords(
        self, read: ReadPaper, document: int | None, concept: int, label: str
    ) -> _Found | None:
        if document is None or concept not in self._index.names_of(document):
            return None
        words = "; ".join((*read.paper.keywords, *read.paper.headings))
        return _Found(
            Evidence(read.paper.id, read.paper.year, Place.KEYWORDS, 0, words, False, False, label)
        )

    def _named(self, sentence: Sentence, keys: Sequence[str]) -> bool | None:
        # None where no key is named; else whether all that is named is the first part of longer
        # names.
        found: bool | None = None
        for key in keys:
            if f" {key} " in sentence.normal and not _is_part_of_a_method(
                self._index, sentence, key
            ):
                found = _is_part_of_a_longer_name(self._index, sentence, key) and found is not False
        vocabulary = self._index.vocabulary
        if found is None and vocabulary is not None:
            wanted = set(keys)
            if any(key in wanted for _, _, key in vocabulary.matches(sentence.normal.split())):
                return False
        return found


def _is_part_of_a_method(index: Concepts, sentence: Sentence, key: str) -> bool:
    """Whether a sentence has the name only within names of methods (`calcium imaging`)."""
    return all(is_method_name(longer) for longer in _longer_names(index, sentence, key))


def _is_part_of_a_longer_name(index: Concepts, sentence: Sentence, key: str) -> bool:
    """Whether a sentence has the name only as the beginning of longer names in the index."""
    return all(_longer_names(index, sentence, key))


def _longer_names(index: Concepts, sentence: Sentence, key: str) -> Iterator[str]:
    # For every place the name stands in: the longer name that begins with it, or nothing.
    place = sentence.normal.find(f" {key} ")
    while place >= 0:
        following = sentence.normal[place + len(key) + 2 :].split(" ", 2)
        names = (f"{key} {' '.join(following[:count])}".rstrip() for count in (2, 1))
        yield next((name for name in names if name != key and _is_known(index, name)), "")
        place = sentence.normal.find(f" {key} ", place + 1)


def _is_known(index: Concepts, name: str) -> bool:
    number = index.number(name)
    if number is None:
        return False
    return index.standing(number) is Standing.TERM or index.named_in(number) > 1


class EffectReader:
    """Finds signed bridges of a start and what acts on them; cached."""

    def __init__(self, index: Concepts, quoter: Quoter) -> None:
        self._index = index
        self._quoter = quoter
        self._signs: dict[tuple[object, ...], SignCount] = {}
        self._acting: dict[int, dict[int, SignCount]] = {}
        self._effects: dict[tuple[object, ...], dict[int, float]] = {}

    def signs(self, concept: int, literature: Literature, *, bridge_acts: bool) -> SignCount:
        """What papers on both say a concept does to a literature's subject, or the reverse."""
        key = concept, literature.label, literature.concepts, bridge_acts
        known = self._signs.get(key)
        if known is None:
            both = literature.documents.intersection(self._index.documents(concept))
            known = self._signs[key] = self._quoter.signs(
                both, concept, literature, bridge_acts=bridge_acts
            )
        return known

    def effects(
        self, start: Literature, counts: Counter[int], can_bridge: Callable[[int], bool]
    ) -> dict[int, float]:
        """By concept: what it does to the start over signed bridges and directly, -: lowers."""
        key = start.label, start.concepts
        if key not in self._effects:
            total: dict[int, float] = defaultdict(float)
            for bridge in self._most_used(start, counts, can_bridge):
                weight = self.signs(bridge, start, bridge_acts=True).weight
                if weight:
                    total[bridge] += CONNECTIONS.direct_counts * weight
                    for concept, signs in self._acting_on(bridge).items():
                        total[concept] += weight * signs.weight
            self._effects[key] = {
                number: effect for number, effect in total.items() if not self._is_operation(number)
            }
        return self._effects[key]

    def _most_used(
        self, start: Literature, counts: Counter[int], can_bridge: Callable[[int], bool]
    ) -> list[int]:
        own = {word for number in start.concepts for word in self._words(number)}
        found: list[int] = []
        for number, _ in counts.most_common():
            if len(found) == CONNECTIONS.bridges_read_for_sign:
                break
            if number in start.concepts or own.issuperset(self._words(number)):
                continue
            if can_bridge(number) and not self._is_operation(number):
                found.append(number)
        return found

    def _words(self, number: int) -> list[str]:
        return self._index.key(number).split(" ")

    def _is_operation(self, number: int) -> bool:
        lexicon = standard_lexicon()
        return all(
            word in lexicon.lowering_nouns or word in lexicon.unknown or word in lexicon.aspects
            for word in self._index.label(number).lower().split(" ")
        )

    def _acting_on(self, bridge: int) -> dict[int, SignCount]:
        known = self._acting.get(bridge)
        if known is None:
            said: dict[int, list[SentenceRelation]] = defaultdict(list)
            for read in self._quoter.newest(
                self._index.documents(bridge), CONNECTIONS.papers_on_bridge
            ):
                for concept, relation in self._quoter.acting_on(read, bridge).items():
                    said[concept].append(relation)
            known = {concept: count_signs(found) for concept, found in said.items()}
            self._acting[bridge] = known
        return known
