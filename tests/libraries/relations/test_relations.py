"""Relations of a sentence: what must hold for all verbs and things."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.relations import RelationKind, build_lexicon, extract_relations

RAISING = ("increases", "promotes", "stimulates", "enhances", "accelerates")
LOWERING = ("reduces", "inhibits", "lowers", "attenuates", "weakens")
THINGS = (
    "rapamycin",
    "tumour growth",
    "the tariff",
    "consumption",
    "grain size",
    "GDF15",
    "latency",
)
LOSSES = ("loss of", "depletion of", "inhibition of", "the absence of")

things = st.tuples(st.sampled_from(THINGS), st.sampled_from(THINGS)).filter(
    lambda two: two[0] != two[1]
)
verbs = st.sampled_from([(verb, 1) for verb in RAISING] + [(verb, -1) for verb in LOWERING])


def read(sentence: str) -> tuple[int, bool, bool, bool]:
    [relation] = extract_relations(sentence)
    return relation.sign, relation.negated, relation.hedged, relation.asked


@pytest.mark.promise("S13")
@given(things, verbs)
def test_a_verb_gives_the_sign_in_the_active_and_the_passive(
    two: tuple[str, str], verb: tuple[str, int]
) -> None:
    one, other = two
    [relation] = extract_relations(f"{one} {verb[0]} {other}.")
    assert (relation.sign, relation.subject.text, relation.object.text) == (
        verb[1],
        one.removeprefix("the "),
        other.removeprefix("the "),
    )
    [passive] = extract_relations(f"We show that {other} is {verb[0][:-1].rstrip('e')}ed by {one}.")
    assert (passive.sign, passive.subject.text) == (relation.sign, relation.subject.text)


@pytest.mark.promise("S13")
@given(things, verbs, st.sampled_from(LOSSES), st.sampled_from(LOSSES))
def test_a_lowering_word_turns_the_sign_and_two_cancel(
    two: tuple[str, str], verb: tuple[str, int], first: str, second: str
) -> None:
    one, other = two
    assert read(f"{first} {one} {verb[0]} {other}.")[0] == -verb[1]
    assert read(f"{one} {verb[0]} {second} {other}.")[0] == -verb[1]
    assert read(f"{first} {one} {verb[0]} {second} {other}.")[0] == verb[1]


@pytest.mark.promise("S13")
@given(things, verbs)
def test_negation_hedges_and_questions_are_marked_and_leave_the_sign(
    two: tuple[str, str], verb: tuple[str, int]
) -> None:
    (one, other), sign = two, verb[1]
    base = verb[0][:-1]
    assert read(f"{one} {verb[0]} {other}.") == (sign, False, False, False)
    for no in ("does not", "did not", "cannot", "fails to"):
        assert read(f"{one} {no} {base} {other}.") == (sign, True, False, False)
    assert read(f"{one} may {base} {other}.") == (sign, False, True, False)
    assert read(f"These data suggest that {one} {verb[0]} {other}.") == (sign, False, True, False)
    assert read(f"We asked whether {one} {verb[0]} {other}.") == (sign, False, False, True)
    assert read(f"It is unknown how {one} {verb[0]} {other}.") == (sign, False, False, True)


@pytest.mark.promise("S13")
@given(things, verbs)
def test_not_only_denies_nothing(two: tuple[str, str], verb: tuple[str, int]) -> None:
    one, other = two
    first, second = extract_relations(f"{one} not only {verb[0]} {other} but also improves sleep.")
    assert not first.negated and not second.negated
    assert first.sign == verb[1] and second.sign == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "Patients showed reduced risk of cancer.",
        "Induced pluripotent stem cells were grown.",
        "Levels increased prior to onset.",
        "We reduced the dose in the second week.",
        "This effect was observed in increased numbers.",
        "",
        "?",
        "increases",
        "，。研究表明该药物可以减少炎症。",
    ],
)
def test_a_participle_a_verb_without_object_and_what_authors_did_are_no_relation(
    sentence: str,
) -> None:
    assert extract_relations(sentence) == ()


@pytest.mark.parametrize(
    ("sentence", "subject", "kind", "target", "sign"),
    [
        ("Smoking is a major cause of lung cancer.", "Smoking", "causes", "lung cancer", 1),
        ("Mutations in BRCA1 increase the risk.", "Mutations in BRCA1", "raises", "risk", 0),
        ("Panobinostat is an HDAC inhibitor.", "Panobinostat", "lowers", "HDAC", -1),
        ("Vorapaxar protects against thrombosis.", "Vorapaxar", "treats", "thrombosis", -1),
        ("Wage growth depends on productivity.", "productivity", "associates", "Wage growth", 0),
        ("Income was inversely associated with age.", "Income", "associates", "age", -1),
        ("The shell consists of platelets.", "platelets", "is_part_of", "shell", 0),
        ("Spreads are a predictor of recessions.", "Spreads", "predicts", "recessions", 0),
        ("Annealing strengthens the alloy.", "Annealing", "raises", "alloy", 1),
        ("Our scheduler speeds up training.", "Our scheduler", "raises", "training", 1),
        ("X activates Y, thereby reducing Z.", "X", "lowers", "Z", -1),
    ],
)  # fmt: skip
def test_kinds_and_fields(sentence: str, subject: str, kind: str, target: str, sign: int) -> None:
    found = extract_relations(sentence)[-1]
    assert (found.subject.text, found.kind.value, found.object.text, found.sign) == (
        subject,
        kind,
        target,
        sign,
    )


def test_a_word_of_a_things_own_name_lowers_nothing() -> None:
    sentence = "Noise causes hearing loss."
    [relation] = extract_relations(sentence)
    start = sentence.index("hearing loss")
    assert relation.sign == -1
    assert relation.sign_between((), [(start, start + len("hearing loss"))]) == 1


def test_a_field_adds_its_own_words() -> None:
    sentence = "The tax crowds out investment."
    assert extract_relations(sentence) == ()
    words = 'kind = "lowers"\nsign = -1\n[verbs_with_preposition]\neconomics = ["crowd out"]'
    [relation] = extract_relations(sentence, build_lexicon([words]))
    assert relation.kind is RelationKind.LOWERS


@given(st.text(max_size=300))
def test_any_text_is_read_and_every_argument_stands_in_it(text: str) -> None:
    for relation in extract_relations(text):
        for argument in (relation.subject, relation.object):
            assert text[argument.start : argument.end] == argument.text
