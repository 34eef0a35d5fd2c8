"""The meta-review of the discovery mind: written so that people can read it and the next generation
goes by it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from carrel.libraries.discovery.words import normal_phrase
from carrel.rooms.research.records import Hypothesis, Review

_STRONG = "Carry the leading hypotheses: "
_WEAK = "Lead the last and rest on little: "
_UNSAFE = "Refused as unsafe, not to be led to again: "
_MOST_NAMED = 5
_THIN_PAPERS = 3


@dataclass(frozen=True, slots=True)
class Advice:
    """Keys of concepts: bridges that did well, bridges that did badly, ends that are not to be
    proposed.
    """

    strong: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()
    unsafe: frozenset[str] = frozenset()


def meta_review_text(hypotheses: Sequence[Hypothesis], reviews: Sequence[Review]) -> str:
    """What the reviews and matches so far say together."""
    told = [made for made in hypotheses if made.review_count or made.standing.matches]
    ordered = sorted(told, key=lambda made: -made.standing.elo_score)
    quarter = max(1, len(ordered) // 4)
    ahead = [
        bridge for made in ordered[: len(ordered) // 2 + 1] for bridge in made.draft.bridges[:1]
    ]
    strong = list(
        dict.fromkeys(bridge for made in ordered[:quarter] for bridge in made.draft.bridges[:1])
    )
    weak = [
        made.draft.bridges[0]
        for made in (ordered[-quarter:] if len(ordered) > 3 else [])
        if made.draft.bridges and made.draft.bridges[0] not in ahead and _is_thin(made)
    ]
    refused = {review.hypothesis_id for review in reviews if review.scores.safety <= 0}
    unsafe = [
        made.draft.connection.end.label
        for made in hypotheses
        if made.id in refused and made.draft.connection is not None
    ]
    against = Counter(weakness for one in reviews for weakness in one.weaknesses)
    lines = [f"{len(hypotheses)} hypotheses, {len(reviews)} reviews."]
    for opening, names in ((_STRONG, strong), (_WEAK, weak), (_UNSAFE, unsafe)):
        if names:
            lines.append(f"{opening}{'; '.join(list(dict.fromkeys(names))[:_MOST_NAMED])}.")
    if against:
        lines.append(
            "Said most often against them: "
            + " ".join(f"{text} ({n})" for text, n in against.most_common(3))
        )
    return "\n".join(lines)


def advice_in(text: str) -> Advice:
    """What a meta-review advises, read back from its text; nothing, where it was written by
    somebody who words it otherwise.
    """
    return Advice(_named(text, _STRONG), _named(text, _WEAK), _named(text, _UNSAFE))


def _named(text: str, opening: str) -> frozenset[str]:
    found = re.search(rf"^{re.escape(opening)}(.+)\.$", text, re.MULTILINE)
    return frozenset(normal_phrase(name) for name in found[1].split("; ")) if found else frozenset()


def _is_thin(made: Hypothesis) -> bool:
    connection = made.draft.connection
    return connection is not None and connection.bridges[0].weaker_side_documents < _THIN_PAPERS
