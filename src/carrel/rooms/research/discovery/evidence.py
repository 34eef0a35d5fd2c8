"""The sentences that say it: evidence is quoted from papers, never worded anew."""

import re
from collections.abc import Iterable, Iterator

from carrel.rooms.research.discovery.connections import Evidence, Place
from carrel.rooms.research.discovery.index import ConceptIndex
from carrel.rooms.research.discovery.literatures import Literature
from carrel.rooms.research.discovery.ports import Corpus
from carrel.rooms.research.discovery.records import Paper
from carrel.rooms.research.discovery.words import normal_phrase

PAPERS_READ = 12

_SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\bal)(?<!\bFig)(?<!\b[A-Z])([.!?])\s+(?=[A-Z0-9(\[“\"])")
_CONTRARY = re.compile(
    r"\b(no (?:\w+ )?(?:effect|evidence|difference|change|association|correlation|influence|relation\w*|role)"
    r"|not|neither|nor|fail(?:s|ed)? to|lack(?:s|ed)? of|unrelated|unaffected|unchanged|unlikely"
    r"|independent(?:ly)? of|rather than)\b",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """A text cut into its sentences, each exactly as written."""
    marked = _SENTENCE_END.sub(lambda found: found[1] + "\n", text.strip())
    return [sentence.strip() for sentence in marked.split("\n") if sentence.strip()]


def is_contrary(sentence: str) -> bool:
    """Whether a sentence denies something: read with care, since it may deny something else."""
    return bool(_CONTRARY.search(sentence))


class Quoter:
    """Finds in papers the sentences that speak of concepts."""

    def __init__(self, index: ConceptIndex, corpus: Corpus) -> None:
        self._index = index
        self._corpus = corpus

    def quote(self, documents: Iterable[int], concept: int, literature: Literature, most: int) -> tuple[Evidence, ...]:
        """The best sentences on a concept within a literature: those that name both, then titles, then the newest."""
        newest_first = sorted(documents, key=lambda document: (-(self._index.year_of(document) or 0), document))
        found: list[Evidence] = []
        for document in newest_first[:PAPERS_READ]:
            quoted = self._from_paper(document, concept, literature)
            if quoted is not None:
                found.append(quoted)
        found.sort(key=lambda evidence: (not evidence.speaks_of_both, evidence.place is not Place.TITLE))
        return tuple(found[:most])

    def contrary(self, documents: Iterable[int], concept: int, literature: Literature, most: int) -> tuple[Evidence, ...]:
        """Sentences that name both and deny something."""
        every = self.quote(documents, concept, literature, PAPERS_READ)
        return tuple(evidence for evidence in every if evidence.is_contrary and evidence.speaks_of_both)[:most]

    def _from_paper(self, document: int, concept: int, literature: Literature) -> Evidence | None:
        paper = self._corpus.paper(self._index.id_of(document))
        if paper is None:
            return None
        shared = [number for number in self._index.mentioned(document) if number in literature.concepts]
        own = [form for number in shared for form in self._index.forms(number)]
        wanted = self._index.forms(concept)
        first: Evidence | None = None
        for place, number, sentence in _places(paper):
            if not self._names(sentence, wanted):
                continue
            both = self._names(sentence, own)
            evidence = Evidence(paper.id, paper.year, place, number, sentence, both, is_contrary(sentence))
            if both:
                return evidence
            first = first or evidence
        if first is None and concept in self._index.named(document):
            first = Evidence(paper.id, paper.year, Place.KEYWORDS, 0, "; ".join((*paper.keywords, *paper.headings)), False, False)
        return first

    def _names(self, sentence: str, keys: Iterable[str]) -> bool:
        normal = f" {normal_phrase(sentence)} "
        wanted = set(keys)
        if any(f" {key} " in normal for key in wanted):
            return True
        vocabulary = self._index.vocabulary
        return vocabulary is not None and any(key in wanted for _, _, key in vocabulary.matches(normal.split()))


def _places(paper: Paper) -> Iterator[tuple[Place, int, str]]:
    yield Place.TITLE, 0, paper.title
    for number, sentence in enumerate(sentences(paper.abstract), start=1):
        yield Place.ABSTRACT, number, sentence
