"""Signs of links: a treatment opposes what the disease does, and a risk is never one."""

import pytest

from carrel.libraries.discovery import ConceptIndex, Discovery, Paper, render
from carrel.libraries.discovery.connections.candidates import SentenceRelation, SignCount
from carrel.libraries.discovery.connections.sentences import count_signs
from carrel.libraries.discovery.review import score

# A made-up illness, its mediator, and three drugs: one lowers the mediator, one raises it, and one
# is only named with it.
SAID = {
    "harn": "Arterial sclerema, quandrin, zoltrin. Zoltrin {promotes} arterial sclerema.",
    "nib": "Velotinib {lowers} zoltrin in serum.",
    "azole": "Torazole {raises} zoltrin in serum.",
    "statin": "Melostatin, quandrin and zoltrin were measured in serum.",
}
KEYWORDS = {
    "harn": ("arterial sclerema", "zoltrin", "quandrin"),
    "nib": ("velotinib", "zoltrin"),
    "azole": ("torazole", "zoltrin"),
    "statin": ("melostatin", "zoltrin", "quandrin"),
}
OTHERS = ("tulips", "rivers", "bridges", "looms", "glaciers", "violins")
GOAL = "Find treatments for arterial sclerema"


class Shelf:
    def __init__(self, papers: dict[str, Paper]) -> None:
        self.paper = papers.get


def discover(**verbs: str) -> Discovery:
    said = {
        name: text.format(
            promotes=verbs.get("promotes", "promotes"),
            lowers=verbs.get("lowers", "inhibits"),
            raises=verbs.get("raises", "stimulates"),
        )
        for name, text in SAID.items()
    }
    papers = {
        f"{name}-{n}": Paper(
            f"{name}-{n}", f"Case {n} of {name}", text, KEYWORDS[name], (), 2000 + n
        )
        for name, text in said.items()
        for n in range(12)
    }
    for other in OTHERS:
        for n in range(12):
            own = f"{other}-{n}"
            papers[own] = Paper(
                own, f"{other}, case {n}", f"{other} were drawn.", (other, f"{other} art")
            )
    return Discovery(ConceptIndex.build(papers.values()), Shelf(papers))


@pytest.mark.promise("S13")
def test_a_treatment_opposes_the_disease_and_a_risk_is_never_listed() -> None:
    found = discover().generate(GOAL, count=10)
    assert [one.end.key for one in found][:2] == ["velotinib", "melostatin"]
    assert "torazole" not in {one.end.key for one in found}
    best = found[0]
    assert (best.effect, best.bridges[0].concept.key) == (-1, "zoltrin")
    text = render(best)
    assert text.title == "Velotinib may lower arterial sclerema through zoltrin"
    assert "lowers it in 12 papers" in text.rationale and "raises it in 12 papers" in text.rationale
    relation = best.bridges[0].far_evidence[0].relation
    assert relation == SentenceRelation("lowers", "inhibits", -1, bridge_acts=False)
    unsigned = found[1]
    assert unsigned.effect == 0 and "unsigned" in render(unsigned).rationale
    assert unsigned.lacks_direction and render(unsigned).rationale.startswith("Weak: ")
    assert "no sentences on both sides" in unsigned.relevance.says
    assert score(unsigned).overall < score(best).overall


@pytest.mark.promise("S13")
def test_via_names_the_bridge() -> None:
    discovery = discover()
    for way, ends in (("quandrin", {"melostatin"}), ("zoltrin", {"velotinib", "melostatin"})):
        found = discovery.generate(f"{GOAL} via {way}", count=10)
        assert {one.end.key for one in found} == ends
        assert {one.bridges[0].concept.key for one in found} == {way}


@pytest.mark.promise("S13")
def test_what_lowers_a_protector_is_a_risk_and_what_raises_it_a_treatment() -> None:
    ends = [one.end.key for one in discover(promotes="prevents").generate(GOAL, count=10)]
    assert ends[0] == "torazole" and "velotinib" not in ends


def test_a_denied_effect_makes_no_treatment() -> None:
    found = discover(lowers="does not inhibit").generate(GOAL, count=10)
    assert all(one.effect >= 0 for one in found if one.end.key == "velotinib")


def test_what_is_asked_does_not_count_and_what_is_denied_counts_against() -> None:
    raises = SentenceRelation("raises", "promotes", 1, bridge_acts=True)
    asked = SentenceRelation("raises", "promotes", 1, bridge_acts=True, is_asked=True)
    denied = SentenceRelation("raises", "promotes", 1, bridge_acts=True, is_denied=True)
    assert count_signs([asked]) == SignCount()
    assert count_signs([raises]).weight == 1 / 2
    assert count_signs([raises, denied]).sign == 0
    assert count_signs([denied, denied, raises]).sign == 0
