"""Claim checking: statements of a text against the sentences of papers, for and against."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from carrel.core.caller import Call
from carrel.core.errors import InsufficientPermissionsError, InvalidInputError
from carrel.libraries.claims import (
    TITLE,
    Finding,
    PaperText,
    RankedSentence,
    Relation,
    Stance,
    Statement,
    StatementCheck,
    Verdict,
    check_statement,
    rank_sentences,
    split_statements,
)
from carrel.rooms.research.claim_models import (
    CheckClaim,
    CheckedStatement,
    CitedWorkVerdict,
    ClaimChecked,
    QuotedSentence,
)
from carrel.rooms.research.claim_search import (
    CitedWork,
    ClaimSearch,
    ReadPaper,
    ReadPapers,
    SentencePlace,
)
from carrel.rooms.research.drafts import DraftSentence, read_draft
from carrel.rooms.research.errors import (
    CitedWorkNotFoundError,
    CorpusEmptyError,
    NoStatementError,
    PaperToReadNotFoundError,
)
from carrel.rooms.research.ports import DeskTexts, FoundPassage

# Statements of one text that are checked in one call; the rest is named.
MAX_STATEMENTS = 12
# Further statements, and citations that lead nowhere, that are named.
_MOST_UNCHECKED = 50
# Works that are looked up for the citations of one text.
_MOST_CITED = 40
# Sentences that are shown on each side, and below both.
_SHOWN_PER_SIDE = 5
_SHOWN_BEARING = 5
# Sentences that a mind is given to choose from.
_CANDIDATE_SENTENCES = 12
# A sentence with this share of a statement comes so near that papers are not silent. Of 120 claims
# of SciFact 78 % have such a sentence in the papers read, of 80 read against the papers of other
# claims 1 %.
_NEAR_COVERAGE = 0.4
_NOTE = re.compile(r"(?:\[\[)?note:([A-Za-z0-9_-]{1,128})(?:\]\])?")


@dataclass(frozen=True, slots=True)
class StatementEvidence:
    """What a mind decides a statement from: the papers read and the sentences that come nearest."""

    statement: Statement
    read: ReadPapers
    check: StatementCheck

    @property
    def candidates(self) -> list[QuotedSentence]:
        """The sentences nearest to the statement, best first, whatever the classifier says."""
        judged = {
            (each.sentence.paper_id, each.sentence.number): each
            for each in (*self.check.supporting, *self.check.contradicting, *self.check.bearing)
        }
        papers = {each.text.paper_id: each for each in self.read.papers}
        ranked = rank_sentences(self.statement, [each.text for each in self.read.papers])
        return [
            quote_sentence(
                papers[each.paper_id], each.number, judged.get((each.paper_id, each.number))
            )
            for each in ranked[:_CANDIDATE_SENTENCES]
        ]

    @property
    def passages(self) -> list[FoundPassage]:
        """The passages that hold the candidates, each once, with the sentences that were read."""
        texts: dict[str, list[str]] = {}
        places: dict[str, tuple[ReadPaper, int]] = {}
        for paper in self.read.papers:
            for number, place in enumerate(paper.places):
                if place.passage_id is not None:
                    texts.setdefault(place.passage_id, []).append(paper.text.sentences[number])
                    places.setdefault(place.passage_id, (paper, number))
        wanted = dict.fromkeys(
            each.passage_id for each in self.candidates if each.passage_id is not None
        )
        return [
            FoundPassage(
                passage_id,
                places[passage_id][0].text.paper_id,
                places[passage_id][0].places[places[passage_id][1]].section,
                places[passage_id][0].places[places[passage_id][1]].page,
                " ".join(texts[passage_id]),
            )
            for passage_id in wanted
        ]


class ClaimChecks:
    """Checks texts against the papers of the corpus and the works that they cite."""

    def __init__(self, search: ClaimSearch, desk: DeskTexts) -> None:
        self._search = search
        self._desk = desk

    async def check(self, question: CheckClaim, call: Call) -> ClaimChecked:
        """Every statement of a text or note, up to a bound; errors for what is named and not here.

        Raises CorpusEmptyError, NoStatementError, PaperToReadNotFoundError, CitedWorkNotFoundError.
        """
        text, note_id = question.text, None
        if named := _NOTE.fullmatch(text.strip()):
            note_id = named[1]
            text = "\n\n".join(await self._desk.note(note_id, call))
        within = await self._find_papers(question.within)
        cited = [await self._find_cited(name, call) for name in question.cited]
        papers = await self._require_papers(any(each.work for each in cited))
        # Where some papers are named, the others are not searched.
        papers = len(within) or papers
        sentences = read_draft(text)
        works, not_found = await self._find_draft_works(sentences, call)
        asked = _list_statements(sentences)
        if not asked:
            raise NoStatementError(question.text)
        checked = []
        for statement, names in asked[:MAX_STATEMENTS]:
            own = [works[name] for name in names if name in works]
            evidence = await self._gather(statement, within, [*cited, *own])
            checked.append(await asyncio.to_thread(describe_check, evidence, papers))
        unchecked = [statement.text for statement, _ in asked[MAX_STATEMENTS:]]
        return ClaimChecked(
            message=_summarize(checked, len(unchecked), papers),
            statements=checked,
            unchecked=unchecked[:_MOST_UNCHECKED],
            not_found=not_found[:_MOST_UNCHECKED],
            note_id=note_id,
        )

    async def check_statements(
        self, texts: Sequence[str], cited: Sequence[str], count: int
    ) -> list[CheckedStatement]:
        """The first statements of some texts; works named in `cited` that are not here are passed.

        Raises CorpusEmptyError.
        """
        papers = await self._require_papers(False)
        evidence = await self.gather_evidence(texts, cited, count)
        return [await asyncio.to_thread(describe_check, each, papers) for each in evidence]

    async def gather_evidence(
        self, texts: Sequence[str], cited: Sequence[str] = (), count: int = MAX_STATEMENTS
    ) -> list[StatementEvidence]:
        """For each of the first statements: the papers read, their passages, and what is nearest.

        For a mind that decides itself, from the same evidence as the classifier.
        """
        ids = await self._search.find_ids(list(cited))
        works = [
            CitedWork(name, paper_id)
            for name, paper_id in zip(cited, ids, strict=True)
            if paper_id is not None
        ]
        statements = {
            statement.text.casefold(): statement
            for text in texts
            for statement in split_statements(text)
        }
        return [
            await self._gather(statement, (), works) for statement in [*statements.values()][:count]
        ]

    async def _gather(
        self, statement: Statement, within: Sequence[str], cited: Sequence[CitedWork]
    ) -> StatementEvidence:
        read = await self._search.read(statement, within, cited)
        check = await asyncio.to_thread(
            check_papers, statement, [each.text for each in read.papers]
        )
        return StatementEvidence(statement, read, check)

    async def _require_papers(self, has_other_texts: bool) -> int:
        count = await self._search.count_papers()
        if not count and not has_other_texts:
            raise CorpusEmptyError(
                "There are no papers yet to check it against",
                next_step="Add papers on it: add_paper adds the first.",
            )
        return count

    async def _find_papers(self, names: Sequence[str]) -> list[str]:
        found = await self._search.find_ids(names) if names else []
        missing = [name for name, paper_id in zip(names, found, strict=True) if paper_id is None]
        if missing:
            raise PaperToReadNotFoundError(missing)
        return list(dict.fromkeys(one for one in found if one is not None))

    async def _find_cited(self, name: str, call: Call) -> CitedWork:
        """A paper of the corpus, else a reference; raises CitedWorkNotFoundError."""
        found = await self._find_work(name, call)
        if found is None:
            raise CitedWorkNotFoundError(name)
        return found

    async def _find_work(self, name: str, call: Call) -> CitedWork | None:
        [paper_id] = await self._search.find_ids([name])
        if paper_id is not None:
            return CitedWork(name, paper_id)
        work = await self._desk.find_reference(name, call)
        if work is None:
            return None
        for known in await self._search.find_ids(work.identifiers):
            if known is not None:
                return CitedWork(name, known)
        if not work.text:
            raise InvalidInputError(
                f"{name}: the library has neither an abstract nor a text of it, and the corpus has "
                "not the paper",
                next_step="Add the paper with add_paper, attach its text with attach_fulltext, or "
                "add the abstract with edit_reference.",
                details={"cited": name},
            )
        return CitedWork(name, None, work)

    async def _find_draft_works(
        self, sentences: Sequence[DraftSentence], call: Call
    ) -> tuple[dict[str, CitedWork], list[str]]:
        """The works that a draft's own marks cite, and the marks that name nothing readable."""
        works: dict[str, CitedWork] = {}
        named = dict.fromkeys(name for each in sentences for name in each.cited)
        not_found = [*named][_MOST_CITED:]
        for name in [*named][:_MOST_CITED]:
            try:
                found = await self._find_work(name, call)
            except (InvalidInputError, InsufficientPermissionsError):
                found = None
            if found is None:
                not_found.append(name)
            else:
                works[name] = found
        return works, not_found


def _list_statements(
    sentences: Sequence[DraftSentence],
) -> list[tuple[Statement, tuple[str, ...]]]:
    found: dict[str, tuple[Statement, tuple[str, ...]]] = {}
    for sentence in sentences:
        for statement in split_statements(sentence.text):
            found.setdefault(statement.text.casefold(), (statement, sentence.cited))
    return list(found.values())


def check_papers(statement: Statement, papers: Sequence[PaperText]) -> StatementCheck:
    """The verdict of the papers; silent only where nothing is near."""
    found = check_statement(statement, papers)
    if found.verdict is not Verdict.SILENT:
        return found
    near = [each for each in rank_sentences(statement, papers) if each.coverage >= _NEAR_COVERAGE]
    if not near:
        return found
    bearing = tuple(Finding(each, _judge_near(each)) for each in near[:_SHOWN_BEARING])
    reason = f"{found.papers_read} papers read: none is sure to bear on it, {len(near)} come near"
    return replace(found, verdict=Verdict.UNDECIDED, bearing=bearing, reasons=(reason,))


def _judge_near(sentence: RankedSentence) -> Stance:
    share = f"it has {sentence.coverage:.0%} of the statement, which is not enough to be sure"
    return Stance(Relation.BEARS_ON, round(sentence.coverage, 3), (share,))


def describe_check(evidence: StatementEvidence, papers_searched: int) -> CheckedStatement:
    """The verdict with its sentences, for and against, and what was searched and read."""
    check, papers = evidence.check, {each.text.paper_id: each for each in evidence.read.papers}

    def quote(findings: Sequence[Finding], count: int) -> list[QuotedSentence]:
        chosen = sorted(_spread(findings)[:count], key=lambda each: -each.stance.confidence)
        return [
            quote_sentence(papers[each.sentence.paper_id], each.sentence.number, each)
            for each in chosen
        ]

    supporting = quote(check.supporting, _SHOWN_PER_SIDE)
    contradicting = quote(check.contradicting, _SHOWN_PER_SIDE)
    bearing = quote(check.bearing, _SHOWN_BEARING)
    shown = {each.paper_id for each in (*supporting, *contradicting, *bearing)}
    deciding = {
        "supports": supporting[:1],
        "contradicts": contradicting[:1],
        "mixed": sorted(supporting[:1] + contradicting[:1], key=lambda each: -each.confidence)[:1],
    }.get(check.verdict.value, [])
    return CheckedStatement(
        statement=check.statement.text,
        verdict=check.verdict.value,
        message=_explain(check, papers_searched),
        deciding=deciding[0] if deciding else None,
        supporting=supporting,
        contradicting=contradicting,
        bearing=bearing,
        nearest=_find_nearest(evidence, shown),
        cited=[
            _judge_alone(check.statement, each)
            for each in evidence.read.papers
            if each.cited_as is not None
        ],
        searched_for=list(evidence.read.queries),
        papers_searched=papers_searched,
        papers_read=list(papers),
    )


def _spread(findings: Sequence[Finding]) -> list[Finding]:
    """The surest finding of each paper, then the others."""
    surest = sorted(findings, key=lambda each: -each.stance.confidence)
    first = {each.sentence.paper_id: each for each in reversed(surest)}
    return [*first.values(), *(each for each in surest if each not in first.values())]


def _find_nearest(evidence: StatementEvidence, shown: set[str]) -> list[QuotedSentence]:
    """The best sentence of each paper that was read and is not shown yet."""
    papers = {each.text.paper_id: each for each in evidence.read.papers}
    best: dict[str, QuotedSentence] = {}
    for each in rank_sentences(evidence.statement, [one.text for one in papers.values()]):
        if each.paper_id not in shown and each.paper_id not in best:
            best[each.paper_id] = quote_sentence(papers[each.paper_id], each.number, None)
    return list(best.values())


def quote_sentence(paper: ReadPaper, number: int, finding: Finding | None) -> QuotedSentence:
    """A sentence of a paper with its place; without a finding it is not judged."""
    is_title = number == TITLE
    place = SentencePlace(None, "title", None) if is_title else paper.places[number]
    return QuotedSentence(
        paper_id=paper.text.paper_id,
        title=paper.text.title,
        year=paper.year,
        passage_id=place.passage_id,
        section=place.section,
        page=place.page,
        sentence=paper.text.title if is_title else paper.text.sentences[number],
        confidence=0.0 if finding is None else round(finding.stance.confidence, 3),
        reasons=[] if finding is None else list(finding.stance.reasons),
    )


def _judge_alone(statement: Statement, paper: ReadPaper) -> CitedWorkVerdict:
    alone = check_papers(statement, [paper.text])
    return CitedWorkVerdict(
        name=paper.cited_as or "",
        title=paper.text.title,
        verdict=alone.verdict.value,
        paper_id=paper.text.paper_id if paper.is_in_corpus else None,
    )


def _explain(check: StatementCheck, papers_searched: int) -> str:
    reasons = "; ".join(check.reasons)
    searched = f"{_count_papers(papers_searched)} searched"
    return f"{searched}, {reasons}." if reasons else f"{searched}."


def _count_papers(count: int) -> str:
    return f"{count:,} paper{'' if count == 1 else 's'}"


def _summarize(checked: Sequence[CheckedStatement], unchecked: int, papers: int) -> str:
    counts = {
        verdict: sum(one.verdict == verdict for one in checked)
        for verdict in ("supports", "contradicts", "mixed", "undecided", "silent")
    }
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    statements = f"{len(checked)} statement{'' if len(checked) == 1 else 's'}"
    rest = f" {unchecked} more are in unchecked: give them in another call." if unchecked else ""
    return f"{statements} checked against {_count_papers(papers)}: {told}.{rest}"
