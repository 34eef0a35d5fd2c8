"""Carries out corrections of papers, and tells their history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from carrel.core.errors import InvalidInputError
from carrel.core.progress import NoProgress
from carrel.libraries.csl.schema import ITEM_TYPES
from carrel.rooms.papers.building.decision_desk import (
    DecisionDesk,
    DecisionDraft,
    DecisionResult,
    PublishedRecords,
    source_name,
)
from carrel.rooms.papers.building.decisions import Decision, FieldChange, FieldValue
from carrel.rooms.papers.building.paper_groups import RecordJoin
from carrel.rooms.papers.building.paper_keys import find_year
from carrel.rooms.papers.building.paper_records import CITED_FIELDS
from carrel.rooms.papers.building.papers import shown_name
from carrel.rooms.papers.building.service import PaperBuilder
from carrel.rooms.papers.correction_models import (
    RECORD_FIELDS,
    CorrectedPaper,
    EditPaper,
    HistoryRecord,
    PaperCorrected,
    PaperHistory,
    PaperHistoryOf,
    ShownChange,
    ShownDecision,
    ShownJoin,
)

_MAX_DECISIONS = 10_000
_NO_NAMES: Mapping[str, str] = {}
_SHOWN_KEYS = ("doi:", "arxiv:", "pmid:", "pmcid:", "bib:")


def correct_paper(builder: PaperBuilder, question: EditPaper, who: str) -> PaperCorrected:
    """Do what was asked, or with dry_run say what would come of it."""
    merged: list[PublishedRecords] = []

    def make(desk: DecisionDesk) -> DecisionDraft:
        draft = _draft(question, desk)
        if draft.action == "merge":
            merged.extend(desk.find(each.paper_id) for each in draft.papers)
        return draft

    decided = builder.decide(who, make, NoProgress(), is_rehearsal=question.dry_run)
    number, decision = decided.number, decided.decision
    hidden = _find_hidden_texts(merged, decided)
    undo = f"edit_paper(action=undo, number={number}), or carrel papers undo {number}, undoes it."
    return PaperCorrected(
        action=decision.action,
        message=_describe(decision, is_done=not question.dry_run, names=question.given_names())
        + (_describe_merge(hidden) if merged else ""),
        decision=None if question.dry_run else number,
        dry_run=question.dry_run,
        papers=_show_papers(decided),
        changes=_show_changes(
            _find_merge_changes(merged, decided) or decision.changes, question.given_names()
        ),
        hidden_texts=hidden,
        next_step="Call again without dry_run to do it." if question.dry_run else undo,
    )


def _find_merge_changes(
    merged: Sequence[PublishedRecords], decided: DecisionResult
) -> list[FieldChange]:
    """What the paper that is named first in a merge says otherwise after it."""
    after = next(
        (p.record for p in decided.papers if merged and p.paper_id == merged[0].paper_id), None
    )
    if after is None:
        return []
    before = merged[0].merged
    return [
        FieldChange(name, getattr(before, name) or None, getattr(after, name) or None)
        for name in CITED_FIELDS
        if name != "affiliations" and getattr(before, name) != getattr(after, name)
    ]


def _find_hidden_texts(merged: Sequence[PublishedRecords], decided: DecisionResult) -> list[str]:
    """The sources of merged papers whose texts are kept and not shown."""
    shown = {None, *(paper.record.markdown_sha256 for paper in decided.papers)}
    return [
        source_name(address)
        for paper in merged
        for record, address in zip(paper.records, paper.addresses, strict=True)
        if record.markdown_sha256 not in shown
    ]


def _describe_merge(hidden: Sequence[str]) -> str:
    """What becomes of the keywords and texts of papers that are merged."""
    kept = f"; the text of {', '.join(hidden)} is kept and not shown" if hidden else ""
    return f" It has the keywords and tags of all{kept}."


def tell_history(builder: PaperBuilder, question: PaperHistoryOf) -> PaperHistory:
    """A paper's records and decisions, or all decisions about the corpus."""
    desk = builder.inspect()
    if question.paper_id is None:
        paper_id, paper, decisions = None, None, desk.all_decisions(_MAX_DECISIONS)
    else:
        paper_id, paper, decisions = desk.history(question.paper_id)
    chosen = [each for each in decisions if question.action in {None, each.action}]
    first = (question.page - 1) * question.limit
    title = None if paper is None else paper.merged.title
    if paper is None and decisions and paper_id is not None:
        title = next((p.title for d in decisions for p in d.papers if p.title), None)
    return PaperHistory(
        paper_id=paper_id,
        title=title,
        version=None if paper is None else paper.version,
        is_removed=paper_id is not None and paper is None,
        former_ids=[] if paper is None else _find_former_ids(desk, paper.paper_id, decisions),
        records=[] if paper is None else _show_records(paper),
        joins=[] if paper is None else _show_joins(desk.joins(paper.paper_id)),
        decisions=[_show_decision(each) for each in chosen[first : first + question.limit]],
        total=len(chosen),
    )


def _find_former_ids(desk: DecisionDesk, paper_id: str, decisions: Sequence[Decision]) -> list[str]:
    named = {paper.paper_id for decision in decisions for paper in decision.papers}
    return sorted(each for each in named - {paper_id} if desk.leads_to(each, paper_id))


def _refuse_unnamed_undo(desk: DecisionDesk) -> InvalidInputError:
    """The last decision may be somebody else's: whoever undoes it must name it."""
    last = next(iter(desk.all_decisions(1)), None)
    said = "" if last is None else f" The last is {last.number}, by {last.who}: "
    return InvalidInputError(
        "Say what to undo: the number of a decision, or a paper."
        + (said and f"{said}{_describe(last, is_done=True)}" if last else ""),
        next_step="Call undo with number or paper_id; paper_history lists the decisions.",
        details={} if last is None else {"number": last.number, "who": last.who},
    )


def _draft(question: EditPaper, desk: DecisionDesk) -> DecisionDraft:
    name, version = question.paper_id or "", question.expected_version
    if question.type is not None and question.type not in ITEM_TYPES:
        raise InvalidInputError(
            f"{question.type!r} is not a type of CSL.",
            next_step="Use article-journal, paper-conference, book, chapter, thesis, report …",
            details={"types": sorted(ITEM_TYPES)},
        )
    match question.action:
        case "edit":
            values: dict[str, FieldValue] = dict(question.set_fields())
            values |= {RECORD_FIELDS.get(each, each): None for each in question.clear}
            return desk.edit(name, values, version)
        case "merge":
            return desk.merge([name, *question.papers], version)
        case "split":
            return desk.split(name, question.records, version)
        case "remove":
            return desk.removal(name, version)
        case "undo":
            if question.paper_id is None and question.number is None:
                raise _refuse_unnamed_undo(desk)
            return desk.undo(question.paper_id, question.number)


def _describe(decision: Decision, *, is_done: bool, names: Mapping[str, str] = _NO_NAMES) -> str:
    """One sentence for a person, with the names of fields that the caller used."""
    first, *others = decision.papers
    named = f"«{first.title}»" if first.title else first.paper_id
    match decision.action:
        case "edit":
            fields = ", ".join(
                names.get(each.field) or _shown_field(each.field) for each in decision.changes
            )
            return f"{named}: {'set' if is_done else 'would set'} {fields}."
        case "merge":
            count = len(decision.papers)
            return f"{count} papers {'are' if is_done else 'would be'} one: {named}."
        case "split":
            count = len(decision.papers)
            return f"{named} {'is' if is_done else 'would be'} {count} papers."
        case "remove":
            return f"{named} {'is' if is_done else 'would be'} out of the corpus."
        case "join":
            gone = ", ".join(each.paper_id for each in others)
            return f"{named}: {gone} was found to be the same paper."
        case "undo":
            verb = "counts no more" if is_done else "would count no more"
            return f"Decision {decision.undoes} about {named} {verb}."


def _show_papers(decided: DecisionResult) -> list[CorrectedPaper]:
    return [
        CorrectedPaper(
            paper_id=each.paper_id,
            title=each.record.title,
            year=find_year(each.record.publication_date),
            version=each.version,
            sources=[source_name(address) for address in each.records],
        )
        for each in decided.papers
    ]


def _show_records(paper: PublishedRecords) -> list[HistoryRecord]:
    shown, seen = [], set[str]()
    for at, (record, address) in enumerate(zip(paper.records, paper.addresses, strict=True)):
        keys = set(address.keys)
        shared = sorted(key for key in keys & seen if key.startswith(_SHOWN_KEYS))
        if any(key.startswith("meta:") for key in keys & seen):
            shared.append("title, authors, venue and year")
        seen |= keys
        shown.append(
            HistoryRecord(
                number=at + 1,
                source=source_name(address),
                title=record.title,
                year=find_year(record.publication_date),
                doi=record.doi,
                shares=shared,
            )
        )
    return shown


def _show_joins(joins: Sequence[RecordJoin]) -> list[ShownJoin]:
    return [
        ShownJoin(
            source=PurePath(each.source).name,
            other_source=PurePath(each.other_source).name,
            rule=each.rule,
            score=each.score,
            reason=each.reason,
        )
        for each in joins
    ]


def _show_decision(decision: Decision) -> ShownDecision:
    return ShownDecision(
        number=decision.number,
        at=decision.at,
        who=decision.who,
        action=decision.action,
        message=_describe(decision, is_done=True),
        paper_ids=[each.paper_id for each in decision.papers],
        changes=_show_changes(decision.changes),
        undoes=decision.undoes,
        undone_by=decision.undone_by,
    )


def _show_changes(
    changes: Sequence[FieldChange], names: Mapping[str, str] = _NO_NAMES
) -> list[ShownChange]:
    return [
        ShownChange(
            field=(field := _shown_field(each.field)),
            before=_shown(each.before),
            after=_shown(each.after),
            set_as=given if (given := names.get(each.field, field)) != field else None,
        )
        for each in changes
    ]


def _shown_field(name: str) -> str:
    return "date" if name == "publication_date" else shown_name(name)


def _shown(value: FieldValue) -> str | list[str] | None:
    return list(value) if isinstance(value, tuple) else value
