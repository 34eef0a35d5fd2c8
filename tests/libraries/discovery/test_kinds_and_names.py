"""What a concept is and how it is written, read from its form and from the papers that name it."""

import pytest

from carrel.libraries.discovery import (
    Concept,
    ConceptIndex,
    Discovery,
    Kind,
    Paper,
    Standing,
    Term,
    Vocabulary,
    kind_of,
)
from carrel.libraries.discovery.concepts.kinds import can_be_changed, kind_by_form, kind_in_company
from carrel.libraries.discovery.concepts.words import are_variants, normal_phrase
from carrel.libraries.discovery.writing.wording import sentence_case
from tests.libraries.discovery.small_corpus import Shelf


def known(papers: list[Paper], key: str, vocabulary: Vocabulary | None = None) -> Concept:
    discovery = Discovery(ConceptIndex.build(papers, vocabulary), Shelf(papers))
    number = discovery.reader.index.number(key)
    assert number is not None
    return discovery.layout.concept(number)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("green kidney disease", Kind.DISEASE),
        ("hepatosclerosis", Kind.DISEASE),
        ("pandemic", Kind.EVENT),
        ("tyrosine kinase", Kind.GENE),
        ("osteocytes", Kind.CELL),
        ("autophagy", Kind.PROCESS),
        ("visual cortex", Kind.ANATOMY),
        ("butyric acid", Kind.SUBSTANCE),
        ("flow cytometry", Kind.METHOD),
        ("nest-building behaviour", Kind.BEHAVIOUR),
        ("lead exposure", Kind.EXPOSURE),
        ("Streptococcus mutans", Kind.ORGANISM),
        ("zobblewick", Kind.UNKNOWN),
    ],
)
def test_the_form_of_a_name_tells_its_kind(name: str, kind: Kind) -> None:
    key = normal_phrase(name)
    assert kind_by_form(key, name) is kind
    assert kind_of(Concept(key, name, Standing.NAMED, 5)) is kind


@pytest.mark.parametrize(
    ("sentences", "kind"),
    [
        (["patients with zobblewick", "the risk of zobblewick rose"], Kind.DISEASE),
        (["rats were treated with zobblewick", "zobblewick administration"], Kind.SUBSTANCE),
        (["zobblewick knockout", "loss of zobblewick in flies"], Kind.GENE),
        (["zobblewick was there", "so was zobblewick"], Kind.UNKNOWN),
    ],
)
def test_company_tells_the_kind_of_a_name_that_does_not(sentences: list[str], kind: Kind) -> None:
    assert (
        kind_in_company(
            "zobblewick", "zobblewick", (f" {normal_phrase(text)} " for text in sentences)
        )
        is kind
    )


def test_a_vocabulary_overrules_form_and_company() -> None:
    vocabulary = Vocabulary([Term("D1", "Wobble disease", (), ("D12.776.1",))])
    papers = [
        Paper(str(n), "On it", "We saw wobble disease in many.", ("wobble disease",))
        for n in range(3)
    ]
    assert known(papers, "wobble disease", vocabulary).kind is Kind.GENE


def test_what_only_happens_cannot_be_changed() -> None:
    assert not any(
        can_be_changed(kind)
        for kind in (Kind.DISEASE, Kind.EVENT, Kind.METHOD, Kind.ANATOMY, Kind.UNKNOWN)
    )
    assert all(
        can_be_changed(kind) for kind in (Kind.SUBSTANCE, Kind.GENE, Kind.CELL, Kind.PROCESS)
    )


def test_a_name_is_shown_as_authors_mostly_write_it() -> None:
    texts = ("It needs NF-κB here.", "We blocked NF-κB in cells.", "They saw nf-kappaB once.")
    papers = [Paper(str(n), f"Paper {n}", text, ("nf-kappab",)) for n, text in enumerate(texts)]
    assert known(papers, "nf kappab").label == "NF-κB"


def test_a_term_is_shown_by_the_synonym_authors_write() -> None:
    vocabulary = Vocabulary(
        [Term("C1", "Wobbles, Green, Acute", ("acute green wobbles", "AGW"), ("C04.1",))]
    )
    papers = [Paper(str(n), "On it", "Here acute green wobbles were seen.", ()) for n in range(3)]
    assert (
        known(papers, normal_phrase("Wobbles, Green, Acute"), vocabulary).label
        == "acute green wobbles"
    )


def test_the_capital_at_the_head_of_a_sentence_is_no_spelling() -> None:
    texts = ("Zebroids run. Here zebroids ate.", "Zebroids sleep.", "Zebroids jump.")
    papers = [Paper(str(n), "On animals", text, ("Zebroids",)) for n, text in enumerate(texts)]
    assert known(papers, "zebroid").label == "zebroids"


def test_a_structure_takes_the_article_authors_give_it() -> None:
    papers = [
        Paper(str(n), "On it", "We recorded from the zonule of mice.", ("zonule",))
        for n in range(3)
    ]
    assert known(papers, "zonule").takes_article
    papers = [Paper(str(n), "On it", "We measured zonule of mice.", ("zonule",)) for n in range(3)]
    assert not known(papers, "zonule").takes_article


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("long term potentiation", "ltp", True),
        ("nmda receptor", "nmdar", True),
        ("streptococcus mutan", "s mutan", True),
        ("alzheimer", "alzheimers", True),
        ("mouse", "moose", False),
        ("liver fibrosis", "lung fibrosis", False),
    ],
)
def test_spellings_of_one_name_are_told_from_other_names(one: str, other: str, same: bool) -> None:
    assert are_variants(one, other) is same
    assert are_variants(other, one) is same


def test_a_greek_letter_and_its_latin_stand_in_are_one_name() -> None:
    assert are_variants("nf kappab", "nf kb")
    assert not are_variants("nf kappab", "nf y")


def test_a_greek_letter_at_the_head_of_a_sentence_stays_as_it_is() -> None:
    assert sentence_case("β-catenin may act on sleep") == "β-catenin may act on sleep"
    assert sentence_case("autophagy may act on sleep") == "Autophagy may act on sleep"
