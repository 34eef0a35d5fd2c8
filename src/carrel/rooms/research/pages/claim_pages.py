"""Checking a claim for and against, and papers that deny each other."""

from __future__ import annotations

from carrel.core.errors import CarrelError
from carrel.core.pages import (
    FieldValues,
    PageAnswer,
    PageRedirect,
    PageRequest,
    PageView,
    local_address,
)
from carrel.core.work_notices import describe_notice
from carrel.rooms.research.claim_models import CheckedStatement, ClaimChecked, QuotedSentence
from carrel.rooms.research.pages.addresses import source_address
from carrel.rooms.research.pages.evidence_view import EvidenceCard

# Longer texts stay in the form that was sent; shorter ones get an address of their own.
_LONGEST_IN_ADDRESS = 1500
_STYLES = ("research/research.css",)
_KINDS = {"supports": "good", "contradicts": "danger", "mixed": "warn"}


async def draw_claim(request: PageRequest) -> PageView:
    return await _draw_claim(request, request.query)


async def check_claim_form(request: PageRequest) -> PageAnswer:
    form = request.form
    text = form.text("text")
    if len(text) <= _LONGEST_IN_ADDRESS:
        return PageRedirect(
            local_address(
                "/research/claim",
                text=text,
                within=form.texts("within"),
                cited=form.texts("cited"),
            )
        )
    return await _draw_claim(request, form)


async def _draw_claim(request: PageRequest, given: FieldValues) -> PageView:
    text, within, cited = given.text("text"), _names(given, "within"), _names(given, "cited")
    checked, problem = None, None
    if text:
        try:
            checked = await request.ask("check_claim", text=text, within=within, cited=cited)
        except CarrelError as error:
            problem = error
    return PageView(
        "research/claim.html",
        request.translate("research.claim.title"),
        {
            "text": text,
            "within": within,
            "cited": cited,
            "checked": checked,
            "statements": []
            if checked is None
            else [_statement_facts(one, checked) for one in checked.statements],
            "problem": problem,
        },
        styles=_STYLES,
        status=200 if problem is None else 400,
    )


def _names(given: FieldValues, field: str) -> list[str]:
    return [name for text in given.texts(field) for name in text.replace(",", " ").split()]


def _statement_facts(one: CheckedStatement, checked: ClaimChecked) -> dict[str, object]:
    return {
        "statement": one,
        "kind": _KINDS.get(one.verdict, "plain"),
        "supporting": _cards(one.supporting, checked),
        "contradicting": _cards(one.contradicting, checked),
        "bearing": _cards(one.bearing, checked),
        "nearest": _cards(one.nearest, checked),
    }


def _cards(sentences: list[QuotedSentence], checked: ClaimChecked) -> list[EvidenceCard]:
    return [
        make_card(one, "; ".join(map(describe_notice, checked.notices.get(one.paper_id, ()))))
        for one in sentences
    ]


def make_card(one: QuotedSentence, warning: str = "") -> EvidenceCard:
    year = "" if one.year is None else f" ({one.year})"
    page = "" if one.page is None else f"p. {one.page}"
    return EvidenceCard(
        anchor="",
        statement="; ".join(one.reasons),
        sentence=one.sentence,
        paper=f"{one.title or one.paper_id}{year}",
        path=source_address(one.paper_id, one.passage_id),
        place=", ".join(filter(None, (one.section, page))),
        warning=warning,
    )


async def draw_contradictions(request: PageRequest) -> PageView:
    """The pairs for a topic; nothing is compared before somebody asks."""
    query, within = request.query.text("q"), _names(request.query, "within")
    found, problem = None, None
    if query or within or request.query.flag("all"):
        limit = request.query.integer("limit", 20, least=1, most=100)
        try:
            found = await request.ask(
                "find_contradictions", query=query, within=within, limit=limit
            )
        except CarrelError as error:
            problem = error
    return PageView(
        "research/contradictions.html",
        request.translate("research.contradictions.title"),
        {
            "query": query,
            "within": within,
            "found": found,
            "pairs": []
            if found is None
            else [(one, make_card(one.one), make_card(one.other)) for one in found.contradictions],
            "problem": problem,
        },
        styles=_STYLES,
        status=200 if problem is None else 400,
    )
