"""British and American spellings meet, and words that only look alike do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.text.spelling import unify_prefix, unify_spelling
from carrel.libraries.text.spelling_data import REPLACED_PARTS, REPLACED_WORDS, TRUE_ISE

PAIRS = """
summarisation summarization|tumour tumor|tumours tumors|oesophagus esophagus|anaemia anemia
leukaemia leukemia|foetal fetal|foetus fetus|behaviour behavior|behavioural behavioral
centre center|centred centered|centring centering|fibre fiber|fibres fibers|analyse analyze
analysed analyzed|analysing analyzing|modelling modeling|labelled labeled|ageing aging|grey gray
sulphur sulfur|sulphate sulfate|aluminium aluminum|haemoglobin hemoglobin|paediatric pediatric
organise organize|organisations organizations|ionised ionized|hypothesised hypothesized
catalyse catalyze|paralysed paralyzed|hydrolysing hydrolyzing|litre liter|kilometres kilometers
oestrogen estrogen|oedema edema|diarrhoea diarrhea|apnoea apnea|coeliac celiac|amoeba ameba
gynaecology gynecology|aetiology etiology|ischaemic ischemic|caesium cesium|anaesthesia anesthesia
programme program|catalogue catalog|catalogued cataloged|orthologues orthologs|defence defense
licence license|practise practice|signalling signaling|travelled traveled|channelled channeled
fulfil fulfill|enrolment enrollment|skilful skillful|jewellery jewelry|manoeuvre maneuver
artefact artifact|mould mold|plough plow|sceptical skeptical|judgement judgment|colourful colorful
neighbouring neighboring|vapour vapor|odour odor|titre titer|goitre goiter|theatre theater
palaeontology paleontology|archaeology archeology|encyclopaedia encyclopedia|faeces feces
orientated oriented|mice mouse|metastases metastasis|criteria criterion|bacteria bacterium
hypotheses hypothesis|indices index|vertebrae vertebra|nuclei nucleus|analyses analysis
minimise minimize|randomised randomized|optimiser optimizer|polymerisation polymerization
standardised standardized|prioritising prioritizing|criticise criticize|synthesised synthesized
"""
UNCHANGED = """
exercise exercised exercising advise advised adviser comprise comprises surprise surprising precise
concise promise promising compromise premise disguise enterprise expertise franchise improvise
improvisation merchandise otherwise likewise clockwise paradise practitioner raise raised praise
noise noisy denoised cruise bruise rise arise rising sunrise revise revised supervise supervised
unsupervised semisupervised televised treatise wise vise despise devise excise incision circumcised
disease diseases increase four hour contour devour source course journal flour tour detour velour
aerosol aerobic michael israel caenorhabditis archaea coenzyme phoenix poet shoe does aloe
acre genre massacre mediocre pre there figure measure structure where here acquire
parallel parallelled compelled controlled excelled rolled called filled spelling selling cell
rescue dialysis analysis catalyst paralysis hydrolysis vogue rogue league
pelvises irises promises basis axis this visa isomer isolate raises
"""


@pytest.mark.parametrize("pair", [pair for pair in PAIRS.replace("\n", "|").split("|") if pair])
def test_two_spellings_are_one(pair: str) -> None:
    british, american = pair.split()
    assert unify_spelling(british) == unify_spelling(american) == american


@pytest.mark.parametrize("word", UNCHANGED.split())
def test_a_word_that_only_looks_alike_stays(word: str) -> None:
    assert unify_spelling(word) == word


@given(st.text("abcdefghilmnoprstuyz", max_size=14))
def test_unifying_twice_changes_nothing(word: str) -> None:
    once = unify_spelling(word)
    assert unify_spelling(once) == once


@given(
    st.lists(
        st.sampled_from([*REPLACED_PARTS, *REPLACED_WORDS, *TRUE_ISE, "our", "re", "ise", "ll"]),
        max_size=3,
    ).map("".join)
)
def test_unifying_what_the_rules_are_made_of_twice_changes_nothing(word: str) -> None:
    once = unify_spelling(word)
    assert unify_spelling(once) == once


@pytest.mark.parametrize(
    ("prefix", "word"),
    [
        ("tumou", "tumours"), ("tumour", "tumours"), ("tumo", "tumours"), ("oesop", "oesophagus"),
        ("haem", "haemoglobin"), ("behaviou", "behavioural"), ("anaes", "anaesthesia"),
        ("sulph", "sulphate"),
    ],
)  # fmt: skip
def test_a_beginning_in_either_spelling_finds_the_word(prefix: str, word: str) -> None:
    assert any(unify_spelling(word).startswith(form) for form in unify_prefix(prefix))
