"""Titles that differ in a word are other titles; other writings of the same words are not."""

from __future__ import annotations

import json
import lzma
import random
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.text.stems import light_stem
from carrel.libraries.text.words import STOP_WORDS
from carrel.libraries.works.linkage import cluster
from carrel.libraries.works.title_differences import find_title_difference
from carrel.libraries.works.work import Work

pytestmark = pytest.mark.promise("P15")

ELIFE = Path(__file__).resolve().parents[4] / "shared/data/papers/elife_metadata.jsonl.xz"
PEOPLE = ("Ann B. Body", "Jo Doe")
TITLES = 400


def join_count(one: Work, other: Work) -> int:
    return len(cluster([one, replace(other, source="refs.bib", order=(1,))]).joins)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Increased mortality after surgery in adults",
            "Decreased mortality after surgery in adults",
        ),
        ("Long-term outcomes of statins in men", "Long-term outcomes of statins in women"),
        ("Depth estimation with calibration data", "Depth estimation without calibration data"),
        ("A randomised trial of drug A in asthma", "A randomised trial of drug B in asthma"),
        ("The effect of zinc on growth of barley", "The effect of iron on growth of barley"),
        ("Prevalence of hepatitis A vaccination", "Prevalence of hepatitis vaccination"),
        ("zoo: S3 infrastructure for time series", "Other zoo: S3 infrastructure for time series"),
        ("Outcomes of hypertension in newborns", "Outcomes of hypotension in newborns"),
        ("Intracellular transport of vesicles", "Intercellular transport of vesicles"),
        ("Efferent pathways of the cochlear nerve", "Afferent pathways of the cochlear nerve"),
        ("Adsorption of water on mineral surfaces", "Absorption of water on mineral surfaces"),
        ("Uptake of nitrate by roots of wheat", "Uptake of nitrite by roots of wheat"),
        ("Differentiation of osteoblasts in mice", "Differentiation of osteoclasts in mice"),
        ("Projection of visual cortex neurons", "Protection of visual cortex neurons"),
        ("Regulation of TGF-α in wound repair", "Regulation of TGF-β in wound repair"),
        ("Symptomatic infection in households", "Asymptomatic infection in households"),
        ("A long enough title of a paper", "A long enough title of a paper in mice"),
        ("A long enough title of a paper", "A long enough title of a paper: reply"),
        ("A long enough title: in men", "A long enough title: in women"),
        ("Growth before treatment of the soil", "Growth after treatment of the soil"),
        ("中国儿童高血压的流行病学研究与分析", "中国儿童低血压的流行病学研究与分析"),
    ],
)
def test_another_word_is_another_title_whoever_wrote_it_and_when(one: str, other: str) -> None:
    assert find_title_difference(one, other)
    here, there = Work(one, PEOPLE, 2020, venue="Plants"), Work(other, PEOPLE, 2020, venue="Plants")
    assert join_count(here, there) == 0
    assert join_count(replace(here, label="body20"), replace(there, label="body20")) == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Pre-training of language models", "Pretraining of Language Models"),
        ("A data base of the colours of tumours", "A database of the color of tumors"),
        ("Modelling & analysing behaviour of mice", "Modeling and analyzing behavior of the mouse"),
        ("The role of α-synuclein in disease", "The role of alpha-synuclein in disease"),
        ("Efficient classification of flowers", "E cient classi cation of owers"),
        ("On the occurrence of rare species", "On the occurence of rare species"),
        ("Solving the Schrödinger equation", "Solving the Schr\ufffddinger equation"),
        ("Convergence in the modernised network", "Convergence in the modemised network"),
        (
            "Use of principal component analysis (PCA) here",
            "Use of principal component analysis here",
        ),
        ("Imaging of knees by MRI", "Imaging of knees by magnetic resonance imaging"),
        ("A long enough title of a paper", "A long enough title of a paper: evidence from mice"),
        ("A long enough title of a pap…", "A long enough title of a paper on mice and men"),
        ("The <i>E. coli</i> genome is {DNA}", "The E. coli genome is DNA."),
    ],
)
def test_other_writings_of_the_same_words_are_one_title(one: str, other: str) -> None:
    assert find_title_difference(one, other) is None
    assert find_title_difference(other, one) is None


def test_the_same_volume_and_first_page_outweigh_a_word() -> None:
    title = "The effect of zinc on growth of barley in dry soils"
    one = Work(title, PEOPLE, 2020, volume="3", first_page="17")
    other = replace(one, title=title.replace("zinc", "zink"))
    assert join_count(one, other) == 1
    found = cluster([replace(one, volume=None), replace(other, source="refs.bib")])
    assert not found.joins
    assert "“zinc” / “zink”" in found.doubtful[0].reason


def test_a_title_without_its_subtitle_does_not_join_two_works_that_have_another_one() -> None:
    short = Work("A long enough title of a paper", PEOPLE, 2020)
    longer = [
        replace(short, title=f"{short.title}: {rest}", source=rest, order=(rest,))
        for rest in ("evidence from mice", "observations of whales")
    ]
    assert len(cluster([short, longer[0]]).groups) == 1
    assert sorted(cluster([short, *longer]).groups) == [(0,), (1,), (2,)]


@cache
def real_titles() -> tuple[str, ...]:
    if not ELIFE.exists():
        pytest.skip("the shared data are not beside this checkout")
    with lzma.open(ELIFE, "rt", encoding="utf-8") as lines:
        titles = [str(json.loads(line)["title"]) for line in lines]
    telling = [title for title in titles if len(title) > 40 and "<" not in title]
    return tuple(random.Random(16).sample(telling, TITLES))


def content_words(title: str) -> list[re.Match[str]]:
    found = re.finditer(r"(?<![\w-])[A-Za-z]{4,}(?![\w-])", title)
    return [word for word in found if word.group().lower() not in STOP_WORDS]


def test_one_word_of_a_real_title_replaced_or_added_never_joins() -> None:
    rng = random.Random(17)
    titles = [title for title in real_titles() if content_words(title)]
    assert len(titles) > TITLES * 0.9
    pool = [word.group() for title in titles for word in content_words(title)]
    for title in titles:
        word, other = rng.choice(content_words(title)), rng.choice(pool)
        if light_stem(word.group().lower()) == light_stem(other.lower()):
            continue
        replaced = title[: word.start()] + other + title[word.end() :]
        for changed in (replaced, f"{other} {title}"):
            joined = join_count(Work(title, PEOPLE, 2020), Work(changed, PEOPLE, 2020))
            assert joined == 0, (title, changed)


def test_other_writings_of_real_titles_still_join() -> None:
    for title in real_titles():
        for changed in (
            title.upper(),
            title.lower() + ".",
            title.replace("-", " "),
            title.replace("-", ""),
            re.sub(r"[aeo]", lambda found: {"a": "á", "e": "è", "o": "ö"}[found.group()], title),
            f"{{{title}}}",
            f"{title.rstrip('.?!')}: a study of what follows",
        ):
            joined = join_count(Work(title, PEOPLE, 2020), Work(changed, PEOPLE, 2020))
            assert joined == 1, (title, changed)


@given(one=st.text(max_size=300), other=st.text(max_size=300))
def test_any_two_texts_differ_the_same_way_round_and_a_text_not_from_itself(
    one: str, other: str
) -> None:
    assert find_title_difference(one, other) == find_title_difference(other, one)
    assert find_title_difference(one, one) is None


def test_long_texts_are_bounded() -> None:
    assert find_title_difference("ab " * 300_000, "cd " * 300_000)
    assert find_title_difference("fi" * 300_000, "fl" * 299_999)
