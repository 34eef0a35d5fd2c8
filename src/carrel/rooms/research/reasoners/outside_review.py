"""What works outside the corpus say of a hypothesis's novelty, in text and scores of a review."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from carrel.rooms.research.outside_models import LookedUpWork, OutsideLook, describe_look
from carrel.rooms.research.reasoners import Assessment
from carrel.rooms.research.reasoners.evidence_review import weigh_scores
from carrel.rooms.research.records import Review, ReviewScores

# Set by hand: what novelty may be at most where works outside name both things that a hypothesis
# links. That they name both does not say that they state the result, so it is never "known" by
# this alone: a work that states it joins the corpus and is read there.
_FEW_WORKS, _NOVEL_WITH_FEW = 1, 0.6
_MANY_WORKS, _NOVEL_WITH_MANY = 5, 0.4
_WORKS_NAMED = 3


def novelty_bound(look: OutsideLook | None) -> float:
    """What novelty may be at most by what was found outside; 1 where nothing was."""
    if look is None or len(look.terms) < 2:
        return 1.0
    count = len(look.naming_all)
    if count >= _MANY_WORKS:
        return _NOVEL_WITH_MANY
    return _NOVEL_WITH_FEW if count >= _FEW_WORKS else 1.0


def latest_novelty_bound(hypothesis_id: str, reviews: Sequence[Review]) -> float:
    """The bound by the latest review of a hypothesis that looked outside."""
    looks = (one.outside for one in reversed(reviews) if one.hypothesis_id == hypothesis_id)
    return novelty_bound(next((look for look in looks if look is not None), None))


def add_outside(found: Assessment, look: OutsideLook) -> Assessment:
    """The assessment with what was looked for outside, found there, and not answered."""
    reasons = {**found.reasons, "outside": describe_look(look)}
    weaknesses = list(found.weaknesses)
    scores, bound = found.scores, novelty_bound(look)
    if bound < 1.0:
        named = "; ".join(map(_name, look.naming_all[:_WORKS_NAMED]))
        more = len(look.naming_all) - _WORKS_NAMED
        says = (
            f"{len(look.naming_all)} works outside the corpus name both "
            f"{' and '.join(look.terms)}: {named}{f' and {more} more' if more > 0 else ''}."
        )
        weaknesses.append(f"Not new in this pairing: {says}")
        if scores.novelty is not None and scores.novelty > bound:
            reasons["novelty"] = f"At most {bound:g}: {says}"
            values = {**scores.model_dump(), "novelty": bound}
            values["overall"] = weigh_scores(values, scores)
            scores = ReviewScores.model_validate(values)
    if not look.is_complete:
        weaknesses.append(f"Its novelty is not sure: {describe_look(look)}")
    in_corpus = [one.paper_id for one in look.naming_all if one.paper_id is not None]
    return replace(
        found,
        scores=scores,
        weaknesses=tuple(weaknesses),
        citations=tuple(dict.fromkeys((*found.citations, *in_corpus))),
        reasons=reasons,
    )


def _name(work: LookedUpWork) -> str:
    facts = ", ".join(
        filter(
            None,
            (
                str(work.year or ""),
                work.paper_id or work.doi or "",
                "retracted" if work.is_retracted else "",
            ),
        )
    )
    return f"“{work.title}”{f' ({facts})' if facts else ''}"
