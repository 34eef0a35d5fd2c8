"""What a reviewer needs beside the hypotheses: evidence, who did what, cost, how to repeat."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from carrel import __version__
from carrel.libraries.discovery.connections.candidates import CandidateConnection, Evidence
from carrel.rooms.research.claim_models import CheckedStatement, QuotedSentence
from carrel.rooms.research.goal_reading import infer_domain
from carrel.rooms.research.outside_models import OutsideLooks, describe_look
from carrel.rooms.research.ports import EvidencePassages
from carrel.rooms.research.records import (
    AgentOutput,
    Event,
    Hypothesis,
    MatchPlayed,
    Project,
    Review,
    SafetyRecord,
    StepDone,
    UnderstoodAs,
)


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a paper, word for word, where it stands, and the passage that holds it."""

    paper_id: str
    place: str
    sentence: str
    passage_id: str | None = None

    @property
    def mark(self) -> str:
        """The place with the part of the passage's id behind that of its paper."""
        _, sign, last = (self.passage_id or "").rpartition("~")
        return ", ".join(filter(None, (self.place, f"{sign}{last}")))


@dataclass(frozen=True, slots=True)
class StatementEvidence:
    """A statement with what speaks for it, against it, and of it without taking a side."""

    statement: str
    verdict: str
    supporting: tuple[Quote, ...] = ()
    contradicting: tuple[Quote, ...] = ()
    bearing: tuple[Quote, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A part of the report as rows of a label and a text."""

    heading: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """All that the last sections of a report are written from; `corpus` is papers and signature."""

    project: Project
    hypotheses: Sequence[Hypothesis] = ()
    reviews: Sequence[Review] = ()
    matches: Sequence[MatchPlayed] = ()
    outputs: Sequence[AgentOutput] = ()
    events: Sequence[Event] = ()
    safety: Sequence[SafetyRecord] = ()
    steps: Sequence[StepDone] = ()
    reading: UnderstoodAs | None = None
    corpus: tuple[int, str] | None = None


def list_evidence(hypothesis: Hypothesis, reviews: Sequence[Review]) -> list[StatementEvidence]:
    """The statements that a hypothesis rests on and those that reviews checked, with sentences."""
    found: list[StatementEvidence] = []
    draft, connection = hypothesis.draft, hypothesis.draft.connection
    if draft.passages:
        quotes = [
            Quote(each.paper_id, each.section, " ".join(each.text.split()), each.id)
            for each in draft.passages
        ]
        cited = f"{len(quotes)} {'passage' if len(quotes) == 1 else 'passages'} cited by its author"
        found.append(StatementEvidence(draft.title, cited, bearing=tuple(quotes)))
    if connection is not None:
        found.extend(_linked(connection))
    own = [one for one in reviews if one.hypothesis_id == hypothesis.id]
    checked = {each.statement: each for one in own for each in one.statements}
    found.extend(map(_checked, checked.values()))
    return found


async def add_passages(
    evidence: Sequence[StatementEvidence], passages: EvidencePassages
) -> list[StatementEvidence]:
    """The evidence with the passage of every quotation that has none yet."""
    known: dict[tuple[str, str], str | None] = {}

    async def find(quote: Quote) -> Quote:
        # A title is no passage, and the texts of references are not of the corpus.
        if quote.passage_id or quote.place == "title" or quote.paper_id.startswith("ref:"):
            return quote
        key = quote.paper_id, quote.sentence
        if key not in known:
            found = await passages.find(*key)
            known[key] = None if found is None else found.passage_id
        return replace(quote, passage_id=known[key])

    return [
        replace(
            one,
            supporting=tuple([await find(quote) for quote in one.supporting]),
            contradicting=tuple([await find(quote) for quote in one.contradicting]),
            bearing=tuple([await find(quote) for quote in one.bearing]),
        )
        for one in evidence
    ]


def quoted_papers(evidence: Iterable[StatementEvidence]) -> list[str]:
    """The papers whose sentences are shown, each once."""
    quotes = (
        quote for one in evidence for quote in (*one.supporting, *one.contradicting, *one.bearing)
    )
    return list(dict.fromkeys(quote.paper_id for quote in quotes))


def _linked(connection: CandidateConnection) -> Iterable[StatementEvidence]:
    start, end = connection.start.label, connection.end.label
    for bridge in connection.every_bridge:
        name = bridge.concept.label
        for one, other, evidence, papers in (
            (start, name, bridge.near_evidence, bridge.near_documents),
            (name, end, bridge.far_evidence, bridge.far_documents),
        ):
            both = [each for each in evidence if each.speaks_of_both]
            yield StatementEvidence(
                f"{one} is linked to {other}",
                f"{papers:,} {'paper names' if papers == 1 else 'papers name'} both",
                tuple(_quote(each) for each in both if not each.is_contrary),
                tuple(_quote(each) for each in both if each.is_contrary),
                tuple(_quote(each) for each in evidence if not each.speaks_of_both),
            )
    novelty = connection.novelty
    yield StatementEvidence(
        f"{start} and {end} have not been studied together",
        f"{novelty.direct_documents:,} of {novelty.documents_searched:,} papers searched name both",
        contradicting=tuple(map(_quote, novelty.direct_evidence)),
    )


def _quote(evidence: Evidence) -> Quote:
    place = evidence.place.value
    if evidence.sentence_number:
        place = f"abstract, sentence {evidence.sentence_number}"
    return Quote(evidence.document_id, place, evidence.sentence)


def _checked(statement: CheckedStatement) -> StatementEvidence:
    read = len(statement.papers_read)
    searched = statement.papers_searched
    return StatementEvidence(
        statement.statement,
        f"{statement.verdict}; {read} {'paper' if read == 1 else 'papers'} read"
        f"{f' of {searched:,} searched' if searched else ''}",
        tuple(map(_sentence, statement.supporting)),
        tuple(map(_sentence, statement.contradicting)),
        tuple(map(_sentence, statement.bearing)),
    )


def _sentence(quoted: QuotedSentence) -> Quote:
    page = f"page {quoted.page}" if quoted.page else ""
    place = ", ".join(filter(None, (quoted.section, page)))
    return Quote(quoted.paper_id, place, quoted.sentence, quoted.passage_id)


def describe_run(record: RunRecord) -> list[ReportSection]:
    """Who did what, what it cost, what was searched and left out, and how to repeat it."""
    sections = (
        ReportSection("Who made and judged what", tuple(_who(record))),
        ReportSection("Cost", tuple(_cost(record))),
        ReportSection("What was searched, and what was left out", tuple(_searched(record))),
        ReportSection("How to repeat it", tuple(_repeat(record))),
    )
    return [section for section in sections if section.rows]


def _who(record: RunRecord) -> Iterable[tuple[str, str]]:
    if record.project.mind is not None:
        yield "Mind", record.project.mind
    for label, names in (
        ("Hypotheses", (one.draft.origin for one in record.hypotheses)),
        ("Reviews", (one.reviewer for one in record.reviews)),
        ("Matches", (one.judged_by or "not written down" for one in record.matches)),
    ):
        counts = Counter(names)
        if counts:
            yield label, "; ".join(f"{name}: {count}" for name, count in counts.most_common())
    for one in record.hypotheses:
        decision = one.decision
        if decision.approval != "undecided":
            why = f": {decision.reason}" if decision.reason else ""
            when = f" on {decision.at[:10]}" if decision.at else ""
            yield (
                f"{decision.approval.capitalize()} by {decision.by or 'a person'}{when}",
                f"{one.draft.title}{why}",
            )


def _cost(record: RunRecord) -> Iterable[tuple[str, str]]:
    calls = [one for one in record.outputs if one.is_model_call]
    tokens = sum(one.input_tokens for one in calls), sum(one.output_tokens for one in calls)
    yield (
        "Model calls",
        f"{len(calls)}, {tokens[0]:,} tokens in and {tokens[1]:,} out, "
        f"{sum(one.cost for one in calls):.4f} in the currency of the settings"
        if calls
        else "none of ours; what a caller's assistant cost is known to its owner",
    )
    seconds = sum(step.seconds for step in record.steps)
    yield "Work", f"{len(record.steps)} steps in {seconds:,.1f} seconds"


def _searched(record: RunRecord) -> Iterable[tuple[str, str]]:
    if record.corpus is not None:
        yield "Papers", f"{record.corpus[0]:,} in the corpus when this was written"
    reading = record.reading
    if reading is not None:
        yield "The goal, as it was read", reading.says
        for label, names in (
            ("Not found in the papers", reading.not_found),
            ("Words without effect", reading.ignored),
        ):
            if names:
                yield label, "; ".join(names)
    findings = (one.finding for one in record.outputs)
    looks = [look for one in findings if isinstance(one, OutsideLooks) for look in one.looks]
    for look in looks:
        yield "Looked outside", describe_look(look)
    if record.project.looks_outside and not looks:
        yield "Looked outside", "not yet"
    left = [one for one in record.events if one.kind in {"exhausted", "avoided"}]
    for says in dict.fromkeys(one.reason or one.says for one in left):
        yield "Not proposed", says
    for one in record.safety:
        if not one.is_allowed:
            yield "Refused as unsafe", f"{one.text} ({one.reason})"
    removed = sum(one.draft.removed_citations for one in record.hypotheses)
    if removed:
        yield "Citations removed", f"{removed} of papers that were not retrieved"
    unsettled = [one for one in record.hypotheses if not one.rating.match_count]
    if unsettled:
        yield "Never compared", "; ".join(one.draft.title for one in unsettled)


def _repeat(record: RunRecord) -> Iterable[tuple[str, str]]:
    project = record.project
    yield "Version", f"carrel {__version__}"
    if record.corpus is not None:
        yield "Corpus", f"{record.corpus[0]:,} papers, signature {record.corpus[1]}"
    yield "Goal", project.goal
    yield (
        "Settings",
        f"{project.hypothesis_count} hypotheses, domain {project.domain}, seed {project.seed} "
        f"(from the project's id: it draws pairs and who is shown first; another run has another)",
    )
    is_given = project.domain != infer_domain(project.goal)
    domain = f" --domain {shlex.quote(project.domain)}" if is_given else ""
    minds = sorted({one.mind for one in record.outputs if one.mind})
    if minds:
        yield "Minds", ", ".join(minds)
    yield (
        "Command",
        f"carrel research start {shlex.quote(project.goal)} --hypothesis-count "
        f"{project.hypothesis_count}{domain}{' --look-outside' if project.looks_outside else ''}",
    )
    yield "Every step", f"carrel research export {project.id} --format json"


def write_record_markdown(record: RunRecord) -> list[str]:
    """The sections as parts of a Markdown page."""
    parts = []
    for section in describe_run(record):
        parts.append(f"## {section.heading}")
        parts.append("\n".join(f"- **{label}**: {text}" for label, text in section.rows))
    return parts


def write_evidence_markdown(evidence: Sequence[StatementEvidence]) -> list[str]:
    """Each statement with its sentences, for and against."""
    parts = []
    for one in evidence:
        lines = [f"- {one.statement} ({one.verdict})"]
        for side, quotes in (
            ("for", one.supporting),
            ("against", one.contradicting),
            ("bears on it", one.bearing),
        ):
            lines.extend(
                f"  - {side}: “{quote.sentence}” `{quote.passage_id or quote.paper_id}`"
                f"{f', {quote.place}' if quote.place else ''}"
                for quote in quotes
            )
        if len(lines) == 1:
            lines.append("  - no sentence for or against")
        parts.append("\n".join(lines))
    return parts
