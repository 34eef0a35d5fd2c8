"""Which records are one work."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.libraries.works.block_lists import BadBlockListError, read_block_list
from carrel.libraries.works.comparison import LinkVerdict, compare
from carrel.libraries.works.link_events import LinkRule
from carrel.libraries.works.linkage import cluster
from carrel.libraries.works.people import count_shared_people, read_people, read_person
from carrel.libraries.works.titles import title_likeness
from carrel.libraries.works.work import Work, first_page_of

pytestmark = pytest.mark.promise("P15")

TITLE = "A novel role for lipid droplets in the organismal antibacterial response"
PEOPLE = ("Preetha Anand", "Silvia Cermelli", "Zhihuan Li")
PAPER = Work(TITLE, PEOPLE, 2012, order=(0,))
ENTRY = Work(
    title=TITLE.upper() + ".",
    people=("Anand, P.", "Cermelli, S.", "Li, Z."),
    year=2013,
    source="refs.bib",
    order=(1,),
)


def groups(*works: Work) -> list[tuple[int, ...]]:
    return sorted(tuple(sorted(group)) for group in cluster(works).groups)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann B. Smith", "Smith, A. B."),
        ("Smith AB", "Ann Smith"),
        ("Li S", "Shu Li"),
        ("Łukasz Kaiser", "Kaiser, Lukasz"),
        ("Ludwig van Beethoven", "Beethoven, Ludwig van"),
        ("van der Berg, Jan", "Jan van der Berg"),
        ("Wei Zhang", "Zhang Wei"),
        ("John Smith Jr.", "Smith, J."),
        ("Eddelbuettel*", "Dirk Eddelbuettel"),
        ("J.-P. Serre", "Jean-Pierre Serre"),
        ("María-José García López", "Garcia Lopez, M. J."),
    ],
)
def test_two_spellings_of_a_name_are_one_person(one: str, other: str) -> None:
    assert count_shared_people(read_people([one]), read_people([other])).shared == 1


def test_people_with_other_first_letters_are_others_and_nobody_is_nobody() -> None:
    assert count_shared_people(read_people(["John Smith"]), read_people(["A. Smith"])).shared == 0
    assert [read_person(name) for name in ("others", "et al.", " ", "Anonymous")] == [None] * 4


def test_a_pdf_and_a_bibliography_entry_are_one_work_and_the_reason_is_said() -> None:
    found = cluster([PAPER, ENTRY])
    assert found.groups == ((0, 1),)
    assert [(join.rule, join.reason) for join in found.joins] == [
        (LinkRule.LIKENESS, "same title, 3 of 3 authors, year 2012 / 2013")
    ]


def test_the_venue_never_splits() -> None:
    assert groups(replace(PAPER, venue="eLife"), replace(ENTRY, venue="Biol. Open")) == [(0, 1)]


def test_preprint_and_published_version_are_linked_and_not_melted() -> None:
    preprint = replace(PAPER, doi="10.1101/2012.01.01.000001")
    published = replace(ENTRY, doi="10.7554/elife.00003")
    found = cluster([preprint, published])
    assert found.groups == ((0,), (1,))
    assert [link.relation for link in found.versions] == ["preprint_of"]
    assert groups(replace(PAPER, venue="bioRxiv"), published) == [(0,), (1,)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (replace(PAPER, doi="10.1/a"), replace(ENTRY, doi="10.1/b")),
        (replace(PAPER, title=f"{TITLE} Part I"), replace(ENTRY, title=f"{TITLE} Part II")),
        (replace(PAPER, title=f"{TITLE} 1996"), replace(ENTRY, title=f"{TITLE} 1997")),
        (PAPER, replace(ENTRY, title=f"Correction: {TITLE}")),
        (PAPER, replace(ENTRY, kind="correction")),
        (replace(PAPER, doi="10.65215/1"), ENTRY),
        (replace(PAPER, source="refs.bib"), ENTRY),
        (PAPER, replace(ENTRY, year=2019)),
        (PAPER, replace(ENTRY, people=("Other Person", "Some Body"))),
        (replace(PAPER, title="Editorial"), replace(ENTRY, title="Editorial")),
        (replace(PAPER, volume="1", first_page="3"), replace(ENTRY, volume="1", first_page="9")),
        (Work(TITLE), Work(TITLE)),
        (Work(TITLE, (), 2012), Work(TITLE, (), 2012)),
    ],
)
def test_what_is_not_surely_one_work_stays_two(one: Work, other: Work) -> None:
    assert groups(one, other) == [(0,), (1,)]


def test_a_short_title_with_all_its_people_and_the_year_is_enough() -> None:
    people = ("Yann LeCun", "Yoshua Bengio", "Geoffrey Hinton")
    entry = Work("Deep Learning", ("LeCun, Y.", "Bengio, Y.", "Hinton, G."), 2015, source="a.bib")
    assert groups(Work("Deep learning", people, 2015), entry) == [(0, 1)]
    found = cluster([Work("Deep learning", people, 2015), replace(entry, people=(), year=2015)])
    assert sorted(found.groups) == [(0,), (1,)]
    assert len(found.doubtful) == 1


def test_the_same_long_title_joins_a_text_without_names_to_its_entry_and_no_other_text() -> None:
    assert groups(Work(TITLE), ENTRY) == [(0, 1)]
    assert groups(Work(TITLE), replace(ENTRY, source=None)) == [(0,), (1,)]


def test_a_work_that_is_as_like_to_two_others_is_left_to_a_person() -> None:
    first = replace(PAPER, doi="10.1/a", source="one")
    second = replace(PAPER, doi="10.1/b", source="two")
    found = cluster([first, second, ENTRY])
    assert sorted(found.groups) == [(0,), (1,), (2,)]
    assert {(pair.one, pair.other) for pair in found.doubtful} >= {(0, 2)}


def test_a_file_link_joins_what_nothing_else_does_and_a_book_keeps_its_chapters() -> None:
    text = Work("Scan 0001", file="/p/a.pdf")
    entry = Work(TITLE, PEOPLE, 2012, links=("/p/a.pdf",), source="refs.bib")
    assert groups(text, entry) == [(0, 1)]
    chapters = [replace(entry, title=f"{word} chapter of it") for word in ("Whales", "Bread")]
    assert groups(text, *chapters) == [(0,), (1,), (2,)]


def test_people_decide_before_everything_else() -> None:
    other = Work("Bread and how to bake it in an oven at home", ("Some Body",), 1990, order=(2,))
    assert sorted(cluster([PAPER, other, ENTRY], always=[{0, 1}]).groups) == [(0, 1), (2,)]
    assert sorted(cluster([PAPER, ENTRY], never=[[{0}, {1}]]).groups) == [(0,), (1,)]
    same = replace(PAPER, doi="10.1/a")
    apart = cluster([same, same, same], never=[[{0}, {1}]])
    assert len(apart.groups) == 2


def test_a_block_list_keeps_false_twins_apart() -> None:
    entry = replace(ENTRY, arxiv_id="1706.03762")
    paper = replace(PAPER, doi="10.5555/x.1")
    assert groups(paper, replace(entry, venue="eLife")) == [(0, 1)]
    for entries in (["10.5555"], ["10.5555/X.1"], ["# why", "doi:10.5555/x.1 arXiv:1706.03762v2"]):
        block_list = read_block_list(entries)
        found = cluster([paper, replace(entry, venue="eLife")], block_list=block_list)
        assert found.groups == ((0,), (1,)), entries
    with pytest.raises(BadBlockListError):
        read_block_list(["never ever"])


def test_first_pages_are_read_from_ranges() -> None:
    pages = ("e1234-e1250", "100--110", " 7", "", None, "in press")
    assert [first_page_of(each) for each in pages] == ["e1234", "100", "7", None, None, None]


WORKS = st.builds(
    Work,
    title=st.sampled_from([TITLE, TITLE.lower(), TITLE[:50], f"{TITLE} II", "Editorial", ""]),
    people=st.sampled_from([(), PEOPLE, ENTRY.people, ("Some Body",), PEOPLE[:1]]),
    year=st.sampled_from([None, 2012, 2013, 2016]),
    doi=st.sampled_from([None, None, "10.1/a", "10.1/b", "10.1101/a"]),
    arxiv_id=st.sampled_from([None, None, "1706.03762"]),
    venue=st.sampled_from([None, "eLife", "bioRxiv"]),
    source=st.sampled_from([None, "one.bib", "two.bib"]),
    label=st.sampled_from([None, "key"]),
    links=st.sampled_from([(), ("/a.pdf",)]),
    file=st.sampled_from([None, "/a.pdf"]),
)


@given(works=st.lists(WORKS, max_size=8), seed=st.integers(0, 1000))
def test_the_order_of_records_makes_no_difference(works: list[Work], seed: int) -> None:
    works = [replace(work, order=(at,)) for at, work in enumerate(works)]
    places = list(range(len(works)))
    random.Random(seed).shuffle(places)
    turned = cluster([works[at] for at in places])
    back = sorted(tuple(sorted(places[at] for at in group)) for group in turned.groups)
    assert back == sorted(tuple(sorted(group)) for group in cluster(works).groups)


@given(works=st.lists(WORKS, max_size=8))
def test_every_record_is_in_one_group_and_likeness_never_mixes_two_dois(
    works: list[Work],
) -> None:
    found = cluster(works)
    assert sorted(at for group in found.groups for at in group) == list(range(len(works)))
    disbelieved = {each.one for each in found.refused if each.rule is LinkRule.DOI}
    for group in found.groups:
        dois = {works[at].own_doi for at in group if at not in disbelieved} - {None}
        assert len(dois) <= 1


@given(one=WORKS, other=WORKS)
def test_comparing_the_other_way_round_gives_the_same(one: Work, other: Work) -> None:
    here, there = compare(one, other), compare(other, one)
    assert (here.verdict, here.score) == (there.verdict, there.score)
    assert (here.relation is None) == (there.relation is None)


@given(one=st.text("abcd", max_size=40), other=st.text("abcd", max_size=40))
def test_likeness_of_titles_and_of_people_is_the_same_either_way(one: str, other: str) -> None:
    assert title_likeness(one, other) == title_likeness(other, one)
    here, there = (read_people(f"{x} {y}" for x, y in pairwise(t)) for t in (one, other))
    assert count_shared_people(here, there) == count_shared_people(there, here)


@given(text=st.text(max_size=300))
def test_any_text_is_a_title_a_name_and_a_venue(text: str) -> None:
    work = Work(text, (text,), 2000, venue=text, kind=text, label=text)
    assert compare(work, replace(work, source="x")).verdict in LinkVerdict
    cluster([work, work])


def test_twenty_thousand_records_with_one_title_are_not_compared_with_each_other() -> None:
    # Two hundred million comparisons would end at the limit of a test.
    works = [
        Work(TITLE, (f"Person{at} Family{at}",), 1900 + at % 120, source=f"{at}", order=(at,))
        for at in range(20_000)
    ]
    assert len(cluster(works).groups) == len(works)


def test_long_titles_and_lists_of_people_are_bounded() -> None:
    work = Work("ab " * 500_000, tuple(f"Name{at} Family{at}" for at in range(20_000)), 2000)
    assert compare(work, replace(work, title=work.title + "c")).verdict is LinkVerdict.SAME


def test_an_identifier_of_a_service_joins_unless_the_dois_differ() -> None:
    one = Work("Sleep", ("Ann Smith",), 2019, other_ids=("pmcid:PMC1",))
    other = Work("Sleep (revised)", ("Ann Smith",), 2012, other_ids=("pmcid:PMC1",))
    assert groups(one, other) == [(0, 1)]
    apart = cluster([replace(one, doi="10.1000/1"), replace(other, doi="10.2000/2")])
    assert len(apart.groups) == 2
    assert [(each.rule, each.key) for each in apart.refused] == [(LinkRule.RECORD, "pmcid:PMC1")]


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("Journal of Statistical Software", "J. Stat. Softw.", True),
        ("Nature Medicine", "Nature Methods", False),
        ("Annals of Surgery", "Ann Surg Oncol", False),
        ("Cell", "Cellulose", False),
        ("", "", False),
    ],
)
def test_a_shortened_name_of_a_venue_is_the_venue(one: str, other: str, is_same: bool) -> None:
    assert Work("T", venue=one).is_in_venue_of(Work("T", venue=other)) is is_same


def test_lists_that_name_nobody_are_joined_in_one_venue_and_year_by_a_long_title() -> None:
    one = Work("What the new rules say about sleep", (), 2019, venue="Sleep", source="a")
    other = replace(one, source="b")
    assert groups(one, other) == [(0, 1)]
    assert len(groups(one, replace(other, venue="Nature"))) == 2
    assert len(groups(one, replace(other, year=2020))) == 2
    short = "New sleep rules"
    assert len(groups(replace(one, title=short), replace(other, title=short))) == 2


def test_notices_of_two_lists_are_not_joined_by_likeness() -> None:
    one = Work(f"Correction to: {TITLE}", PEOPLE, 2019, source="a")
    other = replace(one, source="b")
    assert len(groups(one, other)) == 2
    here, there = (
        replace(each, venue="Sleep", volume="3", first_page="7") for each in (one, other)
    )
    assert groups(here, there) == [(0, 1)]


def test_numbered_versions_of_a_text_are_versions() -> None:
    for first, second in (
        ("10.21203/rs.3.rs-12345/v1", "10.21203/rs.3.rs-12345/v2"),
        ("10.12688/f1000research.12345.1", "10.12688/f1000research.12345.2"),
        ("10.20944/preprints202001.0001.v1", "10.20944/preprints202001.0001.v3"),
        ("10.26434/chemrxiv-2021-abcde-v1", "10.26434/chemrxiv-2021-abcde-v2"),
    ):
        found = compare(Work(TITLE, PEOPLE, 2019, doi=first), Work(TITLE, PEOPLE, 2019, doi=second))
        assert (found.verdict, found.relation) == (LinkVerdict.VERSION, "version_of")


def test_a_file_stays_with_the_record_that_has_its_title() -> None:
    title = "Construction of the literature graph in Semantic Scholar"
    file = Work(title, ("Waleed Ammar",), file="/inbox/text.pdf", order=(0,))
    own = Work(
        title, ("Waleed Ammar",), 2018, doi="10.18653/v1/n18-3011",
        links=("/inbox/text.pdf",), source="b.json", order=(2,),
    )  # fmt: skip
    wrong = Work(
        "Quite another study of sleep", ("Waleed Ammar",), 2019, doi="10.1234/wrong",
        links=("/inbox/text.pdf",), source="a.json", order=(1,),
    )  # fmt: skip
    for works in ([file, own, wrong], [file, wrong, own], [wrong, own, file]):
        together = [{works[at].title for at in group} for group in cluster(works).groups]
        assert {title} in together
        assert {wrong.title} in together
