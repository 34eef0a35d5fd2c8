"""A quotation supports a link only where it names both things."""

import pytest

from carrel.libraries.discovery import (
    ConceptIndex,
    Discovery,
    Evidence,
    LinkJudgement,
    NoConnectionError,
    Paper,
    ReviewType,
    render,
    review,
)
from carrel.libraries.discovery.connections.evidence import Quoter, is_contrary
from carrel.libraries.discovery.connections.sentences import PaperReader
from carrel.libraries.discovery.writing.rendering import quotation
from tests.libraries.discovery.small_corpus import GOAL, Shelf, small_papers

REST = [Paper(f"rest-{number}", "On birds", "Birds sing.", ("bird song",)) for number in range(20)]


def quoted(papers: list[Paper], concept: str, literature: str) -> tuple[Evidence, ...]:
    everything = [*papers, *REST]
    index = ConceptIndex.build(everything)
    discovery = Discovery(index, Shelf(everything))
    quoter = Quoter(index, PaperReader(Shelf(everything)))
    number, read = index.number(concept), discovery.reader.literature([literature])
    assert number is not None
    assert read is not None
    return quoter.quote(
        (d for d in index.documents(number) if d in read.documents), number, read, 3
    )


@pytest.mark.promise("S7")
def test_sentences_that_name_both_are_quoted_and_no_others_beside_them() -> None:
    papers = [
        Paper(
            "apart",
            "Title",
            "Here stands red clay. Elsewhere blue moss grows.",
            ("red clay", "blue moss"),
            year=2020,
        ),
        Paper(
            "joined",
            "Title",
            "We saw red clay feed blue moss.",
            ("red clay", "blue moss"),
            year=2001,
        ),
    ]
    assert [
        (found.document_id, found.speaks_of_both)
        for found in quoted(papers, "red clay", "blue moss")
    ] == [("joined", True)]


@pytest.mark.promise("S7")
def test_a_sentence_that_names_one_thing_only_says_so_and_supports_nothing() -> None:
    papers = [
        Paper(
            f"apart-{n}",
            "Title",
            "Here stands red clay. Elsewhere blue moss grows.",
            ("red clay", "blue moss"),
        )
        for n in range(3)
    ]
    (found,) = quoted(papers, "red clay", "blue moss")
    assert not found.speaks_of_both
    assert found.speaks_only_of == "red clay"
    assert quotation(found).endswith("; speaks of red clay only]")


def test_a_link_with_no_sentence_on_both_is_not_held_to_be_said() -> None:
    papers = [
        Paper(
            paper.id,
            "On it",
            f"{'. '.join(name.capitalize() for name in paper.keywords)}.",
            paper.keywords,
            year=paper.year,
        )
        for paper in small_papers()
    ]
    discovery = Discovery(ConceptIndex.build(papers), Shelf(papers))
    with pytest.raises(NoConnectionError, match="left out: no sentence"):
        discovery.generate(GOAL, count=1)
    connection = discovery.connect(GOAL, "cold finger disease", "marine oil")
    assert "no sentence" in connection.why_unsupported
    links = review(connection, ReviewType.DEEP_VERIFICATION).links
    assert {link.judgement for link in links} == {LinkJudgement.ADJACENT}
    text = render(connection)
    assert "never in one sentence" in text.summary
    assert "No sentence read names both" in text.rationale
    assert "weak support" in text.summary and text.rationale.startswith("Weak: ")


def test_the_short_form_a_paper_defines_counts_as_the_name() -> None:
    papers = [
        Paper(
            f"short-{number}",
            "Title",
            "Blue moss growth (BMG) is slow. Red clay speeds BMG up.",
            ("red clay", "blue moss growth"),
        )
        for number in range(2)
    ]
    (first, *_) = quoted(papers, "red clay", "blue moss growth")
    assert first.speaks_of_both
    assert first.sentence == "Red clay speeds BMG up."


def test_a_name_inside_the_name_of_a_method_is_not_that_thing() -> None:
    papers = [
        *(
            Paper(
                f"method-{n}",
                "Title",
                "By calcium imaging we saw blue moss.",
                ("calcium", "calcium imaging", "blue moss"),
            )
            for n in range(2)
        ),
    ]
    assert not any(found.speaks_of_both for found in quoted(papers, "calcium", "blue moss"))
    papers.append(
        Paper("thing", "Title", "Some calcium feeds blue moss.", ("calcium", "blue moss"))
    )
    assert [found.document_id for found in quoted(papers, "calcium", "blue moss")] == ["thing"]


def test_a_name_inside_a_longer_name_comes_after_the_name_itself() -> None:
    papers = [
        Paper(
            "longer-1",
            "Heart ache in blue moss",
            "",
            ("heart", "heart ache", "blue moss"),
            year=2020,
        ),
        Paper(
            "longer-2",
            "Heart ache and blue moss",
            "",
            ("heart", "heart ache", "blue moss"),
            year=2020,
        ),
        Paper("itself", "Title", "The heart is like blue moss.", ("heart", "blue moss"), year=2001),
    ]
    found = quoted(papers, "heart", "blue moss")
    assert found[0].document_id == "itself"
    assert [one.is_in_longer_name for one in found] == [False, True, True]


@pytest.mark.parametrize(
    ("sentence", "contrary"),
    [
        ("It did not change.", True),
        ("There was no effect of it.", True),
        ("Not only this but that changed.", False),
        ("This is not yet known.", False),
        ("It changed.", False),
    ],
)
def test_denials_are_told_from_ways_of_speaking(sentence: str, contrary: bool) -> None:
    assert is_contrary(sentence) is contrary


def test_what_stands_in_brackets_is_a_short_form_only_where_it_is_one() -> None:
    def names(text: str, key: str) -> tuple[str, ...]:
        paper = PaperReader(Shelf([Paper("p", "On it", text)])).paper("p")
        assert paper is not None
        return paper.names_of(key)

    assert names("We studied long-term potentiation (LTP) here.", "long term potentiation") == (
        "long term potentiation",
        "ltp",
    )
    assert names("In coastal Kenya (Kilifi, Mombasa) we saw it.", "kenya") == ("kenya",)
    assert names("The rat sarcoma (RAS) family.", "sarcoma") == ("sarcoma",)
